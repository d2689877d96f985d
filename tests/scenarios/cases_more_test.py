"""More cases from public bug reports: types, links and references of HDF5, codecs, odd names, many variables."""

import json

import h5py
import netCDF4
import numcodecs
import numpy as np
import zarr

import harness
import judges


def test_c08_attributes_over_64_kib(t):
    """h5py/h5py#1855, HDFGroup/hdf5#5369"""
    with h5py.File(t / "big.h5", "w", libver=("earliest", "v110"), track_order=True) as file:
        file.attrs["ramp"] = np.arange(10000.0)
        file.create_dataset("v", data=np.arange(6.0), chunks=(3,), track_order=True).attrs["ramp"] = np.arange(10000.0)
    with netCDF4.Dataset(t / "big.nc", "w") as file:
        file.text = "long " * 40000
        file.createDimension("x", 2)
        file.createVariable("v", "f4", ("x",))[:] = 1
    for name in ("big.h5", "big.nc"):
        t.source(t / name)
        t.rechunk(t / name, t / ("o" + name))
        t.none(name, judges.h5_files(t / name, t / ("o" + name)))
        t.rechunk(t / name, t / (name + ".zarr"))
        t.rechunk(t / (name + ".zarr"), t / ("back" + name))
    t.equal("sum", 49995000.0, float(h5py.File(t / "backbig.h5").attrs["ramp"].sum()))
    t.equal("length of the text", 200000, len(netCDF4.Dataset(t / "backbig.nc").text))


def test_c09_nan_attributes(t):
    """zarr-developers/zarr-python#3478"""
    root = zarr.open_group(str(t / "n.zarr"), mode="w", zarr_format=3)
    root.create_array("v", data=np.arange(4.0))
    document = json.loads((t / "n.zarr" / "zarr.json").read_text())
    attributes = ('{"a": NaN, "b": "NaN", "c": [1.0, NaN, Infinity], "d": -Infinity, "whole": 1.0, '
                  '"int": 9007199254740993}')
    text = json.dumps(document).replace('"attributes": {}', '"attributes": ' + attributes)
    (t / "n.zarr" / "zarr.json").write_text(text)
    t.source(t / "n.zarr")
    t.chunkadvise(t / "n.zarr")
    t.rechunk(t / "n.zarr", t / "o.zarr")
    t.none("attributes", judges.zarr_trees(t / "n.zarr", t / "o.zarr"))
    t.rechunk(t / "n.zarr", t / "o.nc")
    with netCDF4.Dataset(t / "o.nc") as file:
        t.check(np.isnan(file.a) and file.b == "NaN" and file.d == -np.inf and file.int == 9007199254740993,
                "attributes are %s" % {k: file.getncattr(k) for k in file.ncattrs()})
    t.rechunk(t / "o.nc", t / "p.zarr")
    got = dict(zarr.open_group(str(t / "p.zarr")).attrs)
    t.check(got["a"] != got["a"] and got["b"] == "NaN" and got["c"][2] == np.inf and repr(got["whole"]) == "1.0",
            "after netCDF: %s" % got)


def test_c29_c32_bool_and_half(t):
    """pydata/xarray#4826, #1877, Unidata/netcdf-c#3439"""
    bits = np.array([0x3C00, 0x7BFF, 0x0001, 0x7E01, 0xFE00, 0x7C00], "u2")
    with h5py.File(t / "h.h5", "w") as file:
        file.create_dataset("half", data=bits.view("f2"), chunks=(6,))
        file.create_dataset("flag", data=np.array([True, False, True]))
    t.source(t / "h.h5")
    t.rechunk(t / "h.h5", t / "o.h5", "-c", "half:2")
    t.rechunk(t / "o.h5", t / "o2.h5", "-c", "half:4")
    t.none("two copies", judges.h5_files(t / "h.h5", t / "o2.h5", layout=False))
    for version in ("zarr2", "zarr3"):
        t.rechunk(t / "h.h5", t / version, "--to", version, "-c", "half:4")
        root = zarr.open_group(str(t / version))
        t.equal("bits in " + version, bits.tolist(), root["half"][...].view("u2").tolist())
        flag = root["flag"]
        t.equal("flag in " + version, ("bool", [True, False, True]), (str(flag.dtype), flag[...].tolist()))
        t.rechunk(t / version, t / (version + ".h5"))
        with h5py.File(t / (version + ".h5")) as file:
            t.equal("flag back from " + version, ("bool", [True, False, True]),
                    (str(file["flag"].dtype), file["flag"][...].tolist()))
            t.equal("bits back from " + version, bits.tolist(), file["half"][...].view("u2").tolist())
    result = t.run("rechunk", t / "h.h5", t / "o.nc", "--exclude", "half", code=(0, 4))
    t.check("/flag" in result.err, "a boolean in netCDF without a word")


def test_c34_links(t):
    """CramBL/hdf5-pure#449"""
    with h5py.File(t / "l.h5", "w") as file:
        file.create_dataset("a", data=np.arange(6), chunks=(6,))
        group = file.create_group("g")
        group["h1"] = file["a"]
        file["soft"] = h5py.SoftLink("/a")
        file["dang"] = h5py.SoftLink("/nope")
        file["ext"] = h5py.ExternalLink("other.h5", "/x")
        group["loop"] = file["/"]
    t.source(t / "l.h5")
    t.chunkadvise(t / "l.h5")
    t.rechunk(t / "l.h5", t / "o.h5", "-c", "3")
    t.none("links", judges.h5_files(t / "l.h5", t / "o.h5", layout=False))
    with h5py.File(t / "o.h5") as file:
        t.check(file["g/h1"] == file["a"] and file["g/h1"].chunks == (3,), "the hard link is another object")
    t.refused("rechunk", t / "l.h5", t / "o.zarr", code=4, says=("link",))


def test_c36_references(t):
    """CramBL/hdf5-pure#107"""
    with h5py.File(t / "r.h5", "w") as file:
        file["a"], file["b"] = np.arange(3), np.arange(4)
        file.attrs["r"] = file["b"].ref
        file["a"].attrs["both"] = np.array([file["b"].ref, file["a"].ref], h5py.ref_dtype)
        file["a"].attrs["region"] = file["a"].regionref[1:3]
    t.source(t / "r.h5")
    result = t.run("rechunk", t / "r.h5", t / "o.h5", "-c", "2", code=(0, 4))
    if result.code == 4:
        return t.check("/a" in result.err or "@r" in result.err, "refused without naming the attribute")
    t.none("references", judges.h5_files(t / "r.h5", t / "o.h5", layout=False))
    with h5py.File(t / "o.h5") as file:
        found = [file[r].name for r in (file.attrs["r"], *file["a"].attrs["both"])]
        t.equal("names", ["/b", "/b", "/a"], found)
        region = file["a"].attrs["region"]
        t.equal("region", [1, 2], file["a"][region].tolist())
    return None


def test_c39_codecs_kept(t):
    """pangeo-data/rechunker#95, Unidata/netcdf-c#2198"""
    values = np.arange(3600, dtype="f4").reshape(60, 60)
    with netCDF4.Dataset(t / "a.nc", "w") as file:
        for name in "yx":
            file.createDimension(name, 60)
        file.createVariable("best", "f4", ("y", "x"), zlib=True, complevel=9, shuffle=True,
                            chunksizes=(60, 60))[:] = values
        file.createVariable("check", "f4", ("y", "x"), zlib=True, complevel=2, shuffle=False, fletcher32=True,
                            chunksizes=(60, 60))[:] = values
        file.createVariable("plain", "f4", ("y", "x"), chunksizes=(60, 60))[:] = values
    t.source(t / "a.nc")
    t.rechunk(t / "a.nc", t / "b.nc", "-c", "y/20,x/20")
    with netCDF4.Dataset(t / "a.nc") as a, netCDF4.Dataset(t / "b.nc") as b:
        for name in a.variables:
            t.equal("filters of " + name, a[name].filters(), b[name].filters())
            t.equal("chunks of " + name, [20, 20], b[name].chunking())
    root = zarr.open_group(str(t / "z2.zarr"), mode="w", zarr_format=2)
    root.create_array("v", data=values, chunks=(60, 60),
                      compressors=numcodecs.Blosc("zstd", 7, numcodecs.Blosc.BITSHUFFLE))
    root3 = zarr.open_group(str(t / "z3.zarr"), mode="w", zarr_format=3)
    root3.create_array("v", data=values, chunks=(60, 60),
                       compressors=[zarr.codecs.GzipCodec(level=6), zarr.codecs.Crc32cCodec()])
    for name in ("z2.zarr", "z3.zarr"):
        t.source(t / name)
        t.rechunk(t / name, t / ("o" + name), "-c", "20,20")
        a, b = (zarr.open_group(str(t / n))["v"].metadata.to_dict() for n in (name, "o" + name))
        for key in ("compressor", "filters", "codecs", "order"):
            t.equal("%s of %s" % (key, name), repr(a.get(key)), repr(b.get(key)))


def test_c42_never_written_compact_external(t):
    """fsspec/VirtualiZarr#260, #527"""
    with h5py.File(t / "nw.h5", "w") as file:
        file.create_dataset("empty", (100, 200), "i8", chunks=(50, 100), fillvalue=100)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT64, h5py.h5s.create_simple((8,)), plist)
        compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(8))
        late = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        late.set_fill_value(np.array(7, "i4"))
        h5py.h5d.create(file.id, b"never", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((5,)), late)
    t.source(t / "nw.h5")
    t.rechunk(t / "nw.h5", t / "o.h5", "-c", "empty:25,50")
    t.none("h5", judges.h5_files(t / "nw.h5", t / "o.h5", layout=False))
    with h5py.File(t / "o.h5") as file:
        t.equal("sum, chunks", (2000000, 0), (int(file["empty"][...].sum()), file["empty"].id.get_num_chunks()))
        t.equal("the compact one stays compact", h5py.h5d.COMPACT, file["compact"].id.get_create_plist().get_layout())
    t.rechunk(t / "nw.h5", t / "o.zarr")
    root = zarr.open_group(str(t / "o.zarr"))
    t.equal("in Zarr", (2000000, [7] * 5, list(range(8))),
            (int(root["empty"][...].sum()), root["never"][...].tolist(), root["compact"][...].tolist()))
    t.equal("objects of empty", [], judges.chunk_objects(t / "o.zarr" / "empty"))


def test_c58_many_variables(t):
    """Unidata/netcdf4-python#1235"""
    with netCDF4.Dataset(t / "many.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 64)
        for i in range(1024):
            v = file.createVariable("v%04d" % i, "f4", ("t", "x"), chunksizes=(16, 64), zlib=True)
            v[0:16] = np.full((16, 64), i, "f4")
    t.source(t / "many.nc")
    done = t.rechunk(t / "many.nc", t / "o.nc", "-c", "t/1,x/64", "-j", 8, "--memory", "512MiB", measure=True)
    t.check(done.peak_rss_bytes < 512 << 20, "peak %d MiB" % (done.peak_rss_bytes >> 20))
    t.check(done.seconds < 60, "took %.0f s" % done.seconds)
    with h5py.File(t / "o.nc") as file:
        found = [file["v%04d" % i] for i in range(1024)]
        wrong = [i for i, v in enumerate(found) if not (v[...] == i).all() or v.chunks != (1, 64)]
    t.equal("wrong variables", [], wrong)
    t.chunkadvise(t / "many.nc")


def test_c70_names(t):
    """pydata/xarray#7943, #8029"""
    names = ("sea level", "été_φ", "a.b", "_x", "a+b@c", "x(y)")
    src = t / "my data#1.nc"
    with netCDF4.Dataset(src, "w") as file:
        for n, name in enumerate(names):
            file.createDimension(name, n + 2)
            file.createVariable(name, "f8", (name,))[:] = np.arange(n + 2)
        file.createVariable("both", "f4", names[:2])[:] = 1
    t.source(src)
    t.rechunk(src, t / "out é.nc", "-c", "sea level/1")
    t.none("nc4", judges.h5_files(src, t / "out é.nc", layout=False))
    t.equal("chunks", [1, 3], netCDF4.Dataset(t / "out é.nc")["both"].chunking())
    t.rechunk(src, t / "n.zarr")
    t.rechunk(t / "n.zarr", t / "back.nc")
    t.none("by Zarr", judges.text_differences(judges.ncdump_header(src), judges.ncdump_header(t / "back.nc")))
    for name in ("a b#x=1.nc", "-x.nc", "a:b.nc"):
        t.rechunk("--", src, t / name)
        result = harness.run("rechunk", "--", name, "y " + name, cwd=t.dir)
        t.equal("rechunk -- %s" % name, (0, ""), (result.code, result.err))


if __name__ == "__main__":
    harness.main(globals())
