"""Cases from public bug reports of other tools; each function names the report it comes from and what is right."""

import json
import os
import subprocess

import h5py
import netCDF4
import numpy as np
import zarr

import harness
import judges


def ncgen(path, text):
    source = path.with_suffix(".cdl")
    source.write_text(text)
    subprocess.run(["ncgen", "-k", "nc4", "-o", str(path), str(source)], check=True)
    source.unlink()
    return path


def header_equal(t, what, a, b):
    t.none("%s: ncdump -h" % what, judges.text_differences(judges.ncdump_header(a), judges.ncdump_header(b)))


def by_zarr_and_back(t, src, back, zarr_format="zarr3"):
    store = t / (back + ".zarr")
    t.rechunk(src, store, "--to", zarr_format)
    t.rechunk(store, t / back, "--to", "nc4")


def raw_values(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return file[name][...]


def tree_c01(make_group, make_array):
    make_group("", {"description": "root"})
    make_group("foo", {"description": "middle"})
    make_group("empty", {})
    make_group("only", {"attributes": "here"})
    values = np.ones((10, 10))
    values[5, 5] = 3
    make_array("foo/bar", values, {"description": "leaf"})


def test_c01_attributes_of_middle_groups(t):
    """pangeo-data/rechunker#131"""
    for zarr_format in (2, 3):
        path = t / ("s%d.zarr" % zarr_format)
        root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)

        def group(name, attrs):
            (root.require_group(name) if name else root).attrs.update(attrs)

        def array(name, values, attrs):
            root.create_array(name, data=values, chunks=(10, 10)).attrs.update(attrs)
        tree_c01(group, array)
        zarr.consolidate_metadata(str(path), zarr_format=zarr_format)
        t.source(path)
        out = t / ("d%d.zarr" % zarr_format)
        t.rechunk(path, out, "-c", "5,5")
        t.none("v%d" % zarr_format, judges.zarr_trees(path, out, layout=False))
        t.equal("chunks", (5, 5), zarr.open_group(str(out))["foo/bar"].chunks)
        merged = zarr.open_consolidated(str(out), zarr_format=zarr_format)
        t.equal("consolidated attributes", {"description": "middle"}, dict(merged["foo"].attrs))
    with h5py.File(t / "s.h5", "w") as file:
        def array(name, values, attrs):
            file.create_dataset(name, data=values, chunks=(10, 10)).attrs.update(attrs)
        tree_c01(lambda name, attrs: (file.require_group(name) if name else file).attrs.update(attrs), array)
    t.source(t / "s.h5")
    t.rechunk(t / "s.h5", t / "d.h5", "-c", "5,5")
    t.none("h5", judges.h5_files(t / "s.h5", t / "d.h5", layout=False))
    t.rechunk(t / "s.h5", t / "h.zarr", "-c", "5,5")
    t.none("h5 to zarr", judges.zarr_trees(t / "s3.zarr", t / "h.zarr", layout=False)
           if (t / "h.zarr" / "zarr.json").exists() else judges.zarr_trees(t / "s2.zarr", t / "h.zarr", layout=False))


def test_c02_fill_value_and_absent_chunks(t):
    """pangeo-data/rechunker#133, #94"""
    array = zarr.create_array(str(t / "s.zarr"), shape=(2000, 2000), chunks=(500, 500), dtype="f8", fill_value=1.0,
                              zarr_format=2)
    array[1000, 1000] = 3
    t.equal("chunks of the source", ["2.2"], judges.chunk_objects(t / "s.zarr"))
    t.source(t / "s.zarr")
    done = t.rechunk(t / "s.zarr", t / "d.zarr", "-c", "250,250", "--json").document()
    out = zarr.open_array(str(t / "d.zarr"))
    t.equal("chunks of the target", ["4.4"], judges.chunk_objects(t / "d.zarr"))
    t.equal("fill and sum", (1.0, 4000002.0), (float(out.fill_value), float(out[...].sum())))
    t.check(done["actual"]["bytes_read"] < 3 << 20, "absent chunks were read: %s" % done["actual"]["bytes_read"])


def test_c04_no_fill_value_appears(t):
    """pydata/xarray#1598, #1865, #2037"""
    with netCDF4.Dataset(t / "a.nc", "w") as file:
        file.createDimension("lat", 3)
        file.createDimension("lon", 4)
        file.createVariable("lat", "f8", ("lat",))[:] = [1, 2, 3]
        file.createVariable("lon", "f8", ("lon",))[:] = [1, 2, 3, 4]
        file.createVariable("t", "f4", ("lat", "lon"), fill_value=np.nan)[:] = np.arange(12).reshape(3, 4)
        file.createVariable("p", "f4", ("lat", "lon"))[:] = np.arange(12).reshape(3, 4)
    src = t.source(t / "a.nc")
    t.rechunk(src, t / "b.nc", "-c", "lat/2,lon/2")
    by_zarr_and_back(t, src, "c.nc")
    by_zarr_and_back(t, src, "d.nc", "zarr2")
    for name in ("b.nc", "c.nc", "d.nc"):
        with netCDF4.Dataset(t / name) as file:
            for v in ("lat", "lon", "p"):
                t.check("_FillValue" not in file[v].ncattrs(), "%s: %s got a _FillValue" % (name, v))
            t.check(np.isnan(file["t"].getncattr("_FillValue")), "%s: t lost its NaN" % name)
            t.equal("type of it in " + name, "float32", str(file["t"].getncattr("_FillValue").dtype))


def test_c05_packed_with_missing_value(t):
    """pydata/xarray#2871"""
    ncgen(t / "pk.nc", """netcdf pk { dimensions: npts = unlimited ; nt = 4 ;
        variables: short tmpk(npts, nt) ; tmpk:missing_value = -9999s ; tmpk:scale_factor = 0.01 ;
        data: tmpk = 26915, 27755, -9999, 27705, 25595, -9999, 28315, -9999 ; }""")
    src = t.source(t / "pk.nc")
    t.rechunk(src, t / "out.nc", "-c", "npts/2,nt/4")
    by_zarr_and_back(t, src, "z.nc")
    for name in ("out.nc", "z.nc"):
        header_equal(t, name, src, t / name)
        t.check(judges.same_values(raw_values(src, "tmpk"), raw_values(t / name, "tmpk")), name + ": values differ")


def test_c06_attribute_types_through_json(t):
    """pydata/xarray#10361"""
    ncgen(t / "a.nc", """netcdf a { dimensions: x = 4 ; variables: short v(x) ; v:valid_range = -100s, 100s ;
        v:flag_values = 1b, 2b ; v:tenth = 0.1f ; v:one = 7 ; v:big = 18446744073709551615ULL ; v:text = "short" ;
        v:list = 1.5, 2.0, 3. ; v:whole = 2. ; string v:words = "a", "b" ; data: v = 1, 2, 3, 4 ; }""")
    src = t.source(t / "a.nc")
    for version in ("zarr3", "zarr2"):
        by_zarr_and_back(t, src, version + ".nc", version)
        header_equal(t, version, src, t / (version + ".nc"))
        node = zarr.open_group(str(t / (version + ".nc.zarr")))["v"]
        t.check(np.float32(node.attrs["tenth"]) == np.float32(0.1), "0.1f for readers of %s" % version)
        t.equal("valid_range for readers of " + version, [-100, 100], node.attrs["valid_range"])


def test_c11_order(t):
    """Unidata/netcdf-c#2054, h5py/h5py#1385, pydata/xarray#7406"""
    names = ("zeta", "mu", "alpha", "kappa", "beta", "omega", "iota", "eta", "rho", "chi")
    with netCDF4.Dataset(t / "or.nc", "w") as file:
        for name in names:
            file.setncattr(name, name + "!")
        for name, n in (("y", 2), ("a", 3)):
            file.createDimension(name, n)
        for name in ("zz", "mm", "aa"):
            file.createVariable(name, "f4", ("y", "a"))[:] = 1
        v = file.createVariable("t", "f4", ("y", "a"))
        v.setncatts({"coordinates": "lat2d lon2d", "grid_mapping": "crs", "cell_measures": "area: zz"})
        v[:] = np.arange(6).reshape(2, 3)
        for name in ("lat2d", "lon2d"):
            file.createVariable(name, "f8", ("y", "a"))[:] = 2
        file.createVariable("crs", "S1", ())[...] = b"c"
    src = t.source(t / "or.nc")
    t.rechunk(src, t / "all.nc", "-c", "y/1,a/3")
    header_equal(t, "rechunked", src, t / "all.nc")
    t.rechunk(src, t / "out.nc", "-c", "y/1,a/3")
    by_zarr_and_back(t, t / "out.nc", "z.nc")
    header_equal(t, "through Zarr", t / "out.nc", t / "z.nc")


def test_c14_zero_records(t):
    """pydata/xarray#678, pangeo-data/rechunker#126"""
    for n in (0, 3):
        src = t / ("r%d.nc" % n)
        with netCDF4.Dataset(src, "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 4)
            v = file.createVariable("v", "f4", ("time", "x"))
            time = file.createVariable("time", "f8", ("time",))
            file.createVariable("q", "i4", ("x",))[:] = [1, 2, 3, 4]
            if n:
                v[:] = np.arange(n * 4).reshape(n, 4)
                time[:] = np.arange(n)
        t.source(src)
        advice = t.chunkadvise(src)
        t.check("/v" in advice.out and "nan" not in advice.out.lower(),
                "advice on %d records:\n%s" % (n, advice.out[:500]))
        out = t / ("o%d.nc" % n)
        t.rechunk(src, out, "-c", "time/10")
        with netCDF4.Dataset(out) as file:
            time = file.dimensions["time"]
            t.equal("unlimited, length", (True, n), (time.isunlimited(), len(time)))
            t.equal("chunks of v", [10, 4], file["v"].chunking())
        header_equal(t, "%d records" % n, src, out)
        by_zarr_and_back(t, src, "z%d.nc" % n)
        header_equal(t, "%d records through Zarr" % n, src, t / ("z%d.nc" % n))
        array = zarr.open_group(str(t / ("z%d.nc.zarr" % n)))["v"]
        t.equal("shape in Zarr", (n, 4), array.shape)
        t.check(min(array.chunks) >= 1, "chunks in Zarr: %s" % (array.chunks,))


def test_c15_scalars_null_and_empty(t):
    """Unidata/netcdf4-python#333, zarr-developers/zarr-python#303"""
    with h5py.File(t / "s.h5", "w") as file:
        file["scalar"] = 3.5
        file["null"] = h5py.Empty("f4")
        file["zeros"] = np.zeros((3, 0, 5))
        file["grid"] = np.arange(20.0).reshape(4, 5)
    t.source(t / "s.h5")
    t.rechunk(t / "s.h5", t / "o.h5", "-c", "grid:2,5")
    t.none("h5", judges.h5_files(t / "s.h5", t / "o.h5", layout=False))
    t.chunkadvise(t / "s.h5")
    for zarr_format in (2, 3):
        path = t / ("s%d.zarr" % zarr_format)
        root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
        root.create_array("seven", data=np.array(7, "i4"))
        root.create_array("zeros", shape=(3, 0, 5), chunks=(1, 1, 1), dtype="f8")
        t.source(path)
        for target in ("zarr2", "zarr3", "h5"):
            out = t / ("o%d_%s" % (zarr_format, target))
            if t.rechunk(path, out, "--to", target, go_on=True).code:
                continue
            opened = h5py.File(out) if target == "h5" else zarr.open_group(str(out), mode="r")
            t.equal("seven in " + target, 7, int(opened["seven"][()]))
            t.equal("shape in " + target, (3, 0, 5), opened["zeros"].shape)
            if target != "h5":
                t.equal("objects of zeros", [], judges.chunk_objects(out / "zeros"))
        t.chunkadvise(path)


def test_c16_chunk_longer_than_dim(t):
    """pydata/xarray#1225, Unidata/netcdf4-python#480, Unidata/netcdf-c#299"""
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        file.createDimension("y", 100)
        file.createDimension("t", None)
        file.createVariable("a", "f8", ("y",), chunksizes=(50,))[:] = np.arange(100)
        file.createVariable("b", "f8", ("t",), chunksizes=(100,))[:] = np.arange(15)
    src = t.source(t / "s.nc")
    result = t.rechunk(src, t / "o.nc", "-c", "y/256")
    t.check("/a" in result.err and "100" in result.err, "no note on stderr: " + result.err)
    t.rechunk(src, t / "o2.nc")
    t.rechunk(src, t / "o.zarr", "--to", "zarr2", "-c", "y/256")
    with netCDF4.Dataset(t / "o.nc") as file, netCDF4.Dataset(t / "o2.nc") as plain:
        t.equal("chunk of a", [100], file["a"].chunking())
        t.equal("chunk of b", ([100], [100]), (file["b"].chunking(), plain["b"].chunking()))
    t.check((zarr.open_group(str(t / "o.zarr"))["a"][...] == np.arange(100)).all(), "values of a in Zarr")


def test_c17_edges_everywhere(t):
    """pydata/xarray#2225"""
    values = np.arange(8 * 7 * 11, dtype="f8").reshape(8, 7, 11)
    for zarr_format in (2, 3):
        src = t / ("s%d.zarr" % zarr_format)
        zarr.create_array(str(src), data=values, chunks=(3, 3, 3), compressors=None, zarr_format=zarr_format)
        t.source(src)
        hashes = set()
        for i in range(2):
            out = t / ("d%d%d.zarr" % (zarr_format, i))
            t.rechunk(src, out, "-c", "5,4,6")
            objects = [out / n for n in judges.chunk_objects(out)]
            t.equal("sizes of the objects", [960] * 8, [p.stat().st_size for p in objects])
            data = zarr.open_array(str(out))[...]
            t.equal("sum and last", (189420.0, 615.0), (float(data.sum()), float(data[7, 6, 10])))
            hashes.add(harness.tree_hash(out))
        t.equal("different results of equal runs", 1, len(hashes))


def test_c19_chunks_honoured(t):
    """Unidata/netcdf-c#725, #1936, #3134"""
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        for name, n in (("time", 40), ("lat", 180), ("lon", 180)):
            file.createDimension(name, n)
        file.createVariable("x", "f4", ("time", "lat", "lon"))[:] = np.arange(40 * 180 * 180).reshape(40, 180, 180)
        file.createVariable("small", "f4", ("time",))[:] = 1
    src = t.source(t / "s.nc")
    t.rechunk(src, t / "a.nc", "-c", "time/1,lat/180,lon/180", "--codec", "deflate:1")
    t.rechunk(src, t / "b.nc", "-c", "time/5,lat/20,lon/20")
    t.rechunk(t / "a.nc", t / "c.nc", "-c", "contiguous", "--codec", "none")
    for name, chunks in (("a.nc", [1, 180, 180]), ("b.nc", [5, 20, 20]), ("c.nc", "contiguous")):
        with netCDF4.Dataset(t / name) as file:
            t.equal("x in " + name, chunks, file["x"].chunking())
            t.check(file["small"].chunking() != [1], "small has 40 chunks in " + name)
        t.none(name, judges.h5_files(src, t / name, layout=False))


def test_c20_time_1(t):
    """nco/nco#198"""
    files = ((True, (24, 21, 35), [1, 21, 35]), (False, None, [1, 210, 350]))
    for number, (unlimited, chunks, expected) in enumerate(files):
        src, out = t / ("s%d.nc" % number), t / ("o%d.nc" % number)
        with netCDF4.Dataset(src, "w") as file:
            for name, n in (("time", None if unlimited else 24), ("lat", 210), ("lon", 350)):
                file.createDimension(name, n)
            file.createVariable("time", "f8", ("time",))[:] = np.arange(24)
            options = {"chunksizes": chunks} if chunks else {}
            file.createVariable("o3", "f4", ("time", "lat", "lon"), **options)[:] = 1
        t.source(src)
        result = t.rechunk(src, out, "-c", "time/1")
        with netCDF4.Dataset(out) as file:
            t.equal("o3", expected, file["o3"].chunking())
            if file["time"].chunking() == [1]:
                t.check("time" in result.err, "8-byte chunks of time without a warning")
        t.run("rechunk", src, t / "x.nc", "-c", "tine/1", code=2, says=("tine", "time"))


def test_c22_plain_hdf5_and_dims_without_variables(t):
    """Unidata/netcdf-c#1484, h5netcdf/h5netcdf#43"""
    with h5py.File(t / "p.h5", "w") as file:
        file.create_dataset("data", data=np.arange(9.0).reshape(3, 3), chunks=(3, 3))
        file.create_dataset("lab", data=np.arange(3.0)).dims[0].label = "length"
    src = t.source(t / "p.h5")
    t.rechunk(src, t / "q.h5", "-c", "data:2,2")
    t.none("h5", judges.h5_files(src, t / "q.h5", layout=False))
    t.equal("chunks", (2, 2), h5py.File(t / "q.h5")["data"].chunks)
    t.rechunk(src, t / "p.zarr")
    t.check((zarr.open_group(str(t / "p.zarr"))["data"][...].ravel() == np.arange(9)).all(), "values in Zarr")
    with netCDF4.Dataset(t / "dw.nc", "w") as file:
        file.createDimension("bnds", 2)
        file.createDimension("time", None)
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = [[0, 1], [1, 2]]
    src = t.source(t / "dw.nc")
    t.rechunk(src, t / "out.nc")
    header_equal(t, "dims without variables", src, t / "out.nc")
    with h5py.File(src) as a, h5py.File(t / "out.nc") as b:
        t.equal("NAME of bnds", a["bnds"].attrs["NAME"], b["bnds"].attrs["NAME"])
    t.rechunk(src, t / "out.zarr")
    t.check("bnds" not in zarr.open_group(str(t / "out.zarr")), "bnds became a Zarr array")


def test_c23_dims_in_groups(t):
    """pydata/xarray#1982, Unidata/netcdf4-python#824, #105"""
    ncgen(t / "g.nc", """netcdf g { dimensions: x = 4 ; airs = 5 ; variables: int q(x) ; data: q = 1, 2, 3, 4 ;
        group: A { dimensions: x = 3 ; cloud = 2 ;
          group: B { variables: float f(airs, cloud) ; int p(x) ;
            data: f = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ; p = 1, 2, 3 ; } } }""")
    src = t.source(t / "g.nc")
    t.rechunk(src, t / "out.nc", "-c", "x/2,airs/2")
    header_equal(t, "nc4", src, t / "out.nc")
    with netCDF4.Dataset(t / "out.nc") as file:
        t.equal("p and q", ([2], [2], 3, 4), (file["A/B/p"].chunking(), file["q"].chunking(), len(file["A/B/p"]),
                                              len(file["q"])))
        t.equal("f", list(range(10)), file["A/B/f"][...].ravel().tolist())
        t.equal("p", [1, 2, 3], file["A/B/p"][...].tolist())
    by_zarr_and_back(t, src, "z.nc")
    header_equal(t, "through Zarr", src, t / "z.nc")
    t.check("/A/B/f" in t.chunkadvise(src).out, "the advice does not name /A/B/f")


def test_c45_separators(t):
    """zarr-developers/zarr-python#1533, dask/dask#7673"""
    def make(name, zarr_format, separator, encoding=None):
        zarr.create_array(str(t / name), data=np.ones((10, 10), "i4"), chunks=(5, 5), zarr_format=zarr_format,
                          chunk_key_encoding={"name": encoding or "v2", "separator": separator})
        return t / name
    stores = [make("slash2.zarr", 2, "/"), make("dot2.zarr", 2, "."), make("v2_in_3.zarr", 3, ".", "v2"),
              make("dot3.zarr", 3, ".", "default"), make("slash3.zarr", 3, "/", "default")]
    for src in stores:
        t.source(src)
        out = t / ("o_" + src.name)
        t.rechunk(src, out, "-c", "10,5")
        t.equal("sum of " + src.name, 100, int(zarr.open_array(str(out))[...].sum()))
        t.equal("style of the keys", "/" in judges.chunk_objects(src)[0], "/" in judges.chunk_objects(out)[0])
        t.chunkadvise(src)
    src = make("lost.zarr", 2, "/")
    metadata = json.loads((src / ".zarray").read_text())
    del metadata["dimension_separator"]
    (src / ".zarray").write_text(json.dumps(metadata))
    result = t.run("rechunk", src, t / "o.zarr", "-c", "10,5", code=(0, 5))
    if result.code == 0:
        t.equal("sum without the separator field", 100, int(zarr.open_array(str(t / "o.zarr"))[...].sum()))
        t.check(result.err, "no word about the missing dimension_separator")


def test_c47_absent_is_not_unreadable(t):
    """zarr-developers/zarr-python#486, JuliaIO/Zarr.jl#131"""
    values = np.arange(64, dtype="f4").reshape(8, 8)

    def make(name):
        zarr.create_array(str(t / name), data=values, chunks=(4, 4), fill_value=np.nan, zarr_format=2)
        return t / name, t / name / "1.1"
    src, chunk = make("absent.zarr")
    chunk.unlink()
    t.source(src)
    result = t.rechunk(src, t / "o.zarr", "-c", "8,2")
    t.equal("cells of the absent chunk", 16, int(np.isnan(zarr.open_array(str(t / "o.zarr"))[...]).sum()))
    t.check("1 of 4" in result.err + result.out, "no word about '1 of 4' chunks: %s%s" % (result.out, result.err))
    src, chunk = make("half.zarr")
    chunk.write_bytes(chunk.read_bytes()[:-10])
    t.refused("rechunk", src, t / "o2.zarr", "-c", "8,2", code=5, says=(("1.1", "1 x 1"),))
    src, chunk = make("folder.zarr")
    chunk.unlink()
    chunk.mkdir()
    t.refused("rechunk", src, t / "o3.zarr", "-c", "8,2", code=(5, 6), says=("1.1",))
    if os.geteuid() == 0:
        src, chunk = make("closed.zarr")
        chunk.chmod(0)
        t.dir.chmod(0o777)
        t.refused("rechunk", src, t / "o4.zarr", "-c", "8,2", code=6, says=("1.1", "permission denied"), user=65534,
                  group=65534, extra_groups=[])


def test_c51_what_the_target_cannot_hold(t):
    """OSGeo/gdal#14989"""
    ncgen(t / "st.nc", """netcdf st { dimensions: x = 2 ; variables: string expver ; int64 valid_time(x) ;
        data: expver = "0001" ; valid_time = 1, 2 ; }""")
    t.source(t / "st.nc")
    t.refused("rechunk", t / "st.nc", t / "out.nc", "--to", "nc3", code=4, says=("/expver", "/valid_time"))
    t.rechunk(t / "st.nc", t / "out.zarr")
    t.equal("text in Zarr", "0001", str(zarr.open_group(str(t / "out.zarr"), mode="r")["expver"][()]))
    with netCDF4.Dataset(t / "cm.nc", "w", format="NETCDF4_CLASSIC") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "f4", ("x",))[:] = [1, 2, 3, 4]
    t.source(t / "cm.nc")
    t.rechunk(t / "cm.nc", t / "cm2.nc", "-c", "x/2")
    t.equal("data model", "NETCDF4_CLASSIC", netCDF4.Dataset(t / "cm2.nc").data_model)
    t.equal("chunks", [2], netCDF4.Dataset(t / "cm2.nc")["v"].chunking())
    by_zarr_and_back(t, t / "cm.nc", "cm3.nc")
    t.equal("data model through Zarr", "NETCDF4_CLASSIC", netCDF4.Dataset(t / "cm3.nc").data_model)


def test_c65_existing_target(t):
    """pangeo-data/rechunker#78, #148"""
    values = np.arange(1, 65, dtype="i4").reshape(8, 8)
    for zarr_format in (2, 3):
        src, old = t / ("s%d.zarr" % zarr_format), t / ("d%d.zarr" % zarr_format)
        zarr.create_array(str(src), data=values, chunks=(8, 8), zarr_format=zarr_format)
        t.source(src)
        zarr.create_array(str(old), data=values * 0 + 9, chunks=(2, 2), zarr_format=5 - zarr_format)
        before = harness.tree_hash(old)
        t.refused("rechunk", src, old, "-c", "4,4", code=8, says=("exists",))
        t.equal("the old target", before, harness.tree_hash(old))
        t.refused("rechunk", src, old, "-c", "4,4", "--overwrite")
        t.equal("objects", 4, len(judges.chunk_objects(old)))
        names = {p.name for p in old.rglob("*")}
        t.check(not (".zarray" in names and "zarr.json" in names), "metadata of both versions")
        t.check((zarr.open_array(str(old))[...] == values).all(), "values")


if __name__ == "__main__":
    harness.main(globals())
