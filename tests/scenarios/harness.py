"""Runs the two commands from outside and notes what is not as it should be.

A scenario script holds functions `test_*(t)` and ends with `harness.main(globals())`. Each function gets a fresh
folder `t.dir` and says what it expects through the methods of `t`. Exit codes of a script: 0 all right, 1 something
failed, 77 nothing could be run. `script.py NAME...` runs only the functions whose names contain NAME.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

DEFAULT_TIMEOUT_S = 60
TIMED_OUT = "no end after %g s"
# What a user must never see: the marks of a crash, or of a library speaking instead of us.
FORBIDDEN_ON_STDERR = ("HDF5-DIAG", "terminate called", "what():", "AddressSanitizer", "runtime error:", "Assertion",
                       "Segmentation fault")


class Skip(Exception):
    """Raised by a test that cannot run here; its text says why."""


class Stop(Exception):
    """Ends a test after a failure that was noted; nothing after it would make sense."""


@dataclass
class Result:
    command: str
    code: object  # exit code, -N for signal N, or a text if it did not end
    out: str
    err: str
    seconds: float
    peak_rss_bytes: int = 0  # 0 unless measured

    def document(self):
        """stdout as one JSON document."""
        return json.loads(self.out)


def binary(name):
    return str(Path(os.environ["CHUNKWISE_BIN"]).resolve() / name)


def corpus():
    """The folder of the files made by others; None where there is none."""
    root = Path(os.environ.get("CHUNKWISE_CORPUS", Path(__file__).resolve().parents[3] / "shared" / "corpus"))
    return root if root.is_dir() else None


def need_corpus():
    """As corpus(), for scripts that can do nothing without."""
    root = corpus()
    if root is None:
        print("SKIPPED: no corpus; CHUNKWISE_CORPUS names its folder")
        sys.exit(77)
    return root


def tree_hash(path):
    """One hash over names and contents of a file or a folder."""
    digest = hashlib.sha256()
    path = Path(path)
    files = sorted(p for p in path.rglob("*")) if path.is_dir() else [path]
    for item in files:
        digest.update(str(item.relative_to(path)).encode() + b"\0")
        if item.is_file() and not item.is_symlink():
            digest.update(item.read_bytes())
    return digest.hexdigest()


def listing(folder):
    """Names in a folder, sorted."""
    return sorted(os.listdir(folder))


# Linux counts the image before exec in ru_maxrss, so a child of this big interpreter must be started, and waited for,
# by a small one.
MEASURE = """import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
open(sys.argv[1], "w").write("%d %d" % (os.waitstatus_to_exitcode(status), usage.ru_maxrss))
"""


def run(tool, *arguments, timeout=DEFAULT_TIMEOUT_S, measure=False, **popen):
    """Runs a command to its end. `measure` also takes its peak resident memory."""
    argv = [binary(tool) if "/" not in tool else tool, *map(str, arguments)]
    command = shlex.join([Path(argv[0]).name, *argv[1:]])
    report = None
    if measure:
        handle, report = tempfile.mkstemp()
        os.close(handle)
        argv = [sys.executable, "-I", "-S", "-c", MEASURE, report, *argv]
    started = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True, **popen)
    try:
        out, err = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        code = TIMED_OUT % timeout
    seconds = time.monotonic() - started
    result = Result(command, code, out.decode(errors="replace"), err.decode(errors="replace"), seconds)
    if measure:
        figures = Path(report).read_text().split()
        os.unlink(report)
        if len(figures) == 2:
            result.code, result.peak_rss_bytes = int(figures[0]), int(figures[1]) * 1024
    return result


class Case:
    """What one test function works with."""

    def __init__(self, name, folder):
        self.name = name
        self.dir = Path(folder)
        self.failures = []
        self.command = ""  # the last one run, named in failures
        self._sources = {}

    def __truediv__(self, name):
        """`t / "a.nc"` is a path in the folder of the test."""
        return self.dir / name

    def fail(self, message):
        text = "%s: %s" % (self.name, message)
        if self.command:
            text += "\n      after: " + self.command
        self.failures.append(text)
        print("FAILED", text, flush=True)

    def check(self, condition, message):
        if not condition:
            self.fail(message)
        return bool(condition)

    def equal(self, what, expected, got):
        return self.check(expected == got, "%s\n      expected: %s\n      got:      %s" % (what, expected, got))

    def none(self, what, differences):
        """Expects an empty list of differences; prints the first few."""
        shown = "".join("\n      " + d for d in differences[:8])
        more = "" if len(differences) <= 8 else "\n      ... and %d more" % (len(differences) - 8)
        return self.check(not differences, "%s: %d differences%s%s" % (what, len(differences), shown, more))

    def source(self, path):
        """Marks an input: it must be the same, byte for byte, when the test ends."""
        self._sources[Path(path)] = tree_hash(path)
        return path

    def run(self, tool, *arguments, code=0, says=(), go_on=False, **options):
        """Runs and expects the exit code (one, or several allowed) and every text of `says` on stderr (a tuple inside
        says: any of these). Case does not matter. A run that should succeed and does not ends the test, unless
        `go_on`."""
        result = run(tool, *arguments, **options)
        self.command = result.command
        self.judge(result, code, says)
        if code == 0 and result.code != 0 and not go_on:
            raise Stop
        return result

    def judge(self, result, code=0, says=()):
        codes = code if isinstance(code, (tuple, set, list)) else (code,)
        tail = "".join("\n      | " + line for line in result.err.splitlines()[-6:])
        if result.code not in codes:
            self.fail("exit code\n      expected: %s\n      got:      %s%s"
                      % (" or ".join(map(str, codes)), result.code, tail))
            return False
        lowered = result.err.lower()
        for text in (says,) if isinstance(says, str) else says:
            any_of = text if isinstance(text, tuple) else (text,)
            self.check(any(one.lower() in lowered for one in any_of),
                       "stderr does not say %s%s" % (" or ".join(map(repr, any_of)), tail or "\n      | (nothing)"))
        for text in FORBIDDEN_ON_STDERR:
            self.check(text not in result.err, "stderr shows %r%s" % (text, tail))
        if result.code not in (0, 11) and not isinstance(result.code, str):
            tool = result.command.split()[0]
            self.check(re.search("^%s: ." % tool, result.err, re.M),
                       "no line on stderr that starts with '%s: '%s" % (tool, tail or "\n      | (nothing)"))
        return True

    def rechunk(self, *arguments, **options):
        return self.run("rechunk", *arguments, **options)

    def chunkadvise(self, *arguments, **options):
        return self.run("chunkadvise", *arguments, **options)

    def refused(self, tool, *arguments, target=None, **options):
        """A run that must fail and leave the folder as it was."""
        before = listing(self.dir)
        result = self.run(tool, *arguments, **options)
        self.equal("names in the folder", before, listing(self.dir))
        return result

    def finish(self):
        for path, digest in self._sources.items():
            self.check(path.exists() and tree_hash(path) == digest, "the source %s was changed" % path.name)


def main(names):
    """Runs the test functions of a script and exits."""
    if "CHUNKWISE_BIN" not in os.environ or not os.access(binary("rechunk"), os.X_OK):
        print("SKIPPED: CHUNKWISE_BIN names no folder with rechunk and chunkadvise")
        sys.exit(77)
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"  # no profile of this machine
    wanted = [a for a in sys.argv[1:] if a.isidentifier()]
    tests = [(n, f) for n, f in names.items() if n.startswith("test_") and callable(f)]
    if wanted:
        tests = [(n, f) for n, f in tests if any(w in n for w in wanted)]
    failed = passed = 0
    for name, function in tests:
        folder = tempfile.mkdtemp(prefix="chunkwise-")
        os.chmod(folder, 0o755)
        case = Case(name, folder)
        started = time.monotonic()
        try:
            function(case)
            case.finish()
        except Stop:
            pass
        except Skip as skip:
            print("SKIPPED %s: %s" % (name, skip), flush=True)
            if not case.failures:
                continue
        except Exception:
            case.fail("the test itself stopped\n" + traceback.format_exc())
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if case.failures:
            failed += 1
        else:
            passed += 1
            print("ok      %s (%.1f s)" % (name, time.monotonic() - started), flush=True)
    print("%d passed, %d failed of %d" % (passed, failed, len(tests)))
    sys.exit(1 if failed else 0 if passed else 77)
