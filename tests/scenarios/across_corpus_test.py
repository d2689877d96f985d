"""netCDF files of other people go to Zarr, v2 and v3, and come back: the same as ncdump and xarray see them, or what differs
was listed as a loss before anything was written.

The files lie in CHUNKWISE_CORPUS or ../shared/corpus; arguments choose some by a part of their name.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import netCDF4
import numpy as np
import xarray as xr

import harness
import judges

warnings.filterwarnings("ignore")

FOLDERS = ("netcdf-c", "netcdf4-python", "gdal-netcdf", "pyfive")
LIMIT_S = 60


def dump(path):
    """Everything, with all digits, but the name of the file; nothing if ncdump cannot."""
    done = subprocess.run(["ncdump", "-p", "9,17", str(path)], capture_output=True, text=True, errors="replace")
    return done.stdout.splitlines()[1:] if done.returncode == 0 else None


def groups(path):
    found = []

    def walk(group):
        found.append(group.path)
        for child in group.groups.values():
            walk(child)

    with netCDF4.Dataset(path) as file:
        walk(file)
    return found


def opened(path, group, **options):
    if path.is_dir():
        return xr.open_zarr(path, group=group, consolidated=False, chunks=None, **options)
    return xr.open_dataset(path, engine="netcdf4", group=group, **options)


def xarray_differences(source, store):
    out = []
    for group in groups(source):
        for name, options in (("decoded", {}), ("raw", {"decode_cf": False}), ("masked", {"decode_times": False})):
            try:
                left = opened(source, group, **options).load()
            except Exception:
                continue  # xarray cannot say what the source is
            left = without_what_zarr_cannot_say(left)
            try:
                right = opened(store, group, **options).load()
            except Exception as error:
                if "No Zarr data type" in str(error):
                    continue  # "struct" is too new for this zarr-python
                out.append("xarray cannot open %s of the store, %s: %s" % (group, name, str(error)[:200]))
                continue
            if not left.identical(right):
                out += ["xarray, %s, %s: %s" % (group, name, line) for line in described(left, right, name != "raw")]
    return out


def without_what_zarr_cannot_say(dataset):
    """xarray hides attributes of Zarr that begin with _nc."""
    dataset.attrs = {k: v for k, v in dataset.attrs.items() if not k.lower().startswith("_nc")}
    return dataset


def described(left, right, decoded):
    out = []
    if left.attrs.keys() != right.attrs.keys():
        out.append("attributes %s became %s" % (sorted(left.attrs), sorted(right.attrs)))
    out += ["attribute %s: %r became %r" % (k, left.attrs[k], right.attrs[k]) for k in left.attrs.keys() & right.attrs.keys()
            if not same(left.attrs[k], right.attrs[k])]
    if set(left.variables) != set(right.variables):
        out.append("variables %s became %s" % (sorted(left.variables), sorted(right.variables)))
    if dict(left.sizes) != dict(right.sizes):
        out.append("dimensions %s became %s" % (dict(left.sizes), dict(right.sizes)))
    if set(left.coords) != set(right.coords):
        out.append("coordinates %s became %s" % (sorted(left.coords), sorted(right.coords)))
    for name in set(left.variables) & set(right.variables):
        a, b = left[name].variable, right[name].variable
        if a.identical(b):
            continue
        if a.dtype.names:
            # Gaps between members are members without a meaning in Zarr.
            if any(not np.array_equal(a.values[m], b.values[m]) for m in a.dtype.names):
                out.append("%s: values differ" % name)
            continue
        packed = [a.encoding[k] for k in ("scale_factor", "add_offset") if k in a.encoding]
        if decoded and any(getattr(p, "dtype", None) == np.float32 for p in packed):
            # JSON has one kind of float, by which xarray chooses that of the values it makes.
            if a.dims == b.dims and np.allclose(a.values, b.values, rtol=1e-6, equal_nan=True):
                continue
        if a.dims != b.dims or a.dtype != b.dtype or not a.equals(b):
            out.append("%s: %s %s became %s %s, or values differ" % (name, a.dtype, a.dims, b.dtype, b.dims))
        if a.attrs.keys() != b.attrs.keys():
            out.append("%s: attributes %s became %s" % (name, sorted(a.attrs), sorted(b.attrs)))
        out += ["%s@%s: %r became %r" % (name, k, a.attrs[k], b.attrs[k]) for k in a.attrs.keys() & b.attrs.keys()
                if not same(a.attrs[k], b.attrs[k])]
    return out


def same(a, b):
    return xr.core.utils.equivalent(a, b)


def examine(source, scratch, version):
    """(what became of it, problems)."""
    store, back = scratch / (source.stem + ".zarr"), scratch / (source.stem + ".back.nc")
    there = harness.run("rechunk", source, store, "--to", version, "--verify", "full", "--json", timeout=LIMIT_S)
    losses = []
    if there.code == 4:
        there = harness.run("rechunk", source, store, "--to", version, "--verify", "full", "--json", "--allow-loss",
                            timeout=LIMIT_S)
    if there.code != 0:
        said = there.err.strip().splitlines()
        problem = [] if there.code in (4, 5) and said else ["exit %s: %s" % (there.code, there.err)]
        return "refused %s: %s" % (there.code, said[0] if said else ""), problem
    report = there.document()
    losses = report["losses"] + [{"object": note.split(":")[0], "what": note} for note in report["notes"]
                                 if "xarray takes for missing" in note]
    lost = "; ".join("%s: %s" % (loss["object"], loss["what"]) for loss in losses)
    again = harness.run("rechunk", store, back, "--to", "nc4", "--verify", "full", timeout=LIMIT_S)
    if again.code != 0:
        return "there", ["the way back ends with %s: %s" % (again.code, again.err)]
    problems = xarray_differences(source, store)
    before, after = dump(source), dump(back)
    if before is not None:
        problems += ["ncdump %s" % line for line in judges.text_differences(before, after or [])]
    if losses:
        # What was listed may differ.
        problems = [p for p in problems if not any(named(loss["object"], p) for loss in losses)]
        return "with losses: " + lost, problems
    return "there and back", problems


def named(thing, problem):
    return any(part and part in problem for part in thing.replace("@", "/").strip("/").split("/")[-1:])


def main():
    if "CHUNKWISE_BIN" not in os.environ or not os.access(harness.binary("rechunk"), os.X_OK):
        print("SKIPPED: CHUNKWISE_BIN names no folder with rechunk and chunkadvise")
        sys.exit(77)
    root = harness.need_corpus()
    n_failed = n = 0
    for folder in FOLDERS:
        for source in sorted((root / folder).rglob("*.nc")):
            name = str(source.relative_to(root))
            if sys.argv[1:] and not any(a in name for a in sys.argv[1:]):
                continue
            for version in ("zarr2", "zarr3"):
                with tempfile.TemporaryDirectory() as scratch:
                    became, problems = examine(source, Path(scratch), version)
                n += 1
                n_failed += bool(problems)
                print("%-7s %-48s %-6s %s" % ("FAILED" if problems else "ok", name, version, became[:200]), flush=True)
                for line in problems[:8]:
                    print("          " + line[:400], flush=True)
    print("%d journeys, %d failed" % (n, n_failed))
    sys.exit(1 if n_failed or not n else 0)


if __name__ == "__main__":
    main()
