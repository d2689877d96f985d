"""What `-c`, `--codec`, `--variable` and the other options do to the layout, as h5py and zarr-python see it."""

import json

import h5py
import netCDF4
import numpy as np
import zarr

import harness
import judges



def make_nc(path):
    """time unlimited (24); o3 chunked and deflated, t2m contiguous, topo 2-D; a group with a variable of its own."""
    rng = np.random.default_rng(3)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("lat", 30), ("lon", 40), ("spare", 3)):
            file.createDimension(name, length)
        for name, n in (("time", 24), ("lat", 30), ("lon", 40)):
            file.createVariable(name, "f8", (name,))[:] = np.arange(n)
        file.createVariable("o3", "f4", ("time", "lat", "lon"), chunksizes=(24, 10, 20), zlib=True, complevel=3)[:] = \
            rng.normal(size=(24, 30, 40))
        file.createVariable("fixed", "f4", ("lat", "lon"))[:] = rng.normal(size=(30, 40))
        file.createVariable("plain", "i4", ("time", "lat", "lon"), chunksizes=(1, 30, 40))[:] = \
            rng.integers(0, 9, (24, 30, 40))
        file.createGroup("g").createVariable("o3", "f8", ("lat", "lon"))[:] = rng.normal(size=(30, 40))
    return path


def layout(path):
    """Chunks by path; None where contiguous."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, o: found.update({name: o.chunks}) if isinstance(o, h5py.Dataset) else None)
    return found


def filters(path, name):
    with h5py.File(path) as file:
        plist = file[name].id.get_create_plist()
        return [(plist.get_filter(i)[0], *plist.get_filter(i)[2][:1]) for i in range(plist.get_nfilters())]


def same_values(t, a, b):
    t.none("all but the layout", judges.h5_files(a, b, layout=False))


def chunks_after(t, src, *arguments, **options):
    out = t / "out.nc"
    if out.exists():
        out.unlink()
    result = t.rechunk(src, out, *arguments, go_on=True, **options)
    if result.code != 0:
        return {}, result
    same_values(t, src, out)
    return layout(out), result


def test_chunks_by_name_and_number(t):
    src = t.source(make_nc(t / "a.nc"))
    got, _ = chunks_after(t, src, "-c", "time/12,lat/5,lon/8")
    t.equal("o3", (12, 5, 8), got.get("o3"))
    t.equal("fixed", (5, 8), got.get("fixed"))
    t.equal("g/o3", (5, 8), got.get("g/o3"))
    got, _ = chunks_after(t, src, "-c", "o3:0/6,2/9")
    t.equal("o3 by axis numbers", (6, 10, 9), got.get("o3"))
    t.equal("plain", (1, 30, 40), got.get("plain"))
    got, _ = chunks_after(t, src, "-c", "o3:6,7,8")
    t.equal("o3 by position", (6, 7, 8), got.get("o3"))
    got, _ = chunks_after(t, src, "-c", "time/all", "-c", "plain:lat/15")
    t.equal("o3, time/all", (24, 10, 20), got.get("o3"))
    t.equal("plain, time/all and lat/15", (24, 15, 40), got.get("plain"))


def test_variable_before_all(t):
    """A spec that names the variable wins, whatever the order."""
    src = t.source(make_nc(t / "a.nc"))
    for order in (("-c", "/o3:time/4", "-c", "time/8"), ("-c", "time/8", "-c", "/o3:time/4")):
        got, _ = chunks_after(t, src, *order)
        t.equal("o3 after %s" % (order,), (4, 10, 20), got.get("o3"))
        t.equal("plain", (8, 30, 40), got.get("plain"))


def test_unnamed_dims(t):
    """They keep their chunk, or their full length where the source is contiguous; coordinates are not shredded."""
    src = t.source(make_nc(t / "a.nc"))
    before = layout(src)
    got, result = chunks_after(t, src, "-c", "time/1")
    t.equal("o3", (1, 10, 20), got.get("o3"))
    t.equal("fixed stays contiguous", None, got.get("fixed"))
    t.equal("the coordinate time", before["time"], got.get("time"))
    t.check("/time" in result.err, "no word that the coordinate was left alone: " + result.err)
    got, _ = chunks_after(t, src, "-c", "lat/6")
    t.equal("fixed, only lat asked", (6, 40), got.get("fixed"))
    got, _ = chunks_after(t, src, "-c", "time:time/1")
    t.equal("time, asked by name", (1,), got.get("time"))


def test_sizes_keep_contiguous(t):
    src = t.source(make_nc(t / "a.nc"))
    before = layout(src)
    for text, most in (("8KiB", 8192), ("64K", 64000), ("4MiB", 4 << 20)):
        got, _ = chunks_after(t, src, "-c", "o3:" + text)
        chunk = got.get("o3") or (0,)
        size = int(np.prod(chunk)) * 4
        t.check(min(most // 4, 24 * 30 * 40 * 4 // 4) <= size <= most, "-c %s gave %s, %d bytes" % (text, chunk, size))
    got, _ = chunks_after(t, src, "-c", "keep")
    t.equal("keep", before, got)
    got, _ = chunks_after(t, src)
    t.equal("nothing asked", before, got)
    got, _ = chunks_after(t, src, "-c", "4KiB", "-c", "o3:keep", "-c", "plain:keep")
    t.equal("o3:keep", (24, 10, 20), got.get("o3"))
    with h5py.File(t / "f.h5", "w") as file:
        file.create_dataset("v", data=np.arange(600.0).reshape(20, 30), chunks=(5, 30), compression="gzip")
    out = t / "f2.h5"
    t.rechunk(t / "f.h5", out, "-c", "contiguous", "--codec", "none")
    with h5py.File(out) as file:
        t.equal("contiguous", None, file["v"].chunks)
        t.check((file["v"][...].ravel() == np.arange(600)).all(), "values of the contiguous copy")
    got, _ = chunks_after(t, src, "-c", "auto")
    t.check(got.get("o3"), "-c auto left o3 without chunks")


def test_contiguous_that_cannot_be(t):
    """A variable that may grow, or is encoded, has chunks: asking otherwise is refused or said, never ignored."""
    src = t.source(make_nc(t / "a.nc"))
    for more in ((), ("--codec", "none")):
        out = t / "out.nc"
        result = t.rechunk(src, out, "-c", "o3:contiguous", *more, code=(0, 2, 4))
        t.check("/o3" in result.err, "no word about /o3: " + result.err)
        if result.code == 0:
            same_values(t, src, out)
            out.unlink()


def test_chunk_longer_than_dim(t):
    src = t.source(make_nc(t / "a.nc"))
    got, result = chunks_after(t, src, "-c", "o3:lat/256")
    t.equal("o3", (24, 30, 20), got.get("o3"))
    t.check("/o3" in result.err and "30" in result.err and "256" in result.err, "no note: " + result.err)
    got, result = chunks_after(t, src, "-c", "o3:time/100")
    t.equal("o3, longer than the records so far", (100, 10, 20), got.get("o3"))


def test_codecs(t):
    src = t.source(make_nc(t / "a.nc"))
    out = t / "c.nc"
    kept = filters(src, "o3")
    expected = {"none": [], "keep": kept, "shuffle,deflate:1": [(2, 4), (1, 1)], "zstd:3": [(32015, 3)]}
    for spec, want in expected.items():
        if t.rechunk(src, out, "--codec", spec, "--overwrite", "--verify", "full", go_on=True).code == 0:
            t.equal("--codec %s" % spec, want, filters(out, "o3"))
            same_values(t, src, out)
    if t.rechunk(src, out, "--codec", "plain:shuffle,deflate:5", "--overwrite", go_on=True).code == 0:
        t.equal("plain alone", [(2, 4), (1, 5)], filters(out, "plain"))
        t.equal("o3 as it was", kept, filters(out, "o3"))
    result = t.rechunk(src, out, "--codec", "fixed:deflate:2", "--overwrite", go_on=True)
    if result.code == 0:
        t.equal("contiguous, now deflated", [1], [f[0] for f in filters(out, "fixed")])
        t.check("/fixed" in result.err, "no note that /fixed got chunks: " + result.err)
    for spec, want in (("zstd:3", "ZstdCodec"), ("blosc:zstd:5:shuffle", "BloscCodec"), ("none", None)):
        store = t / "c.zarr"
        if t.rechunk(src, store, "--to", "zarr3", "--codec", spec, "--overwrite", go_on=True).code == 0:
            array = zarr.open_group(str(store))["o3"]
            t.equal("zarr3 --codec %s" % spec, [want] if want else [], [type(c).__name__ for c in array.compressors])
            t.check(judges.same_values(netCDF4.Dataset(src)["o3"][...].data, array[...]), "values with " + spec)


def test_variables(t):
    src = t.source(make_nc(t / "a.nc"))
    got, _ = chunks_only(t, src, "--variable", "/o3")
    t.equal("--variable /o3", {"o3", "time", "lat", "lon"}, got)
    got, _ = chunks_only(t, src, "--variable", "fixed", "--variable", "plain")
    t.equal("two variables", {"fixed", "plain", "time", "lat", "lon"}, got)
    got, _ = chunks_only(t, src, "--exclude", "plain", "--exclude", "/g/o3")
    t.equal("--exclude", {"o3", "fixed", "time", "lat", "lon"}, got)
    with netCDF4.Dataset(t / "v.nc") as file, netCDF4.Dataset(src) as original:
        t.equal("dimensions stay", list(original.dimensions), list(file.dimensions))
        t.check((file["o3"][...] == original["o3"][...]).all(), "values of o3")


def chunks_only(t, src, *arguments):
    out = t / "v.nc"
    result = t.rechunk(src, out, "--overwrite", *arguments)
    with netCDF4.Dataset(out) as file:
        names = set(file.variables) | {"g/" + v for g in file.groups.values() for v in g.variables}
    return names, result


def test_dry_run(t):
    src = t.source(make_nc(t / "a.nc"))
    result = t.refused("rechunk", src, t / "b.nc", "-c", "time/6", "--dry-run")
    t.check("o3" in result.out, "the plan does not name o3: %r" % result.out)
    document = t.refused("rechunk", src, t / "b.nc", "-c", "time/6", "--dry-run", "--json").document()
    t.equal("schema", "rechunk/1", document.get("schema"))
    t.check("plan" in document and "tiles" in document["plan"], "no plan in %s" % sorted(document))
    t.check(not document.get("verified"), "a dry run says verified")


def test_json(t):
    src = t.source(make_nc(t / "a.nc"))
    document = t.rechunk(src, t / "b.nc", "-c", "time/6,lat/10", "--json", "--verify", "full").document()
    t.equal("schema", "rechunk/1", document.get("schema"))
    for path in ("plan passes", "plan tiles", "plan memory_bytes", "actual peak_rss_bytes", "actual stages read",
                 "actual stages decode", "actual stages gather", "actual stages encode", "actual stages write",
                 "verified", "losses"):
        node = document
        for key in path.split():
            node = node.get(key) if isinstance(node, dict) else None
        t.check(node is not None, "no %s in %s" % (path, json.dumps(document)[:600]))
    t.equal("losses", [], document.get("losses"))
    t.check(not isinstance(document.get("plan", {}).get("memory_bytes"), str), "bytes must be plain numbers")


def test_quiet_and_verify(t):
    src = t.source(make_nc(t / "a.nc"))
    result = t.rechunk(src, t / "b.nc", "-c", "time/6", "-q")
    t.equal("output with -q", ("", ""), (result.out, result.err))
    for mode in ("none", "sample", "full"):
        document = t.rechunk(src, t / "b.nc", "-c", "time/6", "--verify", mode, "--json", "--overwrite").document()
        t.check(mode in json.dumps(document.get("verified")) or (mode == "none" and not document.get("verified")),
                "verified is %r with --verify %s" % (document.get("verified"), mode))
        same_values(t, src, t / "b.nc")
    result = t.rechunk(src, t / "b.nc", "--progress", "plain", "--overwrite")
    t.check("\r" not in result.err and "\x1b" not in result.err, "terminal codes although not on a terminal")


def test_target_format_from_suffix(t):
    src = t.source(make_nc(t / "a.nc"))
    t.rechunk(src, t / "b.zarr")
    t.check((t / "b.zarr" / "zarr.json").exists() or (t / "b.zarr" / ".zgroup").exists(), ".zarr made no Zarr")
    t.rechunk(src, t / "b.h5")
    with h5py.File(t / "b.h5") as file:
        t.equal("o3 in b.h5", (24, 30, 40), file["o3"].shape)
    t.rechunk(src, t / "without_suffix")
    with netCDF4.Dataset(t / "without_suffix") as file:
        t.check("o3" in file.variables, "without a suffix the format of the source is kept")


def test_help_and_version(t):
    for tool in ("rechunk", "chunkadvise"):
        text = t.run(tool, "--help").out
        t.check(tool in text and "xample" in text, "--help of %s shows no examples" % tool)
        t.check(any(c.isdigit() for c in t.run(tool, "--version").out), "--version of %s has no number" % tool)


if __name__ == "__main__":
    harness.main(globals())
