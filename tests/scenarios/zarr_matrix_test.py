"""The interop matrix of Zarr: every type with every codec, order, spelling of keys and layout of shards.

Each judge that writes makes what it can of the table in zarr_matrix.py; we cut that anew, into the same codecs and
into none; every judge reads what it knows of the result: values, fill values and attributes must be what was meant, bit
for bit, and the metadata must say of codecs and types what the writer said. Without CHUNKWISE_FULL=1, which
takes some minutes, keys and shards go round, so that each is there with every type, codec and order, but not with all
at once. A judge that is not installed is named as skipped; the last lines count what each confirmed.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

import harness
import zarr_matrix as matrix

HERE = Path(__file__).resolve().parent
FULL = bool(os.environ.get("CHUNKWISE_FULL"))
BESIDE = Path(sys.prefix)
SYSTEM = Path("/usr/bin/python3")


@dataclass(frozen=True)
class Judge:
    name: str
    kind: str
    python: Path
    needs: str  # a module
    reads: Callable
    writes: Callable

    def ask(self, what, folder, combinations):
        """An answer for each name."""
        wishes, answers = Path(str(folder) + ".wishes." + self.python.parts[-3]), None
        wishes = wishes.with_name(wishes.name + self.kind.replace(" ", ""))
        answers = wishes.with_name(wishes.name + ".answers")
        wishes.write_bytes(pickle.dumps(combinations))
        done = subprocess.run([self.python, HERE / "zarr_matrix_judge.py", self.kind, what, folder, wishes, answers],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("%s: %s" % (self.name, done.stderr[-2000:]))
        return json.loads(answers.read_text())

    def is_there(self):
        return self.python.exists() and subprocess.run(
            [self.python, "-c", "import numpy, " + self.needs], capture_output=True).returncode == 0


def zarr_2(c):
    return c.zarr_format == 2 and c.codec != "crc32c"


def newer_zarr(c):
    # Arrays in structures: zarr-python issue 3583.
    return c.zarr_format == 3 or c.dtype != "arrays"


def older_zarr(c):
    # It has no type for "nested", nor for what newer versions call "struct"; |V3 in shards: zarr-python issue 3054.
    return (c.dtype not in ("arrays", "nested") and not (c.zarr_format == 3 and c.dtype == "little")
            and not (c.shards and c.dtype == "|V3"))


def by_older_zarr(c):
    # Transposed texts it writes in the wrong order: zarr-python issue 3558.
    return older_zarr(c) and not (c.zarr_format == 3 and c.order == "F" and c.dtype in matrix.OBJECT_CODECS)


def by_newer_zarr(c):
    """What the older one cannot write, and a part of the rest: it takes its time."""
    return newer_zarr(c) and (not by_older_zarr(c) or c.codec in ("zstd", "blosc_lz4"))


def in_tensorstore(c):
    """Numbers, and no codec of numcodecs that is not in the specification of v3."""
    if not c.is_number:
        return False
    return not c.codec.startswith("n_") if c.zarr_format == 3 else (
        not matrix.CODECS_V2[c.codec][0] and c.codec not in ("lzma", "lz4"))


def in_gdal(c):
    """GDAL 3.6: numbers of v2, no f2, no i1; the fill values of complex numbers and differences of bytes it gets wrong."""
    return (c.zarr_format == 2 and c.is_number and c.dtype[1:] not in ("i1", "f2")
            and not (c.dtype[1] == "c" and c.has_fill) and not (c.codec == "delta" and c.dtype == "|u1")
            and (c.codec in ("none", "zlib", "gzip", "zstd", "lzma", "lz4", "delta") or c.codec.startswith("blosc_")))


def by_gdal(c):
    # Of Blosc's shuffles it has no "automatic"; of its types no bool, and it writes numbers as they are in memory.
    return in_gdal(c) and c.dtype[0] != ">" and c.dtype != "|b1" and not c.codec.endswith("_0")


def in_netcdf(c):
    """netCDF-C 4.10: real numbers; order F and big-endian numbers it takes for C and little-endian."""
    return (c.zarr_format == 2 and c.is_number and c.dtype[1] in "iuf" and c.dtype[1:] != "f2" and c.dtype[0] != ">"
            and c.order == "C" and c.codec in ("none", "zlib", "shuffle_zlib", "bz2", "zstd", "fletcher32",
                                               "blosc_lz4_2", "blosc_zstd_3"))


JUDGES = [
    Judge("zarr-python 2", "zarr-python", Path(str(BESIDE) + "-zarr2/bin/python"), "zarr", zarr_2, zarr_2),
    Judge("zarr-python 3", "zarr-python", BESIDE / "bin/python", "zarr", older_zarr,
          by_older_zarr),
    Judge("zarr-python 3, newer", "zarr-python", Path(str(BESIDE) + "-zarr3/bin/python"), "zarr", newer_zarr,
          by_newer_zarr),
    Judge("TensorStore", "TensorStore", BESIDE / "bin/python", "tensorstore", in_tensorstore, in_tensorstore),
    Judge("GDAL", "GDAL", SYSTEM, "osgeo.gdal", in_gdal, by_gdal),
    Judge("netCDF-C", "netCDF", BESIDE / "bin/python", "netCDF4", in_netcdf, lambda c: False),
]


def table():
    combinations = list(matrix.combinations_v2()) + list(matrix.combinations_v3(FULL))
    if FULL:
        return combinations
    # Of each type, codec and order one; keys and shards go round.
    chosen, turn = {}, collections.Counter()
    for c in combinations:
        chosen.setdefault((c.zarr_format, c.dtype, c.codec, c.order), []).append(c)
    return [group[turn.update([key[0]]) or turn[key[0]] % len(group)] for key, group in chosen.items()]


# ---- metadata

def document(array):
    path = array / ".zarray"
    return json.loads((path if path.exists() else array / "zarr.json").read_text())


def plain_chain(codecs):
    """Codecs without what may be left unsaid, and without the shapes of shards."""
    plain = []
    for codec in codecs:
        name, configuration = codec["name"], dict(codec.get("configuration") or {})
        if name == "sharding_indexed":
            configuration.pop("chunk_shape")
            configuration.setdefault("index_location", "end")
            for key in ("codecs", "index_codecs"):
                configuration[key] = plain_chain(configuration[key])
        if name == "blosc" and configuration["shuffle"] == "noshuffle":
            configuration.pop("typesize", None)
        if name == "numcodecs.lzma":
            configuration = {**{"format": 1, "check": -1, "filters": None}, **configuration}
        if name == "crc32c":
            configuration.setdefault("location", "end")
        if name == "numcodecs.crc32":
            configuration.setdefault("location", "start")
        if name == "zstd":
            configuration.setdefault("checksum", False)
        plain.append((name, configuration))
    return plain


def said(codec):
    """A codec of v2 with what may be left unsaid, in the words of numcodecs."""
    unsaid = {"crc32c": {"location": "end"}, "zstd": {"checksum": False}}.get(codec["id"], {})
    if codec["id"] == "blosc":  # GDAL copies what its user said
        codec = {**codec, "shuffle": {"NONE": 0, "BYTE": 1, "BIT": 2}.get(codec["shuffle"], codec["shuffle"])}
    if codec["id"] == "lzma":  # how GDAL encoded, which numcodecs does not want to hear when it decodes
        return {"format": 1, "check": -1, "filters": None, **{k: v for k, v in codec.items() if k != "delta"}}
    if codec["id"] == "delta":
        return {"astype": codec["dtype"], **codec}
    return {**unsaid, **codec}


def said_key(encoding):
    separator = {"default": "/", "v2": "."}[encoding["name"]]
    return encoding["name"], encoding.get("configuration", {}).get("separator", separator)


def metadata_differences(before, after):
    a, b = document(before), document(after)
    if a["zarr_format"] == 2:
        keys = {"dtype", "compressor", "filters", "order", "fill_value", "shape"}
        spelled = lambda d: {**{k: d[k] for k in keys}, "dimension_separator": d.get("dimension_separator", "."),
                             "filters": [said(f) for f in d["filters"] or []],
                             "compressor": d["compressor"] and said(d["compressor"])}
    else:
        keys = {"data_type", "fill_value", "chunk_key_encoding", "shape", "attributes"}
        spelled = lambda d: {**{k: d[k] for k in keys}, "codecs": plain_chain(d["codecs"]),
                             "chunk_key_encoding": said_key(d["chunk_key_encoding"])}
    a, b = spelled(a), spelled(b)
    return ["%s %s became %s" % (key, json.dumps(a[key]), json.dumps(b[key])) for key in a
            if json.dumps(a[key], sort_keys=True) != json.dumps(b[key], sort_keys=True)]


# ---- one writer

class Work:
    def __init__(self, t, writer, judges, combinations):
        self.t, self.writer, self.judges, self.combinations = t, writer, judges, combinations
        self.problems = []
        self.confirmed = collections.Counter()  # by judge

    def note(self, name, text):
        self.problems.append(("%s, written by %s" % (text, self.writer.name), name))

    def run(self, label):
        """All of one kind of grid."""
        folder = self.t / ("%s_%s" % (self.writer.name.replace(" ", ""), label))
        source, kept, bare = (Path("%s.%s.zarr" % (folder, n)) for n in ("source", "kept", "bare"))
        written = self.writer.ask("write", source, self.combinations)
        made = []
        for c in self.combinations:
            if "error" in written[c.name]:
                self.note(c.name, "cannot be written: " + written[c.name]["error"])
                shutil.rmtree(source / c.name, ignore_errors=True)
            else:
                made.append(c)
        self.combinations = made
        zarr_format = self.combinations[0].zarr_format
        shards = bool(self.combinations[0].shards)
        chunks = ["-c", "%d,%d" % (matrix.NEW_INNER if shards else matrix.NEW_CHUNKS), "--to", "zarr%d" % zarr_format]
        options = chunks + (["--shards", "%d,%d" % matrix.NEW_SHARDS] if shards else [])
        if not self.rechunk(source, kept, options) or not self.rechunk(
                source, bare, chunks + ["--codec", "none"] + ["--shards", "none"] * shards):
            return
        for c in self.combinations:
            for difference in metadata_differences(source / c.name, kept / c.name):
                self.note(c.name, difference)
        for judge in self.judges:
            self.judged(judge, kept, [c for c in self.combinations if judge.reads(c)], count=True)
        # What was decoded, on its own: another judge of what we read.
        for judge in self.judges[:3]:
            self.judged(judge, bare, [c for c in self.combinations if judge.reads(c)], count=False)
        shutil.rmtree(source)
        shutil.rmtree(kept)
        shutil.rmtree(bare)

    def rechunk(self, source, target, options):
        done = harness.run("rechunk", source, target, *options, "--verify", "full", timeout=300)
        self.t.judge(done)
        return done.code == 0

    def judged(self, judge, folder, combinations, count):
        if not combinations:
            return
        if judge.kind == "netCDF":
            folder = self.only(folder, combinations)
        answers = judge.ask("read", folder, combinations)
        for c in combinations:
            answer = answers[c.name]
            due = self.expected(c)
            wrong = ["other %s" % key for key, value in answer.items() if key in due and value != due[key]]
            if "error" in answer:
                wrong = ["%.300s" % answer["error"].replace(c.name, "...")]
            for text in wrong:
                self.note(c.name, "%s reads of %s chunks: %s" % (judge.name, folder.suffixes[-2].strip("."), text))
            if count and not wrong:
                self.confirmed[judge.name] += 1

    def only(self, folder, combinations):
        """A copy without what netCDF-C cannot open a store with."""
        copy = folder.with_suffix(".netcdf")
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        shutil.copy(folder / ".zgroup", copy)
        for c in combinations:
            shutil.copytree(folder / c.name, copy / c.name)
        return copy

    def expected(self, c):
        values, fill = c.expected(), c.fill()
        has_fill = fill is not None and c.dtype not in matrix.OBJECT_CODECS
        due = {"values": matrix.bits(values), "shape": list(matrix.SHAPE), "title": c.attributes()["title"],
               "chunks": list(matrix.NEW_INNER if c.shards else matrix.NEW_CHUNKS)}
        if has_fill:
            due["fill"] = matrix.bits(np.array(fill, values.dtype))
        if c.dtype not in matrix.OBJECT_CODECS:
            due["type"] = matrix.type_of(values.dtype)
        if self.writer.kind == "zarr-python" or (self.writer.kind == "TensorStore" and c.zarr_format == 3):
            due["attributes"] = c.attributes()
        else:
            due.pop("title") if self.writer.kind != "GDAL" else None
        return due


def test_matrix(t):
    there = [judge for judge in JUDGES if judge.is_there()]
    for judge in JUDGES:
        if judge not in there:
            print("SKIPPED  %s is not installed" % judge.name)
    combinations = table()
    works = []
    for writer in there:
        own = [c for c in combinations if writer.writes(c)]
        for (zarr_format, shards), group in itertools.groupby(sorted(own, key=lambda c: (c.zarr_format, bool(c.shards))),
                                                              lambda c: (c.zarr_format, bool(c.shards))):
            works.append((Work(t, writer, there, list(group)), "v%d%s" % (zarr_format, "_shards" * shards)))
    works.sort(key=lambda w: -len(w[0].combinations))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in [pool.submit(work.run, label) for work, label in works]:
            done.result()
    columns = [label + " by " + work.writer.name for work, label in works]
    print("%-34s %9s  %s" % ("", "written", "  ".join("%-12.12s" % j.name for j in there)))
    for (work, label), column in zip(works, columns):
        print("%-34s %9d  %s" % (column, len(work.combinations),
                                 "  ".join("%-12s" % (work.confirmed[j.name] or "-") for j in there)))
    alike = {}
    for text, name in [problem for work, _ in works for problem in work.problems]:
        alike.setdefault(text, []).append(name)
    t.none("combinations", ["%s: %d times, as of %s" % (text, len(names), ", ".join(names[:5]))
                            for text, names in sorted(alike.items(), key=lambda item: -len(item[1]))])


if __name__ == "__main__":
    harness.main(globals())
