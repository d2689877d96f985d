#!/usr/bin/env python3
"""Cold reads of one array in many layouts on this machine, beside what chunkadvise predicts.

    python bench/validate.py DIR --bin build/release/bin [--mib 256] [--repeats 3] [--budget 150]

Needs h5py, numpy and zarr (tools/judges). Writes the layouts into DIR (about 20 times --mib), reads every pattern at
random places with the page cache emptied (and checked with mincore) before each read, and writes DIR/table.csv, one row
a layout and pattern and place. Then `chunkadvise calibrate DIR` makes a profile, without seeing any of these reads, and
`chunkadvise predict` compares. Order is random; no measurement is left out.
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
        if len(files) < 50:
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


def write(folder, data, name, store, order, chunk, codec):
    path = folder / (name + (".zarr" if store == "objects" else ".h5"))
    if path.exists():
        return path
    if store == "objects":
        array = zarr.create_array(str(path), shape=data.shape, dtype=data.dtype, chunks=chunk, compressors=None,
                                  zarr_format=2)
        array[...] = data
        for item in path.rglob("*"):
            if item.is_file():
                fd = os.open(item, os.O_RDONLY)
                os.fsync(fd)
                os.close(fd)
        return path
    with h5py.File(path, "w") as file:
        options = {"compression": "gzip", "compression_opts": 1, "shuffle": True} if codec else {}
        values = data.transpose(1, 2, 0) if order == "y x time" else data
        file.create_dataset("v", data=np.ascontiguousarray(values), chunks=chunk, **options)
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)
    return path


def read(path, store, order, start, count):
    box = tuple(slice(s, s + n) for s, n in zip(start, count))
    if store == "objects":
        return zarr.open_array(str(path), mode="r")[box]
    with h5py.File(path, "r") as file:
        return file["v"][(box[1], box[2], box[0]) if order == "y x time" else box]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=150, help="seconds of reading at most")
    parser.add_argument("--keep", action="store_true", help="keep the layouts; a run that finds them does not write them")
    options = parser.parse_args()
    folder = options.dir
    folder.mkdir(parents=True, exist_ok=True)
    shape = (options.mib * 2**20 // 4 // (192 * 192), 192, 192)
    generator = np.random.default_rng(1)
    data = (280 + 20 * np.sin(np.arange(shape[0], dtype="f4") / 50)[:, None, None]
            + generator.normal(0, 1, shape).astype("f4").round(2))
    cells = []
    paths = {}
    stored = {}
    for name, store, order, chunk, codec in layouts(shape):
        paths[name] = write(folder, data, name, store, order, chunk, codec)
        stored[name] = (sum(p.stat().st_size for p in paths[name].rglob("*") if p.is_file())
                        if paths[name].is_dir() else paths[name].stat().st_size)
        cells += [(name, store, order, chunk, codec, pattern, count) for pattern, count in patterns(shape).items()]
    profile = folder / "profile.json"
    subprocess.run([options.bin / "chunkadvise", "calibrate", folder, "--out", profile, "--budget", "20"], check=True,
                   stdout=subprocess.DEVNULL)
    jobs = cells * options.repeats
    random.Random(7).shuffle(jobs)
    rows = []
    stayed = 0.0
    began = time.monotonic()
    for name, store, order, chunk, codec, pattern, count in jobs:
        if time.monotonic() - began > options.budget:
            print("out of time after %d of %d reads" % (len(rows), len(jobs)))
            break
        start = [random.randrange(length - n + 1) for length, n in zip(shape, count)]
        stayed = max(stayed, drop(paths[name]))
        before = time.perf_counter()
        read(paths[name], store, order, start, count)
        wall_s = time.perf_counter() - before
        rows.append([pattern] + [v for pair in zip(start, count) for v in pair] + list(chunk or ("", "", ""))
                    + ["chunked" if chunk else "contiguous", order, "objects" if store == "objects" else "file",
                       codec or "none", stored[name], "%.6f" % wall_s])
    header = (["pattern"] + ["%s_%s" % (a, d) for d in DIMS for a in ("start", "n")] + ["chunk_" + d for d in DIMS]
              + ["layout", "order", "store", "codec", "stored_bytes", "wall_s"])
    with open(folder / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)
    print("%d reads in %.0f s; at most %.2f %% of a file stayed in the page cache"
          % (len(rows), time.monotonic() - began, 100 * stayed))
    for path in () if options.keep else paths.values():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    array = ["--shape", ",".join(map(str, shape)), "--dtype", "f4", "--dims", ",".join(DIMS)]
    subprocess.run([options.bin / "chunkadvise", "predict", "--timings", folder / "table.csv", "--device", profile, *array],
                   check=True)


if __name__ == "__main__":
    main()
