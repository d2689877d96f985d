"""Disks that fail: full, or with errors on reading, writing, flushing, renaming; sources cut while they are read.

Whatever fails, the command ends by itself with exit 6 (5 where the source is at fault), says which file and where in it,
and leaves nothing: neither under the final name nor beside it. tests/fault/shim.c makes the calls fail.
"""

import errno
import os
import signal
import subprocess
import time

import h5py
import numpy as np
import zarr

import harness

SHAPE = (64, 128, 96)  # f4: 3 MiB
LIMIT_S = 40


def shim(path, call, error=0, after_bytes=0, after_calls=0, sleep_us=0, bit=0):
    """The environment in which calls on files whose path contains `path` fail; tests/fault/shim.c has the words."""
    library = os.environ.get("CHUNKWISE_FAULT_SHIM", "")
    if not os.path.exists(library):
        raise harness.Skip("CHUNKWISE_FAULT_SHIM names no library; ctest sets it")
    return dict(os.environ, LD_PRELOAD=library, CHUNKWISE_FAULT_PATH=str(path), CHUNKWISE_FAULT_CALL=call,
                CHUNKWISE_FAULT_ERRNO=str(error), CHUNKWISE_FAULT_BYTES=str(after_bytes),
                CHUNKWISE_FAULT_CALLS=str(after_calls), CHUNKWISE_FAULT_SLEEP=str(sleep_us), CHUNKWISE_FAULT_BIT=str(bit))


def make_source(t, kind):
    values = np.random.default_rng(3).normal(size=SHAPE).astype("f4")
    if kind == "zarr":
        path = t / "in.zarr"
        zarr.create_array(str(path), data=values, chunks=(16, 32, 32), compressors=None)
        return t.source(path)
    path = t / ("in-%s.h5" % kind)
    with h5py.File(path, "w") as file:
        if kind == "contiguous":
            file["a"] = values
        else:
            file.create_dataset("a", data=values, chunks=(16, 32, 32))
    return t.source(path)


KINDS = ("chunked", "contiguous", "zarr")
TARGETS = ("out.h5", "out.nc", "out.zarr", "out.zarr2")


def fails(t, source, target, environment, says, code=6):
    return t.refused("rechunk", source, t / target, "-c", "64,8,8", code=code, says=says, env=environment, timeout=LIMIT_S)


def test_nothing_fails_without_a_fault(t):
    """The shim alone changes nothing."""
    for kind in KINDS:
        source = make_source(t, kind)
        target = t / ("out-%s.h5" % kind)
        t.rechunk(source, target, "-c", "64,8,8", env=shim("in", "read"))
        with h5py.File(target) as file:
            t.check(file["a" if kind != "zarr" else list(file)[0]].shape == SHAPE, "shape")


def test_reading_fails(t):
    for kind in KINDS:
        source = make_source(t, kind)
        for after_bytes in (0, 3_000, 400_000, 2_000_000):
            for target in ("out.h5", "out.zarr"):
                environment = shim(source.name, "read", errno.EIO, after_bytes=after_bytes)
                says = ("input/output error", source.name, " byte ")
                fails(t, source, target, environment, says)


def test_opening_fails(t):
    source = make_source(t, "chunked")
    fails(t, source, "out.h5", shim(source.name, "open", errno.EIO), ("input/output error", source.name))
    fails(t, source, "out.h5", shim("out.h5", "open", errno.EDQUOT), ("quota", "out.h5"))


def test_writing_fails(t):
    for kind in ("chunked", "contiguous"):
        source = make_source(t, kind)
        for target in TARGETS:
            for error, text in ((errno.ENOSPC, "no space left"), (errno.EIO, "input/output error")):
                for after_bytes in (0, 700, 1_000_000):
                    environment = shim(target, "write", error, after_bytes=after_bytes)
                    fails(t, source, target, environment, (text, target, " byte "))


def test_writing_fails_at_the_very_end(t):
    """The last bytes of an HDF5 file are written when it is closed."""
    source = make_source(t, "chunked")
    done = t / "sample.h5"
    t.rechunk(source, done, "-c", "64,8,8")
    for missing in (20_000, done.stat().st_size // 4):  # not less: not every byte allocated is also written
        environment = shim("out.h5", "write", errno.ENOSPC, after_bytes=done.stat().st_size - missing)
        fails(t, source, "out.h5", environment, ("no space left", "out.h5", " byte "))


def test_flushing_fails(t):
    source = make_source(t, "chunked")
    for target in TARGETS:
        fails(t, source, target, shim(target, "sync", errno.EIO), ("input/output error", target, "durable"))


def test_renaming_fails(t):
    source = make_source(t, "chunked")
    for target in TARGETS:
        fails(t, source, target, shim(target, "rename", errno.EIO), ("input/output error", target, "rename"))


def test_renaming_fails_over_an_old_target(t):
    source = make_source(t, "chunked")
    for target in ("out.h5", "out.zarr"):
        t.rechunk(source, t / target)
        before = harness.tree_hash(t / target)
        t.refused("rechunk", source, t / target, "-c", "64,8,8", "--overwrite", code=6, says=("input/output error", target),
                  env=shim(target, "rename", errno.EIO), timeout=LIMIT_S)
        t.check(harness.tree_hash(t / target) == before, "the old target changed")


def test_reading_back_fails(t):
    source = make_source(t, "chunked")
    for target in TARGETS:
        environment = shim(target, "read", errno.EIO, after_bytes=20_000)
        fails(t, source, target, environment, ("input/output error", target, " byte "))


def test_advising_on_a_failing_disk(t):
    for kind in KINDS:
        source = make_source(t, kind)
        t.chunkadvise(source, code=6, says=("input/output error", source.name, " byte "),
                      env=shim(source.name, "read", errno.EIO), timeout=LIMIT_S)


def begin(t, source, target, environment):
    """Starts a rewrite and returns when it writes its target."""
    argv = [harness.binary("rechunk"), str(source), str(t / target), "-c", "64,8,8", "-j", "2"]
    process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    limit = time.monotonic() + LIMIT_S
    while not any(".rechunk-" in name for name in os.listdir(t.dir)) and time.monotonic() < limit:
        time.sleep(0.01)
    return process


def end(t, process):
    try:
        _, err = process.communicate(timeout=LIMIT_S)
        return process.returncode, err.decode()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "no end", ""


def test_sources_cut_while_they_are_read(t):
    for kind in KINDS:
        for target in ("out.h5", "out.zarr"):
            source = make_source(t, kind)
            t._sources.clear()  # this test changes it itself
            process = begin(t, source, target, shim(source.name, "read", sleep_us=150_000))
            files = [source] if source.is_file() else [p for p in source.rglob("*") if p.is_file() and "c" in p.parts]
            for path in files:
                os.truncate(path, path.stat().st_size // 3)
            code, err = end(t, process)
            t.check(code in (5, 6), "%s to %s: exit %s\n%s" % (kind, target, code, err))
            t.check(source.name in err and "byte" in err, "%s to %s: no place is named: %s" % (kind, target, err))
            left = [name for name in harness.listing(t.dir) if "out" in name]
            t.check(not left, "left behind: %s" % left)
            for path in files:
                path.unlink()
            if source.is_dir():
                harness.shutil.rmtree(source)


if __name__ == "__main__":
    harness.main(globals())
