"""`--memory` is a promise about the whole process: 200 MB rewritten within 96 and 128 MiB, any number of threads."""

import h5py
import numpy as np
import zarr

import harness

SHAPE = (192, 512, 512)  # f4: 192 MiB
SLAB = 8
MIB = 1 << 20


def slab(i):
    """Rows i .. i + SLAB: compressible, and different everywhere."""
    first = i * SHAPE[1] * SHAPE[2]
    ramp = np.arange(first, first + SLAB * SHAPE[1] * SHAPE[2], dtype="i8")
    return ((ramp * 2654435761 >> 7) % 4099).astype("f4").reshape(SLAB, *SHAPE[1:])


def make_source(path):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("v", SHAPE, "f4", chunks=(SLAB, 128, 512), compression="gzip", compression_opts=1,
                                   shuffle=True)
        for i in range(0, SHAPE[0], SLAB):
            data[i:i + SLAB] = slab(i)
    return path


def check_values(t, path, what):
    data = zarr.open_group(str(path), mode="r")["v"] if path.is_dir() else h5py.File(path)["v"]
    wrong = [i for i in range(0, SHAPE[0], SLAB * 4)
             if not np.array_equal(np.asarray(data[i:i + SLAB]), slab(i))]
    return t.check(not wrong, "%s: wrong values from rows %s" % (what, wrong))


def test_peak_memory(t):
    src = t.source(make_source(t / "a.h5"))
    runs = [("h5", 96, 1), ("h5", 128, 4), ("nc4", 96, 4), ("nc4", 128, 2), ("zarr2", 96, 2), ("zarr2", 128, 4),
            ("zarr3", 96, 4), ("zarr3", 128, 1)]
    for target, memory, threads in runs:
        out = t / ("out." + {"h5": "h5", "nc4": "nc"}.get(target, "zarr"))
        codec = "zstd:1" if target.startswith("zarr") else "shuffle,deflate:1"
        done = t.rechunk(src, out, "--to", target, "-c", "64,64,64", "--codec", codec, "--memory", "%dMiB" % memory,
                         "-j", threads, "--overwrite", measure=True, timeout=120,
                         go_on=True)
        if done.code != 0:
            continue
        what = "%s, %d MiB, %d threads" % (target, memory, threads)
        print("        %-32s peak %3d MiB  %5.1f s" % (what, done.peak_rss_bytes // MIB, done.seconds), flush=True)
        t.check(done.peak_rss_bytes <= memory * MIB, "%s: peak %.1f MiB" % (what, done.peak_rss_bytes / MIB))
        check_values(t, out, what)


def test_contiguous_source_and_target(t):
    """One run of bytes on either side must not be held as a whole."""
    with h5py.File(t / "a.h5", "w") as file:
        data = file.create_dataset("v", SHAPE, "f4")
        for i in range(0, SHAPE[0], SLAB):
            data[i:i + SLAB] = slab(i)
    src = t.source(t / "a.h5")
    for name, chunks, source in (("chunked.h5", "64,64,64", src), ("plain.h5", "contiguous", t / "chunked.h5")):
        done = t.rechunk(source, t / name, "-c", chunks, "--memory", "96MiB", "-j", 2, measure=True, timeout=120,
                         go_on=True)
        if done.code == 0:
            t.check(done.peak_rss_bytes <= 96 * MIB, "-c %s: peak %.1f MiB" % (chunks, done.peak_rss_bytes / MIB))
            check_values(t, t / name, name)


if __name__ == "__main__":
    harness.main(globals())
