"""Zarr stores made to harm: both commands end with the right code, a sentence, in time and in little memory; a chunk that
is there but cannot be read is never taken for one that is not."""

import json
import os
import shutil
import socket
import zlib
from pathlib import Path

import numpy as np

import harness

LIMIT_S = 10
LIMIT_BYTES = 512 << 20
NOBODY = 65534


def zarray(**members):
    document = {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "fill_value": 0, "order": "C",
                "filters": None, "compressor": None}
    document.update(members)
    return {k: v for k, v in document.items() if v is not ...}


def array3(**members):
    document = {"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                "chunk_key_encoding": {"name": "default"},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}
    document.update(members)
    return {k: v for k, v in document.items() if v is not ...}


def grid(*chunk):
    return {"name": "regular", "configuration": {"chunk_shape": list(chunk)}}


GROUP2 = {".zgroup": {"zarr_format": 2}}
GROUP3 = {"zarr.json": {"zarr_format": 3, "node_type": "group"}}
CHUNKS2 = {"a/0": b"\1\0\0\0\2\0\0\0", "a/1": b"\3\0\0\0\4\0\0\0"}
CHUNKS3 = {"a/c/0": b"\1\0\0\0\2\0\0\0", "a/c/1": b"\3\0\0\0\4\0\0\0"}


def store(path, *contents):
    """A folder with objects: documents, bytes, or texts."""
    path.mkdir(parents=True)
    for content in contents:
        for key, value in content.items():
            (path / key).parent.mkdir(parents=True, exist_ok=True)
            (path / key).write_bytes(value if isinstance(value, bytes) else
                                     (value if isinstance(value, str) else json.dumps(value)).encode())
    return path


def limits(t, result):
    t.check(result.seconds < LIMIT_S, "takes %.1f s" % result.seconds)
    t.check(result.peak_rss_bytes < LIMIT_BYTES, "takes %d MiB" % (result.peak_rss_bytes >> 20))


def ends(t, path, rechunk, advise=None, says=(), **options):
    """Both commands end so; nothing is left, and nothing outside of the store is read or written."""
    out = t / "out.h5"
    before = harness.listing(t.dir)
    result = t.run("chunkadvise", path, code=rechunk if advise is None else advise, measure=True, timeout=60, **options)
    limits(t, result)
    result = t.run("rechunk", path, out, code=rechunk, says=says, measure=True, timeout=60, **options)
    limits(t, result)
    if result.code == 0:
        out.unlink()
    t.equal("names in the folder", before, harness.listing(t.dir))


def variants(t, cases, base, document, chunks):
    """Each case: the name of the bad member, its value, and the codes that are right."""
    for number, (members, codes) in enumerate(cases):
        path = store(t / ("v%d.zarr" % number), base, {document[0]: document[1](**members)}, chunks)
        ends(t, path, codes, advise=(0, *codes))
        shutil.rmtree(path)


HUGE = 10 ** 18
NOT_LENGTHS = ["x", None, -1, 1.5, 2 ** 63, 2 ** 64, [1], {}]


def test_shapes_and_chunks_of_v2(t):
    wrong = (4, 5)
    cases = [({"shape": value}, wrong) for value in ("x", None, 4, {}, [[4]])]
    cases += [({"shape": [value]}, wrong) for value in NOT_LENGTHS]
    cases += [({"chunks": value}, wrong) for value in ("x", None, 4, {}, [2, 2], [])]
    cases += [({"chunks": [value]}, wrong) for value in (0, *NOT_LENGTHS)]
    cases += [({"shape": [HUGE, HUGE], "chunks": [2, 2]}, wrong), ({"shape": [2 ** 40, 2 ** 40], "chunks": [1, 1]}, wrong),
              ({"shape": [2 ** 62], "chunks": [1]}, wrong), ({"shape": [4] * 100, "chunks": [2] * 100}, wrong),
              ({"shape": [1] * 100, "chunks": [1] * 100}, wrong), ({"shape": [1] * 5000, "chunks": [1] * 5000}, wrong)]
    variants(t, cases, GROUP2, ("a/.zarray", zarray), CHUNKS2)


def test_shapes_and_chunks_of_v3(t):
    wrong = (4, 5)
    cases = [({"shape": value}, wrong) for value in ("x", None, 4, {}, [[4]])]
    cases += [({"shape": [value]}, wrong) for value in NOT_LENGTHS]
    cases += [({"chunk_grid": value}, wrong) for value in ("x", None, 4, {}, {"name": "regular"}, grid(), grid(2, 2),
                                                          {"name": 7}, {"name": "spiral"})]
    cases += [({"chunk_grid": grid(value)}, wrong) for value in (0, *NOT_LENGTHS)]
    cases += [({"shape": [HUGE, HUGE], "chunk_grid": grid(2, 2)}, wrong),
              ({"shape": [4] * 100, "chunk_grid": grid(*[2] * 100)}, wrong)]
    variants(t, cases, GROUP3, ("a/zarr.json", array3), CHUNKS3)


def test_extents_that_are_possible(t):
    """Large arrays without a chunk are legal; advice about them takes no time, a chunk nobody can hold is refused."""
    for members, codes in (({"shape": [HUGE], "chunks": [HUGE // 1000]}, (4, 5, 7)),
                           ({"shape": [10 ** 15], "chunks": [10 ** 6]}, (0, 4, 6, 7)),
                           ({"shape": [4], "chunks": [2 ** 60]}, (4, 5, 7))):
        path = store(t / "big.zarr", GROUP2, {"a/.zarray": zarray(**members)})
        result = t.chunkadvise(path, code=(0, *codes), measure=True, timeout=60)
        limits(t, result)
        result = t.rechunk(path, t / "out.zarr", "--dry-run", code=(0, *codes), measure=True, timeout=60)
        limits(t, result)
        shutil.rmtree(path)


def test_other_members(t):
    wrong = (4, 5)
    nested = "<i4"
    for _ in range(3000):
        nested = [["f", nested]]
    cases = [({"dtype": value}, wrong) for value in
             ("", "<u0", "<u10000", "<u16", "<f3", "x", None, 7, [], [["a"]], [["a", "<i4"], ["a", "<i4"]],
              [["", "<i4"]], [["a", "<i4", [HUGE, HUGE]]], [["a", "<i4", [0]]], [["a", "<i4", [-1]]], "|S%d" % 2 ** 62,
              "|V%d" % 2 ** 40)]
    cases += [({"order": value}, wrong) for value in ("X", None, 7, "c")]
    cases += [({"compressor": value}, wrong) for value in ({}, {"id": "none such"}, "zlib", [], {"id": 7})]
    cases += [({"filters": value}, wrong) for value in ({}, "x", [{}], [{"id": "none such"}], [7])]
    cases += [({"dimension_separator": value}, wrong) for value in ("", "x", "//", 7)]
    cases += [({"zarr_format": value}, wrong) for value in (1, 3, 4, None, "2")]
    cases += [({"fill_value": value}, wrong) for value in ("x", [1, 2], {}, 1.5, 2 ** 40)]
    cases += [({name: ...}, wrong) for name in ("shape", "chunks", "dtype", "zarr_format")]
    cases += [({"dtype": "<f4", "fill_value": value}, wrong) for value in ("nan", "0x", [[]], {})]
    variants(t, cases, GROUP2, ("a/.zarray", zarray), CHUNKS2)
    path = store(t / "nested.zarr", GROUP2)
    (path / "a").mkdir()
    # json.dumps would stop at this depth itself.
    deep = '[["f",' * 3000 + '"<i4"' + ']]' * 3000
    (path / "a/.zarray").write_text(json.dumps(zarray(dtype="DEEP")).replace('"DEEP"', deep))
    ends(t, path, wrong, advise=(0, *wrong))


def test_other_members_of_v3(t):
    wrong = (4, 5)
    transpose = {"name": "transpose", "configuration": {"order": [1]}}
    sharding = {"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}

    def shards(**members):
        return {"codecs": [dict(sharding, configuration=dict(sharding["configuration"], **members))]}

    cases = [({"data_type": value}, wrong) for value in ("", "int7", None, 7, [], {}, {"name": 7}, "r7", "r%d" % 2 ** 60)]
    cases += [({"codecs": value}, wrong) for value in ([], None, {}, [7], [{}], [{"name": "gzip"}],
                                                      [{"name": "bytes"}, {"name": "bytes"}], [{"name": "none such"}],
                                                      [transpose, {"name": "bytes"}])]
    cases += [(shards(**members), wrong) for members in (
        {"chunk_shape": [0]}, {"chunk_shape": [-1]}, {"chunk_shape": [3]}, {"chunk_shape": [1, 1]}, {"chunk_shape": 1},
        {"index_codecs": []}, {"index_codecs": [{"name": "gzip"}]}, {"index_location": "middle"}, {"codecs": []})]
    cases += [({"fill_value": value}, wrong) for value in (..., None, "x", 1.5, [1, 2], 2 ** 40)]
    cases += [({"chunk_key_encoding": value}, wrong) for value in (
        None, 7, {}, {"name": "none such"}, {"name": "default", "configuration": {"separator": "x"}})]
    cases += [({"storage_transformers": [{"name": "x"}]}, wrong), ({"unknown": 7}, wrong),
              ({"unknown": {"name": "x", "must_understand": True}}, wrong), ({"node_type": "tree"}, wrong),
              ({"zarr_format": 4}, wrong), ({"dimension_names": ["a", "b"]}, wrong), ({"dimension_names": "a"}, wrong),
              ({"attributes": []}, wrong)]
    cases += [({name: ...}, wrong) for name in ("shape", "data_type", "codecs", "chunk_grid", "node_type", "zarr_format")]
    variants(t, cases, GROUP3, ("a/zarr.json", array3), CHUNKS3)


def test_texts_that_are_no_metadata(t):
    good = json.dumps(zarray())
    texts = {
        "brackets": "[" * 100_000, "braces": '{"a":' * 100_000, "closed": "[" * 100_000 + "]" * 100_000,
        "deep attribute": None, "spaces": " " * (1 << 20), "empty": "", "text": "hello", "list": "[]", "null": "null",
        "cut": good[:-5], "more": good + "{}", "nul": good.replace("<i4", "<i\0"), "latin": good.replace("<i4", "<i\xff"),
        "comment": good + "// x", "number": good.replace("[4]", "[1e400]"), "twice": None,
    }
    for name, text in texts.items():
        if text is None:
            continue
        for base, key in ((GROUP2, "a/.zarray"), ({}, "zarr.json")):
            path = store(t / (name + ".zarr"), base, {key: text.encode("latin-1")})
            ends(t, path, (4, 5), says=key)
            shutil.rmtree(path)
    path = store(t / "deep.zarr", GROUP2, {"a/.zarray": zarray(), "a/.zattrs": '{"x":' + "[" * 100_000 + "]" * 100_000 + "}"},
                 CHUNKS2)
    ends(t, path, (4, 5), says=".zattrs")


def test_a_gigabyte_of_spaces(t):
    for name, key, start in (("a", ".zgroup", b'{"zarr_format":2'), ("b", "zarr.json", b'{"zarr_format":3')):
        path = store(t / (name + ".zarr"), {key: start})
        with open(path / key, "r+b") as file:
            file.seek(len(start))
            block = b" " * (1 << 24)
            for _ in range(64):
                file.write(block)
        ends(t, path, 5, says="more than")
        shutil.rmtree(path)
    # Sparse: what the system says is not believed either.
    path = store(t / "sparse.zarr", {".zgroup": b"{"})
    os.truncate(path / ".zgroup", 1 << 43)
    ends(t, path, 5, says="more than")


def test_consolidated_keys(t):
    (t / "outside").mkdir()
    for key in ("../outside/a", "/outside/a", "a/../../outside/a", "a//b", "./a", "", "a/", "a\0b", "a/" * 5000 + "b"):
        metadata = {key + "/.zarray" if key else "/.zarray": zarray()}
        path = store(t / "c2.zarr", {".zmetadata": {"zarr_consolidated_format": 1, "metadata": metadata}})
        ends(t, path, 5, says=".zmetadata")
        shutil.rmtree(path)
        root = dict(GROUP3["zarr.json"], consolidated_metadata={"kind": "inline", "must_understand": False,
                                                                "metadata": {key: array3()}})
        path = store(t / "c3.zarr", {"zarr.json": root})
        ends(t, path, 5, says="consolidated")
        shutil.rmtree(path)
    below = {"a/.zarray": zarray(), "a/b/.zarray": zarray()}
    path = store(t / "below.zarr", {".zmetadata": {"zarr_consolidated_format": 1, "metadata": below}})
    ends(t, path, 5, says="below")
    for metadata in ([], 7, {"a/.zarray": 7}, {"a/.zarray": []}):
        path = store(t / "odd.zarr", {".zmetadata": {"zarr_consolidated_format": 1, "metadata": metadata}})
        ends(t, path, (4, 5), says=".zmetadata")
        shutil.rmtree(path)


def test_links(t):
    """Loops end, and what lies outside of a store is not read through it."""
    secret = store(t / "secret", {"0": b"\1\0\0\0\2\0\0\0", "1": b"\3\0\0\0\4\0\0\0", ".zarray": zarray()})
    path = store(t / "loop.zarr", GROUP2, {"a/.zarray": zarray()}, CHUNKS2)
    (path / "up").symlink_to("..")
    ends(t, path, (4, 5))
    (path / "up").unlink()
    (path / "self").symlink_to(".")
    ends(t, path, (4, 5), says=("link",))
    (path / "self").unlink()
    (path / "round").symlink_to("round")
    ends(t, path, (0, 4, 5, 6))
    (path / "round").unlink()
    for target in (secret, "../secret", "../../../../../../../../etc"):
        (path / "b").symlink_to(target)
        ends(t, path, (4, 5), says="link")
        (path / "b").unlink()
    for name in ("0", ".zarray"):
        kept = (path / "a" / name).read_bytes()
        (path / "a" / name).unlink()
        (path / "a" / name).symlink_to(secret / name)
        ends(t, path, (4, 5), advise=(0, 4, 5), says="link")
        (path / "a" / name).unlink()
        (path / "a" / name).write_bytes(kept)
    ends(t, path, 0)


def test_deep_trees(t):
    path = store(t / "deep.zarr", GROUP2)
    at = path
    for _ in range(300):
        at = at / "d"
    at.mkdir(parents=True)
    (at / ".zgroup").write_text('{"zarr_format": 2}')
    ends(t, path, (4, 5), says="deeper")


# ---- chunks that are there and cannot be read (C47)

COMPRESSED = {"compressor": {"id": "zlib", "level": 1}}


def broken_chunks(t, flavour, make, codes, says=()):
    """A chunk of an array with a fill value is spoilt by `make`: rechunk must not take the fill in its place."""
    if flavour == 2:
        chunk = zlib.compress(CHUNKS2["a/0"])
        path = store(t / "x.zarr", GROUP2, {"a/.zarray": zarray(fill_value=7, **COMPRESSED)}, {"a/0": chunk, "a/1": chunk})
        broken = path / "a/0"
    else:
        path = store(t / "x.zarr", GROUP3, {"a/zarr.json": array3(fill_value=7)}, CHUNKS3)
        broken = path / "a/c/0"
    make(broken)
    out = t / "out.zarr"
    before = harness.listing(t.dir)
    for more in (("-c", "a:0/4"), ("-c", "a:0/1"), ()):
        # Without decoding, damage inside a chunk can only be carried along.
        carried = not more and broken.is_file() and not broken.is_symlink()
        allowed = (codes if isinstance(codes, tuple) else (codes,)) + ((0,) if carried else ())
        result = t.rechunk(path, out, *more, code=allowed, says=() if carried else says, measure=True, timeout=60)
        limits(t, result)
        if result.code == 0:
            t.check(broken.read_bytes() == (out / broken.relative_to(path)).read_bytes(), "another chunk was written")
            shutil.rmtree(out)
        t.equal("names in the folder", before, harness.listing(t.dir))
    result = t.chunkadvise(path, code=(0, *codes) if isinstance(codes, tuple) else (0, codes), measure=True, timeout=60)
    limits(t, result)
    if broken.is_dir() and not broken.is_symlink():
        shutil.rmtree(broken)
    shutil.rmtree(path)


def replaced(by):
    def make(path):
        path.unlink()
        by(path)
    return make


def named_socket(path):
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def test_chunks_of_other_kinds(t):
    for flavour in (2, 3):
        broken_chunks(t, flavour, replaced(Path.mkdir), (4, 5, 6), says="directory")
        broken_chunks(t, flavour, replaced(os.mkfifo), (4, 5, 6))
        broken_chunks(t, flavour, replaced(named_socket), (4, 5, 6))
        broken_chunks(t, flavour, replaced(lambda p: p.symlink_to("nowhere")), (4, 5, 6))
        broken_chunks(t, flavour, replaced(lambda p: p.symlink_to(p.name)), (4, 5, 6))
        broken_chunks(t, flavour, replaced(lambda p: p.symlink_to("/dev/zero")), (4, 5, 6))


def test_chunks_cut_or_longer(t):
    for flavour in (2, 3):
        broken_chunks(t, flavour, lambda p: os.truncate(p, p.stat().st_size - 1), 5)
        broken_chunks(t, flavour, lambda p: os.truncate(p, 0), 5)
        broken_chunks(t, flavour, lambda p: os.truncate(p, 1 << 43), (5, 7))
    broken_chunks(t, 3, lambda p: os.truncate(p, 9), 5)


def test_wrong_checksums(t):
    good = b"\1\0\0\0\2\0\0\0"
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    path = store(t / "c.zarr", GROUP3, {"a/zarr.json": array3(codecs=codecs)}, {"a/c/0": good + b"\0\0\0\0"})
    t.refused("rechunk", path, t / "o.zarr", "-c", "4", code=5, says="crc32c")
    for filter_id, stored in (("crc32", b"\0\0\0\0" + good), ("adler32", b"\0\0\0\0" + good),
                              ("fletcher32", good + b"\0\0\0\0")):
        path = store(t / (filter_id + ".zarr"), GROUP2, {"a/.zarray": zarray(filters=[{"id": filter_id}])},
                     {"a/0": stored})
        t.refused("rechunk", path, t / "o.zarr", "-c", "4", code=(4, 5))


def test_permissions(t):
    """As a user who may not read: exit 6, never the fill value, and nothing that cannot be seen is taken for absent."""
    if os.geteuid() != 0:
        raise harness.Skip("needs root to become another user")
    home = t / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    if harness.run("chunkadvise", "--version", user=NOBODY, group=NOBODY, extra_groups=[]).code != 0:
        raise harness.Skip("another user cannot run the commands where they are built")
    as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    for flavour in (2, 3):
        for what in ("chunk", "folder", "metadata", "attributes", "root"):
            if flavour == 2:
                path = store(home / "x.zarr", GROUP2, {"a/.zarray": zarray(fill_value=7), "a/.zattrs": {"x": 1}}, CHUNKS2)
                spoilt = {"chunk": "a/0", "folder": "a", "metadata": "a/.zarray", "attributes": "a/.zattrs", "root": "."}
            else:
                path = store(home / "x.zarr", GROUP3, {"a/zarr.json": array3(fill_value=7)}, CHUNKS3)
                spoilt = {"chunk": "a/c/0", "folder": "a/c", "metadata": "a/zarr.json", "attributes": "zarr.json",
                          "root": "."}
            os.chmod(path / spoilt[what], 0)
            for more in (("-c", "4"), ()):
                t.run("rechunk", path, home / "out.zarr", *more, code=6, says="permission", **as_nobody)
                t.equal("names in the folder, %s of v%d" % (what, flavour), ["x.zarr"], harness.listing(home))
            t.run("chunkadvise", path, code=(0, 6) if what == "chunk" else 6, **as_nobody)
            shutil.rmtree(path)


def test_lying_shards(t):
    """Indexes that point out of the shard, into themselves, or half away."""
    inner = [{"name": "bytes", "configuration": {"endian": "little"}}]
    codecs = [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "codecs": inner, "index_codecs": inner, "index_location": "end"}}]
    none = 2 ** 64 - 1
    good = [(0, 4), (4, 4)]
    for entries in ([(0, 4), (4, 5)], [(0, 4), (8, 4)], [(0, 4), (none, 4)], [(0, 4), (4, none)],
                    [(0, 4), (none - 1, 4)], [(0, 4), (2 ** 63, 2 ** 63)], [(0, 3), (4, 4)], [(0, 4), (4, 0)]):
        index = np.array(entries, "<u8").tobytes()
        path = store(t / "s.zarr", {"zarr.json": array3(codecs=codecs, fill_value=7)}, {"c/0": b"\1\0\0\0\2\0\0\0" + index})
        t.refused("rechunk", path, t / "o.zarr", "-c", "4", "--shards", "none", code=(4, 5))
        shutil.rmtree(path)
    for content in (b"", b"\0" * 31, np.array(good, "<u8").tobytes()[:-1]):
        path = store(t / "s.zarr", {"zarr.json": array3(codecs=codecs, fill_value=7)}, {"c/0": content})
        t.refused("rechunk", path, t / "o.zarr", "-c", "4", "--shards", "none", code=(4, 5))
        shutil.rmtree(path)


if __name__ == "__main__":
    harness.main(globals())
