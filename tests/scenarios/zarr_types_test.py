"""Every element type of fixed size that Zarr has, in every byte order and with every spelling of fill values.

Written by zarr-python 2, by two versions of zarr-python 3, and by TensorStore; cut anew by us into both versions of the
format; read back by each of them that knows the type, bit for bit.
"""

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import tensorstore as ts
import zarr

import harness

HERE = Path(__file__).resolve().parent
SHAPE, CHUNKS, TARGET_CHUNKS = (7, 5), (3, 2), "5,3"
WRITTEN = [[0, 6], [2, 5]]  # the first column of chunks and the last row stay absent

# numpy's names; structures as lists. Of each: a fill value as bytes of one element, or None for the zeros.
SIMPLE = ["|b1", "|i1", "<i2", ">i4", "<i8", ">i8", "|u1", ">u2", "<u4", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8",
          "<c8", ">c8", "<c16", ">c16", "<M8[ns]", ">M8[us]", "<M8[10us]", "<M8[D]", "<m8[s]", ">m8[ms]", "|S1", "|S7",
          "<U1", "<U4", ">U5", "|V3"]
LITTLE = [("a", "<i4"), ("b", "<f8"), ("c", "|S3"), ("d", "<M8[us]")]
BIG = [("a", ">i2"), ("z", ">c8"), ("t", ">U2")]
NESTED = [("id", "|u1"), ("at", [("x", "<f4"), ("y", "<f4")]), ("raw", "|V2")]
MIXED = [("a", "<i4"), ("b", ">f8"), ("p", [("x", ">i2"), ("y", "<i2")])]
ARRAYS = [("v", "<f4", (3,)), ("m", ">i2", (2, 2)), ("k", "|u1")]
STRUCTURES = {"little": LITTLE, "big": BIG, "nested": NESTED, "mixed": MIXED, "arrays": ARRAYS}


class Elsewhere:
    """zarr-python of the environment NAME beside that of the judges."""

    def __init__(self, t, name):
        self.t, self.name = t, name
        self.python = Path(sys.prefix + name) / "bin" / "python"

    def __bool__(self):
        return self.python.exists()

    def ask(self, wishes):
        asked, answered = self.t / ("wishes%s.json" % self.name), self.t / ("answers%s.json" % self.name)
        asked.write_text(json.dumps(wishes))
        done = subprocess.run([self.python, HERE / "other_zarr.py", asked, answered], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(answered.read_text())


def clean(name):
    return "".join(c if c.isalnum() else "_" for c in str(name).replace("<", "l").replace(">", "b").replace("|", ""))


def random_values(dtype, shape, random):
    """Any bits at all, NaNs with payloads included, but for types of which some mean nothing."""
    n = int(np.prod(shape))
    if dtype.subdtype:
        return random_values(dtype.subdtype[0], (n,) + dtype.subdtype[1], random)
    if dtype.fields:
        values = np.zeros(n, dtype)
        for name in dtype.names:
            values[name] = random_values(dtype[name], (n,), random).reshape(values[name].shape)
    elif dtype.kind == "b":
        values = random.integers(0, 2, n).astype(dtype)
    elif dtype.kind == "U":
        letters = list("aZ9 äßλЖ漢字😀")
        length = dtype.itemsize // 4
        values = np.array(["".join(random.choice(letters, random.integers(0, length + 1))) for _ in range(n)], dtype)
    elif dtype.kind == "S":
        values = random.integers(1, 256, n * dtype.itemsize).astype("u1").view("S%d" % dtype.itemsize)
        values[:: 3] = values[:: 3].astype("S1")
    else:
        values = random.integers(0, 256, n * dtype.itemsize).astype("u1").view(dtype)
    return values.reshape(shape)


def fill_of(dtype):
    """One element that is no zero."""
    if dtype.fields and has_text(dtype):
        element = np.zeros((), dtype)
        element[dtype.names[0]] = 7
        return element[()]
    if dtype.fields or dtype.kind == "V":
        return np.frombuffer(bytes(range(1, dtype.itemsize + 1)), dtype)[0]
    return {"b": True, "i": -7, "u": 7, "f": -1.5, "c": 2.5 - 3j, "M": np.datetime64(12345, "D"),
            "m": np.timedelta64(86400, "s"), "S": b"x", "U": "ä"}[dtype.kind]


def has_text(dtype):
    return any((dtype[n].fields and has_text(dtype[n])) or dtype[n].kind in "SU" for n in dtype.names or ())


def bits(array):
    """Values without their byte order; None, which numpy lends to NaT and bare V, plays no part."""
    array = np.ascontiguousarray(array)
    if array.dtype.fields:
        return [bits(array[name]) for name in array.dtype.names]
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def expected_values(values, fill):
    out = np.zeros(values.shape, values.dtype)
    if fill is not None:
        out[...] = fill
    rows, columns = [range(a // c * c, -(-b // c) * c) for (a, b), c in zip(WRITTEN, CHUNKS)]
    window = tuple(slice(a, b) for a, b in WRITTEN)
    out[window] = values[window]
    return out


class Work:
    """Cases that one writer makes, and what is expected of them."""

    def __init__(self, t, seed=1):
        self.t, self.random = t, np.random.default_rng(seed)
        self.cases = []  # (name, path, expected values, expected fill or None)
        self.wishes = []
        self.n_saved = 0

    def save(self, array):
        self.n_saved += 1
        path = self.t / ("values%d.npy" % self.n_saved)
        np.save(path, array)
        return str(path)

    def add(self, name, dtype, fill, zarr_format, order="C", separator=".", endian="little"):
        dtype = np.dtype(dtype)
        values = random_values(dtype, SHAPE, self.random)
        path = self.t / ("%s.zarr" % name)
        self.wishes.append({"do": "write", "path": str(path), "values": self.save(values), "written": WRITTEN,
                            "chunks": CHUNKS, "order": order, "format": zarr_format, "separator": separator,
                            "fill": None if fill is None else self.save(np.array(fill, dtype)), "endian": endian})
        self.cases.append((name, path, expected_values(values, fill), None if fill is None else np.array(fill, dtype)))

    def made_by(self, writer, known=lambda name: True):
        answers = writer.ask(self.wishes)
        made = []
        for case, answer in zip(self.cases, answers):
            if "error" not in answer:
                made.append(case)
            elif known(case[0]):
                self.t.fail("zarr%s cannot write %s: %s" % (writer.name, case[0], answer["error"]))
        self.cases, self.wishes = made, []

    def rechunked(self, to, refused=()):
        """Targets by name; `refused` names those for which the format has no type."""
        targets = {}
        for name, path, _, _ in self.cases:
            out = self.t / ("%s.to%s" % (name, to))
            if name in refused:
                self.t.refused("rechunk", path, out, "--to", to, "-c", TARGET_CHUNKS, code=4, says="data type")
                continue
            done = self.t.rechunk(path, out, "--to", to, "-c", TARGET_CHUNKS, "--verify", "full", go_on=True)
            if done.code == 0:
                targets[name] = out
        return targets

    def judged(self, reader, targets, unknown=lambda name: False, fills=True):
        """Every target as `reader` reads it. `unknown` tells which types it does not know."""
        wishes = [{"do": "read", "path": str(path), "values": str(path) + reader.name} for path in targets.values()]
        expected = {name: (values, fill) for name, _, values, fill in self.cases}
        for (name, path), answer in zip(targets.items(), reader.ask(wishes)):
            if "error" in answer:
                if not unknown(name):
                    self.t.fail("zarr%s cannot read %s: %s" % (reader.name, path.name, answer["error"]))
                continue
            values, fill = expected[name]
            got = np.load(str(path) + reader.name + ".npy")
            self.t.equal("type of %s in zarr%s" % (path.name, reader.name), values.dtype.newbyteorder("="),
                         got.dtype.newbyteorder("="))
            self.t.check(bits(values) == bits(got), "values of %s differ in zarr%s" % (path.name, reader.name))
            self.t.equal("attributes of " + path.name, {"title": "of %s.zarr" % name}, answer["attributes"])
            if not fills:
                continue
            got_fill = np.load(str(path) + reader.name + ".fill.npy") if answer["has_fill"] else None
            wanted = np.zeros((), values.dtype) if fill is None else fill
            self.t.check(got_fill is None and fill is None or got_fill is not None and bits(wanted) == bits(got_fill),
                         "fill of %s in zarr%s: %r instead of %r" % (path.name, reader.name, got_fill, fill))


def add_all(work, zarr_format):
    """Every type, both with a fill value and without, in both orders."""
    for i, name in enumerate(SIMPLE):
        dtype = np.dtype(name)
        for fill in (None, fill_of(dtype)):
            label = "%s_%s" % (clean(name), "null" if fill is None else "fill")
            work.add(label, name, fill, zarr_format, order="CF"[(i + (fill is None)) % 2], separator="./"[i % 2],
                     endian="big" if name[0] == ">" else "little")
    for label, fields in STRUCTURES.items():
        dtype = np.dtype(fields)
        for fill in (None, fill_of(dtype)):
            work.add("%s_%s" % (label, "null" if fill is None else "fill"), fields, fill, zarr_format,
                     order="F" if fill is None else "C")


def is_structure(name):
    return name.split("_")[0] in STRUCTURES


def readers(t, *names):
    return [r for r in (Elsewhere(t, name) for name in names) if r]


def test_written_by_zarr_python_2(t):
    writer = Elsewhere(t, "-zarr2")
    if not writer:
        raise harness.Skip("no zarr-python 2 beside the judges")
    work = Work(t)
    add_all(work, 2)
    work.made_by(writer)
    t.equal("cases", 2 * (len(SIMPLE) + len(STRUCTURES)), len(work.cases))
    two = work.rechunked("zarr2")
    work.judged(writer, two)
    # zarr-python 3 knows no arrays in structures, the older one no structures in structures.
    for reader in readers(t, "", "-zarr3"):
        beyond = ("arrays",) if reader.name else ("arrays", "nested", "mixed")
        work.judged(reader, two, unknown=lambda name, beyond=beyond: name.startswith(beyond))
    three = work.rechunked("zarr3", refused=("arrays_null", "arrays_fill"))
    for reader in readers(t, "", "-zarr3"):
        work.judged(reader, three, unknown=lambda name: is_structure(name) and reader.name == "")
    # And back again.
    back = {name: t / (name + ".back") for name in three}
    for name, path in three.items():
        t.rechunk(path, back[name], "--to", "zarr2", "-c", "7,1")
    work.judged(writer, back, fills=False)


def test_written_by_zarr_python_3(t):
    for name in ("", "-zarr3"):
        writer = Elsewhere(t, name)
        if not writer:
            continue
        work = Work(t, seed=3)
        for i, dtype in enumerate(SIMPLE):
            work.add("%s%s" % (clean(dtype), name), dtype, fill_of(np.dtype(dtype)), 3,
                     endian="big" if dtype[0] == ">" else "little")
        for label in ("little", "nested"):
            work.add("%s_%s" % (label, name), STRUCTURES[label], fill_of(np.dtype(STRUCTURES[label])), 3)
        work.made_by(writer)
        same = work.rechunked("zarr3")
        for reader in readers(t, "", "-zarr3"):
            work.judged(reader, same, unknown=lambda n: is_structure(n) and reader.name == "" and name != "")
        for case in work.cases:
            spelled = [json.loads((p / "zarr.json").read_text()) for p in (case[1], same[case[0]])]
            for key in ("data_type", "fill_value"):
                t.equal("%s of %s" % (key, case[0]), spelled[0][key], spelled[1][key])
        two = work.rechunked("zarr2")
        for reader in readers(t, "-zarr2", "", "-zarr3"):
            work.judged(reader, two, unknown=lambda n: n.startswith("nested") and reader.name == "")


# ---- spellings

def v2_array(path, dtype, fill, shape=(4,), **more):
    """A .zarray without a chunk: it reads as the fill value."""
    path.mkdir()
    document = {"zarr_format": 2, "shape": list(shape), "chunks": [3] * len(shape), "dtype": dtype, "fill_value": fill,
                "order": "C", "compressor": None, "filters": None, **more}
    (path / ".zarray").write_text(json.dumps(document))
    return path


def test_fill_values_of_v2(t):
    """Each spelling against the value that zarr-python 2 reads, where it reads it, else as stated."""
    base64_of = lambda b: base64.b64encode(b).decode()
    little = [list(f) for f in LITTLE[:2]]
    cases = [
        ("<f4", "NaN", None), ("<f8", "-Infinity", None), ("<f4", "1.5", None), ("<f4", [1.5], None), ("<i4", 0.0, None),
        ("<i4", 3.0, None), ("<i4", "7", None), ("|b1", 0, None), ("|b1", 1, None), ("<f2", 1, None), ("<i8", 2**53 + 1, None),
        ("<u8", 2**64 - 1, None), ("|S3", 0, None), ("|S3", 5, None), ("|S3", "N/A", None), ("|S3", "YWI=", None),
        ("|S3", "", None), ("<U3", "äb", None), ("<U3", 7, None), ("|V3", "AQID", None), ("<M8[us]", 5, None),
        ("<M8[us]", "NaT", None), ("<m8[s]", -(2**63), None), ("<c16", ["NaN", "NaN"], None),
        ("<c8", [1, "NaN"], np.array([complex(1, np.nan)], "c8")), ("<c8", 2, np.array([2], "c8")),
        (little, base64_of(b"\1\0\0\0" + np.float64(2.5).tobytes()), None),
        (little, 0, np.zeros(1, LITTLE[:2])), ("|V3", 0, np.zeros(1, "V3")),
    ]
    judge = Elsewhere(t, "-zarr2")
    paths = [v2_array(t / ("fill%d.zarr" % i), dtype, fill) for i, (dtype, fill, _) in enumerate(cases)]
    wishes = [{"do": "read", "path": str(p), "values": str(p) + ".values"} for p in paths]
    answers = judge.ask(wishes) if judge else [{"error": "not there"}] * len(cases)
    for (dtype, fill, stated), path, answer in zip(cases, paths, answers):
        if stated is None and "error" in answer:
            t.check(not judge, "zarr-python 2 cannot read %s %r: %s" % (dtype, fill, answer["error"]))
            continue
        wanted = np.repeat(stated, 4) if stated is not None else np.load(str(path) + ".values.npy")
        out = Path(str(path) + ".out")
        done = t.rechunk(path, out, "--to", "zarr2", "-c", "2", go_on=True)
        if done.code == 0:
            got = zarr.open_array(str(out), mode="r")[...]
            t.check(bits(wanted) == bits(got), "%s with %r: %r instead of %r" % (dtype, fill, got, wanted))


def test_fill_values_that_are_none(t):
    for i, (dtype, fill) in enumerate([("<i4", 1.5), ("|u1", 256), ("<f4", "abc"), ("|S2", "YWJjZA=="), ("<U1", "ab"),
                                       ("|V2", "AQID"), ("<c8", [1, 2, 3]), ("<M8[s]", 0.5), ([["a", "<i4"]], "AQ==")]):
        t.refused("rechunk", v2_array(t / ("bad%d.zarr" % i), dtype, fill), t / "out.zarr", code=5, says="fill_value")


def test_wide_floats_are_moved(t):
    path = v2_array(t / "wide.zarr", "<f16", 0.0, shape=(5,))
    values = np.arange(5, dtype="g") / 3
    for i in range(2):
        block = np.zeros(3, "g")
        block[:len(values[3 * i:3 * i + 3])] = values[3 * i:3 * i + 3]
        (path / str(i)).write_bytes(block.tobytes())
    t.rechunk(path, t / "out.zarr", "--to", "zarr2", "-c", "2", "--verify", "full")
    judge = Elsewhere(t, "-zarr2")
    if judge:
        answer = judge.ask([{"do": "read", "path": str(t / "out.zarr"), "values": str(t / "got")}])[0]
        t.equal("answer", False, "error" in answer)
        t.equal("values", values.tolist(), np.load(t / "got.npy").tolist())
    t.refused("rechunk", path, t / "x.zarr", "--to", "zarr3", code=4, says="f16")


def v3_document(**changes):
    document = {"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 7,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}
    document.update(changes)
    return {k: v for k, v in document.items() if v is not ...}


def v3_array(path, **changes):
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(v3_document(**changes)))
    return path


def test_spellings_of_v3(t):
    """What the specification allows beside what zarr-python writes."""
    good = [
        dict(data_type={"name": "int32"}), dict(chunk_key_encoding="default"), dict(chunk_key_encoding={"name": "v2"}),
        dict(codecs=[{"name": "endian", "configuration": {"endian": "big"}}]), dict(storage_transformers=[]),
        dict(dimension_names=None), dict(consolidated_metadata=None), dict(attributes=...),
        dict(ours={"must_understand": False, "more": 1}), dict(shape=[], fill_value=7,
             chunk_grid={"name": "regular", "configuration": {"chunk_shape": []}}),
        dict(shape=[0]), dict(shape=[0], chunk_grid={"name": "regular", "configuration": {"chunk_shape": [0]}}),
        dict(data_type="int8", codecs=["bytes"]), dict(data_type="r16", fill_value=[1, 2], codecs=["bytes"]),
        dict(data_type="complex_float32", fill_value=["0x7fc00001", 1]),
        dict(data_type="bfloat16", fill_value=1.5), dict(data_type="float8_e4m3fn", fill_value="NaN", codecs=["bytes"]),
        dict(data_type="int4", fill_value=-3, codecs=["bytes"]),
        dict(data_type={"name": "structured", "configuration": {"fields": [["a", "int16"]]}}, fill_value="AQI=",
             codecs=[{"name": "bytes"}]),
        dict(chunk_grid={"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [3]}}),
    ]
    for i, changes in enumerate(good):
        path, out = v3_array(t / ("good%d.zarr" % i), **changes), t / ("good%d.out" % i)
        chunks = [] if changes.get("shape") == [] else ["-c", "2"]
        t.rechunk(path, out, "--to", "zarr3", "--verify", "full", *chunks, go_on=True)
        t.chunkadvise(path, go_on=True)
        if out.exists():
            document = json.loads((out / "zarr.json").read_text())
            for key in ("data_type", "fill_value"):
                t.equal("%s of %s" % (key, changes), json.loads((path / "zarr.json").read_text())[key], document[key])
    bad = [
        (dict(data_type="decimal"), 4, "decimal"), (dict(data_type={"name": "xyz", "configuration": {"a": 1}}), 4, "xyz"),
        (dict(storage_transformers=[{"name": "sieve"}]), 4, "sieve"), (dict(ours={"more": 1}), 4, "ours"),
        (dict(ours=1), 4, "ours"), (dict(chunk_grid={"name": "spiral"}), 4, "spiral"),
        (dict(chunk_key_encoding={"name": "fanout"}), 4, "fanout"),
        (dict(codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "squash"}]), 4, "squash"),
        (dict(chunk_grid={"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3]]}}), 4,
         "rectilinear"),
        (dict(codecs=["bytes"]), 5, "endian"), (dict(data_type="float32", fill_value="0x7fc0000"), 5, "fill_value"),
        (dict(fill_value=1.5), 5, "fill_value"), (dict(fill_value=...), 5, "fill_value"),
        (dict(data_type=3), 5, "data_type"), (dict(data_type="r12"), 5, "r12"),
    ]
    for i, (changes, code, says) in enumerate(bad):
        path = v3_array(t / ("bad%d.zarr" % i), **changes)
        (path / "c").mkdir()
        (path / "c" / "0").write_bytes(bytes(12))  # what nobody stored nobody needs to decode
        t.refused("rechunk", path, t / "out.zarr", "-c", "2", code=code, says=says)


def test_attributes_are_kept(t):
    """Their text: long integers, 1 beside 1.0, bare NaN, order, nesting; what OME-NGFF and GeoZarr keep there."""
    text = '''{"long": 123456789012345678901234567890, "minus": -18446744073709551617, "exact": 9007199254740993,
      "one": 1, "one float": 1.0, "small": 1e-300, "nan": NaN, "inf": [Infinity, -Infinity], "text": "NaN", "null": null,
      "yes": true, "mixed": [1, 2.5, "a", [], {}], "unsigned": 18446744073709551615, "ä": "漢字 \\u0000 \\ud83d\\ude00",
      "multiscales": [{"version": "0.4", "axes": [{"name": "y", "type": "space", "unit": "micrometer"}],
        "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 0.5]}]}]}],
      "proj:epsg": 4326, "spatial:transform": [10.0, 0.0, 600000, 0.0, -10.0, 5300040], "_private": {"a": []}}'''
    wanted = json.dumps(json.loads(text))
    two, three = t / "two.zarr", t / "three.zarr"
    two.mkdir()
    (two / ".zgroup").write_text('{"zarr_format": 2}')
    (two / ".zattrs").write_text(text)
    v2_array(two / "a", "<i4", 1)
    (two / "a" / ".zattrs").write_text(text)
    three.mkdir()
    (three / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": %s}' % text)
    v3_array(three / "a", attributes=json.loads(text))
    (three / "empty").mkdir()
    (three / "empty" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    v3_array(three / "implied").rename(t / "moved")
    (three / "implied").mkdir()
    (t / "moved").rename(three / "implied" / "b")
    for source in (two, three):
        for version in ("zarr2", "zarr3"):
            out = t / ("%s_%s" % (source.stem, version))
            t.rechunk(source, out, "--to", version, "-c", "2")
            def attributes(node):
                if version == "zarr2":
                    return json.loads((out / node / ".zattrs").read_text())
                return json.loads((out / node / "zarr.json").read_text())["attributes"]
            for node in ("", "a"):
                t.equal("attributes of /%s, %s" % (node, out.name), wanted, json.dumps(attributes(node)))
            if source == three:
                group = zarr.open_group(str(out), mode="r", use_consolidated=False)
                t.equal("groups", ["empty", "implied"], sorted(group.group_keys()))
                t.equal("an array in an implied group", [7] * 4, group["implied/b"][...].tolist())


def test_drafts_of_v3(t):
    path = t / "draft.zarr"
    (path / "meta" / "root").mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_encoding": "x", "extensions": []}))
    t.refused("rechunk", path, t / "out.zarr", code=4, says="draft of Zarr v3")
    t.run("chunkadvise", path, code=4, says="draft of Zarr v3")


def test_rectilinear_grids(t):
    """Clipped chunks, as a rectilinear grid has them at the edge."""
    values = np.arange(35, dtype="<i4").reshape(7, 5)
    path = v3_array(t / "clipped.zarr", shape=[7, 5], chunk_grid={
        "name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[3, 2], 1], [2, 2, 1]]}})
    for i in range(3):
        for j in range(3):
            folder = path / "c" / str(i)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / str(j)).write_bytes(np.ascontiguousarray(values[3 * i:3 * i + 3, 2 * j:2 * j + 2]).tobytes())
    t.rechunk(path, t / "out.zarr", "--to", "zarr3", "-c", "2,5", "--verify", "full")
    t.equal("values", values.tolist(), zarr.open_array(str(t / "out.zarr"), mode="r")[...].tolist())
    t.rechunk(path, t / "kept.zarr", "--to", "zarr3", "--verify", "full")
    t.equal("values", values.tolist(), zarr.open_array(str(t / "kept.zarr"), mode="r")[...].tolist())


def test_written_by_tensorstore(t):
    """Types that only TensorStore has, and NaNs with payloads as fill values."""
    types = {"bfloat16": 1.5, "int4": -3, "float8_e4m3fn": 2.0, "float8_e5m2": "NaN", "complex64": ["0x7fc00001", 1.0],
             "float16": "0x7e01", "float32": "0xffc00002"}
    random = np.random.default_rng(9)
    for name, fill in types.items():
        path, out = t / (name + ".zarr"), t / (name + ".out")
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}, "metadata": {
            "shape": [7, 5], "data_type": name, "fill_value": fill,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 2]}}}}
        array = ts.open(spec, create=True).result()
        dtype = array.dtype.numpy_dtype
        values = random.integers(0, 256, 30 * dtype.itemsize).astype("u1").view(dtype).reshape(6, 5)
        array[:6, :].write(values).result()
        wanted = array.read().result()
        t.rechunk(path, out, "--to", "zarr3", "-c", "2,5", "--verify", "full")
        got = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": str(out)}}).result().read().result()
        t.check(wanted.tobytes() == got.tobytes(), "%s: values differ" % name)
        t.equal("fill of " + name, json.loads((path / "zarr.json").read_text())["fill_value"],
                json.loads((out / "zarr.json").read_text())["fill_value"])
        if name in ("bfloat16", "int4", "float8_e4m3fn", "float8_e5m2"):
            t.refused("rechunk", path, t / "x.zarr", "--to", "zarr2", code=4, says=name)
            t.refused("rechunk", path, t / "x.nc", "--to", "nc4", code=4, says=name)


def test_nczarr(t):
    """What netCDF-C 4.9 writes: characters as "<U1" of one byte, a scalar with one axis."""
    if not shutil.which("ncgen"):
        raise harness.Skip("no ncgen")
    (t / "a.cdl").write_text('''netcdf a { dimensions: x = 4; s = 3;
      variables: int a(x); a:_FillValue = -9; char c(x, s); double sc; sc:units = "m";
      data: a = 1, 2, 3, _; c = "abc", "de", "f", ""; sc = 3.5; }''')
    path = t / "a.zarr"
    made = subprocess.run(["ncgen", "-4", "-o", "file://%s#mode=nczarr,file" % path, t / "a.cdl"], capture_output=True)
    if made.returncode or not path.exists():
        raise harness.Skip("ncgen writes no NCZarr")
    t.source(path)
    t.rechunk(path, t / "out.nc", "--to", "nc4")
    with netCDF4.Dataset(t / "out.nc") as f:
        f["c"].set_auto_chartostring(False)
        t.equal("characters", b"abcde\0f\0\0\0\0\0", np.asarray(f["c"][:].data).tobytes())
        t.equal("scalar", ((), 3.5), (f["sc"].shape, float(f["sc"][...])))
        t.equal("integers", [1, 2, 3, None], f["a"][:].tolist())
    for version in ("zarr2", "zarr3"):
        out = t / (version + ".zarr")
        t.rechunk(path, out, "--to", version, "-c", "x/2")
        group = zarr.open_group(str(out), mode="r")
        t.equal("characters in " + version, [b"a", b"b", b"c"], group["c"][0].tolist())
        t.equal("scalar in " + version, (), group["sc"].shape)


if __name__ == "__main__":
    harness.main(globals())
