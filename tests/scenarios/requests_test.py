"""Predicted requests against a log of those that h5py and zarr-python really make.

The shim CHUNKWISE_READS_SHIM logs every open and read of the files; opens of files named mark-N and mark-end, which need
not exist, stand before and behind each read of an array. Files are opened anew for each read, so that nothing is cached.
"""

import csv
import math
import os
import random
import subprocess
import sys

import h5py
import numpy as np
import zarr

import harness

SHAPE = (300, 40, 56)
READER = """
import csv, sys
kind, path, boxes = sys.argv[1:4]
cache = int(sys.argv[4])
for n, line in enumerate(open(boxes)):
    box = tuple(slice(*map(int, part.split(":"))) for part in line.split(","))
    if kind == "h5":
        import h5py
        with h5py.File(path, "r", rdcc_nbytes=cache) as file:
            array = file["v"]
            try: open(path + ".mark-%d" % n)
            except OSError: pass
            array[box]
            try: open(path + ".mark-end")
            except OSError: pass
    else:
        import zarr
        array = zarr.open_array(path, mode="r")
        try: open(path + ".mark-%d" % n)
        except OSError: pass
        array[box]
        try: open(path + ".mark-end")
        except OSError: pass
"""


def boxes_of(seed, n):
    """Random boxes, with points, whole axes and everything between."""
    generator = random.Random(seed)
    boxes = [((0, 5, 7), (300, 1, 1)), ((3, 0, 0), (1, 40, 56)), ((0, 0, 0), SHAPE)]
    while len(boxes) < n:
        start, count = [], []
        for length in SHAPE:
            kind = generator.randrange(3)
            size = (1, generator.randint(1, length), length)[kind]
            start.append(generator.randint(0, length - size))
            count.append(size)
        boxes.append((tuple(start), tuple(count)))
    return boxes


def recorded(t, kind, path, boxes, cache):
    """For each box the log of its read: lists of ("read", offset, got, path) and ("open", result, path)."""
    shim = os.environ.get("CHUNKWISE_READS_SHIM")
    if not shim:
        raise harness.Skip("CHUNKWISE_READS_SHIM is not set")
    log = t / "reads.log"
    log.unlink(missing_ok=True)
    (t / "boxes.txt").write_text("".join(
        ",".join("%d:%d" % (s, s + n) for s, n in zip(*box)) + "\n" for box in boxes))
    subprocess.run([sys.executable, "-c", READER, kind, str(path), str(t / "boxes.txt"), str(cache)], check=True,
                   env={**os.environ, "LD_PRELOAD": shim, "RECORD_READS": str(log), "RECORD_MATCH": path.name})
    reads, inside = [], False
    for line in log.read_text().splitlines():
        fields = line.split(" ", 4 if line.startswith("read") else 2)
        if ".mark-" in fields[-1]:
            inside = not fields[-1].endswith(".mark-end")
            if inside:
                reads.append([])
        elif inside:
            if fields[0] == "read":
                reads[-1].append(("read", int(fields[1]), int(fields[3]), fields[4]))
            else:
                reads[-1].append(("open", int(fields[1]), fields[2]))
    t.equal("reads in the log", len(boxes), len(reads))
    return reads


def predicted(t, client, store, chunk, codec, boxes):
    with open(t / "table.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["pattern"] + ["%s_%s" % (a, d) for d in "tyx" for a in ("start", "n")]
                        + ["chunk_" + d for d in "tyx"] + ["layout", "store", "codec", "wall_s"])
        for start, count in boxes:
            writer.writerow(["p"] + [v for pair in zip(start, count) for v in pair] + list(chunk or ("", "", ""))
                            + ["chunked" if chunk else "contiguous", store, codec, 1])
    return t.chunkadvise("predict", "--timings", t / "table.csv", "--shape", ",".join(map(str, SHAPE)), "--device", "ssd",
                         "--client", client, "--json").document()["cells"]


def data():
    return np.random.default_rng(3).normal(size=SHAPE).astype("f4")


def compare_hdf5(t, name, client, chunk, cache=2**20, boxes=None, **options):
    path = t / (name + ".h5")
    libver = "latest" if "latest" in client else None
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset("v", data=data(), chunks=chunk, **options)
    with h5py.File(path) as file:
        array = file["v"]
        if chunk:
            ranges = {}
            array.id.chunk_iter(lambda info: ranges.update({info.byte_offset: info.size}))
            begin = sorted(ranges)
        else:
            begin, ranges = [array.id.get_offset()], {array.id.get_offset(): array.nbytes}
    def is_data(offset):
        at = np.searchsorted(begin, offset, side="right") - 1
        return at >= 0 and offset < begin[at] + ranges[begin[at]]
    boxes = boxes or boxes_of(name, 14)
    cells = predicted(t, client, "file", chunk, "deflate:4" if options.get("compression") else "none", boxes)
    n_index = n_predicted_index = 0
    for box, cell, log in zip(boxes, cells, recorded(t, "h5", path, boxes, cache)):
        calls = [entry for entry in log if entry[0] == "read" and is_data(entry[1])]
        index = [entry for entry in log if entry[0] == "read" and not is_data(entry[1])]
        t.equal("%s: data requests of %s" % (name, box), len(calls), round(cell["calls"], 6))
        if not options.get("compression") and chunk:
            t.equal("%s: data bytes of %s" % (name, box), sum(e[2] for e in calls), round(cell["bytes_read"]))
        elif not chunk:  # the last sieve may end with the array
            wanted = sum(e[2] for e in calls)
            t.check(abs(cell["bytes_read"] - wanted) <= 65536, "%s: %s bytes of %s, really %s" % (
                name, cell["bytes_read"], box, wanted))
        n_index += len(index)
        n_predicted_index += cell["index_reads"]
    print("        %s: index reads %d, predicted %.1f" % (name, n_index, n_predicted_index))
    t.check(abs(n_predicted_index - n_index) <= 0.05 * n_index + 0.5,
            "%s: %d reads of the index, predicted %.1f" % (name, n_index, n_predicted_index))


def test_hdf5_contiguous(t):
    compare_hdf5(t, "contiguous", "hdf5", None, boxes=boxes_of(5, 40))


def test_hdf5_chunks(t):
    compare_hdf5(t, "small", "hdf5", (8, 5, 7))
    compare_hdf5(t, "smallest", "hdf5", (4, 4, 4), boxes=boxes_of(9, 7))
    compare_hdf5(t, "awkward", "hdf5", (17, 9, 11))
    compare_hdf5(t, "deflate", "hdf5", (8, 5, 7), compression="gzip")


def test_hdf5_chunks_larger_than_the_cache(t):
    boxes = boxes_of(6, 20)
    compare_hdf5(t, "pieces", "hdf5", (150, 33, 56), boxes=boxes)
    compare_hdf5(t, "rows", "hdf5", (290, 40, 28), boxes=boxes)
    compare_hdf5(t, "fits", "hdf5-2", (150, 40, 56), cache=8 * 2**20, boxes=boxes)
    compare_hdf5(t, "option", "hdf5+cache:8KiB", (16, 10, 20), cache=8192, boxes=boxes)
    compare_hdf5(t, "decoded", "hdf5", (150, 40, 56), compression="gzip", boxes=boxes)


def test_hdf5_indexes_of_the_latest_files(t):
    compare_hdf5(t, "fixed", "hdf5+latest", (16, 10, 14))
    compare_hdf5(t, "paged", "hdf5+latest", (4, 5, 7))
    compare_hdf5(t, "one", "hdf5-2+latest", SHAPE, cache=2**23)


def test_zarr_objects(t):
    for version, chunk in ((2, (16, 10, 14)), (3, (17, 9, 11)), (3, SHAPE)):
        path = t / ("v%d-%d.zarr" % (version, chunk[0]))
        zarr.create_array(str(path), shape=SHAPE, dtype="f4", chunks=chunk, compressors=None,
                          zarr_format=version)[...] = data()
        boxes = boxes_of(version, 10)
        cells = predicted(t, "zarr-python", "objects", chunk, "none", boxes)
        for box, cell, log in zip(boxes, cells, recorded(t, "zarr", path, boxes, 0)):
            opens = [entry for entry in log if entry[0] == "open"]
            t.equal("objects of %s in %s" % (box, path.name), len(opens), round(cell["calls"], 6))
            t.equal("chunks of %s" % (box,), len({entry[2] for entry in opens}), len(opens))
            t.equal("bytes of %s" % (box,), sum(e[2] for e in log if e[0] == "read"), round(cell["bytes_read"]))
            t.equal("index", 0, cell["index_reads"])


def test_refusals(t):
    t.chunkadvise("--shape", "100,100", "--client", "hdf6", code=2, says=("hdf6", "hdf5"))
    t.chunkadvise("--shape", "100,100", "--client", "hdf5+cash:1MiB", code=2, says="+cache")
    with h5py.File(t / "a.h5", "w") as file:
        file["v"] = np.zeros((10, 10))
    t.chunkadvise(t / "a.h5", "--client", "zarr-python", code=2, says="hdf5")
    t.chunkadvise("--shape", "100,100", "--client", "zarr-python", "--json")
    document = t.chunkadvise("--shape", "100,100", "--client", "hdf5+blockcache:8MiB", "--json").document()
    t.equal("client", "hdf5+blockcache:8MiB", document["client"])


if __name__ == "__main__":
    harness.main(globals())
