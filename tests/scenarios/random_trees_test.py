"""Random netCDF-4 files: groups, dimensions of parents and shadowed ones, several unlimited, no coordinates.

Copied to netCDF-4 they must be equal in everything that HDF5 can tell; through Zarr and back, in `ncdump -h` and all
values.
`random_trees_test.py --seed N --count M` runs others; --keep DIR keeps the files.
"""

import argparse
import shutil
import subprocess
from pathlib import Path

import netCDF4
import numpy as np

import harness
import judges

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
NAMES = ("time", "lat", "lon", "lev", "x", "y", "n")


def random_attributes(rng):
    attrs = {}
    for i in range(int(rng.integers(0, 4))):
        kind = int(rng.integers(0, 5))
        dtype = str(rng.choice(TYPES))
        if kind == 0:
            texts = ["", "K", "a long text\nof two lines", "Ω", "1", "NaN", "  blank ", "true"]
            attrs["text%d" % i] = str(rng.choice(texts))
        elif kind == 1:
            attrs["one%d" % i] = np.dtype(dtype).type(rng.integers(0, 100))
        elif kind == 2:
            attrs["many%d" % i] = rng.integers(0, 100, int(rng.integers(2, 5))).astype(dtype)
        elif kind == 3:
            attrs["odd%d" % i] = np.array([np.nan, -0.0, 1e30], str(rng.choice(["f4", "f8"])))
        else:
            attrs["third%d" % i] = np.dtype(str(rng.choice(["f4", "f8"]))).type(1 / 3)
    return attrs


def make_dimensions(rng, group):
    for name in rng.permutation(NAMES)[:int(rng.integers(0, 4))]:
        group.createDimension(str(name), None if rng.random() < 0.25 else int(rng.integers(1, 9)))


def visible_dimensions(group):
    found = {}
    while group is not None:
        for name, dim in group.dimensions.items():
            found.setdefault(name, dim)
        group = group.parent
    return found


def make_variable(rng, group, name, dims):
    dtype = np.dtype(str(rng.choice(TYPES)))
    visible = visible_dimensions(group)
    unlimited = [visible[d].isunlimited() for d in dims]
    options = {}
    if dims and rng.random() < 0.5:
        options["chunksizes"] = [int(rng.integers(1, 6)) if u else int(rng.integers(1, len(visible[d]) + 1))
                                 for d, u in zip(dims, unlimited)]
        options.update(zlib=bool(rng.random() < 0.5), shuffle=bool(rng.random() < 0.5),
                       fletcher32=bool(rng.random() < 0.2))
    if rng.random() < 0.3:
        options["fill_value"] = dtype.type(rng.integers(0, 100))
    elif rng.random() < 0.1 and not any(unlimited):
        options["fill_value"] = False  # unwritten cells would be undefined, so these are written
    if rng.random() < 0.2:
        options["endian"] = "big"
    variable = group.createVariable(name, dtype, dims, **options)
    variable.set_auto_maskandscale(False)
    variable.setncatts(random_attributes(rng))
    shape = [int(rng.integers(0, 7)) if u else len(visible[d]) for d, u in zip(dims, unlimited)]
    if 0 not in shape and (rng.random() < 0.85 or options.get("fill_value") is False):
        variable[tuple(slice(0, n) for n in shape)] = rng.integers(0, 120, shape).astype(dtype)


def make_group(rng, group, depth):
    group.setncatts(random_attributes(rng))
    make_dimensions(rng, group)
    names = list(visible_dimensions(group))
    for name in list(group.dimensions):
        if rng.random() < 0.5:
            more = [d for d in names if d != name] if rng.random() < 0.15 else []
            make_variable(rng, group, name, (name, *more[:1]) if rng.random() < 0.9 else tuple(more[:1]))
    for i in range(int(rng.integers(0, 4))):
        rank = min(int(rng.integers(0, 4)), len(names))
        dims = [str(d) for d in rng.permutation(names)[:rank]]
        make_variable(rng, group, "v%d" % i, tuple(dims))
    if rng.random() < 0.3:  # later than the variables
        make_dimensions_late(rng, group)
    for i in range(int(rng.integers(0, 3)) if depth < 2 else 0):
        make_group(rng, group.createGroup("g%d" % i), depth + 1)


def make_dimensions_late(rng, group):
    if "late" not in group.dimensions:
        group.createDimension("late", int(rng.integers(1, 5)))
        make_variable(rng, group, "after", ("late",))


def variables_of(group, prefix=""):
    for name, variable in group.variables.items():
        yield prefix + "/" + name, variable
    for name, child in group.groups.items():
        yield from variables_of(child, prefix + "/" + name)


def value_differences(path_a, path_b):
    out = []
    with netCDF4.Dataset(path_a) as a, netCDF4.Dataset(path_b) as b:
        found = dict(variables_of(b))
        for path, variable in variables_of(a):
            if path not in found:
                out.append(path + " is gone")
                continue
            for one in (variable, found[path]):
                one.set_auto_maskandscale(False)
            try:
                wanted = variable[...]
            except RuntimeError:
                continue  # netCDF-C itself cannot read some variables whose dimensions are shadowed
            if not judges.same_values(wanted, found[path][...]):
                out.append("%s: values differ" % path)
    return out


def headers_differ(a, b):
    return judges.text_differences(judges.ncdump_header(a), judges.ncdump_header(b))


def one_tree(t, number, seed, keep):
    rng = np.random.default_rng([seed, number])
    src = t / ("t%d.nc" % number)
    with netCDF4.Dataset(src, "w") as file:
        make_group(rng, file, 0)
    try:
        judges.ncdump_header(src)
    except subprocess.CalledProcessError:
        return  # netCDF-C cannot read what it wrote
    if keep:
        shutil.copy(src, keep)
    what = "tree %d" % number
    copy = t / "copy.nc"
    if t.rechunk(src, copy, "--overwrite", go_on=True).code == 0:
        t.none(what + " copied", judges.h5_files(src, copy))
        t.none(what + " copied, values", value_differences(src, copy))
    version = str(rng.choice(["zarr2", "zarr3"]))
    store, back = t / "copy.zarr", t / "back.nc"
    if t.rechunk(src, store, "--to", version, "--overwrite", go_on=True).code == 0:
        if t.rechunk(store, back, "--overwrite", go_on=True).code == 0:
            t.none("%s by %s, ncdump -h" % (what, version), headers_differ(src, back))
            t.none("%s by %s, values" % (what, version), value_differences(src, back))
    src.unlink()


def test_random_trees(t):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_known_args()[0]
    for number in range(options.count):
        if options.only is None or number == options.only:
            one_tree(t, number, options.seed, options.keep)
        if len(t.failures) > 10:
            break


if __name__ == "__main__":
    harness.main(globals())
