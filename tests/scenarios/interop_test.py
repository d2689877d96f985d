"""Every direction between netCDF-4, HDF5, Zarr v2 and Zarr v3: nothing is lost, as the libraries of others see it."""

import h5py
import zarr

import harness
import judges
import sample_tree

GROUPS, VARIABLES = sample_tree.make_tree()
# How netCDF-C keeps dimensions in HDF5; ncdump -h judges those, versions of the libraries differ in the rest.
HIDDEN = ("_NCProperties", "_Netcdf4Dimid", "_Netcdf4Coordinates", "REFERENCE_LIST")
PLAIN_GROUPS = [None, "/obs", "/obs/deep"]


def make(t, flavour):
    path = t / ("source_%s.%s" % (flavour, sample_tree.FLAVOURS[flavour]))
    sample_tree.write(flavour, path, GROUPS, VARIABLES)
    return t.source(path)


def directions_from(t, source):
    path = make(t, source)
    t.none("%s as written" % source, sample_tree.check(source, path, GROUPS, VARIABLES, source))
    for target, suffix in sample_tree.FLAVOURS.items():
        out = t / ("to_%s.%s" % (target, suffix))
        result = t.rechunk(path, out, "--to", target, "--verify", "full", go_on=True)
        if result.code != 0:
            continue
        what = "%s to %s" % (source, target)
        t.none(what, sample_tree.check(target, out, GROUPS, VARIABLES, source))
        if source == target:
            same = judges.zarr_trees if source.startswith("zarr") else judges.h5_files
            t.none(what + ", everything", same(path, out))
        if out.is_dir():
            t.none(what + ", consolidated", consolidated(out, target))
        # What is fill and what is missing cannot be told apart in Zarr v2.
        vague = ("gaps",) if "zarr2" in (source, target) else ()
        t.none(what, judges.xarray_groups(path, out, PLAIN_GROUPS, vague, skip_attributes=("nothing",)))


def consolidated(out, target):
    """The consolidated metadata must say what the single documents say."""
    plain = zarr.open_group(str(out), mode="r", use_consolidated=False)
    try:
        merged = zarr.open_group(str(out), mode="r", use_consolidated=True)
    except ValueError as error:
        return [str(error)]
    a = {k: repr(v.metadata.to_dict()) for k, v in plain.members(max_depth=None) if isinstance(v, zarr.Array)}
    b = {k: repr(v.metadata.to_dict()) for k, v in merged.members(max_depth=None) if isinstance(v, zarr.Array)}
    return ["consolidated metadata differs: %s" % k for k in set(a) | set(b) if a.get(k) != b.get(k)]


def test_from_nc4(t):
    directions_from(t, "nc4")


def test_from_h5(t):
    directions_from(t, "h5")


def test_from_zarr2(t):
    directions_from(t, "zarr2")


def test_from_zarr3(t):
    directions_from(t, "zarr3")


def there_and_back(t, by):
    path = make(t, "nc4")
    middle, back = t / "middle.zarr", t / "back.nc"
    t.rechunk(path, middle, "--to", by)
    t.rechunk(middle, back, "--to", "nc4")
    t.none("ncdump -h after %s" % by, judges.text_differences(judges.ncdump_header(path), judges.ncdump_header(back)))
    t.none("nc4 to %s to nc4" % by, sample_tree.check("nc4", back, GROUPS, VARIABLES, "nc4"))
    differences = judges.h5_files(path, back, layout=False, order=False, ignore=HIDDEN)
    # In HDF5 its extent ends with the last record written; netCDF sees the length of the dimension either way.
    t.none("nc4 to %s to nc4, all but the layout" % by, [d for d in differences if "sparse: extent" not in d])


def test_nc4_by_zarr3_and_back(t):
    there_and_back(t, "zarr3")


def test_nc4_by_zarr2_and_back(t):
    there_and_back(t, "zarr2")


def test_other_chunks_in_every_direction(t):
    """The same, with every variable cut anew, so that all values go through decode, gather and encode."""
    for source in sample_tree.FLAVOURS:
        path = make(t, source)
        for target, suffix in sample_tree.FLAVOURS.items():
            out = t / ("cut_%s_%s.%s" % (source, target, suffix))
            result = t.rechunk(path, out, "--to", target, "-c", "time/3,lat/4,lon/5", "--codec", "shuffle,deflate:2"
                               if suffix != "zarr" else "zstd:1", go_on=True)
            if result.code != 0:
                continue
            t.none("%s to %s, cut anew" % (source, target),
                   sample_tree.check(target, out, GROUPS, VARIABLES, source, False))
            opened = zarr.open_group(str(out), mode="r") if suffix == "zarr" else h5py.File(out)
            chunks = {v.path: opened[v.path.lstrip("/")].chunks for v in VARIABLES if v.dims == ("time", "lat", "lon")}
            t.equal("chunks, %s to %s" % (source, target), dict.fromkeys(chunks, (3, 4, 5)), chunks)


if __name__ == "__main__":
    harness.main(globals())
