#!/usr/bin/env python3
"""Texts, bytes and lists of any length in Zarr, and on their way to netCDF and HDF5 and back.

Written by zarr-python 2 and 3, xarray, netCDF4 and h5py; read back by them, element for element.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import xarray as xr
import zarr

import harness
import judges

HERE = Path(__file__).resolve().parent
WORDS = ["", "a", "grün", "漢字", "longer than eight bytes, 😀 included", "zero\0inside", " ", "n/a", "\n"]


def words(n, seed=3):
    random = np.random.default_rng(seed)
    return [WORDS[i] * int(k) for i, k in zip(random.integers(0, len(WORDS), n), random.integers(1, 4, n))]


def object_array(values, shape):
    flat = np.empty(len(values), object)
    flat[:] = values
    return flat.reshape(shape)


def ask_zarr2(t, wishes, name="-zarr2"):
    python = Path(sys.prefix + name) / "bin" / "python"
    if not python.exists():
        raise harness.Skip("there is no %s%s (tools/judges)" % (Path(sys.prefix).name, name))
    asked, answered = t / "wishes.json", t / "answers.json"
    asked.write_text(json.dumps(wishes))
    subprocess.run([python, HERE / "other_texts.py", asked, answered], check=True)
    answers = json.loads(answered.read_text())
    asked.unlink(), answered.unlink()
    for wish, answer in zip(wishes, answers):
        if "error" in answer:
            raise RuntimeError("zarr-python of %s: %s: %s" % (name, wish["path"], answer["error"]))
    return answers


def read_zarr(path):
    return [str(v) if not isinstance(v, bytes) else v for v in np.asarray(zarr.open_array(path, mode="r")[...]).ravel()]


def write_zarr3(path, values, shape, chunks, dtype="string", **options):
    array = zarr.create_array(path, shape=shape, chunks=chunks, dtype=dtype, **options)
    array[...] = object_array(values, shape)
    array.attrs["title"] = "texts"


def plain(codecs):
    """Without empty configurations, which may be there or not."""
    return [(codec["name"], codec.get("configuration") or {}) for codec in codecs]


def vlen(items):
    encoded = [v if isinstance(v, bytes) else v.encode() for v in items]
    return struct.pack("<I", len(encoded)) + b"".join(struct.pack("<I", len(v)) + v for v in encoded)


# ---- Zarr to Zarr

def test_version_3(t):
    shape, values = (7, 5), words(35)
    codecs = {"none": {"compressors": None}, "zstd": {"compressors": zarr.codecs.ZstdCodec(level=3)},
              "gzip": {"compressors": zarr.codecs.GzipCodec(level=1)},
              "blosc": {"compressors": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle", typesize=1)},
              "crc": {"compressors": [zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()]}}
    for name, options in codecs.items():
        source = t / (name + ".zarr")
        write_zarr3(source, values, shape, (3, 2), **options)
        t.source(source)
        for kept, arguments in (("other", ("-c", "5,3")), ("keep", ()), ("zstd", ("-c", "2,5", "--codec", "zstd:5"))):
            target = t / ("%s-%s.zarr" % (name, kept))
            t.rechunk(source, target, "--verify", "full", *arguments)
            t.equal("values of %s, %s" % (name, kept), values, read_zarr(target))
            document = json.loads((target / "zarr.json").read_text())
            t.equal("data type", "string", document["data_type"])
            t.equal("fill", "", document["fill_value"])
            if kept == "keep":
                t.equal("codecs", plain(json.loads((source / "zarr.json").read_text())["codecs"]),
                        plain(document["codecs"]))
                t.equal("chunks as they are", harness.tree_hash(source / "c"), harness.tree_hash(target / "c"))


def test_transposed_in_version_3(t):
    """zarr-python 3.1 does not read back the texts that it writes transposed, so a newer one judges: elements stand in
    the order of the transposed chunk, as numbers do."""
    for shape, chunks, axes, other in (((2, 3), (2, 3), (1, 0), "1,2"), ((4, 3, 5), (2, 3, 2), (2, 0, 1), "3,2,5")):
        n = int(np.prod(shape))
        values, name = words(n), "x".join(map(str, shape))
        ask_zarr2(t, [{"do": "write", "path": str(t / (name + ".zarr")), "kind": "text", "shape": shape,
                       "values": values, "chunks": chunks, "transpose": axes}], "-zarr3")
        targets = {"keep": ("-c", "keep"), "other": ("-c", other), "zarr2": ("--to", "zarr2")}
        for kept, arguments in targets.items():
            t.rechunk(t / (name + ".zarr"), t / ("%s-%s.zarr" % (name, kept)), "--verify", "full", *arguments)
        reads = [{"do": "read", "path": str(t / ("%s-%s.zarr" % (name, kept))), "kind": "text"} for kept in targets]
        for kept, answer in zip(targets, ask_zarr2(t, reads, "-zarr3")):
            t.equal("%s, %s" % (name, kept), values, answer["values"])
    letters = [list("abcdef")[i] for i in range(6)]
    ask_zarr2(t, [{"do": "write", "path": str(t / "l.zarr"), "kind": "text", "shape": (2, 3), "values": letters,
                   "chunks": (2, 3), "transpose": (1, 0)}], "-zarr3")
    t.equal("the order in a chunk", vlen("adbecf"), (t / "l.zarr/c/0/0").read_bytes())


def test_bytes_of_version_3(t):
    values = [b"", b"\0\1", b"\xff" * 30, b"abc", b"x", b""]
    write_zarr3(t / "b.zarr", values, (6,), (4,), dtype="variable_length_bytes")
    t.rechunk(t / "b.zarr", t / "o.zarr", "-c", "5", "--verify", "full")
    t.equal("bytes", values, read_zarr(t / "o.zarr"))
    t.rechunk(t / "b.zarr", t / "v2.zarr", "--to", "zarr2", "--verify", "full")
    t.equal("filter", [{"id": "vlen-bytes"}], json.loads((t / "v2.zarr/.zarray").read_text())["filters"])
    t.equal("bytes in version 2", values, read_zarr(t / "v2.zarr"))
    t.rechunk(t / "b.zarr", t / "b.h5", "--to", "h5", "--verify", "full")
    with h5py.File(t / "b.h5") as file:
        t.equal("lists of u1", [list(v) for v in values], [list(v) for v in file["b"][:]])
    t.refused("rechunk", t / "b.zarr", t / "b.nc", "--to", "nc4", code=4, says=["/b", "list of u1"])


def test_missing_chunks_of_version_3(t):
    array = zarr.create_array(t / "s.zarr", shape=(10,), chunks=(2,), dtype="string", fill_value="n/a")
    array[2:4] = np.array(["x", ""])
    t.rechunk(t / "s.zarr", t / "o.zarr", "-c", "3", "--verify", "full")
    wanted = ["n/a"] * 2 + ["x", ""] + ["n/a"] * 6
    t.equal("values", wanted, read_zarr(t / "o.zarr"))
    t.equal("stored chunks", ["0", "1"], sorted(os.listdir(t / "o.zarr/c")))
    t.equal("fill", "n/a", json.loads((t / "o.zarr/zarr.json").read_text())["fill_value"])
    t.rechunk(t / "s.zarr", t / "o.h5", "-c", "4", "--to", "h5", "--verify", "full")
    with h5py.File(t / "o.h5") as file:
        t.equal("values in HDF5", [w.encode() for w in wanted], list(file["s"][:]))
        t.equal("fill", b"n/a", file["s"].fillvalue)
        # All, since HDF5 cannot read a fill of any length from a file it may not write.
        t.equal("stored chunks", 3, file["s"].id.get_num_chunks())


def test_shards(t):
    values = words(400)
    write_zarr3(t / "s.zarr", values, (20, 20), (5, 4), shards=(10, 20))
    t.rechunk(t / "s.zarr", t / "plain.zarr", "-c", "7,7", "--shards", "none", "--verify", "full")
    t.equal("out of shards", values, read_zarr(t / "plain.zarr"))
    t.rechunk(t / "plain.zarr", t / "o.zarr", "-c", "2,10", "--shards", "8,20", "--verify", "full")
    t.equal("into shards", values, read_zarr(t / "o.zarr"))
    t.equal("objects", ["0", "1", "2"], sorted(os.listdir(t / "o.zarr/c")))
    t.rechunk(t / "s.zarr", t / "other.zarr", "-c", "5,5", "--shards", "20,10", "--verify", "full")
    t.equal("from shards to shards", values, read_zarr(t / "other.zarr"))


def test_version_2(t):
    shape, values = [7, 5], words(35)
    lists = [list(range(i % 4)) for i in range(35)]
    wishes, cases = [], []
    for kind, item, of_kind in (("text", None, values), ("bytes", None, lists), ("list", "<i4", lists),
                                ("list", ">f8", lists), ("list", "|u1", lists)):
        for order in "CF":
            for compress in ("none", "zstd", "blosc", "zlib"):
                name = "%s%s-%s-%s" % (kind, "" if item is None else "-" + item[1:], order, compress)
                wishes.append({"do": "write", "path": str(t / (name + ".zarr")), "kind": kind, "item": item,
                               "shape": shape, "values": of_kind, "chunks": [3, 2], "order": order,
                               "compress": compress, "crc": compress == "zlib"})
                cases.append((name, kind, of_kind))
    ask_zarr2(t, wishes)
    reads = []
    for name, kind, _ in cases:
        for kept, arguments in (("keep", ()), ("other", ("-c", "5,3"))):
            target = t / ("%s-%s.zarr" % (name, kept))
            t.rechunk(t / (name + ".zarr"), target, "--verify", "full", *arguments)
            reads.append({"do": "read", "path": str(target), "kind": kind})
        t.equal("filters", *(json.loads((t / (name + end) / ".zarray").read_text())["filters"]
                             for end in (".zarr", "-other.zarr")))
    answers = iter(ask_zarr2(t, reads))
    for name, kind, of_kind in cases:
        for kept in ("keep", "other"):
            t.equal("values of %s, %s" % (name, kept), of_kind, next(answers)["values"])


def test_fills_of_version_2(t):
    """null and 0 are no text, but read as an empty one."""
    for fill, wanted in ((None, ""), (0, ""), ("", ""), ("n/a", "n/a")):
        source = t / ("s%s.zarr" % json.dumps(fill).strip('"').replace("/", ""))
        ask_zarr2(t, [{"do": "write", "path": str(source), "kind": "text", "shape": [6], "values": ["a", "b"] * 3,
                       "chunks": [2], "written": [2, 4], "fill": fill}])
        target = source.with_suffix(".out.zarr")
        t.rechunk(source, target, "--verify", "full")
        t.equal("fill", fill, json.loads((target / ".zarray").read_text())["fill_value"])
        t.equal("chunks", ["1"], [n for n in os.listdir(target) if n[0] != "."])
        t.rechunk(source, source.with_suffix(".v3.zarr"), "--to", "zarr3", "-c", "3", "--verify", "full")
        t.equal("in version 3", [wanted] * 2 + ["a", "b"] + [wanted] * 2, read_zarr(source.with_suffix(".v3.zarr")))


def test_versions(t):
    """From one version to the other the encoded chunks are the same."""
    values = words(30)
    write_zarr3(t / "s.zarr", values, (30,), (8,), compressors=zarr.codecs.ZstdCodec(level=3))
    result = t.rechunk(t / "s.zarr", t / "v2.zarr", "--to", "zarr2", "--verify", "full", "--json")
    t.equal("action", "copy", result.document()["variables"][0]["action"])
    t.equal("in version 2", values, read_zarr(t / "v2.zarr"))
    t.equal("chunk", (t / "s.zarr/c/1").read_bytes(), (t / "v2.zarr/1").read_bytes())
    t.equal("zarr-python 2", values,
            ask_zarr2(t, [{"do": "read", "path": str(t / "v2.zarr"), "kind": "text"}])[0]["values"])
    t.rechunk(t / "v2.zarr", t / "back.zarr", "--to", "zarr3", "--verify", "full")
    t.equal("back", values, read_zarr(t / "back.zarr"))
    t.equal("chunk", (t / "s.zarr/c/1").read_bytes(), (t / "back.zarr/c/1").read_bytes())


def test_objects_that_only_copies_keep(t):
    for codec, code in (({"id": "json2", "encoding": "utf-8"}, 0), ({"id": "msgpack2"}, 0), ({"id": "pickle"}, 4)):
        source = t / ("%s.zarr" % codec["id"])
        source.mkdir()
        (source / ".zarray").write_text(json.dumps({
            "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|O", "compressor": {"id": "zstd", "level": 1},
            "fill_value": None, "order": "C", "filters": [codec]}))
        (source / "1").write_bytes(b"whatever it is")
        target = t / ("o-" + source.name)
        if code == 0:
            t.rechunk(source, target, "--verify", "full")
            t.equal("chunk", b"whatever it is", (target / "1").read_bytes())
            t.equal("filters", [codec], json.loads((target / ".zarray").read_text())["filters"])
            t.refused("rechunk", source, t / "x.zarr", "-c", "4", code=4, says=["/" + codec["id"], codec["id"]])
            t.refused("rechunk", source, t / "x.zarr", "--to", "zarr3", code=4, says=["objects"])
        else:
            t.refused("rechunk", source, t / "x.zarr", code=4, says=["pickle"])


# ---- netCDF and HDF5

def make_netcdf(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 9)
        file.createDimension("time", None)
        v = file.createVariable("name", str, ("station",))
        v[:] = object_array([w.replace("\0", "") for w in WORDS], (9,))
        v.setncattr_string("long_name", "name of the station")
        v.setncattr("aliases", ["", "a", "ü"])
        v = file.createVariable("note", str, ("time", "station"), fill_value="n/a", chunksizes=(2, 4))
        v[:5] = object_array([w.replace("\0", "-") for w in words(45)], (5, 9))
        # All of it: where a chunk of strings was never written, ncdump stops with an HDF error.
        file.createVariable("code", str, ("station",), chunksizes=(4,))[:] = object_array(list("pq") * 4 + [""], (9,))
        file.createVariable("t", "f4", ("time", "station"))[:] = np.arange(45, dtype="f4").reshape(5, 9)
        file.createVariable("one", str, ())[...] = "alone"
        file.setncattr_string("title", "")


def dump(path):
    return subprocess.run(["ncdump", str(path)], capture_output=True, text=True, check=True).stdout.splitlines()[1:]


def test_netcdf_and_back(t):
    make_netcdf(t / "s.nc")
    t.source(t / "s.nc")
    for version in ("zarr2", "zarr3"):
        middle = t / (version + ".zarr")
        t.rechunk(t / "s.nc", middle, "--to", version, "-c", "note:2,3", "--verify", "full")
        t.rechunk(middle, t / (version + ".nc"), "-c", "note:2,4", "-c", "t:keep", "--to", "nc4", "--verify", "full")
        t.none("ncdump after " + version, judges.text_differences(dump(t / "s.nc"), dump(t / (version + ".nc"))))
        if version == "zarr3":  # xarray decodes no fill of a string there
            continue
        with xr.open_dataset(t / "s.nc") as wanted, xr.open_zarr(middle) as got:
            for name in wanted.variables:
                t.equal("%s in %s" % (name, version), wanted[name].values.tolist(), got[name].values.tolist())
                t.equal("attributes of " + name, dict(wanted[name].attrs), dict(got[name].attrs))
        with xr.open_dataset(t / "s.nc", decode_cf=False) as wanted, xr.open_zarr(middle, decode_cf=False) as got:
            for name in wanted.variables:
                t.equal("%s undecoded in %s" % (name, version), wanted[name].values.tolist(),
                        got[name].values.tolist())


def test_hdf5_and_back(t):
    with h5py.File(t / "s.h5", "w") as file:
        shape = (7, 5)
        texts = [w.replace("\0", "-") for w in words(35)]  # h5py writes no zero bytes
        file.create_dataset("utf8", data=object_array(texts, shape), dtype=h5py.string_dtype(), chunks=(3, 2),
                            compression="gzip", shuffle=True)
        file.create_dataset("ascii", data=object_array(["a", "", "b"], (3,)), dtype=h5py.string_dtype("ascii"))
        file.create_dataset("fill", (10,), h5py.string_dtype(), chunks=(4,), fillvalue="n/a")
        file["fill"][4:8] = object_array(["x", "", "y", "z"], (4,))
        file.create_dataset("never", (10,), h5py.string_dtype(), chunks=(4,))
        file.create_dataset("scalar", data="one", dtype=h5py.string_dtype())
        lists = np.empty(3, object)
        lists[:] = [np.arange(4, dtype=">i2"), np.zeros(0, ">i2"), np.array([-1], ">i2")]
        file.create_dataset("lists", data=lists, dtype=h5py.vlen_dtype(np.dtype(">i2")))
    t.source(t / "s.h5")
    for version in ("zarr2", "zarr3"):
        left_out = ("--exclude", "lists") if version == "zarr3" else ()
        t.rechunk(t / "s.h5", t / (version + ".zarr"), "--to", version, "--verify", "full", *left_out)
        t.rechunk(t / (version + ".zarr"), t / (version + ".h5"), "--to", "h5", "--verify", "full")
        shutil.copy(t / "s.h5", t / "a.h5")
        # HDF5 reads the fill of strings that were never written only where it may write.
        with h5py.File(t / "a.h5", "r+") as a, h5py.File(t / (version + ".h5"), "r+") as b:
            for name in a:
                if name == "lists" and left_out:
                    continue
                t.equal("type of " + name, a[name].dtype.metadata or a[name].dtype,
                        b[name].dtype.metadata or b[name].dtype)
                t.equal("%s after %s" % (name, version), [np.asarray(v).tolist() for v in np.ravel(a[name][()])],
                        [np.asarray(v).tolist() for v in np.ravel(b[name][()])])
                t.equal("fill of " + name, np.asarray(a[name].fillvalue).tolist(), np.asarray(b[name].fillvalue).tolist())
                t.equal("stored bytes of %s, none or some" % name, a[name].id.get_storage_size() > 0,
                        b[name].id.get_storage_size() > 0)
        array = zarr.open_array(t / (version + ".zarr") / "utf8", mode="r")  # zarr-python 3 opens no group with lists
        t.equal("utf8 in " + version, texts, [str(v) for v in np.ravel(array[...])])
    t.refused("rechunk", t / "s.h5", t / "x.zarr", "--to", "zarr3", code=4, says=["/lists", "list of i2"])


def test_what_zarr_has_no_word_for(t):
    with h5py.File(t / "s.h5", "w") as file:
        file.create_dataset("null", (4,), h5py.string_dtype())[:2] = ["a", ""]
        file.create_dataset("latin", data=np.array([b"ok", b"gr\xfc\xdf"], object), dtype=h5py.string_dtype())
    for version in ("zarr2", "zarr3"):
        t.refused("rechunk", t / "s.h5", t / "o.zarr", "--to", version, "--variable", "null", code=4,
                  says=["/null", "(2)", "null", "--allow-loss"])
        t.refused("rechunk", t / "s.h5", t / "o.zarr", "--to", version, "--variable", "latin", code=4,
                  says=["/latin", "(1)", "UTF-8", "--allow-loss"])
        target = t / (version + ".zarr")
        result = t.rechunk(t / "s.h5", target, "--to", version, "--allow-loss", "--verify", "full", "--json")
        t.equal("losses", {("/null", "2 null elements, the first at (2), became empty ones"),
                           ("/latin", "1 texts that are not UTF-8, the first at (1), were read as Latin-1")},
                {(loss["object"], loss["what"]) for loss in result.document()["losses"]})
        group = zarr.open_group(target, mode="r")
        t.equal("null", ["a", "", "", ""], [str(v) for v in group["null"][...]])
        t.equal("latin", ["ok", "grüß"], [str(v) for v in group["latin"][...]])


def test_xarray_writes(t):
    """What xarray makes of strings in Zarr comes to netCDF and reads the same there."""
    for version in (2, 3):
        dataset = xr.Dataset({"s": (("x", "y"), object_array(words(12), (3, 4)))}, coords={"x": ["a", "b", "ü"]})
        dataset["s"].attrs["note"] = "ü"
        dataset.to_zarr(t / ("x%d.zarr" % version), zarr_format=version, consolidated=True)
        clean = dataset.map(lambda v: v.str.replace("\0", "-"), keep_attrs=True)
        t.rechunk(t / ("x%d.zarr" % version), t / ("x%d.zarr.out.zarr" % version), "-c", "s:2,2", "--verify", "full")
        with xr.open_zarr(t / ("x%d.zarr.out.zarr" % version)) as got:
            t.equal("values", dataset["s"].values.tolist(), got["s"].values.tolist())
            t.equal("coordinate", ["a", "b", "ü"], got["x"].values.tolist())
            t.equal("attributes", dict(clean["s"].attrs), dict(got["s"].attrs))


# ---- limits

def test_hostile_chunks(t):
    good = vlen(["ab", "c"])
    bad = {"count": b"\xff\xff\xff\xff" + good[4:], "zero": b"\0\0\0\0" + good[4:], "short": good[:-1],
           "length": good[:4] + b"\xff\xff\xff\x7f" + good[8:], "empty": b"", "tail": good + b"x",
           "utf8": vlen([b"\xff", b"c"]), "other": vlen(["ab", "c", "d"])}
    for name, chunk in bad.items():
        for version in (2, 3):
            source = t / ("%s%d.zarr" % (name, version))
            array = zarr.create_array(source, shape=(4,), chunks=(2,), dtype="string", compressors=None,
                                      zarr_format=version)
            array[:] = np.array(["a", "b", "c", "d"])
            (source / ("c/1" if version == 3 else "1")).write_bytes(chunk)
            t.refused("rechunk", source, t / "o.zarr", "-c", "4", code=5, says=["/" + source.stem, ("chunk (1)", "chunk 1 of")])


def test_memory(t):
    """A chunk that does not fit says so; many that do are worked on within the memory."""
    values = object_array(["x" * 1000] * 60000, (60000,))
    array = zarr.create_array(t / "s.zarr", shape=(60000,), chunks=(60000,), dtype="string",
                              compressors=zarr.codecs.ZstdCodec(level=1))
    array[:] = values
    t.refused("rechunk", t / "s.zarr", t / "o.zarr", "-c", "1000", "--memory", "96MiB", code=7,
              says=["chunk (0) of /s", "--memory"])
    result = t.rechunk(t / "s.zarr", t / "o.zarr", "-c", "1000", "--memory", "512MiB", measure=True)
    t.check(result.peak_rss_bytes <= 512 << 20, "peak memory %d" % result.peak_rss_bytes)
    result = t.rechunk(t / "o.zarr", t / "p.zarr", "-c", "1500", "--memory", "64MiB", "--verify", "full", measure=True)
    t.check(result.peak_rss_bytes <= 64 << 20, "peak memory %d" % result.peak_rss_bytes)
    t.equal("values", values.tolist(), read_zarr(t / "p.zarr"))


def test_advice_shows_them(t):
    write_zarr3(t / "s.zarr", words(35), (7, 5), (3, 2))
    result = t.chunkadvise(t / "s.zarr", "--json")
    text = t.chunkadvise(t / "s.zarr")
    document = result.document()
    shown = document["variables"] + document["skipped"]
    t.equal("arrays", ["/s"], [v["path"] for v in shown])
    t.check("string" in text.out, "the type is not named:\n" + text.out)
    t.equal("chunks", [3, 2], shown[0].get("chunks"))
    t.equal("count", 9, shown[0].get("n_chunks"))
    stored = sum(p.stat().st_size for p in (t / "s.zarr/c").rglob("*") if p.is_file())
    t.equal("stored bytes", stored, shown[0].get("stored_bytes"))


# ---- files of others

def test_corpora(t):
    corpus = Path(os.environ.get("CHUNKWISE_CORPUS", Path(os.environ["CHUNKWISE_SOURCE_DIR"]) / "../shared/corpus"))
    if not corpus.is_dir():
        raise harness.Skip("no corpus at %s" % corpus)
    n = 0
    for document in sorted(corpus.rglob(".zarray")) + sorted(corpus.rglob("zarr.json")):
        try:
            meta = json.loads(document.read_text())
        except ValueError:
            continue
        if meta.get("dtype") != "|O" and meta.get("data_type") not in ("string", "bytes", "variable_length_bytes"):
            continue
        n += 1
        target = t / ("o%d.zarr" % n)
        result = harness.run("rechunk", document.parent, target, "--verify", "full", "-c", "7")
        if result.code == 0:
            t.equal(str(document.parent), zarr.open_array(document.parent, mode="r")[...].tolist(),
                    zarr.open_array(target, mode="r")[...].tolist())
        else:
            t.judge(result, code=4)
    print("%d arrays" % n)


if __name__ == "__main__":
    harness.main(globals())
