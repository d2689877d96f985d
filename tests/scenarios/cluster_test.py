"""One rewrite by many processes: --plan-only, --part, --finish."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import zarr

import harness

SHAPE = (60, 90, 100)
KINDS = {
    "zarr3": ("out.zarr", ["-c", "60,7,9"]),
    "shards": ("out.zarr", ["-c", "20,9,10", "--shards", "60,27,20"]),
    "zarr2": ("out.zarr2", ["-c", "60,7,9", "--codec", "zstd:1"]),
    "nc4": ("out.nc", ["-c", "60,7,9", "--codec", "shuffle,deflate:1"]),
    "h5": ("out.h5", ["--to", "h5", "-c", "60,7,9"]),
    "contiguous": ("out.nc", ["-c", "contiguous", "--codec", "none"]),
    "nc3": ("out.nc3", ["--to", "nc3", "--allow-loss"]),
}


def make_source(t, large=False):
    path = t / "in.nc"
    shape = (240, 90, 100) if large else SHAPE
    rng = np.random.default_rng(7)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in zip("tyx", shape):
            file.createDimension(name, length)
        file.title = "many processes"
        first = file.createVariable("T", "f4", ("t", "y", "x"), chunksizes=(4,) + shape[1:], zlib=True, complevel=1)
        first[:] = rng.integers(0, 4000, shape)
        first.units = "K"
        sparse = file.createVariable("P", "i2", ("t", "y", "x"), chunksizes=(4,) + shape[1:], zlib=True, fill_value=-1)
        sparse[8:16] = rng.integers(0, 99, (8,) + shape[1:])
        file.createVariable("t", "f8", ("t",))[:] = np.arange(shape[0])
        for i in range(12):
            file.createVariable("v%d" % i, "f4", ("y",))[:] = i
    return t.source(path)


def content(path):
    """Everything a reader sees."""
    seen = {}
    if path.is_dir():
        root = zarr.open_group(str(path), mode="r")
        for name, array in root.arrays():
            seen[name] = (array.shape, array.dtype, array.chunks, dict(array.attrs), array[...].tobytes())
        return seen, dict(root.attrs)
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for name, variable in file.variables.items():
            chunks = variable.chunking() if file.data_model.startswith("NETCDF4") else None
            seen[name] = (variable.shape, variable.dtype, chunks, repr(variable.__dict__), variable[...].tobytes())
        return seen, repr(file.__dict__)


def slots_of(target):
    return target.parent / (".%s.rechunk-slots" % target.name)


def start(*arguments, **popen):
    return subprocess.Popen([harness.binary("rechunk"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)


def run_together(t, commands):
    processes = [start(*command) for command in commands]
    for command, process in zip(commands, processes):
        _, err = process.communicate(timeout=120)
        t.equal("exit code of %s" % (command,), 0, process.returncode)
        t.check(process.returncode == 0, err.decode(errors="replace")[-300:])


def by_parts(t, source, target, arguments, n_parts):
    t.rechunk("--plan-only", source, target, *arguments, "--memory", "64MiB", "-j", "1")
    t.check(not target.exists(), "the target is there after --plan-only")
    run_together(t, [("--part", "%d/%d" % (i, n_parts), source, target) for i in range(1, n_parts + 1)])
    t.check(not target.exists(), "the target is there before --finish")
    done = t.rechunk("--finish", source, target, "--verify", "full", "--json").document()
    t.equal("parts", n_parts, done["step"]["parts"])
    t.equal("chunks verified", done["verified"]["chunks_total"], done["verified"]["chunks"])
    t.check(not slots_of(target).exists(), "the folder is still there")


def test_as_one_process(t):
    """Two, four and eight parts at a time make what one process makes, in every format."""
    source = make_source(t)
    for kind, (name, arguments) in KINDS.items():
        alone = t / ("alone-%s-%s" % (kind, name))
        t.rechunk(source, alone, *arguments)
        for n_parts in (2, 8) if kind in ("zarr3", "nc4") else (4,):
            target = t / ("%s-%d-%s" % (kind, n_parts, name))
            by_parts(t, source, target, arguments, n_parts)
            t.check(content(alone) == content(target), "%s by %d parts reads otherwise" % (kind, n_parts))
            if target.is_dir():
                t.equal("bytes of " + kind, harness.tree_hash(alone), harness.tree_hash(target))


def test_texts_and_compact(t):
    """What cannot be shared is moved by --finish."""
    source = t / "in.h5"
    with h5py.File(source, "w") as file:
        file.create_dataset("T", data=np.arange(6000.0).reshape(60, 100), chunks=(4, 100))
        file.create_dataset("names", data=np.array(["a", "bb", "", "dddd"] * 5, dtype=object),
                            dtype=h5py.string_dtype(), chunks=(4,))
        file.create_dataset("refs", data=np.array([file["T"].ref] * 3, dtype=h5py.ref_dtype))
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        h5py.h5d.create(file.id, b"small", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((10,)), plist).write(
            h5py.h5s.ALL, h5py.h5s.ALL, np.arange(10, dtype="i4"))
    t.source(source)
    target = t / "out.h5"
    by_parts(t, source, target, ["-c", "T:60,7"], 3)
    with h5py.File(source) as a, h5py.File(target) as b:
        for name in ("T", "names", "small"):
            t.check(np.array_equal(a[name][...], b[name][...]), name + " differs")
        t.equal("what the references name", ["/T"] * 3, [b[r].name for r in b["refs"][...]])
        t.equal("chunks", (60, 7), b["T"].chunks)


def test_missing_parts(t):
    source = make_source(t)
    for name, arguments in (KINDS["zarr3"], KINDS["nc4"]):
        target = t / name
        t.rechunk("--finish", source, target, code=3, says="no plan")
        t.rechunk("--part", "1/4", source, target, code=3, says="no plan")
        t.rechunk("--plan-only", source, target, *arguments, "--memory", "64MiB", "-j", "1")
        t.rechunk("--finish", source, target, code=3, says="no part")
        for part in ("1/4", "3/4"):
            t.rechunk("--part", part, source, target)
        t.rechunk("--finish", source, target, code=3, says=["2 of 4 missing: 2/4, 4/4", "--part 2/4"])
        for part in ("2/4", "4/4"):
            t.rechunk("--part", part, source, target)
        t.rechunk("--finish", source, target)


def test_again(t):
    """A step that is run again changes nothing."""
    source = make_source(t)
    for name, arguments in (KINDS["shards"], KINDS["nc4"]):
        target = t / name
        plan = ["--plan-only", source, target, *arguments, "--memory", "64MiB", "-j", "1"]
        t.rechunk(*plan)
        before = harness.tree_hash(slots_of(target))
        t.check("already" in t.rechunk(*plan).out, "a second plan is not told to be there")
        t.equal("the folder after a second --plan-only", before, harness.tree_hash(slots_of(target)))
        for part in ("1/2", "2/2"):
            t.rechunk("--part", part, source, target)
        before = harness.tree_hash(slots_of(target))
        t.check("already" in t.rechunk("--part", "1/2", source, target).out, "a second run is not told to be one")
        t.equal("the folder after a second run", before, harness.tree_hash(slots_of(target)))
        t.rechunk("--finish", source, target)
        t.rechunk("--finish", source, target, code=3, says="no plan")


def test_killed(t):
    """Parts that are killed at any moment and run again make the same."""
    source = make_source(t, large=True)
    codec = ["--codec", "shuffle,deflate:9"]
    for name, arguments in (("out.nc", ["-c", "T:240,7,9"] + codec), ("out.zarr", ["-c", "T:60,9,10"] + codec),
                            ("shards.zarr", ["-c", "T:60,9,10", "--shards", "T:240,36,20"] + codec)):
        alone = t / ("alone-" + name)
        target = t / name
        t.rechunk(source, alone, *arguments, "-j", "2")
        t.rechunk("--plan-only", source, target, *arguments, "--memory", "48MiB", "-j", "1")
        for part, pause_s, signum in (("1/2", 0.4, signal.SIGKILL), ("1/2", 1.0, signal.SIGKILL), ("2/2", 0.9, signal.SIGINT)):
            process = start("--part", part, source, target)
            time.sleep(pause_s)
            process.send_signal(signum)
            process.communicate(timeout=60)
            t.check(process.returncode in (0, 10, -signal.SIGKILL), "exit code %s" % process.returncode)
        run_together(t, [("--part", part, source, target) for part in ("1/2", "2/2")])
        t.rechunk("--finish", source, target, "--verify", "full")
        t.check(content(alone) == content(target), name + " reads otherwise")
        if target.is_dir():
            t.equal("objects", sorted(p.name for p in alone.rglob("*")), sorted(p.name for p in target.rglob("*")))


def test_refused(t):
    source = make_source(t)
    target = t / "out.zarr"
    plan = ["--plan-only", source, target, "-c", "60,7,9", "--memory", "64MiB", "-j", "1"]
    t.rechunk(*plan)
    t.rechunk(*plan[:4], "60,9,9", *plan[5:], code=8, says="another plan")
    t.rechunk(*plan[:-1], "2", code=8, says="another plan")
    t.rechunk("--part", "1/2", source, target)
    t.rechunk("--part", "1/3", source, target, code=2, says="one of 2")
    for wrong in ("0/2", "3/2", "1", "a/b", "1/2x", "-1/2"):
        t.rechunk("--part=" + wrong, source, target, code=2)
    t.rechunk("--part", "2/2", source, target, "-c", "1,1,1", code=2, says="--plan-only")
    t.rechunk("--part", "2/2", "--finish", source, target, code=2)
    t.rechunk("--plan-only", source, t / "x.zarr", "--dry-run", code=2)
    t.rechunk("--plan-only", source, t / "x.zarr.zip", code=4, says="zip")
    t.equal("no other name appeared", [".out.zarr.rechunk-slots", "in.nc"], harness.listing(t.dir))
    plan_file = slots_of(target) / "plan.json"
    text = plan_file.read_text()
    plan_file.write_text(text.replace('"allow_loss": false', '"allow_loss": true'))
    t.rechunk("--part", "2/2", source, target, code=5, says="changed")
    plan_file.write_text(text[:100])
    t.rechunk("--part", "2/2", source, target, code=5)
    plan_file.write_text(text)
    target.mkdir()
    t.rechunk("--part", "2/2", source, target)
    t.rechunk("--finish", source, target, code=8, says="exists")
    target.rmdir()
    t.rechunk("--finish", source, target)
    t.rechunk("--plan-only", source, target, code=8, says="exists")


def test_changed_source(t):
    source = t / "in.zarr"
    array = zarr.create_array(str(source), data=np.arange(6000.0).reshape(60, 100), chunks=(4, 100))
    target = t / "out.zarr"
    t.rechunk("--plan-only", source, target, "-c", "60,7")
    t.rechunk("--part", "1/2", source, target)
    t.rechunk("--part", "2/2", source, target)
    time.sleep(1.1)  # times of change are compared in whole seconds
    array[3] = 7
    t.rechunk("--finish", source, target, code=4, says="changed since")
    other = t / "in.nc"
    make_source(t)
    target = t / "out.nc"
    t._sources.clear()
    t.rechunk("--plan-only", other, target, "-c", "60,7,9")
    t.rechunk("--part", "1/2", other, target)
    with netCDF4.Dataset(other, "a") as file:
        file["T"][0, 0, 0] = 5
    for step in (["--part", "2/2"], ["--finish"]):
        t.rechunk(*step, other, target, code=4, says="has changed since")


def test_two_at_one_part(t):
    source = make_source(t, large=True)
    target = t / "out.nc"
    t.rechunk("--plan-only", source, target, "-c", "T:240,7,9", "--codec", "deflate:9", "--memory", "64MiB", "-j", "1")
    first = start("--part", "1/1", source, target)
    journal = slots_of(target) / "part-1-of-1.journal"
    while not journal.exists() and first.poll() is None:
        time.sleep(0.05)
    if first.poll() is None:
        t.rechunk("--part", "1/1", source, target, code=8, says="another process")
        t.rechunk("--finish", source, target, code=8, says="another process")
    first.communicate(timeout=120)
    t.rechunk("--finish", source, target)


SBATCH = """#!/bin/bash
# Runs what is submitted at once: every task of an array beside the others.
array= wrap=
while [ $# -gt 0 ]; do
  case "$1" in
    --array=*) array=${1#--array=};;
    --wrap) wrap=$2; shift;;
  esac
  shift
done
if [ -n "$array" ]; then
  for i in $(seq "${array%-*}" "${array#*-}"); do SLURM_ARRAY_TASK_ID=$i bash -c "$wrap" >&2 & done
  wait
else
  bash -c "$wrap" >&2
fi
echo 4711
"""
PARALLEL = """#!/bin/bash
# What the documented call of GNU parallel does.
command=()
while [ "$1" != ::: ]; do
  case "$1" in --halt|--jobs) shift;; *) command+=("$1");; esac
  shift
done
shift
printf '%s\\n' "$@" | xargs -P 4 -I{} "${command[@]}"
"""


def test_documented_scripts(t):
    """The scripts of docs/cluster.md, with local processes for a cluster."""
    page = Path(os.environ["CHUNKWISE_SOURCE_DIR"], "docs", "cluster.md").read_text()
    scripts = re.findall(r"```bash\n(#!/bin/bash\n.*?)```", page, re.S)
    t.equal("scripts", 2, len(scripts))
    source = make_source(t)
    tools = t / "tools"
    tools.mkdir()
    for name, text in (("sbatch", SBATCH), ("parallel", PARALLEL)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (tools / "rechunk").symlink_to(harness.binary("rechunk"))
    path = "%s:%s" % (tools, os.environ["PATH"])
    alone = t / "alone.nc"
    t.rechunk(source, alone, "-c", "60,7,9")
    for i, script in enumerate(scripts):
        (t / "rechunk.sh").write_text(script.replace("7GiB", "256MiB"))
        target = t / ("out-%d.nc" % i)
        t.run("/bin/bash", t / "rechunk.sh", source, target, "-c", "60,7,9",
              env=dict(os.environ, PATH=path, N_PARTS="3"))
        t.check(target.exists() and content(alone) == content(target), "script %d makes something else" % i)


if __name__ == "__main__":
    harness.main(globals())
