"""The memory promise over formats, layouts, caps and threads: {nc4, nc3, zarr2, zarr3 in shards} x {contiguous, map, cube,
pencil} x {64, 128, 512 MiB} x {1, 2, 8 threads}. A few of these in every run, sixty with CHUNKWISE_FULL=1."""

import os
import random
import resource

import h5py
import netCDF4
import numpy as np
import zarr

import harness

FULL = os.environ.get("CHUNKWISE_FULL") == "1"
SHAPE = (480, 256, 512) if FULL else (160, 256, 512)  # f4: 240 or 80 MiB
MIB = 1 << 20
LAYOUTS = {"contiguous": None, "map": (1, 256, 512), "cube": (32, 32, 64), "pencil": (SHAPE[0], 4, 8)}
FORMATS = {"nc4": "out.nc", "nc3": "out.nc3", "zarr2": "out.zarr2", "zarr3": "out.zarr"}
N_RUNS = 60 if FULL else 8


def plane(i):
    ramp = np.arange(i * 131072, (i + 1) * 131072, dtype="i8")
    return ((ramp * 2654435761 >> 7) % 4099).astype("f4").reshape(SHAPE[1:])


def make_source(t, layout):
    """netCDF-4 in this layout, by way of h5py, which writes any chunk at once."""
    path = t / ("in-%s.h5" % layout)
    if path.exists():
        return path
    how = {} if LAYOUTS[layout] is None else {"chunks": LAYOUTS[layout], "compression": "gzip", "compression_opts": 1}
    with h5py.File(path, "w", rdcc_nbytes=64 * MIB) as file:
        data = file.create_dataset("v", SHAPE, "f4", **how)
        step = SHAPE[0] if layout == "pencil" else 32
        for i in range(0, SHAPE[0], step):
            data[i:i + step] = np.stack([plane(k) for k in range(i, i + step)])
    return t.source(path)


def command(t, source, target_format, layout):
    target = t / FORMATS[target_format]
    arguments = [source, target, "--to", target_format, "--overwrite"]
    if target_format == "nc3":
        return target, arguments + ["--allow-loss"]
    chunk = LAYOUTS[layout]
    if chunk is None and target_format == "nc4":
        return target, arguments + ["-c", "contiguous", "--codec", "none"]
    chunk = chunk or (1, SHAPE[1], SHAPE[2])
    arguments += ["-c", ",".join(map(str, chunk)), "--codec", "shuffle,deflate:1" if target_format == "nc4" else "zstd:1"]
    if target_format == "zarr3":
        shard = [min(-(-n // c), 4) * c for n, c in zip(SHAPE, chunk)]
        arguments += ["--shards", ",".join(map(str, shard))]
    return target, arguments


def check_values(t, target, what):
    data = (zarr.open_group(str(target), mode="r")["v"] if target.is_dir() else
            netCDF4.Dataset(target)["v"])
    wrong = [i for i in range(0, SHAPE[0], 37) if not np.array_equal(np.asarray(data[i]), plane(i))]
    t.check(not wrong, "%s: wrong values in planes %s" % (what, wrong))


def chosen():
    runs = [(f, s, l, m, j) for f in FORMATS for s in ("map", "cube") for l in LAYOUTS for m in (64, 128, 512)
            for j in (1, 2, 8)]
    random.Random(2).shuffle(runs)
    # Every format with every layout at least once, the rest at random.
    first = list({(run[0], run[2]): run for run in runs}.values())
    return (first + [run for run in runs if run not in first])[:N_RUNS] if FULL else first[:N_RUNS]


def test_within_the_cap(t):
    for target_format, source_layout, layout, memory, threads in chosen():
        source = make_source(t, source_layout)
        target, arguments = command(t, source, target_format, layout)
        what = "%s to %s in %s, %d MiB, %d threads" % (source_layout, layout, target_format, memory, threads)
        done = t.rechunk(*arguments, "--memory", "%dMiB" % memory, "-j", threads, measure=True, timeout=600, go_on=True,
                         code=(0, 7))
        if done.code == 7:  # less than what is possible, and it says what would be
            t.check("the least that works is" in done.err and memory == 64, "%s: %s" % (what, done.err[-300:]))
            continue
        print("        %-60s peak %3d MiB" % (what, done.peak_rss_bytes // MIB), flush=True)
        t.check(done.peak_rss_bytes <= memory * MIB, "%s: peak %.1f MiB" % (what, done.peak_rss_bytes / MIB))
        check_values(t, target, what)


def test_address_space(t):
    """`ulimit -v`: the default takes what it leaves, and a run near the cap does not fail."""
    source = make_source(t, "map")
    for limit_mib in (400, 1500):
        target, arguments = command(t, source, "zarr3", "cube")
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit_mib * MIB,) * 2)
        done = t.rechunk(*arguments, "-j", "2", "--json", preexec_fn=limit, timeout=300, go_on=True)
        if done.code == 0:
            t.check(done.document()["plan"]["memory_bytes"] <= limit_mib * MIB // 2,
                    "with %d MiB of address space the plan takes %d" % (limit_mib, done.document()["plan"]["memory_bytes"]))
            check_values(t, target, "within %d MiB of address space" % limit_mib)


if __name__ == "__main__":
    harness.main(globals())
