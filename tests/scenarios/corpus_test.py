"""Files made by other people's software: rewriting each one succeeds, and h5py or zarr-python agree, or is refused.

The files are not part of this repository. CHUNKWISE_CORPUS names their folder, or they lie in ../shared/corpus beside
the checkout. `--table FILE` also writes the table as Markdown. Other arguments choose files by a part of their name.
"""

import functools
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

import harness
import judges

FOLDERS = ("netcdf-c", "netcdf4-python", "gdal-netcdf", "hdf5-h5repack", "pyfive", "jhdf", "gdal-zarr", "zarr-python-2")
LIMIT_S = 20
REFUSALS = {3: "not a dataset", 4: "unsupported", 5: "corrupt"}


def inputs(root):
    """Every file, and every Zarr hierarchy or array as a whole."""
    for folder in FOLDERS:
        base = root / folder
        if folder == "gdal-zarr":
            yield base
            yield from sorted(base.glob("*.zarr"))
        elif folder == "zarr-python-2":
            yield from sorted(base.iterdir(), key=lambda p: (len(p.name), p.name))
        else:
            yield from sorted(p for p in base.rglob("*") if p.is_file())


def judge(function, a, b):
    """Runs a comparison in a process of its own, as the judges may crash on such files.

    Returns (differences, what stopped it)."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        try:
            answer = [function(a, b), ""]
        except BaseException as error:
            answer = [None, "%s: %s" % (type(error).__name__, str(error).splitlines()[0][:200] if str(error) else "")]
        with os.fdopen(write_end, "w") as pipe:
            json.dump(answer, pipe, default=str)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return tuple(json.loads(text)) if status == 0 else (None, "died of signal %d" % -status)


def sentence(result):
    """The first line on stderr, without the name of the tool, or a complaint that there is none."""
    for line in result.err.splitlines():
        if line.startswith(Path(result.command.split()[0]).name + ": "):
            return line.split(": ", 1)[1]
    return None


def complaint(result):
    """What is wrong with how a run ended, or nothing."""
    if isinstance(result.code, str) or result.code < 0 or result.code not in (0, *REFUSALS):
        return "exit %s: %s" % (result.code, (result.err.strip().splitlines() or ["(silent)"])[-1])
    if result.code and not sentence(result):
        return "exit %s without a sentence" % result.code
    for text in harness.FORBIDDEN_ON_STDERR:
        if text in result.err:
            return "stderr shows %r" % text
    return ""


def examine(path, scratch):
    """(result, why, failures) of one input."""
    failures = []
    is_store = path.is_dir()
    before = harness.tree_hash(path)
    advice = harness.run("chunkadvise", path, timeout=LIMIT_S)
    if complaint(advice):
        failures.append("chunkadvise: " + complaint(advice))
    target = scratch / path.name
    done = harness.run("rechunk", path, target, "--to", wanted_format(path), timeout=LIMIT_S)
    if complaint(done):
        failures.append("rechunk: " + complaint(done))
    if harness.tree_hash(path) != before:
        failures.append("the source was changed")
    left = [p for p in harness.listing(scratch) if done.code != 0 or p != target.name]
    if left:
        failures.append("left behind: %s" % left)
    if done.code != 0:
        return "refused %s" % done.code, sentence(done) or "", failures
    compare = judges.zarr_trees if is_store else judges.h5_files
    if "inside shards of" in done.err:  # nested shards are written one level deep
        compare = functools.partial(judges.zarr_trees, layout=False)
    differences, trouble = judge(compare, path, target)
    if differences is None:
        # The judge cannot read the original; then it must at least not be the copy alone that stops it.
        original, _ = judge(compare, path, path)
        if original is not None:
            failures.append("the judge cannot read the result: " + trouble)
        return "succeeded", "not judged: " + trouble, failures
    failures += differences
    return ("succeeded" if not differences else "DIFFERS"), "; ".join(differences[:2]), failures


def wanted_format(path):
    if path.is_dir():
        return "zarr3" if (path / "zarr.json").exists() else "zarr2"
    return "nc4" if path.suffix == ".nc" else "h5"


def main():
    arguments = sys.argv[1:]
    table = None
    if "--table" in arguments:
        at = arguments.index("--table")
        table = Path(arguments[at + 1])
        del arguments[at:at + 2]
    if "CHUNKWISE_BIN" not in os.environ or not os.access(harness.binary("rechunk"), os.X_OK):
        print("SKIPPED: CHUNKWISE_BIN names no folder with rechunk and chunkadvise")
        sys.exit(77)
    root = harness.need_corpus()
    rows, n_failed = [], 0
    for path in inputs(root):
        name = str(path.relative_to(root))
        if arguments and not any(a in name for a in arguments):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            result, why, failures = examine(path, Path(scratch))
        rows.append((name, result, why.replace(str(root) + "/", "")))
        print("%-7s %-52s %-10s %s" % ("FAILED" if failures else "ok", name, result, why[:150]), flush=True)
        for line in failures[:6]:
            print("          " + line[:300], flush=True)
        n_failed += bool(failures)
    succeeded = sum(r == "succeeded" for _, r, _ in rows)
    refused = sum(r.startswith("refused") for _, r, _ in rows)
    print("%d inputs: %d succeeded, %d refused, %d failed" % (len(rows), succeeded, refused, n_failed))
    if table:
        lines = ["| input | result | why |", "|---|---|---|"]
        lines += ["| %s | %s | %s |" % (n, r, w.replace("|", "\\|")) for n, r, w in rows]
        table.write_text("\n".join(lines) + "\n")
    sys.exit(1 if n_failed or not rows else 0)


if __name__ == "__main__":
    main()
