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


def test_refusals_name_what_would_be_right(t):
    path = make_h5(t / "a.h5")
    array = ("--shape", "1000,200,300", "--dims", "time,lat,lon")
    for arguments, says in (
            ((*array, "-a", "x=tine/1"), ("tine", "time", "lat", "lon")),
            ((path, "/g/v", "-a", "x=depth/1"), ("depth", "0", "1", "2")),
            ((*array, "-a", "x=time/1001"), ("1001", "1000")),
            ((*array, "-a", "x=time/0"), ("time/0",)),
            ((*array, "-a", "x="), ("dim/N",)),
            ((*array, "-a", ""), ("access",)),
            ((*array, "-a", "sections"), ("sections", "time-series", "map", "profile", "full")),
            ((*array, "--device", "flopy"), ("flopy", "hdd", "ssd", "nvme", "lustre", "s3")),
            ((*array, "--objective", "best"), ("best", "weighted", "worst", "p95", "cost")),
            ((*array, "--policy", "new4"), ("new4", "nc4")),
            ((*array, "--to", "zarr4"), ("zarr4", "zarr2")),
            ((*array, "--to", "nc3"), ("no chunks", "nc4")),
            ((path, "--objects", "5"), ("objects", "--to zarr3")),
            ((*array, "--codec-candidates", "zstd"), ("without a file",)),
            ((path, "--codec-candidates", "zsdt:3"), ("zsdt", "zstd")),
            ((path, "--codec-candidates", "shuffle"), ("compressor",)),
            ((path, "--codec-candidates", "zstd", "--sample", "0"), ("--sample",)),
            ((*array, "--sample", "1MiB"), ("--sample",)),
            ((*array, "--objects", "many"), ("many",))):
        t.chunkadvise(*arguments, code=2, says=says)
    t.chunkadvise(*array, "--memory", "2", code=7, says=("client memory", "--memory"))


def test_limits_hold(t):
    array = ("--shape", "20000,300,400", "--dims", "time,y,x", "--json")
    def recommended(*more):
        return layouts(t.chunkadvise(*array, *more).document()["variables"][0])["recommended"]
    free = recommended("--to", "zarr2")
    chunks = int(np.prod([-(-n // c) for n, c in zip((20000, 300, 400), free["chunks"])]))
    t.equal("objects of chunks without shards", chunks, free["objects"])
    few = recommended("--to", "zarr2", "--objects", "1000")
    t.check(few["objects"] <= 1000 and few["shards"] is None, "%s objects, shards %s" % (few["objects"], few["shards"]))
    sharded = recommended("--to", "zarr3", "--objects", "100")
    t.check(sharded["shards"], "no shards for 100 objects")
    t.equal("objects", int(np.prod([-(-n // s) for n, s in zip((20000, 300, 400), sharded["shards"])])), sharded["objects"])
    t.check(sharded["objects"] <= 100, "%s objects" % sharded["objects"])
    t.check(all(s % c == 0 for s, c in zip(sharded["shards"], sharded["chunks"])), "shards cut chunks: %s" % sharded)
    t.equal("index of the shards", sharded["objects"] * (16 * int(np.prod(sharded["shards"])) //
                                                         int(np.prod(sharded["chunks"])) + 4), sharded["index_bytes"])
    small = recommended("--device", "nvme", "--memory", "256KiB")
    t.check(small["client_bytes"] <= 256 * 1024, "%s held by the client" % small["client_bytes"])


def test_sizes_from_samples(t):
    """What rechunk then writes is inside the interval, or nearly."""
    generator = np.random.default_rng(1)
    time, y, x = np.meshgrid(np.arange(600), np.arange(40), np.arange(60), indexing="ij")
    data = (1000 * np.sin(time / 30 + y / 9) + 300 * np.cos(x / 11) + generator.normal(0, 3, time.shape)).astype("i2")
    with h5py.File(t / "a.h5", "w") as file:
        file.create_dataset("v", data=data, chunks=(1, 40, 60), compression="gzip", compression_opts=4, shuffle=True)
    variable = t.chunkadvise(t / "a.h5", "--json").document()["variables"][0]
    found = layouts(variable)["recommended"]
    t.check(variable["sample"]["boxes"] > 0 and found["size_is_sampled"], "nothing was sampled: %s" % variable["sample"])
    t.rechunk(t / "a.h5", t / "b.h5", "-c", "v:" + ",".join(map(str, found["chunks"])))
    with h5py.File(t / "b.h5") as file:
        size = file["v"].id.get_storage_size()
    low, high = (found[name] - found["index_bytes"] for name in ("size_low_bytes", "size_high_bytes"))
    t.check(low * 0.95 <= size <= high * 1.05, "%d bytes, predicted %d to %d" % (size, low, high))
    # Other codecs, and without any look.
    best = t.chunkadvise(t / "a.h5", "--codec-candidates", "zstd:3,shuffle,zstd:3,none", "--device", "nvme", "--json").document()
    codecs = layouts(best["variables"][0])["recommended"]["codecs"]
    t.check(codecs in (["shuffle", "deflate:4"], ["zstd:3"], ["shuffle", "zstd:3"], []), "codecs %s" % codecs)
    if codecs != ["shuffle", "deflate:4"]:
        t.check(best["command"] is None or "--codec" in best["command"], "the command has no codecs: %s" % best["command"])
    blind = t.chunkadvise(t / "a.h5", "--sample", "0", "--json").document()["variables"][0]
    t.check(blind["sample"] is None and not layouts(blind)["recommended"]["size_is_sampled"], "sampled in spite of 0")


def test_rewrite_and_copies(t):
    with h5py.File(t / "a.h5", "w") as file:
        file.create_dataset("v", shape=(2000, 60, 60), dtype="f4", chunks=(1, 60, 60), fillvalue=0)[...] = 1
    document = t.chunkadvise(t / "a.h5", "--json").document()
    variable = document["variables"][0]
    t.equal("leave", False, variable["leave"])
    rewrite = variable["rewrite"]
    t.check(rewrite["seconds"] > 0 and rewrite["pays_after"] >= 1, "rewrite %s" % rewrite)
    found = layouts(variable)
    gain = sum(p["weight"] * (a["seconds"] - b["seconds"]) for p, a, b in
               zip(variable["patterns"], found["current"]["costs"], found["recommended"]["costs"]))
    weight = {p["name"]: p["weight"] for p in variable["patterns"]}[rewrite["pattern"]]
    t.equal("reads after which it pays", int(np.ceil(rewrite["seconds"] / gain * weight)), rewrite["pays_after"])
    t.check(variable["try_first"], "nothing to try first")
    # The command does what it says.
    words = document["command"].split()
    t.equal("the command", ["rechunk", str(t / "a.h5"), str(t / "a-fast.h5")], words[:3])
    t.rechunk(*words[1:])
    with h5py.File(t / "a-fast.h5") as file:
        t.equal("chunks", tuple(found["recommended"]["chunks"]), file["v"].chunks)
    # Series and maps of a long array: two copies are far better than one.
    array = ("--shape", "100000,500,500", "--dims", "time,y,x", "--device", "hdd", "--json")
    copies = t.chunkadvise(*array).document()["variables"][0]["copies"]
    if t.check(copies, "no copies for series and maps of 100 GB"):
        t.equal("copies", {0, 1}, set(copies["copy_of"].values()))
        t.equal("size of both", sum(entry["size_bytes"] for entry in copies["layouts"]), copies["size_bytes"])
    front = t.chunkadvise(*array).document()["variables"][0]["front"]
    figures = [(e["objective"], e["size_bytes"], e["client_bytes"]) for e in front]
    t.check(front and not any(all(x <= y for x, y in zip(a, b)) and a != b for a in figures for b in figures
                              if all(x * 1.01 < y for x, y in zip(a, b))), "the front is none: %s" % figures)


def test_rechunk_auto_takes_the_same_advice(t):
    """Random arrays in files and stores: -c auto makes the chunks that chunkadvise recommends."""
    generator = np.random.default_rng(5)
    wrong = []
    for number in range(12):
        rank = int(generator.integers(2, 5))
        shape = tuple(int(10 ** generator.uniform(0.3, 5.2 / rank)) for _ in range(rank))
        chunks = tuple(int(generator.integers(1, n + 1)) for n in shape)
        dtype = ("f4", "i2", "f8")[number % 3]
        data = np.zeros(shape, dtype) + 1
        path = t / ("a%d%s" % (number, (".h5", ".zarr2", ".zarr3")[number % 3]))
        if number % 3 == 0:
            with h5py.File(path, "w") as file:
                file.create_dataset("v", data=data, chunks=chunks)
        else:
            group = zarr.open_group(str(path), mode="w", zarr_format=2 if number % 3 == 1 else 3)
            group.create_array("v", data=data, chunks=chunks)
        advice = t.chunkadvise(path, "--json").document()["variables"]
        if not advice:
            continue
        plan = t.rechunk(path, t / ("b%d%s" % (number, path.suffix)), "-c", "auto", "--dry-run", "--json").document()
        want = layouts(advice[0])["recommended"]["chunks"]
        got = next(v for v in plan["variables"] if v["path"] == "/v")["to"]["chunks"]
        if got != want and want is not None:
            wrong.append("%s %s: %s, advised %s" % (path.suffix, shape, got, want))
    t.none("chunks that differ from the advice", wrong)


if __name__ == "__main__":
    harness.main(globals())
