"""Zarr v3 shards, both ways: zarr-python and TensorStore write what we read, and read what we write."""

import json
import os
import resource
import shutil
import struct

import google_crc32c
import h5py
import numpy as np
import tensorstore as ts
import zarr
from zarr.codecs import (BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec)

import harness
import judges

SHAPE = (23, 30, 41)
SHARD = (8, 20, 20)
CHUNK = (4, 5, 10)
FILL = 7
MIB = 1 << 20
ABSENT = (1 << 64) - 1


# ---- making

def values(dtype, shape=SHAPE):
    """Different everywhere; the first shard and some chunks elsewhere are all fill."""
    dtype = np.dtype(dtype)
    data = np.random.default_rng(5).integers(0, 2 if dtype.kind == "b" else 120, shape).astype(dtype)
    if dtype.kind == "c":
        data = data + 1j * data[::-1]
    data = data.astype(dtype)
    fill = fill_of(dtype)
    data[:8, :20, :20] = fill
    data[8:12, 5:10] = fill
    data[20:, :, 30:] = fill
    return data


def fill_of(dtype):
    return np.dtype(dtype).type(1 if np.dtype(dtype).kind == "b" else FILL)


def index_codecs(order="little", checksum=True):
    return [BytesCodec(endian=order)] + ([Crc32cCodec()] if checksum else [])


def make(path, data, chunk=CHUNK, shard=SHARD, codecs=None, index=None, location="end"):
    serializer = ShardingCodec(chunk_shape=chunk, codecs=codecs or [BytesCodec(endian="little"), ZstdCodec(level=1)],
                               index_codecs=index or index_codecs(), index_location=location)
    array = zarr.create_array(str(path), shape=data.shape, dtype=data.dtype, chunks=shard, serializer=serializer,
                              compressors=None, fill_value=fill_of(data.dtype))
    array[...] = data
    return path


def make_by_tensorstore(path, data, chunk=CHUNK, shard=SHARD, codecs=None, index=None, location="end", before=None):
    bytes_codec = {"name": "bytes", "configuration": {"endian": "little"}}
    config = {"chunk_shape": chunk, "codecs": codecs or [bytes_codec],
              "index_codecs": index or [bytes_codec, {"name": "crc32c"}], "index_location": location}
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)},
            "metadata": {"shape": data.shape, "data_type": str(data.dtype), "fill_value": int(fill_of(data.dtype)),
                         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shard}},
                         "codecs": [{"name": "transpose", "configuration": {"order": before}}] * bool(before) +
                                   [{"name": "sharding_indexed", "configuration": config}]}}
    ts.open(spec, create=True).result().write(data).result()
    return path


def source_array(t, name="a.h5", data=None, chunk=(5, 30, 41), **how):
    data = values("f4") if data is None else data
    with h5py.File(t / name, "w") as file:
        made = file.create_dataset("v", data=data, chunks=chunk, fillvalue=fill_of(data.dtype), **how)
        for axis, dim in enumerate(("time", "y", "x")):
            made.dims[axis].label = dim
    return t.source(t / name)


# ---- looking

def by_tensorstore(path):
    return ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}).result().read().result()


def check_values(t, what, path, data, member=None):
    """Values as both judges read them."""
    node = path / member if member else path
    for judge, read in (("zarr-python", lambda: zarr.open_array(str(node), mode="r")[...]),
                        ("TensorStore", lambda: by_tensorstore(node))):
        got = np.asarray(read())
        t.check(judges.same_values(data, got), "%s: other values in the eyes of %s" % (what, judge))


def codec_of(path):
    return json.loads((path / "zarr.json").read_text())["codecs"]


def objects(path):
    return sorted(str(p.relative_to(path)) for p in path.rglob("*") if p.is_file() and p.name != "zarr.json")


def read_index(path, n, location="end", checksum=True):
    """Offset and length of every chunk of a shard, or None."""
    content = path.read_bytes()
    size = 16 * n + (4 if checksum else 0)
    index = content[:size] if location == "start" else content[-size:]
    pairs = [struct.unpack_from("<QQ", index, 16 * i) for i in range(n)]
    return [None if p == (ABSENT, ABSENT) else p for p in pairs], len(content), size


# ---- reading

CODECS = {
    "raw": [BytesCodec(endian="little")],
    "big-endian": [BytesCodec(endian="big"), ZstdCodec(level=1)],
    "gzip": [BytesCodec(endian="little"), GzipCodec(level=2)],
    "blosc": [BytesCodec(endian="little"), BloscCodec(cname="lz4", clevel=3, shuffle="shuffle", typesize=4)],
    "crc32c": [BytesCodec(endian="little"), ZstdCodec(level=3), Crc32cCodec()],
    "transposed": [TransposeCodec(order=(2, 0, 1)), BytesCodec(endian="little"), ZstdCodec(level=1)],
}


def read_back(t, path, data, what):
    """Without shards, with others, and in HDF5: the values are those that were written."""
    t.source(path)
    report = t.chunkadvise(path, "--json").document()["variables"][0]
    meta = json.loads((path / "zarr.json").read_text())
    t.equal(what + ": shards", meta["chunk_grid"]["configuration"]["chunk_shape"], report["shards"])
    for number, arguments in enumerate((("--shards", "none"), ("--shards", "all,all,all"), ("-c", "3,7,9", "--shards",
                                                                                         "6,14,18"))):
        out = t / ("out%d.zarr" % number)
        t.rechunk(path, out, *arguments, "--to", "zarr3", "--verify", "full")
        check_values(t, "%s %s" % (what, arguments), out, data)
        shutil.rmtree(out)
    t.rechunk(path, t / "out.h5", "--verify", "full", says=("shards",))
    with h5py.File(t / "out.h5") as file:
        (name,) = file
        t.check(judges.same_values(data, file[name][...]), what + ": other values in HDF5")
    (t / "out.h5").unlink()


def test_read_codecs(t):
    for name, codecs in CODECS.items():
        read_back(t, make(t / (name + ".zarr"), values("f4"), codecs=codecs), values("f4"), name)


def test_read_dtypes(t):
    for name in ("bool", "i1", "u2", "i4", "u8", "f2", "f8"):
        data = values(name)
        read_back(t, make(t / (name + ".zarr"), data), data, name)


def test_other_types(t):
    """Texts of any length, records and the like: in and out of shards."""
    n = 99
    words = np.array(["w%d" % (i * 7919 % 1000) * (i % 5) for i in range(n)], dtype=object)
    types = {"string": (words, str), "U": (words.astype("<U20"), None), "S": (words.astype("S20"), None),
             "datetime": (np.arange(n).astype("M8[s]"), None), "complex": (np.arange(n) * (1 + 2j), None),
             "record": (np.array([(i, i / 2) for i in range(n)], dtype=[("a", "i4"), ("b", "f8")]), None)}
    for name, (flat, dtype) in types.items():
        data = flat.reshape(9, 11)
        data[:4, :6] = np.zeros(1, flat.dtype)[0] if dtype is None else ""
        plain, shards = t / (name + ".zarr"), t / (name + "-shards.zarr")
        array = zarr.create_array(str(plain), shape=data.shape, dtype=dtype or data.dtype, chunks=(2, 3))
        array[...] = data
        if name == "record":  # which zarr-python cannot write into shards
            t.rechunk(plain, shards, "--shards", "4,6")
        else:
            array = zarr.create_array(str(shards), shape=data.shape, dtype=dtype or data.dtype, chunks=(2, 3),
                                      shards=(4, 6))
            array[...] = data
        for number, (source, arguments) in enumerate(((plain, ("--shards", "4,6")), (shards, ("--shards", "none")),
                                                      (plain, ("--shards", "all,all", "-c", "3,4")),
                                                      (shards, ("-c", "4,2")))):
            out = t / ("%s-%d.zarr" % (name, number))
            t.rechunk(source, out, *arguments, "--verify", "full")
            if name == "record":  # nor read from them: the judge is what is no longer in shards
                t.rechunk(out, t / "out.zarr", "--shards", "none", "--verify", "full", "--overwrite")
                out = t / "out.zarr"
            got = zarr.open_array(str(out), mode="r")
            t.equal("%s %s: values" % (name, arguments), data.tolist(), got[...].tolist())
            t.equal("%s %s: type" % (name, arguments), array.dtype, got.dtype)
        n_objects = 6 if name == "datetime" else 5  # the fill of dates is no zero, but NaT
        t.equal(name + ": objects", n_objects, len(objects(t / (name + "-0.zarr"))))


def test_read_indexes(t):
    data = values("i2")
    for location in ("start", "end"):
        for order in ("little", "big"):
            for checksum in (True, False):
                what = "index at %s, %s-endian%s" % (location, order, ", checksum" if checksum else "")
                path = make(t / ("%s-%s-%d.zarr" % (location, order, checksum)), data, location=location,
                            index=index_codecs(order, checksum))
                read_back(t, path, data, what)


def test_read_tensorstore(t):
    data = values("i4")
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    for number, how in enumerate(({}, {"location": "start"}, {"index": [big]}, {"codecs": [big, {"name": "gzip"}]},
                                  {"codecs": [{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, big]})):
        read_back(t, make_by_tensorstore(t / ("%d.zarr" % number), data, **how), data, "TensorStore %s" % how)


def test_read_nested(t):
    """Shards inside shards, with their indexes at either end; a transposed array, whose shards are counted that way."""
    data = values("f4")
    inner = ShardingCodec(chunk_shape=(2, 5, 5), codecs=[BytesCodec(endian="little"), ZstdCodec(level=1)],
                          index_codecs=index_codecs("big", False), index_location="start")
    path = make(t / "nested.zarr", data, codecs=[inner])
    read_back(t, path, data, "nested")
    done = t.rechunk(path, t / "flat.zarr", "--json", says=("inside shards", "become"))
    t.equal("chunks", [2, 5, 5], done.document()["variables"][0]["to"]["chunks"])
    t.equal("shards", list(SHARD), done.document()["variables"][0]["to"]["shards"])
    t.equal("action", "copy", done.document()["variables"][0]["action"])
    check_values(t, "nested, flattened", t / "flat.zarr", data)

    little = {"name": "bytes", "configuration": {"endian": "little"}}
    turned = make_by_tensorstore(t / "turned.zarr", data, chunk=(10, 4, 5), before=(2, 0, 1),
                                 codecs=[{"name": "transpose", "configuration": {"order": [1, 2, 0]}}, little])
    read_back(t, turned, data, "transposed outside and inside")
    t.rechunk(turned, t / "turned-out.zarr", "--verify", "full")
    expected = codec_of(turned)
    expected[1]["configuration"]["index_location"] = "end"  # which TensorStore leaves unsaid
    t.equal("codecs", expected, codec_of(t / "turned-out.zarr"))
    t.check(np.array_equal(by_tensorstore(t / "turned-out.zarr"), data), "transposed: other values")


def test_refused_by_name(t):
    path = make(t / "a.zarr", values("i4"))
    meta = json.loads((path / "zarr.json").read_text())

    def changed(change, code, says):
        copy = json.loads(json.dumps(meta))
        change(copy, copy["codecs"][0]["configuration"])
        (path / "zarr.json").write_text(json.dumps(copy))
        t.refused("rechunk", path, t / "b.zarr", code=code, says=says)

    changed(lambda m, c: m["codecs"].append({"name": "gzip", "configuration": {"level": 1}}), 4,
            ("gzip", "around whole shards"))
    changed(lambda m, c: c["index_codecs"].append({"name": "gzip", "configuration": {"level": 1}}), 4,
            ("gzip", "index of shards"))
    changed(lambda m, c: c.update(chunk_shape=[4, 5, 3]), 5, ("chunk_shape", "does not divide"))
    changed(lambda m, c: c.update(chunk_shape=[4, 5, 0]), 5, ("chunk_shape",))
    changed(lambda m, c: c.update(chunk_shape=[4, 5]), 5, ("chunk_shape",))
    changed(lambda m, c: c.update(index_location="middle"), 5, ("index_location",))
    changed(lambda m, c: c.pop("index_codecs"), 5, ("index_codecs",))
    changed(lambda m, c: c.update(codecs=[]), 5, ("codecs[0].codecs",))
    changed(lambda m, c: m["chunk_grid"]["configuration"].update(chunk_shape=[1 << 40, 1 << 20, 1 << 40]), 5, ())
    changed(lambda m, c: (m["chunk_grid"]["configuration"].update(chunk_shape=[1 << 20, 1 << 20, 10]),
                          c.update(chunk_shape=[1, 1, 10])), 4, ("index of more than",))


def test_damaged(t):
    """What is there and cannot be read is never absent: exit 5, with the key and a sentence."""
    data = values("f4")
    n = 2 * 4 * 2
    for location in ("start", "end"):
        path = make(t / (location + ".zarr"), data, location=location)
        key = path / "c" / "1" / "1" / "1"
        whole = key.read_bytes()
        entries, size, n_index = read_index(key, n, location)
        at = 0 if location == "start" else size - n_index
        present = next(i for i, entry in enumerate(entries) if entry)

        def with_entry(offset, length, crc=False):
            index = bytearray(whole[at:at + n_index])
            struct.pack_into("<QQ", index, 16 * present, offset, length)
            if crc:
                struct.pack_into("<I", index, 16 * n, google_crc32c.value(bytes(index[:16 * n])))
            return whole[:at] + bytes(index) + whole[at + n_index:]

        damaged = {
            "empty": (b"", "less than its index"),
            "shorter than the index": (whole[:n_index - 1], "less than its index"),
            "checksum": (with_entry(*entries[present][:1], entries[present][1] + 1), "crc32c"),
            "beyond the end": (with_entry(size - 1, 50, True), "beyond its end"),
            "wrapped": (with_entry(ABSENT - 10, 50, True), "beyond its end"),
            "half absent": (with_entry(ABSENT, 50, True), "beyond its end"),
            "in the index": (with_entry(at, 50, True), "inside the index"),
            "huge": (with_entry(0, ABSENT - 1, True), "beyond its end"),
            "another chunk's": (with_entry(*next(e for e in reversed(entries) if e), True), None),
            "cut": (whole[:-1] if location == "end" else whole[:-1], "crc32c" if location == "end" else "beyond"),
        }
        for name, (content, says) in damaged.items():
            key.write_bytes(content)
            if says is None:  # right in form, so it is read
                continue
            for arguments in (("--shards", "none"), ("--to", "zarr2"), ("--shards", "keep")):
                t.refused("rechunk", path, t / "out.zarr", *arguments, code=5, says=("c/1/1/1", says))
            t.refused("chunkadvise", path, code=5, says=("c/1/1/1", says))
        key.write_bytes(whole)
        key.chmod(0)
        if os.geteuid() != 0:
            t.refused("rechunk", path, t / "out.zarr", code=6, says=("c/1/1/1",))
        key.chmod(0o644)
        key.unlink()
        key.mkdir()
        t.refused("rechunk", path, t / "out.zarr", code=(5, 6), says=("c/1/1/1",))


# ---- writing

def test_write(t):
    """Objects, index and metadata are what others write, and absent shards have no object."""
    data = values("f4")
    src = source_array(t)
    done = t.rechunk(src, t / "a.zarr", "-c", "4,5,10", "--shards", "8,20,20", "--codec", "zstd:1", "--verify", "full",
                     "--json")
    report = done.document()["variables"][0]
    t.equal("chunks", [4, 5, 10], report["to"]["chunks"])
    t.equal("shards", [8, 20, 20], report["to"]["shards"])
    node = t / "a.zarr" / "v"
    check_values(t, "written", node, data)
    t.equal("chunks of zarr-python", ((4, 5, 10), (8, 20, 20)),
            (zarr.open_array(str(node), mode="r").chunks, zarr.open_array(str(node), mode="r").shards))
    reference = make(t / "ref.zarr", data)
    t.equal("objects", objects(reference), objects(node))
    t.equal("codecs", codec_of(reference), codec_of(node))
    for key in objects(node):
        ours, size, n_index = read_index(node / key, 16)
        theirs, _, _ = read_index(reference / key, 16)
        t.equal("chunks present in " + key, [e is not None for e in theirs], [e is not None for e in ours])
        spans = sorted(e for e in ours if e)
        t.equal("bytes of " + key, size - n_index, sum(length for _, length in spans))
        ends = [0] + [offset + length for offset, length in spans]
        t.check(all(offset == end for (offset, _), end in zip(spans, ends)), "gaps or overlaps in " + key)


def test_write_dtypes_and_codecs(t):
    for dtype in ("bool", "i1", "u2", "i4", "u8", "f2", "f4", "f8"):
        data = values(dtype)
        src = make(t / ("src-%s.zarr" % dtype), data)
        for codec in ("none", "zstd:3", "gzip:1", "blosc:lz4:5:shuffle", "zstd:1,crc32c"):
            out = t / "out.zarr"
            t.rechunk(src, out, "-c", "5,7,11", "--shards", "10,28,11", "--codec", codec, "--overwrite")
            check_values(t, "%s %s" % (dtype, codec), out, data)


def test_index_stays_where_it_was(t):
    data = values("i4")
    for order, checksum in (("little", True), ("big", False)):
        src = make(t / (order + ".zarr"), data, location="start", index=index_codecs(order, checksum))
        out = t / (order + "-out.zarr")
        done = t.rechunk(src, out, "--json").document()["variables"][0]
        t.equal("action", "copy", done["action"])
        t.equal("codecs", codec_of(src), codec_of(out))
        t.equal("objects", objects(src), objects(out))
        check_values(t, order, out, data)
        other = t / (order + "-other.zarr")
        t.rechunk(src, other, "--shards", "16,20,20", "-c", "2,10,20")
        config = codec_of(other)[0]["configuration"]
        t.equal("location", "start", config["index_location"])
        t.equal("index codecs", codec_of(src)[0]["configuration"]["index_codecs"], config["index_codecs"])
        check_values(t, order + ", rewritten", other, data)


def test_chunks_move_encoded(t):
    """Into shards, between shards and out of them, chunks of the same kind are not decoded."""
    data = values("f4")
    plain = t / "plain.zarr"
    array = zarr.create_array(str(plain), shape=SHAPE, dtype="f4", chunks=CHUNK, compressors=[ZstdCodec(level=1)],
                              fill_value=FILL)
    array[...] = data
    steps = [(plain, ("--shards", "8,20,20")), (None, ("--shards", "12,10,41")), (None, ("--shards", "all,all,all")),
             (None, ("--shards", "none"))]
    last = plain
    for number, (_, arguments) in enumerate(steps):
        out = t / ("%d.zarr" % number)
        for threads in (1, 4):
            done = t.rechunk(last, out, *arguments, "--verify", "full", "--json", "--overwrite", "-j", threads)
            t.equal("action of %s" % (arguments,), "copy", done.document()["variables"][0]["action"])
        check_values(t, "moved %s" % (arguments,), out, data)
        last = out
    t.none("there and back", judges.zarr_trees(plain, last))
    t.equal("objects", objects(plain), objects(last))
    for key in objects(plain):
        t.check((plain / key).read_bytes() == (last / key).read_bytes(), "%s differs" % key)
    # Out of shards into HDF5, where the codec has the same form.
    gz = make(t / "gz.zarr", data, codecs=[BytesCodec(endian="little"), GzipCodec(level=1)])
    t.rechunk(gz, t / "gz.h5")
    with h5py.File(t / "gz.h5") as file:
        t.check(judges.same_values(data, next(iter(file.values()))[...]), "other values in HDF5")


def test_sizes_and_defaults(t):
    data = values("f4")
    src = source_array(t)
    done = t.rechunk(src, t / "a.zarr", "-c", "4,5,10", "--shards", "v:8KiB", "--json").document()["variables"][0]
    shard = done["to"]["shards"]
    t.check(shard is not None and 0.5 * 8192 <= np.prod(shard) * 4 <= 8192, "shards of %s for 8 KiB" % shard)
    t.check(all(s % c == 0 for s, c in zip(shard, (4, 5, 10))), "shards of %s" % shard)
    check_values(t, "by size", t / "a.zarr" / "v", data)
    # The source's shards stay, also around other chunks that divide them.
    kept = t.rechunk(t / "a.zarr", t / "b.zarr", "--json", "-c", "2,5,10").document()["variables"][0]
    t.equal("shards kept", shard, kept["to"]["shards"])
    check_values(t, "kept", t / "b.zarr" / "v", data)
    # Axes and names.
    named = t.rechunk(src, t / "c.zarr", "-c", "time/4,y/5,x/10", "--shards", "time/all,x/20", "--json", "--dry-run")
    t.equal("by name", [24, 5, 20], named.document()["variables"][0]["to"]["shards"])
    shown = t.rechunk(src, t / "c.zarr", "-c", "time/4,y/5,x/10", "--shards", "time/all,x/20", "--dry-run").out
    t.check("in shards of 24 x 5 x 20" in shown, "--dry-run does not show the shards: " + shown)
    advice = t.chunkadvise(t / "a.zarr")
    t.check("in shards of " + "x".join(map(str, shard)) in advice.out, "chunkadvise shows no shards: " + advice.out)


def test_usage(t):
    src = source_array(t)
    for arguments, says in (
            (("-c", "4,5,10", "--shards", "6,20,20"), ("along time", "no multiple of the chunks of 4", "time/4 or time/8")),
            (("-c", "8,20,20", "--shards", "4,5,10"), ("smaller than the chunks of 8", "--shards is the larger")),
            (("--shards", "1,2"), ("names 2 axes",)),
            (("--shards", "nodim/5"), ("no dimension 'nodim'",)),
            (("--shards", "auto"), ("cannot read shards",)),
            (("--shards", "w:4,5,6"), ("w",))):
        t.refused("rechunk", src, t / "out.zarr", *arguments, code=2, says=says)
    for target in ("zarr2", "nc4", "h5"):
        t.refused("rechunk", src, t / "out", "--to", target, "--shards", "5,30,41", code=2,
                  says=("has no shards", "--to zarr3"))
    sharded = make(t / "sharded.zarr", values("f4"))
    t.refused("rechunk", sharded, t / "out.zarr", "-c", "3,5,10", code=2,
              says=("the source's shards of 8", "multiple of the chunks of 3", "--shards none"))
    t.rechunk(sharded, t / "v2.zarr", "--to", "zarr2", says=("shards", "left out"))
    t.check(np.array_equal(zarr.open_array(str(t / "v2.zarr"), mode="r")[...], values("f4")), "other values in v2")


# ---- memory and many shards

def ramp(i, n, row):
    first = i * row
    numbers = np.arange(first, first + n * row, dtype="i8")
    return ((numbers * 2654435761 >> 7) % 4099).astype("f4")


def make_large(path, shape, slab=8):
    row = shape[1] * shape[2]
    with h5py.File(path, "w") as file:
        data = file.create_dataset("v", shape, "f4", chunks=(slab, 128, 512), compression="gzip", compression_opts=1,
                                   shuffle=True)
        for i in range(0, shape[0], slab):
            data[i:i + slab] = ramp(i, slab, row).reshape(slab, *shape[1:])
    return path


def check_large(t, path, shape, what, slab=8):
    row = shape[1] * shape[2]
    array = zarr.open_array(str(path), mode="r")
    wrong = [i for i in range(0, shape[0], slab * 4)
             if not np.array_equal(array[i:i + slab], ramp(i, slab, row).reshape(slab, *shape[1:]))]
    t.check(not wrong, "%s: wrong values from rows %s" % (what, wrong))


def test_shard_larger_than_the_memory(t):
    """192 MiB in one shard, or in shards that no tile holds, within 96 MiB; with codec and without; and back."""
    shape = (192, 512, 512)
    src = t.source(make_large(t / "a.h5", shape))
    for name, arguments in (("one", ("-c", "64,64,64", "--shards", "all,all,all", "--codec", "zstd:1")),
                            ("raw", ("-c", "192,16,16", "--shards", "192,512,512", "--codec", "none")),
                            ("rows", ("-c", "8,64,64", "--shards", "96,512,128", "--codec", "zstd:1"))):
        out = t / (name + ".zarr")
        done = t.rechunk(src, out, *arguments, "--memory", "96MiB", "-j", 2, measure=True, timeout=240)
        print("        %-6s peak %3d MiB  %5.1f s" % (name, done.peak_rss_bytes // MIB, done.seconds), flush=True)
        t.check(done.peak_rss_bytes <= 96 * MIB, "%s: peak %.1f MiB" % (name, done.peak_rss_bytes / MIB))
        check_large(t, out / "v", shape, name)
        back = t.rechunk(out, t / "back.zarr", "--shards", "none", "-c", "16,128,128", "--memory", "96MiB", "-j", 2,
                         measure=True, timeout=240, go_on=True)
        t.check(back.peak_rss_bytes <= 96 * MIB, "%s, back: peak %.1f MiB" % (name, back.peak_rss_bytes / MIB))
        check_large(t, t / "back.zarr" / "v", shape, name + ", back")
        shutil.rmtree(t / "back.zarr")


def test_large_index(t):
    """A million chunks of one shard: the index is 16 MiB, and the memory counts it."""
    data = np.arange(1 << 20, dtype="u1").reshape(1024, 1024) % 251
    array = zarr.create_array(str(t / "a.zarr"), shape=data.shape, dtype="u1", chunks=(256, 256), compressors=None,
                              fill_value=0)
    array[...] = data
    arguments = (t / "a.zarr", t / "b.zarr", "-c", "1,1", "--shards", "all,all", "--codec", "none")
    t.refused("rechunk", *arguments, "--memory", "48MiB", code=7, says=("one shard's index",))
    done = t.rechunk(*arguments, "--memory", "120MiB", measure=True, timeout=300)
    t.check(done.peak_rss_bytes <= 120 * MIB, "peak %.1f MiB" % (done.peak_rss_bytes / MIB))
    got = by_tensorstore(t / "b.zarr")
    t.check(np.array_equal(got, data), "other values")
    done = t.rechunk(t / "b.zarr", t / "c.zarr", "-c", "256,256", "--shards", "none", "--memory", "150MiB", measure=True,
                     timeout=300)
    t.check(done.peak_rss_bytes <= 150 * MIB, "back: peak %.1f MiB" % (done.peak_rss_bytes / MIB))
    t.check(np.array_equal(zarr.open_array(str(t / "c.zarr"), mode="r")[...], data), "other values, back")


def test_few_open_files(t):
    """Series of all shards at once: 400 shards, and no more open files than a hundred."""
    data = np.random.default_rng(3).integers(0, 100, (400, 16, 16)).astype("i2")
    src = source_array(t, data=data, chunk=(400, 4, 4))
    done = t.rechunk(src, t / "a.zarr", "-c", "1,4,4", "--shards", "1,16,16", "-j", 4, "--memory", "64MiB",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
    t.equal("exit code", 0, done.code)
    t.equal("objects", 400, len(objects(t / "a.zarr" / "v")))
    check_values(t, "many shards", t / "a.zarr" / "v", data)


def test_odd_shapes(t):
    for number, (shape, chunk, shard) in enumerate((((1,), (1,), (1,)), ((5,), (3,), (6,)), ((0, 4), (1, 2), (3, 4)),
                                                    ((7, 1, 9), (2, 1, 2), (100, 1, 4)))):
        data = np.arange(np.prod(shape), dtype="i4").reshape(shape)
        src = t / ("%d.zarr" % number)
        array = zarr.create_array(str(src), shape=shape, dtype="i4", chunks=tuple(max(1, s) for s in shape))
        array[...] = data
        out = t / ("%d-out.zarr" % number)
        name = src.stem
        t.rechunk(src, out, "-c", name + ":" + ",".join(map(str, chunk)), "--shards",
                  name + ":" + ",".join(map(str, shard)), "--verify", "full")
        check_values(t, "shape %s" % (shape,), out, data)
    scalar = np.array(2.5)  # zarr-python cannot handle shards of scalars
    make_by_tensorstore(t / "s.zarr", scalar, (), ())
    t.rechunk(t / "s.zarr", t / "s-out.zarr", "--verify", "full")
    t.equal("scalar", scalar, by_tensorstore(t / "s-out.zarr"))


if __name__ == "__main__":
    harness.main(globals())
