"""What --dry-run says, beside what the run does."""

import os

import h5py
import numpy as np
import zarr

import harness

SHAPE = (120, 100, 110)


def make_source(t, smooth=True):
    """Fields that change slowly, with some noise: they pack otherwise along every axis."""
    path = t / ("smooth.h5" if smooth else "noise.h5")
    rng = np.random.default_rng(5)
    grid = np.meshgrid(*(np.arange(n) for n in SHAPE), indexing="ij")
    field = 280 + 20 * np.sin(grid[0] / 30) * np.cos(grid[1] / 17) + grid[2] / 50
    data = np.round(field + rng.normal(size=SHAPE) * (0.1 if smooth else 30), 2).astype("f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=data, chunks=(1, 100, 110), shuffle=True, compression="gzip", compression_opts=1)
        file.create_dataset("w", data=np.arange(5000, dtype="i4"), chunks=(100,))
    return t.source(path)


def test_sizes_agree(t):
    """Estimates of the target lie within 10 % of what is written, and the interval holds it."""
    for smooth in (True, False):
        source = make_source(t, smooth)
        for i, arguments in enumerate((["-c", "v:120,10,11"], ["-c", "v:120,10,11", "--codec", "v:zstd:3"],
                                       ["-c", "v:30,30,30", "--codec", "v:shuffle,lz4"], ["--codec", "v:none"],
                                       ["-c", "v:7,33,50", "--codec", "v:none"], [],
                                       ["-c", "v:10,10,11", "--shards", "v:120,50,55"])):
            target = t / ("out-%d-%d.zarr" % (smooth, i))
            before = harness.listing(t.dir)
            plan = t.rechunk(source, target, *arguments, "--dry-run", "--json").document()
            t.equal("names after a dry run", before, harness.listing(t.dir))
            t.equal("what did not happen", (None, None), (plan["actual"], plan["verified"]))
            done = t.rechunk(source, target, *arguments, "--json").document()
            disk, wrote = plan["disk"], done["actual"]["bytes_written"]
            t.check(abs(disk["target_bytes"] - wrote) <= 0.1 * wrote,
                    "%s: %d bytes were written, about %d expected" % (arguments, wrote, disk["target_bytes"]))
            t.check(disk["target_bytes_low"] * 0.999 <= wrote <= disk["target_bytes_high"] * 1.001,
                    "%s: %d bytes were written, %d to %d expected"
                    % (arguments, wrote, disk["target_bytes_low"], disk["target_bytes_high"]))
            t.equal("bytes read", plan["plan"]["bytes_read"], done["actual"]["bytes_read"])
            t.equal("requests", plan["plan"]["requests"], done["actual"]["requests"])
            t.equal("chunks written", plan["plan"]["chunks_written"], done["actual"]["chunks_written"])
            t.check(plan["plan"]["seconds_low"] <= plan["plan"]["seconds"] <= plan["plan"]["seconds_high"],
                    "interval of the time: %s" % plan["plan"])


def test_words(t):
    source = make_source(t)
    out = t.rechunk(source, t / "out.zarr", "-c", "v:120,10,11", "--dry-run").out
    for words in ("writes about ", " free in ", "takes about ", "nothing was written"):
        t.check(words in out, "%r is not in\n%s" % (words, out))


def test_without_rights(t):
    """A dry run needs no right to write."""
    source = make_source(t)
    folder = t / "theirs"
    folder.mkdir()
    folder.chmod(0o555)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    if nobody:
        probe = harness.subprocess.run(["/bin/sh", "-c", "test -x '%s'" % harness.binary("rechunk")], **nobody)
        if probe.returncode != 0:
            raise harness.Skip("the commands lie where others may not look")
    t.rechunk(source, folder / "out.zarr", "-c", "v:120,10,11", "--dry-run", **nobody)
    t.rechunk(source, folder / "out.zarr", "-c", "v:120,10,11", code=6, **nobody)
    t.equal("names in the folder", [], harness.listing(folder))


def test_too_large_for_the_disk(t):
    """Refused with the numbers before anything is written."""
    source = t / "in.zarr"
    array = zarr.create_array(str(source), shape=(1 << 21, 1 << 20), chunks=(1024, 1024), dtype="f8", fill_value=0)
    array[:10, :10] = 1
    for more in ([], ["--dry-run"]):
        t.refused("rechunk", source, t / "out.h5", "--to", "h5", "-c", "contiguous", "--codec", "none", *more, code=6,
                  says=["does not fit the disk", "16 TiB", "free"])
    t.rechunk(source, t / "out.zarr", "-c", "512,512")  # nearly all of it is absent


if __name__ == "__main__":
    harness.main(globals())
