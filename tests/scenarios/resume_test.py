"""Work that is killed, interrupted or cut by a power loss goes on with --resume.

CHUNKWISE_FULL=1 kills fifty times instead of a few. The moments come from a seed, CHUNKWISE_SEED (default 1).
"""

import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import zarr

import harness
import judges

FULL = os.environ.get("CHUNKWISE_FULL") == "1"
SEED = int(os.environ.get("CHUNKWISE_SEED", "1"))
N_KILLS = 9 if FULL else 1  # of each kind of target
SHAPE = (256, 256, 256)
MOST_REPEATED = 0.10
# So much work, about, is done before the first checkpoint and while one is made, which counts where all takes 2 seconds.
CHECKPOINT_S = 0.4


def values(seed=0, shape=SHAPE):
    """Compresses a little, and slowly at deflate's level 9."""
    return np.random.default_rng(seed).integers(0, 4000, shape).astype("f4")


# ---- sources: what each puts into the target's metadata is what a rebuilt file must have again

def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("y", SHAPE[1]), ("x", SHAPE[2])):
            file.createDimension(name, length)
        variable = file.createVariable("T", "f4", ("time", "y", "x"), chunksizes=(8, 256, 256))
        for i in range(12):  # more than fit an object header: a heap of attributes
            variable.setncattr("note%d" % i, "text %d" % i)
        variable[:] = values()
        scalar = file.createVariable("crs", "i4")
        scalar[...] = 7
        scalar.setncattr("long", "x" * 5000)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(SHAPE[0])
    return path


def make_hdf5(path, **how):
    with h5py.File(path, "w", **how) as file:
        file.create_dataset("early", data=values(1, (64, 256, 256)), chunks=(8, 256, 256))
        sparse = file.create_dataset("g/sparse", SHAPE, "f4", chunks=(8, 256, 256), fillvalue=5)
        for i in range(0, SHAPE[0], 16):
            sparse[i:i + 8] = values(i, (8,) + SHAPE[1:])
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((10,))
        small = h5py.h5d.create(file.id, b"compact", h5py.h5t.NATIVE_INT32, space, plist)
        small.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(10, dtype="i4"))
        for i in range(20):
            file["g"].attrs["a%d" % i] = np.arange(i + 1)
            file.create_group("g/empty%d" % i)
    return path


def make_early(path):
    """Space allocated and filled when the dataset is made."""
    with h5py.File(path, "w", libver="latest") as file:
        for name, chunk in (("a", (8, 256, 256)), ("b", (16, 128, 256))):
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk(chunk)
            plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            plist.set_fill_value(np.array([3], "f4"))
            space = h5py.h5s.create_simple(SHAPE)
            made = h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F32LE, space, plist)
            h5py.Dataset(made)[:100] = values(2, (100,) + SHAPE[1:])
    return path


def make_slow(path, gap=8):
    """Slow to decode, for targets that have nothing to encode; some chunks were never written."""
    with h5py.File(path, "w") as file:
        made = file.create_dataset("a", (96, 256, 256), "f4", chunks=(4, 256, 256), fillvalue=9,
                                   **hdf5plugin.BZip2())
        made[:40] = values(3, (40, 256, 256))
        made[40 + gap:] = values(4, (56 - gap, 256, 256))
    return path


DEFLATE = ("-c", "T:256,16,16", "--codec", "T:shuffle,deflate:9")
KINDS = {
    "nc4": (make_netcdf, "a.nc", "b.nc", DEFLATE),
    "superblock3": (lambda p: make_hdf5(p, libver="latest"), "a.h5", "b.h5",
                    ("-c", "early:64,16,16", "-c", "g/sparse:256,16,16", "--codec", "early:shuffle,deflate:9",
                     "--codec", "g/sparse:shuffle,deflate:9")),
    "pages": (lambda p: make_hdf5(p, fs_strategy="page", fs_persist=True, fs_page_size=4096), "a.h5", "b.h5",
              ("-c", "early:contiguous", "-c", "g/sparse:256,16,16", "--codec", "g/sparse:shuffle,deflate:9")),
    "contiguous": (make_slow, "a.h5", "b.h5", ("-c", "a:contiguous", "--codec", "none")),
    # Without gaps, for which the whole file would be filled at once, so that what stands on the disk tells nothing.
    "nc3": (lambda p: make_slow(p, gap=0), "a.h5", "b.nc", ("--to", "nc3")),
    "zarr2": (make_netcdf, "a.nc", "b.zarr", ("--to", "zarr2", "-c", "T:256,16,16", "--codec", "T:deflate:9")),
    "zarr3": (make_netcdf, "a.nc", "b.zarr", ("--to", "zarr3", "-c", "T:256,16,16", "--codec", "T:gzip:9")),
    "shards": (make_netcdf, "a.nc", "b.zarr",
               ("--to", "zarr3", "-c", "T:32,32,32", "--shards", "T:128,256,256", "--codec", "T:gzip:9")),
    "one_shard": (make_netcdf, "a.nc", "b.zarr",
                  ("--to", "zarr3", "-c", "T:256,16,16", "--shards", "T:256,256,256", "--codec", "T:gzip:9")),
}
COMMON = ("-j", "1", "--memory", "120MB")


# ---- running and killing

def stored_bytes(path):
    """Bytes that stand on the disk, of a file or all files of a folder."""
    path = Path(path)
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    return sum(p.stat().st_blocks * 512 for p in files)


def leftovers(folder, target):
    """The unfinished target and its journal, or None where one is not there."""
    names = [n for n in harness.listing(folder) if n.startswith(".%s.rechunk-" % target)]
    journals = [n for n in names if n.endswith(".journal")]
    targets = [n for n in names if not n.endswith(".journal")]
    return (folder / targets[0] if targets else None, folder / journals[0] if journals else None)


def start(t, *arguments, **popen):
    t.command = "rechunk " + " ".join(map(str, arguments))
    return subprocess.Popen([harness.binary("rechunk"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=t.dir, **popen)


def is_classic(path):
    return path.is_file() and path.read_bytes()[:3] == b"CDF"


def compare(t, expected, got):
    if is_classic(expected):  # a fixed layout: everything has its place
        t.equal("bytes of the resumed target", harness.tree_hash(expected), harness.tree_hash(got))
    elif expected.is_dir():
        t.none("the resumed target", judges.zarr_trees(expected, got))
    else:
        t.none("the resumed target", judges.h5_files(expected, got))
    if expected.suffix == ".nc":
        t.none("ncdump -h", judges.text_differences(judges.ncdump_header(expected), judges.ncdump_header(got)))


def make_reference(t, kind):
    make, source, target, arguments = KINDS[kind]
    make(t / source)
    t.source(t / source)
    reference = t / ("ref" + Path(target).suffix)
    run = t.run("rechunk", t / source, reference, *arguments, *COMMON, "--json", timeout=600)
    return source, target, arguments, reference, run.seconds, run.document()


def kill_and_resume(t, kind, n_kills):
    source, target, arguments, reference, seconds, whole = make_reference(t, kind)
    final_bytes = stored_bytes(reference)
    chance = random.Random("%d %s" % (SEED, kind))
    command = (source, target, *arguments, *COMMON, "--resume", "--json")
    for n in range(n_kills):
        process = start(t, *command)
        began = time.monotonic()
        at = seconds * chance.uniform(0.05, 0.95)
        try:
            process.communicate(timeout=at)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        ran = time.monotonic() - began
        unfinished, journal = leftovers(t.dir, target)
        # Faster than the reference; or killed after the rename, when the target is complete and verified.
        if process.returncode == 0 or (unfinished is None and (t.dir / target).exists()):
            shutil.rmtree(t / target, ignore_errors=True) or (t / target).unlink(missing_ok=True)
            continue
        t.check(not (t / target).exists(), "%s: the final name is there after a kill" % kind)
        written = stored_bytes(unfinished) / final_bytes if unfinished else 0
        done = t.run("rechunk", t / source, t / target, *arguments, *COMMON, "--resume", "--json", timeout=600)
        resumed = done.document()["resumed"]
        rest = done.document()["actual"]["bytes_written"] / whole["actual"]["bytes_written"]
        repeated = max(0, written + rest - 1)
        print("%s: killed after %.2f of %.2f s with %.0f %% written, %.1f %% repeated" %
              (kind, ran, seconds, 100 * written, 100 * repeated), flush=True)
        t.check(resumed is None or journal is not None, "resumed without a journal")
        if resumed is not None:
            t.check(repeated <= max(MOST_REPEATED, CHECKPOINT_S / seconds),
                    "%.0f %% of the work was repeated" % (100 * repeated))
        else:
            t.check(ran < 3, "no checkpoint after %.1f s" % ran)
        compare(t, reference, t / target)
        rest = leftovers(t.dir, target)
        if journal is None and unfinished is not None:  # of no use, and not ours to delete
            t.equal("names beside the target", (unfinished, None), rest)
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        else:
            t.equal("names beside the target", (None, None), rest)
        if (t / target).is_dir():
            shutil.rmtree(t / target)
        else:
            (t / target).unlink()


def test_kill_nc4(t):
    kill_and_resume(t, "nc4", N_KILLS)


def test_kill_superblock3(t):
    kill_and_resume(t, "superblock3", N_KILLS)


def test_kill_pages(t):
    kill_and_resume(t, "pages", N_KILLS)


def test_kill_contiguous(t):
    kill_and_resume(t, "contiguous", N_KILLS)


def test_kill_nc3(t):
    kill_and_resume(t, "nc3", N_KILLS)


def test_kill_zarr2(t):
    kill_and_resume(t, "zarr2", N_KILLS)


def test_kill_zarr3(t):
    kill_and_resume(t, "zarr3", N_KILLS)


def test_kill_shards(t):
    kill_and_resume(t, "shards", N_KILLS)


def test_kill_one_shard(t):
    kill_and_resume(t, "one_shard", N_KILLS)


def test_early_allocation(t):
    """Chunks full of fill are stored, although we did not write them. (How such a file resumes: hdf5_resume_test.cc.)"""
    make_early(t / "a.h5")
    t.run("rechunk", t / "a.h5", t / "b.h5", "-c", "a:16,64,256", "-c", "b:8,256,256", timeout=600)
    t.none("values", judges.h5_files(t / "a.h5", t / "b.h5", layout=False))


def wait_for_checkpoints(t, process, target, n):
    """Waits until the journal has grown so often, or the process has ended."""
    sizes = set()
    while process.poll() is None and len(sizes) <= n:
        _, journal = leftovers(t.dir, target)
        try:
            sizes.add(journal.stat().st_size if journal else 0)
        except FileNotFoundError:
            pass
        time.sleep(0.005)


def run_until_killed(t, source, target, arguments):
    """Kills a run after a few checkpoints; True if it was caught in time."""
    process = start(t, source, target, *arguments)
    wait_for_checkpoints(t, process, target, 6)
    process.kill()
    process.communicate()
    return leftovers(t.dir, target)[1] is not None


def test_killed_again_and_again(t):
    """A run that goes on may be killed too; nothing done by any of them is lost."""
    source, target, arguments, reference, seconds, _ = make_reference(t, "nc4")
    chance = random.Random(SEED)
    n_kills = 0
    while n_kills < 30:
        process = start(t, source, target, *arguments, *COMMON, "--resume")
        try:
            process.communicate(timeout=chance.uniform(0.2, 0.5) * seconds + 0.3)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            n_kills += 1
    t.equal("exit code of the last", 0, process.returncode)
    t.check(n_kills >= 1, "never killed")
    compare(t, reference, t / target)


def test_changed_chunk_is_noticed(t):
    """In a directory a chunk that got other values, of the same size, makes it another source."""
    source, target = "a.zarr", "b.zarr"
    zarr.create_array(str(t / source), data=values(), chunks=(8, 256, 256), compressors=None)
    arguments = ("-c", "256,16,16", "--codec", "gzip:9", *COMMON)
    if not t.check(run_until_killed(t, source, target, arguments), "killed too late"):
        return
    chunk = t / source / "c" / "17" / "0" / "0"
    kept, content = os.stat(chunk), chunk.read_bytes()
    chunk.write_bytes(content[::-1])
    os.utime(chunk, ns=(kept.st_atime_ns, time.time_ns() + 2_000_000_000))
    t.refused("rechunk", t / source, t / target, "--resume", *arguments, code=4, says=("c/17/0/0", "has changed"))
    chunk.write_bytes(content)
    os.utime(chunk, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    t.run("rechunk", t / source, t / target, "--resume", *arguments, says=("going on with",), timeout=600)
    t.check(np.array_equal(values(), zarr.open_array(str(t / target), mode="r")[...]), "other values")


def test_leftover_is_named(t):
    """Without --resume nothing is deleted, and the leftover is named with what to do about it."""
    make_netcdf(t / "a.nc")
    arguments = (*DEFLATE, *COMMON)
    if not t.check(run_until_killed(t, "a.nc", "b.nc", (*DEFLATE, *COMMON)),
                   "killed too late"):
        return
    unfinished, journal = leftovers(t.dir, "b.nc")
    before = harness.tree_hash(unfinished), harness.tree_hash(journal)
    t.run("rechunk", t / "a.nc", t / "b.nc", *arguments, timeout=600,
          says=("unfinished", unfinished.name, "--resume", "% done"))
    t.equal("the leftover", before, (harness.tree_hash(unfinished), harness.tree_hash(journal)))
    t.check((t / "b.nc").exists(), "the plain run made no target")
    (t / "b.nc").unlink()

    # What must be the same for work to go on.
    t.refused("rechunk", t / "a.nc", t / "b.nc", "--resume", "-c", "T:64,16,16", code=2, says=("T was to get",))
    t.refused("rechunk", t / "a.nc", t / "b.nc", "--resume", "-c", "T:256,16,16", "--variable", "T", code=2)
    shutil.copy(t / "a.nc", t / "c.nc")
    t.refused("rechunk", t / "c.nc", t / "b.nc", "--resume", *arguments, code=(2, 4), says=("a.nc",))
    kept = os.stat(t / "a.nc")
    os.utime(t / "a.nc", ns=(kept.st_atime_ns, kept.st_mtime_ns + 1))
    t.refused("rechunk", t / "a.nc", t / "b.nc", "--resume", *DEFLATE,
              code=4, says=("has changed",))
    os.utime(t / "a.nc", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    t.equal("the leftover", before, (harness.tree_hash(unfinished), harness.tree_hash(journal)))

    # A journal that cannot be read.
    content = journal.read_bytes()
    journal.write_bytes(b"rubbish" + content)
    t.refused("rechunk", t / "a.nc", t / "b.nc", "--resume", *arguments, code=4, says=("not a journal",))
    # A torn end is cut off; here all but the first checkpoint.
    journal.write_bytes(content[:-3])
    t.run("rechunk", t / "a.nc", t / "b.nc", "--resume", *DEFLATE, *COMMON,
          says=("going on with",), timeout=600)
    t.run("rechunk", t / "a.nc", t / "ref.nc", *DEFLATE, timeout=600)
    compare(t, t / "ref.nc", t / "b.nc")


def test_killed_before_the_first_checkpoint(t):
    """What nothing can be gone on with is named, and with --resume makes room where it is of this very work."""
    make_netcdf(t / "a.nc")
    arguments = (*DEFLATE, *COMMON)
    if not t.check(run_until_killed(t, "a.nc", "b.nc", arguments), "killed too late"):
        return
    unfinished, journal = leftovers(t.dir, "b.nc")
    t.run("rechunk", t / "a.nc", t / "ref.nc", *arguments, timeout=600)
    content = journal.read_bytes()
    identity_bytes = 16 + 16 + struct.unpack_from("<Q", content, 16)[0]  # see docs/journal.md
    named = ("an earlier run left", unfinished.name, "remove it if no run is at work on it")
    removed = ("removed '", unfinished.name, "before anything of it was safe", "nothing to resume")
    for n_bytes, options, says in ((5, ("--resume",), named), (identity_bytes - 1, ("--resume",), named),
                                   (identity_bytes, (), named), (identity_bytes, ("--resume",), removed)):
        journal.write_bytes(content[:n_bytes])
        before = harness.tree_hash(unfinished), harness.tree_hash(journal)
        done = t.run("rechunk", t / "a.nc", t / "b.nc", *arguments, *options, timeout=600, says=says)
        t.check("going on" not in done.err, "went on from nothing")
        if says == named:
            t.equal("the leftover", before, (harness.tree_hash(unfinished), harness.tree_hash(journal)))
        else:
            t.equal("names beside the target", (None, None), leftovers(t.dir, "b.nc"))
        compare(t, t / "ref.nc", t / "b.nc")
        (t / "b.nc").unlink()


def test_nothing_to_resume(t):
    """Job scripts give --resume always."""
    with h5py.File(t / "a.h5", "w") as file:
        file["x"] = np.arange(10)
    t.run("rechunk", t / "a.h5", t / "b.h5", "--resume", says=("nothing to resume",))
    t.refused("rechunk", t / "a.h5", t / "b.h5", "--resume", code=8)
    # A run killed between the rename and the end leaves a journal whose target has its name already.
    (t / ".c.h5.rechunk-1-00000000").write_bytes(b"")
    t.run("rechunk", t / "a.h5", t / "c.h5", says=(".c.h5.rechunk-1-00000000", "remove it"))


def test_other_process_at_work(t):
    make_netcdf(t / "a.nc")
    arguments = (*DEFLATE, *COMMON, "--resume")
    process = start(t, "a.nc", "b.nc", *arguments)
    while process.poll() is None and leftovers(t.dir, "b.nc")[1] is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)
    try:
        if t.check(process.poll() is None, "over too soon"):
            t.refused("rechunk", t / "a.nc", t / "b.nc", *arguments, code=8, says=("another process",))
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate()
    t.equal("exit code of the first", 0, process.returncode)


def test_signals_keep_the_work(t):
    """SIGINT and SIGTERM: exit 10, and the message says how to go on."""
    source, target, arguments, reference, _, whole = make_reference(t, "nc4")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = start(t, source, target, *arguments, *COMMON)
        while process.poll() is None and leftovers(t.dir, target)[1] is None:
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        unfinished, journal = leftovers(t.dir, target)
        t.equal("exit code", 10, process.returncode)
        if not t.check(unfinished and journal, "nothing was kept"):
            return
        text = err.decode()
        t.check("--resume" in text and unfinished.name in text, "the message does not say how to go on: " + text)
        t.check(not (t / target).exists(), "the final name is there")
        done = t.run("rechunk", t / source, t / target, *arguments, *COMMON, "--resume", "--json", timeout=600)
        told = re.search(r"(\d+) % is done", text)
        kept = 100 * done.document()["resumed"]["bytes_done_before"] / whole["plan"]["bytes_decoded"]
        t.check(told and abs(int(told[1]) - kept) <= 1.5, "kept %.1f %%, told: %s" % (kept, text))
        compare(t, reference, t / target)
        (t / target).unlink()


# ---- power loss

def recorder():
    library = os.environ.get("CHUNKWISE_RECORD_SHIM", "")
    if not os.path.exists(library):
        raise harness.Skip("CHUNKWISE_RECORD_SHIM names no library; ctest sets it")
    return library


def record(t, source, target, arguments, name="record"):
    """A run killed half way, with all it asked of the disk in the file `name`."""
    environment = dict(os.environ, LD_PRELOAD=recorder(), RECORD_WRITES=str(t / name), RECORD_MATCH=".rechunk-")
    for n_checkpoints in (4, 2, 1):  # a fast machine is over soon
        process = start(t, source, target, *arguments, env=environment)
        wait_for_checkpoints(t, process, target, n_checkpoints)
        process.kill()
        process.communicate()
        unfinished, journal = leftovers(t.dir, target)
        if journal is not None and process.returncode != 0:
            return
        for path in (unfinished, journal, t / target, t / name):
            if path is not None and path.exists():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    raise harness.Skip("the work is over before a checkpoint can be caught")


def entries(path):
    content = Path(path).read_bytes()
    at = 0
    while at + 24 <= len(content):
        kind, n_path, offset, n_data = struct.unpack_from("=IIQQ", content, at)
        at += 24
        name = content[at:at + n_path].decode()
        at += n_path
        if at + n_data > len(content):
            return
        yield kind, name, offset, content[at:at + n_data]
        at += n_data


class Disk:
    """What stands on the disk after the power went at entry `cut`: all that a sync covered that had ended by then, and
    of the rest some, whole or torn."""

    def __init__(self, log, cut, chance):
        self.files = {}
        durable = {}  # path -> entries before this number are safe
        begun = {}
        for number, (kind, path, offset, _) in enumerate(log[:cut]):
            if kind == 3:
                begun[path, offset] = number
            elif kind == 4:
                durable[path] = max(durable.get(path, 0), begun[path, offset])
        fate = chance.choice(("none", "some", "all"))  # of what no sync covered
        for number, (kind, path, offset, data) in enumerate(log[:cut]):
            content = self.files.setdefault(path, bytearray())
            safe = number < durable.get(path, 0)
            if kind == 1 and (safe or fate == "all" or (fate == "some" and chance.random() < 0.5)):
                if not safe and chance.random() < 0.3:
                    data = data[:chance.randrange(len(data) + 1)]
                if len(content) < offset + len(data):
                    content.extend(bytes(offset + len(data) - len(content)))
                content[offset:offset + len(data)] = data
            elif kind == 2 and (safe or fate != "none"):
                del content[offset:]
                content.extend(bytes(offset - len(content)))


def cut_and_resume(t, source, target, arguments, n_cuts):
    t.run("rechunk", t / source, t / ("ref" + Path(target).suffix), *arguments, timeout=600)
    record(t, source, target, arguments)
    unfinished, journal = leftovers(t.dir, target)
    if not t.check(journal is not None, "no journal was kept"):
        return
    log = list(entries(t / "record"))
    (t / "record").unlink()
    # Where the first checkpoint was safe: the journal's third sync, after that of its head and of what the work is.
    first = [n for n, (kind, path, _, _) in enumerate(log) if kind == 4 and path == str(journal)][2] + 1
    chance = random.Random("%d %s" % (SEED, target))
    n_resumed = 0
    for n in range(n_cuts):
        # Mostly behind the first checkpoint: before it there may be nothing to go on from.
        cut = chance.randrange(first if n % 5 else 0, len(log) + 1)
        disk = Disk(log, cut, chance)
        # Into the same files: the journal knows the target by its inode.
        for path in (unfinished, journal):
            with open(path, "r+b" if path.exists() else "w+b") as file:
                file.truncate(0)
                file.write(disk.files.get(str(path), b""))
        done = t.run("rechunk", t / source, t / target, *arguments, "--json", timeout=600, go_on=True,
                     code=0 if cut >= first else (0, 4))
        if done.code == 0:
            compare(t, t / ("ref" + Path(target).suffix), t / target)
            is_resumed = done.document()["resumed"] is not None
            t.check(is_resumed or cut < first, "did not go on from entry %d of %d" % (cut, len(log)))
            if is_resumed:
                n_resumed += 1
                os.rename(t / target, unfinished)
            else:  # begun anew, beside the leftover
                (t / target).unlink()
    print("%s: %d of %d power losses resumed, %d entries" % (target, n_resumed, n_cuts, len(log)), flush=True)
    t.check(n_resumed >= 1, "only %d of %d went on from a checkpoint" % (n_resumed, n_cuts))


def test_power_loss_netcdf(t):
    make_netcdf(t / "a.nc")
    cut_and_resume(t, "a.nc", "b.nc", (*DEFLATE, *COMMON, "--resume"),
                   10 if FULL else 3)


def test_power_loss_contiguous(t):
    make_slow(t / "a.h5")
    cut_and_resume(t, "a.h5", "b.h5", (*KINDS["contiguous"][3], *COMMON, "--resume"), 5 if FULL else 2)


def test_power_loss_classic(t):
    make_slow(t / "a.h5")
    cut_and_resume(t, "a.h5", "b.nc", (*KINDS["nc3"][3], *COMMON, "--resume"), 5 if FULL else 2)


if __name__ == "__main__":
    harness.main(globals())
