"""Zarr in zip files: read from, and written for, zarr-python and xarray; hostile archives end with a sentence."""

import io
import resource
import struct
import subprocess
import warnings
import zipfile
from pathlib import Path

import numpy as np
import xarray as xr
import zarr

import harness
import judges
import sample_tree

GROUPS, VARIABLES = sample_tree.make_tree()


def pack(folder, path, compression=zipfile.ZIP_STORED, below="", reverse=False):
    """A folder as zip file, its entries below a folder of this name."""
    files = sorted(p for p in Path(folder).rglob("*") if p.is_file())
    with zipfile.ZipFile(path, "w", compression) as archive:
        for item in reversed(files) if reverse else files:
            archive.write(item, below + str(item.relative_to(folder)))
    return path


def unpack(t, path):
    """A folder with what is in a zip file; checks the archive as others see it."""
    folder = t / (Path(path).name + ".d")
    with zipfile.ZipFile(path) as archive:
        t.equal("bad entry of %s" % path, None, archive.testzip())
        names = archive.namelist()
        t.equal("names are there once", sorted(set(names)), sorted(names))
        t.check(all(i.compress_type == zipfile.ZIP_STORED for i in archive.infolist()), "entries are not deflated")
        archive.extractall(folder)
    return folder


def content(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def make(t, flavour):
    path = t / ("source_%s.zarr" % flavour)
    sample_tree.write(flavour, path, GROUPS, VARIABLES)
    return path


def written_and_read(t, flavour):
    source = t.source(make(t, flavour))
    whole = t / "whole.zarr.zip"
    t.rechunk(source, whole, "--verify", "full")
    t.none("%s to zip" % flavour, judges.zarr_trees(source, unpack(t, whole)))
    # Straight from the archive, by their own store.
    node = zarr.open_group(zarr.storage.ZipStore(str(whole), mode="r"), mode="r")
    t.equal("format", int(flavour[-1]), node.metadata.zarr_format)
    with xr.open_dataset(zarr.storage.ZipStore(str(whole), mode="r"), engine="zarr", decode_times=False) as got, \
            xr.open_dataset(source, engine="zarr", consolidated=False, decode_times=False) as expected:
        t.check(expected.identical(got), "xarray sees another dataset in the zip file")
    back = t / "back.zarr"
    t.rechunk("file://%s" % whole, "file://%s" % back, "--verify", "full")
    t.none("%s from zip" % flavour, judges.zarr_trees(source, back))
    t.source(whole)
    again = t / "again.zip"
    t.rechunk(whole, again)
    t.equal("a copy of a zip file", content(whole), content(again))


def test_zarr2(t):
    written_and_read(t, "zarr2")


def test_zarr3(t):
    written_and_read(t, "zarr3")


def test_archives_of_others(t):
    for flavour in ("zarr2", "zarr3"):
        source = make(t, flavour)
        archives = {
            "stored": pack(source, t / "stored.zip"),
            "deflated": pack(source, t / "deflated.zip", zipfile.ZIP_DEFLATED),
            "below a folder": pack(source, t / "below.zip", below="x.zarr/"),
            "backwards": pack(source, t / "backwards.zip", zipfile.ZIP_DEFLATED, reverse=True),
        }
        subprocess.run(["touch", "-d", "2001-01-01", str(source)], check=True)
        for what, path in archives.items():
            out = t / "out.zarr"
            t.rechunk(t.source(path), out, "--verify", "full", "--overwrite")
            t.none("%s, %s" % (flavour, what), judges.zarr_trees(source, out))
            advice = t.chunkadvise(path, "--json").document()
            t.equal("format", flavour, advice["format"])


def test_written_by_zipstore(t):
    data = np.arange(24, dtype="f4").reshape(4, 6)
    for version in (2, 3):
        path = t / ("z%d.zip" % version)
        with zarr.storage.ZipStore(str(path), mode="w") as store:
            root = zarr.create_group(store=store, zarr_format=version, attributes={"name": "root"})
            array = root.create_array("g/a", shape=data.shape, chunks=(2, 3), dtype="f4", attributes={"units": "K"})
            array[...] = data
        out = t / ("z%d.zarr" % version)
        t.rechunk(t.source(path), out)
        node = judges.zarr_node(out)
        t.equal("values", data.tolist(), node["g/a"][...].tolist())
        t.equal("attributes", ({"name": "root"}, {"units": "K"}), (dict(node.attrs), dict(node["g/a"].attrs)))
        t.equal("version", version, node.metadata.zarr_format)


def test_last_of_equal_names_holds(t):
    source = t / "s.zarr"
    zarr.create_array(str(source), data=np.arange(4, dtype="i4"), chunks=(4,), compressors=None, filters=None)
    path = pack(source, t / "twice.zip")

    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("c/0", np.arange(10, 14, dtype="<i4").tobytes())
    out = t / "o.zarr"
    t.rechunk(path, out)
    t.equal("values", [10, 11, 12, 13], zarr.open_array(str(out), mode="r")[...].tolist())


def test_from_netcdf(t):
    path = t / "a.nc"
    sample_tree.write("nc4", path, GROUPS, VARIABLES)
    out, directory = t / "a.zarr.zip", t / "a.zarr"
    t.rechunk(path, out, "--verify", "full")
    t.rechunk(path, directory)
    t.none("zip against directory", judges.zarr_trees(directory, unpack(t, out)))
    v2 = t / "a.zarr2.zip"
    t.rechunk(path, v2)
    t.equal("version by inner suffix", 2, zarr.open_group(zarr.storage.ZipStore(str(v2), mode="r"), mode="r").metadata.zarr_format)
    back = t / "back.nc"
    t.rechunk(out, back, "--verify", "full")
    t.none("there and back", judges.text_differences(judges.ncdump_header(path), judges.ncdump_header(back)))


def test_shards(t):
    """Shards come together from chunks of several tiles, and lie in the zip file as one range."""
    data = np.random.default_rng(1).integers(0, 1000, (60, 64, 64), dtype="i2")
    source = t / "s.zarr"
    zarr.create_array(str(source), data=data, chunks=(60, 8, 8), compressors=None)
    sharded, directory = t / "sharded.zip", t / "sharded.zarr"
    for out in (sharded, directory):
        t.rechunk(source, out, "-c", "10,16,16", "--shards", "30,64,64", "--memory", "64MiB", "--verify", "full")
    t.none("zip against directory", judges.zarr_trees(directory, unpack(t, sharded)))
    node = zarr.open_array(zarr.storage.ZipStore(str(sharded), mode="r"), mode="r")
    t.equal("layout", ((10, 16, 16), (30, 64, 64)), (node.chunks, node.shards))
    t.check(np.array_equal(data, node[...]), "values differ")
    back = t / "back.zarr"
    t.rechunk(t.source(sharded), back, "--shards", "none", "-c", "60,8,8", "--verify", "full")
    t.check(np.array_equal(data, zarr.open_array(str(back), mode="r")[...]), "values differ on the way back")
    deflated = pack(directory, t / "deflated.zip", zipfile.ZIP_DEFLATED)
    t.rechunk(deflated, back, "--shards", "none", "-c", "60,8,8", "--overwrite", "--verify", "full")
    t.check(np.array_equal(data, zarr.open_array(str(back), mode="r")[...]), "values differ from deflated shards")
    t.equal("only targets are there", [], [n for n in harness.listing(t.dir) if n.startswith(".")])


def test_large_numbers_of_entries(t):
    source = t / "many.zarr"
    array = zarr.create_array(str(source), shape=(70_000,), chunks=(1,), dtype="u1", compressors=None, filters=None,
                              fill_value=0)
    (source / "c").mkdir()
    for i in range(1, 70_000, 2):
        (source / "c" / str(i)).write_bytes(b"\7")
    out = t / "many.zip"
    t.rechunk(source, out, "--verify", "full", timeout=120)
    with zipfile.ZipFile(out) as archive:
        t.equal("entries", 35_001, len(archive.namelist()))
    one = t / "one.zarr"
    t.rechunk(out, one, "-c", "70000", timeout=120)
    expected = np.zeros(70_000, "u1")
    expected[1::2] = 7
    t.check(np.array_equal(expected, zarr.open_array(str(one), mode="r")[...]), "values differ")


def test_targets(t):
    source = t.source(make(t, "zarr3"))
    out = t / "x.zip"
    t.refused("rechunk", source, out, "--resume", code=4, says="--resume")
    out.write_bytes(b"something")
    t.refused("rechunk", source, out, code=8, says="exists")
    t.rechunk(source, out, "--overwrite")
    t.equal("only the target is there", ["source_zarr3.zarr", "x.zip"], harness.listing(t.dir))
    t.refused("rechunk", "file://elsewhere/x", out, code=2, says="host")
    t.refused("chunkadvise", "file:///x#mode=zarr", code=2, says="not part of a path")
    t.refused("rechunk", source, t / "none" / "x.zip", code=3)
    # A full disk leaves nothing.
    t.refused("rechunk", source, t / "full.zip", code=6, says="write",
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))


# ---- hostile

def hostile(t, name, content, code=5, says=()):
    path = t / name
    path.write_bytes(content)
    for tool, more in (("chunkadvise", ()), ("rechunk", (t / "out.zarr",))):
        result = t.run(tool, path, *more, code=code, says=says, timeout=10, measure=True)
        t.check(result.seconds < 10, "%s takes %.1f s" % (tool, result.seconds))
        t.check(result.peak_rss_bytes < 512 << 20, "%s takes %d bytes" % (tool, result.peak_rss_bytes))
    t.equal("names in the folder", [name], harness.listing(t.dir))
    path.unlink()


def small(compression=zipfile.ZIP_STORED, extra=()):
    """A small dataset as the bytes of a zip file, with further entries."""
    document = (b'{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"uint8","fill_value":0,'
                b'"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},'
                b'"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}')
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("zarr.json", document)
        archive.writestr("c/0", b"\1\2\3\4")
        for name, content in extra:
            archive.writestr(name, content)
    return out.getvalue()


def end_of(data):
    at = data.rindex(b"PK\5\6")
    return at, *struct.unpack_from("<HHHHII", data, at + 4)


def test_hostile_names(t):
    for name in ("../evil", "/etc/evil", "a/../../evil", "a\\b", "a//b", "./a"):
        hostile(t, "h.zip", small(extra=[(name, b"x")]), says="entry")
    hostile(t, "nul.zip", small(extra=[("a_b", b"x")]).replace(b"a_b", b"a\0b"), says="zero byte")
    hostile(t, "folder.zip", small(extra=[("c/0/1", b"x")]), says="folder")


def test_hostile_directories(t):
    good = small()
    at, *_ = end_of(good)
    hostile(t, "cut.zip", good[:-1], says="end record")
    hostile(t, "cut2.zip", good[:at - 10], says="end record")
    hostile(t, "count.zip", good[:at + 8] + struct.pack("<HH", 9, 9) + good[at + 12:], says="entries")
    hostile(t, "size.zip", good[:at + 12] + struct.pack("<I", 2 ** 31) + good[at + 16:], says="directory")
    hostile(t, "offset.zip", good[:at + 16] + struct.pack("<I", 2 ** 31) + good[at + 20:], says="directory")
    hostile(t, "parts.zip", good[:at + 4] + struct.pack("<H", 1) + good[at + 6:], code=4, says="parts")
    # A record that stands for the entry before: overlapping content, the quine bomb.
    second = good.rindex(b"PK\1\2")
    hostile(t, "overlap.zip", good[:second + 42] + struct.pack("<I", 0) + good[second + 46:], says="overlap")
    zip64 = (b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 2 ** 60, 2 ** 60, 2 ** 62, 2 ** 63)
             + b"PK\6\7" + struct.pack("<IQI", 0, at, 1))
    hostile(t, "zip64.zip", good[:at] + zip64 + good[at:], says="directory")


def test_hostile_sizes(t):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", b" " * (600 << 20))
    hostile(t, "bomb.zip", bomb.getvalue(), says="more than")
    good = small(zipfile.ZIP_DEFLATED)
    first = good.index(b"PK\1\2")
    # Says more than deflate can make of it; then a little more, and less, than there is.
    hostile(t, "ratio.zip", good[:first + 24] + struct.pack("<I", 2 ** 31) + good[first + 28:], says="cannot hold")
    size, = struct.unpack_from("<I", good, first + 24)
    hostile(t, "less.zip", good[:first + 24] + struct.pack("<I", size - 1) + good[first + 28:], says="more content")
    hostile(t, "more.zip", good[:first + 24] + struct.pack("<I", size + 1) + good[first + 28:], says="less content")
    hostile(t, "method.zip", small(zipfile.ZIP_LZMA), code=4, says="method")


def test_damaged_chunk(t):
    data = bytearray(small())
    data[data.index(b"\1\2\3\4")] = 9
    path = t / "damaged.zip"
    path.write_bytes(data)
    t.refused("rechunk", path, t / "o.zarr", "-c", "2", code=5, says=("checksum",))


def test_not_a_dataset(t):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "text")
        archive.writestr("b/a.txt", "text")
    hostile(t, "text.zip", out.getvalue(), code=3, says="zip file holds no")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    hostile(t, "empty.zip", empty.getvalue(), code=3, says="zip file holds no")


if __name__ == "__main__":
    harness.main(globals())
