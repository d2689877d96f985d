"""Nothing is lost from HDF5 to HDF5 and from netCDF-4 to netCDF-4: files of other people's software, and one built for
every kind of thing a file can hold, compared as wholes by h5_compare.py. What cannot be kept is refused by its name.

The files of others lie in CHUNKWISE_CORPUS or ../shared/corpus; without them that part is skipped. Arguments choose
files or tests by a part of their name.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

import h5_compare
import harness
from fidelity_files import FILES

HERE = Path(__file__).resolve().parent
SIGNATURE = b"\x89HDF\r\n\x1a\n"
# Damaged on purpose: how those end is the business of other tests.
HOSTILE = ("cve_hdf5",)
TOOL_LIMIT_S = 20


def is_hdf5(path):
    with open(path, "rb") as file:
        at = 0
        for _ in range(12):
            file.seek(at)
            if file.read(8) == SIGNATURE:
                return True
            at = max(512, at * 2)
    return False


def is_netcdf(path):
    """Named .nc, and not a plain HDF5 file of that name, for which netCDF would have to make up dimensions."""
    if path.suffix != ".nc":
        return False
    marks = []
    with h5py.File(path) as file:
        marks += [name for name in ("_NCProperties", "_nc3_strict") if name in file.attrs]
        file.visititems(lambda name, node: marks.extend(m for m in ("CLASS", "_Netcdf4Dimid") if m in node.attrs))
    return bool(marks)


def chunked_datasets(path):
    """(name, chunk, shape) of the datasets that are variables, each once."""
    found = {}

    def visit(name, node):
        if isinstance(node, h5py.Dataset) and node.chunks:
            mark = node.attrs.get("NAME", b"") if "CLASS" in node.attrs else b""
            mark = mark.decode(errors="replace") if isinstance(mark, bytes) else str(mark)
            if not mark.startswith("This is a netCDF dimension but not"):
                found[name.replace("_nc4_non_coord_", "")] = (node.chunks, node.shape)

    with h5py.File(path) as file:
        file.visititems(visit)
    return [(name, *layout) for name, layout in found.items()]


def halves(path):
    options = []
    for name, chunk, _ in chunked_datasets(path):
        options += ["-c", "/%s:%s" % (name, ",".join(str((c + 1) // 2) for c in chunk))]
    return options


def tool(*argv):
    """(exit code or a word, stdout) of somebody else's tool."""
    try:
        done = subprocess.run([str(a) for a in argv], capture_output=True, timeout=TOOL_LIMIT_S)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "no end", ""


def dump(path):
    code, text = tool("ncdump", path)
    return (code, text.split("\n", 1)[-1])  # the first line has the name of the file


def differences(source, target, copy, keeps_layout):
    """In a process of its own: the judge may crash on odd files."""
    def ask(a, b, *options):
        # h5py dies now and then of attributes with lists of region references, whoever wrote them: ask again.
        for _ in range(8):
            code, text = tool(sys.executable, str(HERE / "h5_compare.py"), a, b, *options)
            if code in (0, 1):
                break
        return code, text

    code, text = ask(source, target, *([] if keeps_layout else ["--values"]))
    found = [line for line in text.splitlines() if line]
    if code not in (0, 1):
        original, _ = ask(source, copy)
        if original in (0, 1):
            found.append("the judge ended with %s" % code)
    return found


def judge(source, target, keeps_layout):
    # What a tool makes of a plain copy, it may also make of the result.
    copy = target.with_name("copy-" + source.name)
    shutil.copyfile(source, copy)
    try:
        return judge_beside(source, target, copy, keeps_layout)
    finally:
        copy.unlink()


def judge_beside(source, target, copy, keeps_layout):
    found = differences(source, target, copy, keeps_layout)
    if source.suffix == ".nc":
        was = dump(source)
        if was[0] == 0 and dump(target) != was:
            found.append("ncdump shows something else")
    if tool("h5diff", "-v", source, copy)[0] == 0:
        code, text = tool("h5diff", "-v", source, target)
        if code not in (0, "no end"):
            found.append("h5diff: %s %s" % (code, [line for line in text.splitlines() if "differ" in line][:2]))
    return found


WAYS = {
    "as it is": lambda path: [],
    "chunks halved": halves,
    "other codecs": lambda path: ["--codec", "shuffle,deflate:1"],
}


def examine(source, folder):
    """(what happened, failures) for every way."""
    results, failures = [], []
    kind = "nc4" if is_netcdf(source) else "h5"
    for way, options in WAYS.items():
        try:
            chosen = options(source)
        except Exception as error:  # noqa: BLE001
            results.append("h5py cannot open it (%s)" % type(error).__name__)
            continue
        if way == "chunks halved" and not chosen:
            continue
        target = Path(folder) / source.name
        if target.exists():
            target.unlink()
        done = harness.run("rechunk", source, target, "--to", kind, "--verify", "full", *chosen)
        first = next((line for line in done.err.splitlines() if line.startswith("rechunk: ")), "")
        if done.code == 0:
            found = judge(source, target, way == "as it is")
            results.append("kept")
            failures += ["%s: %s" % (way, f) for f in found]
        elif done.code in (4, 5) and "/" in first:
            results.append("refused %d: %s" % (done.code, first[9:109]))
        elif done.code == 5:
            results.append("refused 5: %s" % first[9:109])
        else:
            failures.append("%s: exit %s: %s" % (way, done.code, done.err.strip()[-300:]))
    return results, failures


def main():
    if "CHUNKWISE_BIN" not in os.environ or not os.access(harness.binary("rechunk"), os.X_OK):
        print("SKIPPED: CHUNKWISE_BIN names no folder with rechunk and chunkadvise")
        sys.exit(77)
    wanted = sys.argv[1:]
    n = {"kept": 0, "refused": 0, "failed": 0}
    with tempfile.TemporaryDirectory(prefix="chunkwise-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        sources = [(name, make) for name, make in FILES.items()]
        root = harness.corpus()
        if root is None:
            print("SKIPPED the files of others: no corpus; CHUNKWISE_CORPUS names another folder")
        else:
            for path in sorted(root.rglob("*")):
                if path.is_file() and path.relative_to(root).parts[0] not in HOSTILE and is_hdf5(path):
                    sources.append((str(path.relative_to(root)), path))
        for name, source in sources:
            if wanted and not any(w in name for w in wanted):
                continue
            if callable(source):
                path = made / (name + ".h5")
                path = source(path) or path
                results, failures = examine(path, scratch)
                # What this test builds itself must be kept, all of it.
                failures += [r for r in results if r != "kept"]
            else:
                results, failures = examine(source, scratch)
            state = "failed" if failures else "kept" if all(r == "kept" for r in results) else "refused"
            n[state] += 1
            print("%-8s %-56s %s" % (state.upper() if failures else state, name, "; ".join(sorted(set(results)))), flush=True)
            for failure in failures[:8]:
                print("           " + failure[:400], flush=True)
    print("%(kept)d kept, %(refused)d refused by name, %(failed)d failed" % n)
    sys.exit(1 if n["failed"] or not sum(n.values()) else 0)


if __name__ == "__main__":
    main()
