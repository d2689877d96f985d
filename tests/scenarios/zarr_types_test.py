"""Every element type of fixed size that Zarr has, in every byte order and with every spelling of fill values.

Written by zarr-python 2, by two versions of zarr-python 3, and by TensorStore; cut anew by us into both versions of the
format; read back by each of them that knows the type, bit for bit.
"""

import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import tensorstore as ts

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
    if dtype.fields or dtype.kind == "V":
        return np.frombuffer(bytes(range(1, dtype.itemsize + 1)), dtype)[0] if not has_text(dtype) else \
            np.zeros((), dtype)[()]
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
    # zarr-python 3 knows no arrays in structures.
    for reader in readers(t, "", "-zarr3"):
        work.judged(reader, two, unknown=lambda name: name.startswith("arrays"))
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
            work.judged(reader, two)


if __name__ == "__main__":
    harness.main(globals())
