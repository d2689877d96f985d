"""Stores of very many chunk objects: advice looks at some of them, a rewrite opens few files at a time and keeps to its
memory. A million objects with CHUNKWISE_FULL=1, forty thousand otherwise."""

import json
import os
import resource
import shutil
import time

import numpy as np
import zarr

import harness

SIDE = 1000 if os.environ.get("CHUNKWISE_FULL") else 200
MOST_LINKS = 50_000  # of one file, in file systems that bound it at 65,000
NOBODY = 65534
FILES = 256


def make(path, separator, side=SIDE):
    """An array of side x side chunks of one byte, all links to few files: they need no room, and few inodes."""
    array = path / "a"
    array.mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "group"}))
    (array / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [side, side], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
        "codecs": [{"name": "bytes"}], "dimension_names": ["y", "x"]}))
    source, n = None, 0
    for y in range(side):
        if separator == "/":
            os.makedirs(array / "c" / str(y))
        for x in range(side):
            name = "%s/c%s%d%s%d" % (array, separator, y, separator, x)
            if n % MOST_LINKS == 0:
                source = name
                with open(name, "wb") as file:
                    file.write(b"\7")
            else:
                os.link(source, name)
            n += 1
    return path


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


def each(t):
    for separator in "/.":
        path = make(t / "many.zarr", separator)
        yield path
        shutil.rmtree(path)


def test_advice_looks_at_some(t):
    for path in each(t):
        started = time.monotonic()
        result = t.chunkadvise(path, "--json", preexec_fn=few_files)
        seconds = time.monotonic() - started
        variable, = result.document()["variables"]
        t.equal("stored", (True, SIDE * SIDE, SIDE * SIDE), tuple(
            variable[k] for k in ("stored_is_estimate", "stored_bytes", "n_chunks")))
        t.check(seconds < 2, "chunkadvise takes %.1f s" % seconds)
        t.check("stored about" in t.chunkadvise(path).out, "the report does not say 'about'")
        variable, = t.chunkadvise(path, "--json", "--count", timeout=300).document()["variables"]
        t.equal("counted", (False, SIDE * SIDE), (variable["stored_is_estimate"], variable["stored_bytes"]))


def test_advice_lists_nothing(t):
    """Folders that may be searched but not listed: some chunks can be looked at all the same."""
    if os.geteuid() != 0:
        raise harness.Skip("needs root to become another user")
    if harness.run("chunkadvise", "--version", user=NOBODY, group=NOBODY, extra_groups=[]).code != 0:
        raise harness.Skip("another user cannot run the commands where they are built")
    for separator in "/.":
        path = make(t / "many.zarr", separator, 70)
        hidden = [path / "a"] + ([path / "a" / "c"] if separator == "/" else [])
        for folder in hidden:
            os.chmod(folder, 0o711)
        t.chunkadvise(path, user=NOBODY, group=NOBODY, extra_groups=[])
        t.chunkadvise(path, "--count", code=6, user=NOBODY, group=NOBODY, extra_groups=[])
        shutil.rmtree(path)


def test_a_rewrite_opens_few_files(t):
    memory = 256 << 20
    for path in each(t):
        one, back = t / "one.zarr", t / "back.zarr"
        result = t.rechunk(path, one, "-c", "y/%d,x/%d" % (SIDE, SIDE), "--memory", str(memory), timeout=600, measure=True,
                           preexec_fn=few_files)
        t.check(result.peak_rss_bytes <= memory, "takes %d MiB" % (result.peak_rss_bytes >> 20))
        t.equal("values", [7], np.unique(zarr.open_array(str(one / "a"), mode="r")[...]).tolist())
        result = t.rechunk(one, back, "-c", "y/20,x/20", "--memory", str(memory), timeout=600, measure=True,
                           preexec_fn=few_files)
        t.check(result.peak_rss_bytes <= memory, "takes %d MiB on the way back" % (result.peak_rss_bytes >> 20))
        shutil.rmtree(one)
        shutil.rmtree(back)


if __name__ == "__main__":
    harness.main(globals())
