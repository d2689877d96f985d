"""Stores of very many chunk objects: advice looks at some of them, a rewrite opens few files at a time and keeps to its
memory. A million objects with CHUNKWISE_FULL=1, twenty thousand otherwise."""

import json
import os
import resource
import shutil
import time

import netCDF4
import numpy as np
import zarr

import harness

SIDE = 1000 if os.environ.get("CHUNKWISE_FULL") else 144
MOST_LINKS = 50_000  # of one file, in file systems that bound it at 65,000
NOBODY = 65534
FILES = 256
MEMORY = 128 << 20


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
    memory = str(MEMORY)
    for path in each(t):
        one, back = t / "one.zarr", t / "back.zarr"
        result = t.rechunk(path, one, "-c", "y/%d,x/%d" % (SIDE // 2, SIDE), "--memory", memory, timeout=600,
                           measure=True, preexec_fn=few_files)
        t.check(result.peak_rss_bytes <= MEMORY, "takes %d MiB" % (result.peak_rss_bytes >> 20))
        t.equal("values", [7], np.unique(zarr.open_array(str(one / "a"), mode="r")[...]).tolist())
        if (path / "a" / "c").exists():
            result = t.rechunk(one, back, "-c", "y/1,x/1", "--memory", memory, timeout=600, measure=True,
                               preexec_fn=few_files)
            t.check(result.peak_rss_bytes <= MEMORY, "takes %d MiB on the way back" % (result.peak_rss_bytes >> 20))
            t.equal("chunks", SIDE * SIDE, sum(len(files) for _, _, files in os.walk(back / "a")) - 1)
            t.equal("a chunk", b"\7", (back / "a" / "c" / str(SIDE - 1) / str(SIDE // 3)).read_bytes())
            shutil.rmtree(back)
        shutil.rmtree(one)


def numbered(path, version, side=70):
    """Chunks of one number each; more than are listed before there is a need."""
    values = np.arange(1, side * side + 1, dtype="i4").reshape(side, side)
    zarr.create_array(str(path), data=values, chunks=(1, 1), fill_value=-7, zarr_format=version, compressors=None)
    return path, values


def unseen(t, path, name_of):
    """The place of a chunk that can be missing without opening the store showing it."""
    for y in range(70):
        chunk = path / name_of(y, 3)
        kept = chunk.read_bytes()
        chunk.unlink()
        stored = t.rechunk(path, t / "none.zarr", "-c", "70,70", "--dry-run", "--json").document()["variables"][0]
        if stored["stored_is_estimate"]:
            return y, chunk, kept
        chunk.write_bytes(kept)
    t.fail("every chunk is looked at")
    raise harness.Stop


def test_chunks_are_looked_for_when_read(t):
    """What is there and cannot be read is no fill; what was never written is, and is told."""
    for version, name_of in ((2, "{}.{}".format), (3, "c/{}/{}".format)):
        path, values = numbered(t / "s.zarr", version)
        y, chunk, kept = unseen(t, path, name_of)
        wanted = values.copy()
        wanted[y, 3] = -7
        for arguments in (("-c", "70,35"), ()):  # rewritten, and moved as they are
            result = t.rechunk(path, t / "o.zarr", *arguments, "--verify", "full")
            t.check("1 of 4,900 chunks absent" in result.out, "no word about the absent chunk: " + result.out)
            t.equal("values", wanted.tolist(), zarr.open_array(str(t / "o.zarr"), mode="r")[...].tolist())
            shutil.rmtree(t / "o.zarr")
        spoilt = ((lambda: chunk.mkdir(), chunk.rmdir), (lambda: chunk.write_bytes(kept[:-1]), chunk.unlink),
                  (lambda: chunk.write_bytes(b""), chunk.unlink), (lambda: os.mkfifo(chunk), chunk.unlink),
                  (lambda: chunk.symlink_to("nowhere"), chunk.unlink))
        for spoil, mend in spoilt:
            spoil()
            t.rechunk(path, t / "o.zarr", "-c", "70,35", code=(5, 6), says=(name_of(y, 3),))
            t.equal("names in the folder", ["s.zarr"], sorted(os.listdir(t.dir)))
            mend()
        chunk.mkdir()
        t.rechunk(path, t / "o.zarr", code=5, says=("directory", name_of(y, 3)))  # moved as they are
        t.equal("names in the folder", ["s.zarr"], sorted(os.listdir(t.dir)))
        chunk.rmdir()
        if os.geteuid() == 0:
            chunk.write_bytes(kept)
            chunk.chmod(0)
            t.dir.chmod(0o777)
            t.rechunk(path, t / "o.zarr", "-c", "70,35", code=6, says=(name_of(y, 3), "permission denied"), user=NOBODY,
                      group=NOBODY, extra_groups=[])
        chunk.unlink()
        if version == 3:
            row = chunk.parent
            shutil.rmtree(row)
            row.write_bytes(b"no folder")
            t.rechunk(path, t / "o.zarr", "-c", "70,35", code=5, says=("c/%d" % y,))
        shutil.rmtree(path)


def test_other_formats_know_what_is_missing(t):
    for version, name_of in ((2, "{}.{}".format), (3, "c/{}/{}".format)):
        path, values = numbered(t / "s.zarr", version)
        for missing in (False, True):
            if missing:
                y, _, _ = unseen(t, path, name_of)
                values[y, 3] = -7
            t.rechunk(path, t / "o.nc", "--to", "nc4", "--allow-loss", "--verify", "full")
            with netCDF4.Dataset(t / "o.nc") as file:
                file.set_auto_mask(False)
                variable, = file.variables.values()
                t.equal("values", values.tolist(), variable[...].tolist())
            os.unlink(t / "o.nc")
        shutil.rmtree(path)


if __name__ == "__main__":
    harness.main(globals())
