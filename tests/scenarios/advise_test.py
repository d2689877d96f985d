"""What chunkadvise says: about the sample, about files of every format, about a shape without a file."""

import json
import os
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import zarr

import harness

VARIABLE_FIELDS = ("path", "shape", "dtype", "dims", "chunks", "codecs", "n_chunks", "stored_bytes", "patterns",
                   "layouts")
COST_FIELDS = ("pattern", "chunks", "requests", "bytes_read", "seconds", "seconds_low", "seconds_high")
# Published or recomputed shapes for the NARR variable of "Chunking Data: Why it Matters", with the number of chunks
# that a time series and a map touch.
NARR = {
    "rew:4KiB": ((33, 5, 6), 2974, 3304), "rew:8KiB": ((46, 6, 7), 2134, 2350), "rew:16KiB": ((64, 8, 8), 1534, 1540),
    "rew:64KiB": ((129, 10, 12), 761, 840), "rew:1MiB": ((516, 20, 25), 191, 196),
    "rew:4MiB": ((1032, 29, 35), 96, 100),
    "rew:16MiB": ((2064, 40, 50), 48, 49), "nc4": ((4673, 12, 16), 21, 528), "nc4:16MiB": ((7010, 20, 25), 14, 196),
    "h5py": ((1534, 5, 11), 64, 1792), "zarr": ((3067, 18, 22), 32, 256), "dask": ((348, 277, 348), 282, 2)}


def sample():
    root = Path(os.environ.get("CHUNKWISE_SOURCE_DIR", Path(__file__).resolve().parents[2]))
    path = root / "data" / "sample.nc"
    if not path.exists():
        raise harness.Skip("no data/sample.nc")
    return path


def variables(document):
    return {v["path"]: v for v in document["variables"]}


def layouts(variable):
    return {entry["name"]: entry for entry in variable["layouts"]}


def check_document(t, document):
    t.equal("schema", "chunkadvise/1", document.get("schema"))
    for variable in document.get("variables", []):
        path = variable.get("path")
        missing = [f for f in VARIABLE_FIELDS if f not in variable]
        t.equal("missing fields of %s" % path, [], missing)
        names = [entry.get("name") for entry in variable.get("layouts", [])]
        t.check("current" in names and "recommended" in names, "%s: layouts are %s" % (path, names))
        for entry in variable.get("layouts", []):
            gone = [f for f in ("chunks", "shards", "weighted_seconds", "size_bytes", "costs") if f not in entry]
            t.equal("missing fields of %s, %s" % (path, entry.get("name")), [], gone)
            for cost in entry.get("costs", []):
                t.equal("missing fields of a cost of %s" % path, [], [f for f in COST_FIELDS if f not in cost])
                numbers = [cost.get(f) for f in COST_FIELDS[1:]]
                t.check(all(isinstance(n, (int, float)) and n == n and n >= 0 for n in numbers),
                        "%s, %s: costs are %s" % (path, entry.get("name"), cost))
                t.check(cost["seconds_low"] <= cost["seconds"] <= cost["seconds_high"], "interval of %s" % cost)
        weighted = {n: e["weighted_seconds"] for n, e in layouts(variable).items() if "weighted_seconds" in e}
        if "recommended" in weighted:
            worse = [n for n, s in weighted.items() if s < weighted["recommended"] * (1 - 1e-9)]
            t.equal("%s: layouts priced better than the recommended one" % path, [], worse)


def test_sample_json(t):
    path = sample()
    before = harness.tree_hash(path)
    text = t.chunkadvise(path, "--json").out
    document = json.loads(text)
    check_document(t, document)
    found = variables(document)
    with netCDF4.Dataset(path) as file, h5py.File(path) as raw:
        many = {n for n, v in file.variables.items() if v.ndim > 1}
        t.equal("variables", {"/" + n for n in many}, {p for p in found if p.count("/") == 1})
        for name in many:
            variable, real = found.get("/" + name), file[name]
            if not variable:
                continue
            t.equal("shape of " + name, list(real.shape), variable["shape"])
            t.equal("dims of " + name, list(real.dimensions), variable["dims"])
            t.equal("dtype of " + name, real.dtype.str[1:], variable["dtype"])
            if real.chunking() != "contiguous":
                t.equal("chunks of " + name, list(real.chunking()), variable["chunks"])
                t.equal("n_chunks of " + name, int(np.prod([-(-n // c) for n, c in zip(real.shape, real.chunking())])),
                        variable["n_chunks"])
            t.equal("stored_bytes of " + name, raw[name].id.get_storage_size(), variable["stored_bytes"])
    t.equal("the sample", before, harness.tree_hash(path))


def test_sample_text(t):
    for more in ((), ("--explain",)):
        # By a short name, as a person would: a long path may well be wider than the rest.
        text = t.chunkadvise(sample().name, *more, cwd=sample().parent).out
        wide = [line for line in text.splitlines() if len(line) > 80]
        t.equal("lines of more than 80 columns", [], wide)
        for word in ("current", "recommended", "time-series", "map"):
            t.check(word in text.lower(), "the text does not say %r" % word)
    with netCDF4.Dataset(sample()) as file:
        for name, v in file.variables.items():
            t.check(v.ndim < 2 or "/" + name in text, "/%s is not in the text" % name)
    t.check("NaN" not in text and "inf " not in text, "NaN or inf in the text")


def test_narr_without_a_file(t):
    document = t.chunkadvise("--shape", "98128,277,349", "--dtype", "f4", "--dims", "time,y,x", "--json").document()
    found = variables(document)
    if not t.equal("number of variables", 1, len(found)):
        return
    variable = next(iter(found.values()))
    got = layouts(variable)
    for name, (chunks, series, whole_map) in NARR.items():
        if not t.check(name in got, "no layout %s among %s" % (name, sorted(got))):
            continue
        t.equal("chunks of " + name, list(chunks), got[name]["chunks"])
        counts = {c["pattern"]: c["chunks"] for c in got[name]["costs"]}
        t.equal("chunks read with " + name, {"time-series": series, "map": whole_map}, counts)
    t.check("recommended" in got, "nothing is recommended")


def test_policies_candidates_patterns(t):
    base = ("--shape", "98128,277,349", "--dtype", "f4", "--dims", "time,y,x", "--json")
    document = t.chunkadvise(*base, "--policy", "rew:8KiB").document()
    names = set(layouts(document["variables"][0]))
    t.check("rew:8KiB" in names and "dask" not in names, "--policy rew:8KiB gave %s" % sorted(names))
    document = t.chunkadvise(*base, "--candidate", "time/92,y/9,x/11").document()
    shapes = [e["chunks"] for e in document["variables"][0]["layouts"] if e["name"].startswith("candidate")]
    t.equal("the candidate", [[92, 9, 11]], shapes)
    document = t.chunkadvise(*base, "-a", "daily=time/8,y/all,x/all@3", "-a", "time-series").document()
    patterns = {p["name"]: p for p in document["variables"][0]["patterns"]}
    t.equal("patterns", {"daily", "time-series"}, set(patterns))
    counts = {c["pattern"]: c["chunks"] for c in layouts(document["variables"][0])["nc4"]["costs"]}
    # 8 of 98128 steps at any place touch one chunk of 4673, sometimes two; times 24 x 22 over y and x.
    t.check(528 <= counts["daily"] <= 1056, "chunks of 'daily' with nc4: %s" % counts["daily"])
    hdd = t.chunkadvise(*base, "--device", "hdd").document()["variables"][0]
    nvme = t.chunkadvise(*base, "--device", "nvme").document()["variables"][0]
    slow, fast = layouts(hdd)["nc4"]["weighted_seconds"], layouts(nvme)["nc4"]["weighted_seconds"]
    t.check(slow > 2 * fast, "hdd %s s, nvme %s s" % (slow, fast))


def make_h5(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("g/v", data=np.arange(60 * 40 * 50, dtype="i2").reshape(60, 40, 50), chunks=(1, 40, 50),
                            compression="gzip", compression_opts=7, shuffle=True)
        file.create_dataset("plain", data=np.zeros((30, 20)))
    return path


def test_every_format(t):
    make_h5(t / "a.h5")
    data = np.arange(60 * 40 * 50, dtype="i2").reshape(60, 40, 50)
    for zarr_format in (2, 3):
        root = zarr.open_group(str(t / ("a%d.zarr" % zarr_format)), mode="w", zarr_format=zarr_format)
        root.create_array("g/v", data=data, chunks=(1, 40, 50))
        root["g"].create_array("scalar", data=np.array(3.0))
    for name in ("a.h5", "a2.zarr", "a3.zarr"):
        t.source(t / name)
        document = t.chunkadvise(t / name, "--json").document()
        check_document(t, document)
        variable = variables(document).get("/g/v")
        if t.check(variable, "%s: no /g/v" % name):
            t.equal("chunks in " + name, [1, 40, 50], variable["chunks"])
            t.equal("n_chunks in " + name, 60, variable["n_chunks"])
    t.check("deflate:7" in t.chunkadvise(t / "a.h5").out, "the codec and its level are not shown")
    document = t.chunkadvise(t / "a.h5", "/g/v", "--json").document()
    t.equal("only the variable asked for", ["/g/v"], list(variables(document)))
    document = t.chunkadvise(t / "a.h5", "--top", "2", "--json").document()
    check_document(t, document)


def test_recommendation_helps(t):
    """A map-shaped file read as time series must be advised away from its layout, and rechunk must take the advice."""
    src = make_h5(t / "a.h5")
    document = t.chunkadvise(src, "/g/v", "-a", "series=0/all,1/1,2/1", "--json", "--device", "hdd").document()
    found = layouts(document["variables"][0])
    t.check(found["recommended"]["weighted_seconds"] < found["current"]["weighted_seconds"],
            "recommended %s, current %s" % (found["recommended"]["chunks"], found["current"]["chunks"]))
    chunks = found["recommended"]["chunks"]
    if t.rechunk(src, t / "b.h5", "-c", "/g/v:" + ",".join(map(str, chunks))).code == 0:
        with h5py.File(t / "b.h5") as file:
            t.equal("chunks after taking the advice", tuple(chunks), file["g/v"].chunks)


def test_options_that_would_do_nothing_are_refused(t):
    path = make_h5(t / "a.h5")
    array = ("--shape", "1000,200,200")
    t.chunkadvise(path, "--check-factor", "3", code=2, says="--check")
    t.chunkadvise(path, "--price-per-gb", "0.1", code=2, says="--objective cost")
    t.chunkadvise(*array, "--count", code=2, says="--count")
    t.chunkadvise(*array, "--round", "ceil", "--policy", "nc4", code=2, says="rew")
    t.chunkadvise("calibrate", "--from", t / "none.csv", *array, "--budget", "3", code=2, says="--budget")


def test_rounding_up_reaches_the_default_policies(t):
    array = ("--shape", "98128,277,349", "--round", "ceil", "--json")
    for only in ((), ("--policy", "rew:8KiB")):
        found = t.chunkadvise(*array, *only).document()["variables"][0]
        t.equal("rew:8KiB as published", [46, 6, 8], layouts(found)["rew:8KiB"]["chunks"])


def test_check_option(t):
    src = make_h5(t / "a.h5")
    result = t.chunkadvise(src, "/g/v", "-a", "series=0/all,1/1,2/1", "--check", code=(2, 11))
    if result.code == 2:
        t.check("--check" in result.err, "refused without naming --check")
    else:
        t.chunkadvise(src, "/g/v", "-a", "one=0/1", "--check")


if __name__ == "__main__":
    harness.main(globals())
