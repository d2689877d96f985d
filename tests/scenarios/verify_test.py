"""What --verify finds. CHUNKWISE_FULL=1 flips a hundred bits instead of a dozen; the places come from a seed,
CHUNKWISE_SEED (default 1)."""

import os
import random
import re
import shutil

import h5py
import numpy as np

import harness
from faults_test import shim
from intermediate_test import ACROSS, least_memory, make_source

FULL = os.environ.get("CHUNKWISE_FULL") == "1"
N_FLIPS = 100 if FULL else 12
rng = random.Random(int(os.environ.get("CHUNKWISE_SEED", "1")))

SMALL = (40, 30, 50)
SMALL_CHUNKS = (4, 30, 50)  # 24,000 bytes, not compressed
# Target, what is asked for, and of the writes of its chunks: the least bytes, and how many there are at least.
TARGETS = {
    "out.zarr": (["-c", "40,6,7"], 6720, 40),
    "shards.zarr": (["-c", "20,6,5", "--shards", "40,12,10"], 2400, 1),
    "out.h5": (["-c", "40,6,7", "--to", "h5"], 6720, 40),
    "contiguous.h5": (["-c", "contiguous", "--to", "h5"], 6000, 1),
    "same.h5": (["-c", "v:keep", "--to", "h5"], 24000, 10),
    "out.nc3": (["--to", "nc3", "--allow-loss"], 6000, 1),
}


def make_small(t):
    path = t / "in.h5"
    with h5py.File(path, "w") as file:
        data = np.random.default_rng(3).integers(1, 4000, SMALL).astype("f4")
        file.create_dataset("v", data=data, chunks=SMALL_CHUNKS)
    return t.source(path)


def kept(t, target):
    """The unfinished target, which a failed verification leaves, and nothing under the final name."""
    t.check(not target.exists(), "%s is there" % target.name)
    left = [n for n in harness.listing(t.dir) if n.startswith(".%s.rechunk-" % target.name)]
    t.equal("names left of %s" % target.name, 1, len(left))
    return left


def remove(t, names):
    for name in names:
        path = t / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_flipped_bits(t):
    """One bit wrong: in an encoded source chunk after it was read, in the target on the disk, in an intermediate."""
    source = make_small(t)
    big = make_source(t, "h5")
    through = [big, t / "big.zarr", "-c", ",".join(map(str, ACROSS)), "-j", "2"]
    memory = "%dMiB" % (least_memory(t, *through, "--verify", "full") + 4)
    found = 0
    for i in range(N_FLIPS):
        where = ("source", "target", "intermediate")[i % 3]
        bit = rng.randrange(1 << 30)
        if where == "intermediate":
            target = t / "big.zarr"
            command = [*through, "--memory", memory]
            env = shim("(deleted)", "flip-write", after_calls=rng.randrange(60), bit=bit)
        else:
            name, (arguments, least_bytes, n_writes) = rng.choice(list(TARGETS.items()))
            target = t / name
            command = [source, target, *arguments]
            env = (shim("-", "flip-read", after_bytes=24000, after_calls=rng.randrange(10), bit=bit)
                   if where == "source" else
                   shim(".%s.rechunk-" % name, "flip-write", after_bytes=least_bytes,
                        after_calls=rng.randrange(n_writes), bit=bit))
        done = t.rechunk(*command, "--verify", "full", code=9, go_on=True, env=env)
        if done.code == 9:
            found += 1
            t.check(re.search(r"0x[0-9a-f]{2}.*0x[0-9a-f]{2}|[0-9a-f]{8}.*[0-9a-f]{8}", done.err),
                    "%s, %s: no two values: %s" % (where, name, done.err[-300:]))
            remove(t, kept(t, target))
        elif target.exists():
            remove(t, [target.name])
    t.equal("flipped bits found", N_FLIPS, found)


def test_source_is_read_once(t):
    """`full` compares without reading the source again."""
    source = make_small(t)
    for name, (arguments, _, _) in TARGETS.items():
        done = t.rechunk(source, t / name, *arguments, "--verify", "full", "--json", "--memory", "256MiB").document()
        t.equal("mode of " + name, "full", done["verified"]["mode"])
        t.equal("chunks verified of " + name, done["verified"]["chunks_total"], done["verified"]["chunks"])
        t.equal("bytes read of " + name, 40 * 30 * 50 * 4, done["actual"]["bytes_read"])


def test_sample_says_what_it_offers(t):
    source = make_small(t)
    done = t.rechunk(source, t / "a.zarr", "-c", "2,6,10", "--json").document()["verified"]
    t.check(done["chunks"] >= done["chunks_total"] / 100, "fewer than one of a hundred chunks: %s" % done)
    chances = {entry["wrong_chunks"]: entry["found"] for entry in done["chances"]}
    share = done["chunks"] / done["chunks_total"]
    t.check(abs(chances[1] - share) < 1e-9, "one wrong chunk: %s, not %s" % (chances[1], share))
    t.check(share < chances[10] < chances[100] < 1, "chances %s" % chances)
    out = t.rechunk(source, t / "b.zarr", "-c", "2,6,10").out
    t.check("a wrong chunk is found with a probability of" in out, out)
    whole = t.rechunk(source, t / "c.zarr", "--json", "--verify", "full", "-c", "9,9,9").document()["verified"]
    t.equal("chances of a full verification", [], whole["chances"])


if __name__ == "__main__":
    harness.main(globals())
