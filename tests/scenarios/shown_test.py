"""Every command that README.md and docs/ show is run, and what it prints is compared with what is shown; see tools/shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]


def test_commands_shown(t):
    environment = dict(os.environ, CHUNKWISE_JUDGES=str(Path(sys.executable).parent.parent))
    done = subprocess.run([sys.executable, ROOT / "tools/shown"], env=environment, capture_output=True, text=True, check=False)
    for line in done.stdout.split("\n"):
        if line.startswith("SKIPPED"):
            print(line)
    t.check(done.returncode == 0, done.stdout + done.stderr)
    ran = re.search(r"^(\d+) commands", done.stdout, re.M)
    t.check(ran and int(ran.group(1)) > 50, "few commands were run: %s" % done.stdout[-200:])


def tool_options(tool, *arguments):
    """Options in what another tool says of itself: of the form -x, --word at the beginning of a line."""
    try:
        done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as absent:
        raise harness.Skip("there is no %s" % tool) from absent
    return done.stdout + done.stderr


def missing(options, page):
    text = (ROOT / "docs/migration" / page).read_text()
    return [name for name in options if not re.search(r"[`, (]%s(?![\w])" % re.escape(name), text)]


def test_migration_has_every_option_of_nccopy(t):
    text = tool_options("nccopy", "-h")
    options = re.findall(r"^\s*\[(-[a-zA-Z0-9])", text, re.M)
    options = ["-Mn" if o == "-M" else "-Ln" if o == "-L" else o for o in options]
    t.check(len(options) > 15, "nccopy -h shows %d options" % len(options))
    t.none("options that are not in the table", missing(options, "nccopy.md"))


def test_migration_has_every_option_of_h5repack(t):
    text = tool_options("h5repack", "-h")
    options = re.findall(r"^\s+(?:-\w[^,\n]*, )?(--[a-z_-]+)", text[:text.find("M - is an integer")], re.M)
    t.check(len(options) > 20, "h5repack -h shows %d options" % len(options))
    t.none("options that are not in the table", missing(options, "h5repack.md"))


def test_migration_has_every_option_of_ncks(t):
    text = tool_options("ncks", "--help")
    options = re.findall(r"^(?:-\w, |    )(--[a-zA-Z0-9_]+)", text, re.M)
    short = {"--3": "-3", "--4": "-4", "--5": "-5", "--6": "-6", "--7": "-7"}
    forms = re.findall(r"^(-\w), (--[a-zA-Z0-9_]+)", text, re.M)
    short.update({long: one for one, long in forms})
    t.check(len(options) > 60, "ncks --help shows %d options" % len(options))
    t.none("options that are not in the tables",
           [name for name in options if missing([name], "ncks.md") and missing([short.get(name, name)], "ncks.md")])


def test_migration_has_every_parameter_of_xarray(t):
    import inspect
    import xarray
    from xarray.backends import netCDF4_, zarr
    text = (ROOT / "docs/migration/xarray.md").read_text()
    names = [n for method in (xarray.Dataset.to_zarr, xarray.Dataset.to_netcdf) for n in inspect.signature(method).parameters]
    for function in (netCDF4_._extract_nc4_variable_encoding, zarr.extract_zarr_variable_encoding):
        source = inspect.getsource(function)
        names += re.findall(r'"(\w+)"', source[source.index("valid_encodings = {"):].split("}")[0])
    t.check(len(names) > 40, "xarray has %d parameters and keys" % len(names))
    t.none("names that are not in the tables", [n for n in names if n != "self" and not re.search(r"\b%s\b" % n, text)])


if __name__ == "__main__":
    harness.main(globals())
