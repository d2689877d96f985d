"""Rewrites whose target chunks need more of the source than the memory holds: through an intermediate array on the disk,
or by reading the source again, as planned, told, and within the memory."""

import errno
import re
import shutil
import signal
import subprocess

import h5py
import netCDF4
import numpy as np
import zarr

import harness
from faults_test import shim

MIB = 1 << 20
SHAPE = (130, 260, 330)  # f4: 42.5 MiB
CHUNKS = (4, 260, 330)
ACROSS = (130, 19, 23)  # cuts nothing evenly


def values(shape=SHAPE):
    ramp = np.arange(int(np.prod(shape)), dtype="i8")
    return ((ramp * 2654435761 >> 9) % 60013).astype("f4").reshape(shape)


def make_source(t, kind):
    path = t / ("in-%s" % kind)
    if kind == "zarr3":
        path = path.with_suffix(".zarr")
        zarr.create_group(str(path)).create_array("v", data=values(), chunks=CHUNKS, dimension_names=["t", "y", "x"])
    elif kind == "zarr2":
        path = path.with_suffix(".zarr2")
        zarr.create_group(str(path), zarr_format=2).create_array("v", data=values().astype(">f4"), chunks=CHUNKS, order="F")
    elif kind == "nc4":
        path = path.with_suffix(".nc")
        with netCDF4.Dataset(path, "w") as file:
            for name, length in zip("tyx", SHAPE):
                file.createDimension(name, length)
            file.createVariable("v", "f4", ("t", "y", "x"), chunksizes=CHUNKS, zlib=True, complevel=1)[:] = values()
    else:
        path = path.with_suffix(".h5")
        with h5py.File(path, "w") as file:
            file.create_dataset("v", data=values(), chunks=CHUNKS)
    return t.source(path)


def read(path):
    if path.is_dir():
        return np.asarray(zarr.open_group(str(path), mode="r")["v"])
    with h5py.File(path) as file:
        return file["v"][:]


def least_memory(t, *arguments):
    """The least that works, as the refusal names it."""
    before = harness.listing(t.dir)
    done = t.rechunk(*arguments, "--memory", "100KiB", code=7)
    t.equal("names in the folder", before, harness.listing(t.dir))
    return int(re.search(r"--memory (\d+)MiB", done.err).group(1))


def plan_of(report):
    return report["variables"][0]


def test_all_to_all_in_little_memory(t):
    """400 MB in 64 MiB, a thousand target chunks that each need every source chunk (case C55)."""
    shape = (1000, 100000)
    array = zarr.create_array(str(t / "s.zarr"), shape=shape, chunks=(10, 100000), dtype="f4", fill_value=0)
    slab = (np.arange(10 * shape[1], dtype="i8") % 251 + 1).astype("f4").reshape(10, shape[1])
    for i in range(0, shape[0], 10):
        array[i:i + 10] = slab + (i // 10) % 7
    source = t.source(t / "s.zarr")
    source_bytes = sum(f.stat().st_size for f in source.rglob("*") if f.is_file())
    request = (source, t / "d.zarr", "-c", "1000,100", "-j", "4", "--json")

    t.refused("rechunk", *request, "--memory", "100KiB", code=7, says="the least that works is --memory")
    before = harness.listing(t.dir)
    planned = t.rechunk(*request, "--memory", "64MiB", "--dry-run").document()
    t.equal("names after --dry-run", before, harness.listing(t.dir))
    done = t.rechunk(*request, "--memory", "64MiB", measure=True, timeout=240)
    report = done.document()
    actual = report["actual"]
    print("        peak %.1f MiB, read %.2f x the source, scratch %.1f MiB written, %.1f s" % (
        done.peak_rss_bytes / MIB, actual["bytes_read"] / source_bytes, actual["scratch_bytes_written"] / MIB, done.seconds))
    t.check(done.peak_rss_bytes <= 64 * MIB, "peak %.1f MiB" % (done.peak_rss_bytes / MIB))
    t.check(actual["bytes_read"] <= 1.3 * source_bytes,
            "read %d of %d bytes" % (actual["bytes_read"], source_bytes))
    variable = plan_of(planned)
    t.equal("the plan", ("intermediate", 1), (variable["choices"][0]["by"], variable["passes"]))
    # Two processes are not of quite the same size, so their tiles may differ a little.
    t.equal("the way of the run", "intermediate", plan_of(report)["choices"][0]["by"])
    t.equal("bytes read from and written to the intermediate", actual["scratch_bytes_written"],
            actual["scratch_bytes_read"])
    t.check(actual["scratch_bytes_written"] <= 1.5 * planned["plan"]["scratch_bytes"], "scratch: %d bytes of %d planned" % (
        actual["scratch_bytes_written"], planned["plan"]["scratch_bytes"]))
    t.equal("names in the folder", sorted(before + ["d.zarr"]), harness.listing(t.dir))
    t.equal("target chunks", 1000, len([f for f in (t / "d.zarr" / "c").rglob("*") if f.is_file()]))
    made = zarr.open_array(str(t / "d.zarr"), mode="r")
    for i in range(0, shape[1], 20000):
        part = made[:, i:i + 20000]
        wanted = np.concatenate([slab[:, i:i + 20000] + (r // 10) % 7 for r in range(0, shape[0], 10)])
        t.check(np.array_equal(part, wanted), "wrong values from column %d" % i)


def test_every_pair_of_formats(t):
    """Whatever the formats: right, and within the memory."""
    sources = {kind: make_source(t, kind) for kind in ("zarr3", "zarr2", "nc4", "h5")}
    targets = {"zarr3": "out.zarr3", "zarr2": "out.zarr2", "nc4": "out.nc", "h5": "out.h5"}
    wanted = values()
    for i, (kind, source) in enumerate(sources.items()):
        for j, (to, name) in enumerate(targets.items()):
            if (i + j) % 2 == 1 and (kind, to) != ("nc4", "zarr3"):
                continue  # half of them, every format on both sides
            out = t / name
            request = (source, out, "--to", to, "-c", ",".join(map(str, ACROSS)), "-j", "2", "--overwrite")
            memory = least_memory(t, *request) + 12
            done = t.rechunk(*request, "--memory", "%dMiB" % memory, "--verify", "full", "--json", measure=True, timeout=120,
                             go_on=True)
            if done.code != 0:
                continue
            report = done.document()
            what = "%s to %s in %d MiB" % (kind, to, memory)
            t.check(plan_of(report)["intermediate"], what + ": no intermediate: %s" % plan_of(report)["choices"])
            t.check(done.peak_rss_bytes <= memory * MIB, "%s: peak %.1f MiB" % (what, done.peak_rss_bytes / MIB))
            t.check(np.array_equal(read(out), wanted), what + ": wrong values")


def test_shards(t):
    source = make_source(t, "h5")
    request = (source, t / "out.zarr", "-c", "65,13,11", "--shards", "130,130,165", "-j", "2", "--codec", "zstd:1")
    memory = least_memory(t, *request) + 12
    done = t.rechunk(*request, "--memory", "%dMiB" % memory, "--json", measure=True, timeout=120)
    t.check(plan_of(done.document())["intermediate"], "no intermediate: %s" % plan_of(done.document())["choices"])
    t.check(done.peak_rss_bytes <= memory * MIB, "peak %.1f of %d MiB" % (done.peak_rss_bytes / MIB, memory))
    t.check(np.array_equal(read(t / "out.zarr"), values()), "wrong values")
    t.equal("objects", 4, len([f for f in (t / "out.zarr" / "v" / "c").rglob("*") if f.is_file()]))


def test_absent_chunks_stay_absent_and_variables_share(t):
    """An array through an intermediate, beside one that is mostly absent and one that needs none."""
    with h5py.File(t / "in.h5", "w") as file:
        file.create_dataset("dense", data=values(), chunks=CHUNKS)
        sparse = file.create_dataset("sparse", SHAPE, "f4", chunks=(3, 130, 110), fillvalue=-7)
        sparse[30:90, :130, 110:] = values((60, 130, 220))
        file.create_dataset("small", data=np.arange(100), chunks=(10,))
    source = t.source(t / "in.h5")
    request = (source, t / "out.zarr", "-c", "dense:130,19,23", "-c", "sparse:130,13,11", "-c", "small:100", "-j", "3")
    memory = least_memory(t, *request) + 12
    done = t.rechunk(*request, "--memory", "%dMiB" % memory, "--json", measure=True, timeout=120)
    ways = {v["path"]: bool(v["intermediate"]) for v in done.document()["variables"]}
    # Of the sparse one little is read again, so that either way may be the cheaper.
    t.check(ways["/dense"] and not ways["/small"], "through an intermediate: %s" % ways)
    t.check(done.peak_rss_bytes <= memory * MIB, "peak %.1f of %d MiB" % (done.peak_rss_bytes / MIB, memory))
    made = zarr.open_group(str(t / "out.zarr"), mode="r")
    with h5py.File(source) as file:
        for name in ("dense", "sparse", "small"):
            t.check(np.array_equal(made[name][...], file[name][...]), "%s: wrong values" % name)
    n_stored = len([f for f in (t / "out.zarr" / "sparse" / "c").rglob("*") if f.is_file()])
    t.equal("chunks of the sparse array", 10 * 20, n_stored)  # of 20 x 30: those that meet what was written


def test_where_the_scratch_is_and_that_it_is_told(t):
    source = make_source(t, "zarr3")
    (t / "scratch").mkdir()
    (t / "file").write_text("no folder")
    request = (source, t / "out.h5", "-c", ",".join(map(str, ACROSS)), "-j", "1")
    memory = least_memory(t, *request) + 12
    request += ("--memory", "%dMiB" % memory)
    t.refused("rechunk", *request, "--scratch", t / "nowhere", code=3, says="there is no such folder")
    t.refused("rechunk", *request, "--scratch", t / "file", code=2, says="is not a folder")

    told = t.rechunk(*request, "--dry-run").out
    t.check("through an intermediate of" in told and "not by reading it" in told, "--dry-run says:\n" + told)
    again = t.rechunk(*request, "--scratch", "none", "--json").document()
    t.check(plan_of(again)["intermediate"] is None and plan_of(again)["passes"] > 1.2, "plan: %s" % plan_of(again))
    t.equal("ways weighed", [], plan_of(again)["choices"])
    t.check(np.array_equal(read(t / "out.h5"), values()), "wrong values")
    # A file without a name is seen only by who has it open.
    through = t.rechunk(*request, "--scratch", t / "scratch", "--overwrite", "--json").document()
    t.equal("scratch", str(t / "scratch"), through["plan"]["scratch"])
    t.equal("left in the scratch folder", [], harness.listing(t / "scratch"))
    t.check(np.array_equal(read(t / "out.h5"), values()), "wrong values")


def test_a_full_or_failing_scratch_disk(t):
    source = make_source(t, "zarr3")
    (t / "scratch").mkdir()
    request = (source, t / "out.h5", "-c", ",".join(map(str, ACROSS)), "-j", "2")
    memory = least_memory(t, *request) + 12
    request += ("--memory", "%dMiB" % memory, "--scratch", t / "scratch")
    for call, error, says in (("write", errno.ENOSPC, "no space left"), ("read", errno.EIO, "input/output error")):
        environment = shim(t / "scratch", call, error, after_bytes=3 * MIB)
        t.refused("rechunk", *request, code=6, says=(says, "scratch"), env=environment, timeout=60)
        t.equal("left in the scratch folder", [], harness.listing(t / "scratch"))


def test_kill_and_resume(t):
    source = make_source(t, "h5")
    (t / "scratch").mkdir()
    options = ["-c", ",".join(map(str, ACROSS)), "-j", "1", "--codec", "zstd:17"]
    memory = least_memory(t, source, t / "out.zarr", *options) + 12
    options += ["--memory", "%dMiB" % memory, "--scratch", t / "scratch"]
    seconds = t.rechunk(source, t / "ref.zarr", *options, timeout=240).seconds
    shutil.rmtree(t / "ref.zarr")
    request = [source, t / "out.zarr", *options, "--resume"]
    argv = [harness.binary("rechunk"), *map(str, request)]
    n_kills = 0
    for part in (0.3, 0.5, 0.6):
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=part * seconds)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            n_kills += 1
        t.equal("left in the scratch folder", [], harness.listing(t / "scratch"))
    t.check(n_kills >= 1, "never killed")
    if not (t / "out.zarr").exists():
        report = t.rechunk(*request, "--json", timeout=240).document()
        n_resumed = (report["resumed"] or {}).get("chunks_done_before", 0)
        print("        %d of %d chunks were done before" % (n_resumed, 14 * 15))
    t.check(np.array_equal(read(t / "out.zarr"), values()), "wrong values")
    # Nothing but what a run left that was killed before its first checkpoint.
    t.equal("names in the folder", ["in-h5.h5", "out.zarr", "scratch"],
            [name for name in harness.listing(t.dir) if not name.startswith(".out.zarr.rechunk")])


if __name__ == "__main__":
    harness.main(globals())
