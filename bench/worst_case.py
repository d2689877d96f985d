"""The worst case: a variable in time-major order becomes one of whole time series, with little memory. nccopy beside.

    bench/worst_case.py DIR [--rechunk PATH] [--memory 128MiB] [--shape 98128,71,68]

Makes 98128 x 71 x 68 float32 in DIR (1.9 GB), rewrites it from one run of bytes to
chunks of (4906, 1, 1), and prints what was predicted beside what happened. nccopy gets the same memory (-m, and a cap on its
address space that leaves it as much again).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import netCDF4
import numpy as np


def make(path, shape):
    with netCDF4.Dataset(path, "w") as file:
        for name, length in zip(("time", "y", "x"), shape):
            file.createDimension(name, length)
        variable = file.createVariable("T", "f4", ("time", "y", "x"), contiguous=True)
        step = max(1, (64 << 20) // (4 * shape[1] * shape[2]))
        rng = np.random.default_rng(1)
        for begin in range(0, shape[0], step):
            end = min(begin + step, shape[0])
            variable[begin:end] = rng.normal(280, 10, (end - begin,) + shape[1:]).astype("f4")


def forget(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def timed(command, timeout_s, cap_bytes=None):
    limit = None if cap_bytes is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (cap_bytes, cap_bytes))
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return timeout_s, None, None
    return time.monotonic() - began, done.returncode, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir")
    parser.add_argument("--rechunk", default="build/release/bin/rechunk")
    parser.add_argument("--memory", default="128MiB")
    parser.add_argument("--shape", default="98128,71,68")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds that nccopy gets")
    options = parser.parse_args()
    shape = tuple(int(n) for n in options.shape.split(","))
    source = os.path.join(options.dir, "worst.nc")
    if not os.path.exists(source):
        make(source, shape)
    target = os.path.join(options.dir, "worst-series.nc")
    chunks = "T:4906,1,1"
    command = [options.rechunk, source, target, "-c", chunks, "--memory", options.memory, "--json", "--overwrite",
               "--progress", "none"]
    forget(source)
    seconds, code, done = timed(command, 7200)
    if code != 0:
        sys.exit("rechunk: exit %s: %s" % (code, done.stderr if done else "no end"))
    report = json.loads(done.stdout)
    plan, actual = report["plan"], report["actual"]
    print("rechunk: %.1f s (predicted %.1f s, %.1f to %.1f), read %d bytes (predicted %d), %d requests (predicted %d), "
          "peak %.1f MiB" % (seconds, plan["seconds"], plan["seconds_low"], plan["seconds_high"], actual["bytes_read"],
                             plan["bytes_read"], actual["requests"], plan["requests"],
                             actual["peak_rss_bytes"] / (1 << 20)))
    os.unlink(target)
    memory = int(options.memory.removesuffix("MiB")) << 20
    forget(source)
    seconds, code, done = timed(["nccopy", "-m", str(memory), "-h", str(memory // 2), "-e", "10007",
                                 "-c", "time/4906,y/1,x/1", source, target], options.timeout, 2 * memory + (256 << 20))
    if code is None:
        print("nccopy: no end after %.0f s" % seconds)
    elif code != 0:
        print("nccopy: exit %d after %.1f s: %s" % (code, seconds, done.stderr.strip()[-200:]))
    else:
        print("nccopy: %.1f s" % seconds)
    if os.path.exists(target):
        os.unlink(target)


if __name__ == "__main__":
    main()
