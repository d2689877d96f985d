"""What a newcomer does first: the sample file, the quickstart, the commands the README shows."""

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import netCDF4
import numpy as np

import harness

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample.nc"
MAX_SAMPLE_BYTES = 2_000_000


def variables(file):
    """Every variable of a file as stored, by path."""
    found = {}
    for group in (file, *file.groups.values()):
        for name, variable in group.variables.items():
            variable.set_auto_maskandscale(False)
            found["%s/%s" % (group.path.rstrip("/"), name)] = variable
    return found


def compare(t, expected_path, got_path):
    with netCDF4.Dataset(expected_path) as expected, netCDF4.Dataset(got_path) as got:
        left, right = variables(expected), variables(got)
        t.equal("variables", sorted(left), sorted(right))
        for path, variable in left.items():
            same = path in right and np.array_equal(variable[...], right[path][...])
            t.check(same, "values of %s differ" % path)
        return {path: variable.chunking() for path, variable in right.items()}


def test_the_sample_is_what_its_script_makes(t):
    t.check(SAMPLE.stat().st_size < MAX_SAMPLE_BYTES, "data/sample.nc is not small any more")
    subprocess.run([sys.executable, ROOT / "tools/make_sample.py", t / "again.nc"], check=True)
    compare(t, SAMPLE, t / "again.nc")


def test_the_command_that_the_advice_ends_with(t):
    """chunkadvise prints a rechunk command; typed as it stands, it gives the layout advised, and the advice on the result
    finds nothing much to gain."""
    source = t.source(SAMPLE)
    said = t.chunkadvise(source).out
    lines = said[said.index("To rewrite:"):].splitlines()[1:]
    text = ""
    for line in lines:
        text += line.strip().rstrip("\\") + " "
        if not line.endswith("\\"):
            break
    words = shlex.split(text)
    t.equal("the command printed", ["rechunk", str(source)], words[:2])
    t.rechunk(source, t / "fast.nc", *words[3:])
    chunks = compare(t, source, t / "fast.nc")
    for variable in t.chunkadvise(source, "--json").document()["variables"]:
        advised = next(layout for layout in variable["layouts"] if layout["name"] == "recommended")
        t.equal("chunks of %s" % variable["path"], advised["chunks"], chunks[variable["path"]])


def test_the_quickstart(t):
    if Path(os.environ["CHUNKWISE_BIN"]).resolve() != ROOT / "build/release/bin":
        raise harness.Skip("the quickstart builds build/release, and another build is under test")
    begin = time.monotonic()
    done = subprocess.run([ROOT / "tools/quickstart"], cwd=t.dir, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, check=False)
    seconds = time.monotonic() - begin
    if not t.equal("exit code (stderr: %s)" % done.stderr[-500:], 0, done.returncode):
        return
    for text in ("recommended", "time-series", "map", "verified", "What to type next"):
        t.check(text in done.stdout, "the quickstart does not show %r" % text)
    t.check(seconds < 120, "all is built, and still it took %.0f s" % seconds)
    compare(t, SAMPLE, ROOT / "build/quickstart/sample-rechunked.nc")


def test_the_quickstart_names_a_missing_file(t):
    done = subprocess.run([ROOT / "tools/quickstart", "absent.nc"], cwd=t.dir, capture_output=True, text=True, check=False)
    t.equal("exit code", 3, done.returncode)
    t.check("no such file: absent.nc" in done.stderr, "stderr: %s" % done.stderr)


if __name__ == "__main__":
    harness.main(globals())
