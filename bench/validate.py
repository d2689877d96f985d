#!/usr/bin/env python3
"""Cold reads of one array in many layouts on this machine, beside what chunkadvise predicts.

    python bench/validate.py DIR --bin build/release/bin [--mib 1024] [--repeats 5] [--seconds 200]

Needs h5py, numpy and zarr (tools/judges). Writes the layouts into DIR (about 20 times --mib) unless they are there, reads
every pattern at random places with the page cache of the file emptied (and checked with mincore) before each read, and
adds the reads to DIR/reads.csv. Order is random; no measurement is left out. After --seconds it stops; another run goes
on. When each cell has --repeats reads, `chunkadvise calibrate` makes a profile, without seeing any of these reads, and
`chunkadvise predict` compares it with the medians, which are in DIR/table.csv.

Names of files and folders stay in the cache; only root can drop them.
"""

import argparse
import csv
import ctypes
import mmap
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import zarr

DIMS = ("time", "y", "x")
LIBC = ctypes.CDLL(None, use_errno=True)


def drop(path):
    """Empties the page cache of a file or folder. Returns the share of pages that stayed."""
    files = [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]
    stayed = pages = 0
    for file in files:
        size = file.stat().st_size
        if size == 0:
            continue
        fd = os.open(file, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if len(files) < 2000:
            with mmap.mmap(fd, size, prot=mmap.PROT_READ) as view:
                n = -(-size // mmap.PAGESIZE)
                flags = (ctypes.c_ubyte * n)()
                address = np.frombuffer(view, dtype="u1").ctypes.data
                if LIBC.mincore(ctypes.c_void_p(address), ctypes.c_size_t(size), flags) == 0:
                    stayed += sum(f & 1 for f in flags)
                    pages += n
        os.close(fd)
    return stayed / pages if pages else 0


def layouts(shape):
    t, y, x = shape
    yield "contiguous-tyx", "contiguous", "time y x", None, None
    yield "contiguous-yxt", "contiguous", "y x time", None, None
    chunks = [(1, y, x), (t, 4, 4), (t, 16, 16), (16, y, x), (64, 32, 32), (256, 16, 16), (32, 64, 64), (128, 8, 8),
              (512, 32, 32)]
    for chunk in chunks:
        yield "h5-%dx%dx%d" % chunk, "file", "time y x", chunk, None
    for chunk in chunks[2:]:
        yield "h5z-%dx%dx%d" % chunk, "file", "time y x", chunk, "shuffle,deflate:1"
    for chunk in ((16, y, x), (t, 16, 16), (64, 32, 32), (512, 32, 32)):
        yield "zarr-%dx%dx%d" % chunk, "objects", "time y x", chunk, None


def patterns(shape):
    t, y, x = shape
    return {"series": (t, 1, 1), "map": (1, y, x), "region series": (t, 8, 8), "week of maps": (28, y, x),
            "box": (64, 32, 32), "row": (1, 1, x), "section": (t, 1, x), "half series": (t // 2, 1, 1),
            "corner": (16, 16, 16), "slab": (t // 4, 24, 24)}


def field(shape):
    """Smooth in time, with noise in its last bits, one slab after the other."""
    generator = np.random.default_rng(1)
    for t in range(0, shape[0], 512):
        n = min(512, shape[0] - t)
        smooth = 280 + 20 * np.sin(np.arange(t, t + n, dtype="f4") / 50)[:, None, None]
        yield t, smooth + generator.normal(0, 1, (n, *shape[1:])).astype("f4").round(2)


def sync(path):
    for item in [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else [path]:
        fd = os.open(item, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def write(folder, shape, name, store, order, chunk, codec):
    """One layout, in row-major order of its chunks, under a name that says it is complete."""
    path = folder / (name + (".zarr" if store == "objects" else ".h5"))
    if path.exists():
        return path
    data = np.empty(shape, "f4")
    for t, slab in field(shape):
        data[t:t + len(slab)] = slab
    part = folder / ("part" + path.suffix)
    shutil.rmtree(part, ignore_errors=True)
    part.unlink(missing_ok=True)
    if store == "objects":
        zarr.create_array(str(part), shape=shape, dtype="f4", chunks=chunk, compressors=None, zarr_format=2)[...] = data
    else:
        with h5py.File(part, "w") as file:
            options = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if codec else {}
            values = data.transpose(1, 2, 0) if order == "y x time" else data
            file.create_dataset("v", data=values, chunks=chunk, **options)
    sync(part)
    part.rename(path)
    return path


def read(path, store, order, start, count):
    box = tuple(slice(s, s + n) for s, n in zip(start, count))
    if store == "objects":
        return zarr.open_array(str(path), mode="r")[box]
    with h5py.File(path, "r") as file:
        return file["v"][(box[1], box[2], box[0]) if order == "y x time" else box]


def name_of_row(row):
    return tuple(row[k] for k in ("layout_name", "pattern"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=200, help="of reading at most, then stop")
    parser.add_argument("--write-only", action="store_true", help="write the layouts and stop")
    parser.add_argument("--profile", type=Path, help="compare with this profile instead of calibrating")
    options = parser.parse_args()
    folder = options.dir
    folder.mkdir(parents=True, exist_ok=True)
    shape = (options.mib * 2**20 // 4 // (192 * 192), 192, 192)
    cells, paths, stored = {}, {}, {}
    for name, store, order, chunk, codec in layouts(shape):
        paths[name] = path = write(folder, shape, name, store, order, chunk, codec)
        stored[name] = sum(p.stat().st_size for p in ([path] if path.is_file() else path.rglob("*")) if p.is_file())
        for pattern, count in patterns(shape).items():
            cells[name, pattern] = (store, order, chunk, codec, count)
    if options.write_only:
        return
    log = folder / "reads.csv"
    columns = ["layout_name", "pattern", "start", "wall_s", "stayed"]
    if not log.exists():
        log.write_text(",".join(columns) + "\n")
    reads = list(csv.DictReader(log.open()))
    done = [name_of_row(row) for row in reads]
    # Rounds over all cells, so that a disk's moods meet every cell.
    jobs = []
    for repeat in range(options.repeats):
        again = [cell for cell in cells if done.count(cell) <= repeat]
        random.Random(repeat).shuffle(again)
        jobs += again
    began = time.monotonic()
    with open(log, "a", newline="") as file:
        writer = csv.writer(file)
        for name, pattern in jobs:
            if time.monotonic() - began > options.seconds:
                print("out of time; run again to go on")
                return
            store, order, chunk, codec, count = cells[name, pattern]
            start = [random.randrange(length - n + 1) for length, n in zip(shape, count)]
            stayed = drop(paths[name])
            before = time.perf_counter()
            read(paths[name], store, order, start, count)
            wall_s = time.perf_counter() - before
            writer.writerow([name, pattern, " ".join(map(str, start)), "%.6f" % wall_s, "%.4f" % stayed])
            file.flush()
    reads = list(csv.DictReader(log.open()))
    rows = []
    for (name, pattern), (store, order, chunk, codec, count) in cells.items():
        mine = sorted((float(r["wall_s"]), r["start"]) for r in reads if name_of_row(r) == (name, pattern))
        # The read of median time with its place, so that the prediction is of that very read.
        wall_s, start = mine[(len(mine) - 1) // 2]
        rows.append([pattern] + [v for pair in zip(start.split(), count) for v in pair] + list(chunk or ("", "", ""))
                    + ["chunked" if chunk else "contiguous", order, "objects" if store == "objects" else "file",
                       "zarr-python" if store == "objects" else "hdf5-2", codec or "none", stored[name], wall_s,
                       mine[0][0], mine[-1][0], len(mine)])
    header = (["pattern"] + ["%s_%s" % (a, d) for d in DIMS for a in ("start", "n")] + ["chunk_" + d for d in DIMS]
              + ["layout", "order", "store", "client", "codec", "stored_bytes", "wall_s", "least_s", "most_s", "reads"])
    with open(folder / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)
    print("%d reads of %d cells; at most %.2f %% of a file stayed in the page cache"
          % (len(reads), len(rows), 100 * max(float(r["stayed"]) for r in reads)))
    profile = options.profile or folder / "profile.json"
    if not options.profile:
        subprocess.run([options.bin / "chunkadvise", "calibrate", folder, "--out", profile], check=True,
                       stdout=subprocess.DEVNULL)
    array = ["--shape", ",".join(map(str, shape)), "--dtype", "f4", "--dims", ",".join(DIMS)]
    subprocess.run([options.bin / "chunkadvise", "predict", "--timings", folder / "table.csv", "--device", profile, *array],
                   check=True)


if __name__ == "__main__":
    main()
