"""One dataset, described once, written by netCDF4, h5py and zarr-python and checked with the same three.

It has two nested groups and one with attributes only, variables of the six common number types, an unlimited dimension,
attributes of every number type, text, NaN and empty, packed data, a scalar, and variables with chunks nobody wrote.
"""

import shutil
from dataclasses import dataclass, field

import h5py
import netCDF4
import numpy as np
import xarray as xr
import zarr

import judges

N_TIME, N_LAT, N_LON, N_STATION = 5, 6, 8, 7
DIMS = {"/": {"time": N_TIME, "lat": N_LAT, "lon": N_LON, "bnds": 2}, "/obs": {"station": N_STATION}, "/obs/deep": {},
        "/notes": {}}
LENGTHS = {name: length for dims in DIMS.values() for name, length in dims.items()}
FLAVOURS = {"nc4": "nc", "h5": "h5", "zarr2": "zarr", "zarr3": "zarr"}


@dataclass
class Variable:
    path: str
    dims: tuple
    data: np.ndarray
    attrs: dict = field(default_factory=dict)
    chunks: tuple = None  # None: contiguous where the format has that
    deflate: int = 0
    fill: object = None  # the _FillValue of the variable
    written: tuple = None  # indexes along the first axis that are written; the rest of the chunks stays absent

    @property
    def group(self):
        return self.path.rsplit("/", 1)[0] or "/"

    @property
    def name(self):
        return self.path.rsplit("/", 1)[1]

    def stored_chunks(self):
        """How many chunks exist, of chunked variables."""
        grid = [-(-n // c) for n, c in zip(self.data.shape, self.chunks)]
        if self.written is not None:
            grid[0] = len({i // self.chunks[0] for i in self.written})
        return int(np.prod(grid))


def number_attributes():
    """A scalar and an array of every number type, at the ends of its range."""
    attrs = {}
    for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        info = np.iinfo(code)
        attrs["one_" + code] = np.dtype(code).type(info.max)
        attrs["two_" + code] = np.array([info.min, info.max], code)
    for code in ("f4", "f8"):
        attrs["one_" + code] = np.dtype(code).type(0.1)
        attrs["two_" + code] = np.array([np.finfo(code).max, -1 / 3], code)
        attrs["whole_" + code] = np.dtype(code).type(3)  # must not turn into an integer
        attrs["odd_" + code] = np.array([np.nan, np.inf, -np.inf, -0.0], code)
    return attrs


def make_tree():
    """(group attributes by path, variables)."""
    rng = np.random.default_rng(4)
    cube = (N_TIME, N_LAT, N_LON)
    temperature = rng.normal(280, 9, cube).astype("f4")
    temperature[1, 2, 3] = np.nan
    temperature[0, 0, 0] = -0.0
    packed = rng.integers(-3000, 3000, cube).astype("i2")
    packed[2, :2] = -9999
    sparse = np.full(cube, -1e20, "f4")
    sparse[[1, 3]] = rng.normal(size=(2, N_LAT, N_LON))
    gaps = np.full(cube, netCDF4.default_fillvals["f8"], "f8")
    gaps[[0, 4]] = rng.normal(size=(2, N_LAT, N_LON))
    ramp = np.arange(N_TIME * N_STATION)
    v = Variable
    variables = [
        v("/time", ("time",), np.arange(N_TIME, dtype="f8") * 6, {"units": "hours since 2000-01-01"}, (512,)),
        v("/lat", ("lat",), np.linspace(-75, 75, N_LAT).astype("f4"), {"units": "degrees_north", "bounds": "lat_bnds"}),
        v("/lon", ("lon",), np.arange(N_LON, dtype="f4") * 45, {"units": "degrees_east"}),
        v("/lat_bnds", ("lat", "bnds"), np.arange(N_LAT * 2, dtype="f4").reshape(N_LAT, 2)),
        v("/crs", (), np.array(42, "i4"), {"grid_mapping_name": "latitude_longitude", "semi_major_axis": 6371229.0}),
        v("/temperature", ("time", "lat", "lon"), temperature,
          {"units": "K", "long_name": "Température à 2 m", "valid_range": np.array([0, 400], "f4"),
           "coordinates": "lat lon", "grid_mapping": "crs"}, (2, 3, 4), 4),
        v("/packed", ("time", "lat", "lon"), packed,
          {"scale_factor": np.float64(0.01), "add_offset": np.float64(273.15), "units": "K"}, (2, 6, 8), 1,
          np.int16(-9999)),
        v("/obs/station", ("station",), np.arange(N_STATION, dtype="i4") * 11, {"cf_role": "timeseries_id"}),
        v("/obs/flag", ("station",), np.arange(-3, 4, dtype="i1"), {"flag_values": np.array([-3, 3], "i1"),
                                                                   "flag_meanings": "bad good"}),
        v("/obs/count", ("time", "station"), (ramp * 1871).astype("u2").reshape(N_TIME, N_STATION), {}, (1, 7)),
        v("/obs/deep/id", ("station",), np.arange(N_STATION, dtype="i8") * (1 << 60) // 7, {"units": "1"}, (3,)),
        v("/obs/deep/depth", ("lat", "lon"), rng.normal(size=(N_LAT, N_LON)), {}),
        v("/obs/deep/sparse", ("time", "lat", "lon"), sparse, {"units": "m"}, (1, 6, 8), 2, np.float32(-1e20), (1, 3)),
        v("/obs/deep/gaps", ("time", "lat", "lon"), gaps, {}, (1, 6, 8), 0, None, (0, 4)),
    ]
    groups = {
        "/": {"title": "sample", "text": "", "history": "two\nlines, \"quotes\"", **number_attributes()},
        "/obs": {"source": "gauges", "level": np.int16(2)},
        "/obs/deep": {"note": "Ωβ漢字"},
        "/notes": {"only": "attributes", "figure": np.float32(0.1)},
    }
    return groups, variables


def variables_of(flavour, variables):
    """Those that the format can say with names on all axes: h5py has no dimension without a variable."""
    return [v for v in variables if flavour != "h5" or "bnds" not in v.dims]


# ---- writers

def write_nc4(path, groups, variables):
    with netCDF4.Dataset(path, "w") as file:
        file.set_auto_maskandscale(False)
        homes = {"/": file}
        for group, dims in DIMS.items():
            home = homes.setdefault(group, file if group == "/" else file.createGroup(group))
            for name, length in dims.items():
                home.createDimension(name, None if name == "time" else length)
            home.setncatts(groups[group])
        for v in variables:
            options = {"zlib": bool(v.deflate), "complevel": v.deflate or 4, "shuffle": bool(v.deflate)}
            chunks = {"chunksizes": v.chunks} if v.chunks else {}
            made = homes[v.group].createVariable(v.name, v.data.dtype, v.dims, fill_value=v.fill, **options, **chunks)
            made.set_auto_maskandscale(False)
            made.setncatts(v.attrs)
            for i in v.written or ():
                made[i] = v.data[i]
            if v.written is None:
                made[...] = v.data


def write_h5(path, groups, variables):
    """Plain HDF5 with dimension scales, as h5py users make it."""
    with h5py.File(path, "w", track_order=True) as file:
        for group in DIMS:
            home = file.require_group(group) if group == "/" else file.create_group(group, track_order=True)
            for key, value in groups[group].items():
                home.attrs[key] = value
            home.attrs["nothing"] = h5py.Empty("f8")
        made = {}
        for v in variables:
            maxshape = tuple(None if d == "time" else LENGTHS[d] for d in v.dims)
            options = {"chunks": v.chunks, "maxshape": maxshape} if v.chunks else {}
            if v.deflate:
                options.update(compression="gzip", compression_opts=v.deflate, shuffle=True)
            fill = v.fill if v.fill is not None else netCDF4.default_fillvals["f8"] if v.name == "gaps" else None
            data = made[v.path] = file.create_dataset(v.path, v.data.shape, v.data.dtype, fillvalue=fill,
                                                      track_order=True, **options)
            for i in v.written or ():
                data[i] = v.data[i]
            if v.written is None:
                data[...] = v.data
            for key, value in v.attrs.items():
                data.attrs[key] = value
            if v.fill is not None:
                data.attrs["_FillValue"] = v.fill
        for path in ("/time", "/lat", "/lon", "/obs/station"):
            made[path].make_scale(path.rsplit("/", 1)[1])
        for v in variables:
            for axis, dim in enumerate(v.dims):
                scale = "/obs/station" if dim == "station" else "/" + dim
                if scale != v.path:
                    made[v.path].dims[axis].attach_scale(made[scale])


def _json(value):
    if isinstance(value, (np.ndarray, np.generic)):
        # The shortest text that is the same number in its own type, so that a float32 0.1 is 0.1.
        if value.dtype == np.float32:
            return [float(str(x)) for x in value] if value.ndim else float(str(value))
        return value.tolist()
    return value


def write_zarr(path, groups, variables, zarr_format):
    shutil.rmtree(path, ignore_errors=True)
    root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
    homes = {}
    for group in DIMS:
        homes[group] = root if group == "/" else root.create_group(group[1:])
        homes[group].attrs.update({k: _json(x) for k, x in groups[group].items()})
    for v in variables:
        fill = v.fill if v.fill is not None else netCDF4.default_fillvals["f8"] if v.name == "gaps" else None
        options = {"fill_value": fill if zarr_format == 2 or fill is not None else v.data.dtype.type(0)}
        if zarr_format == 3:
            options["dimension_names"] = v.dims
        codec = {2: ({"id": "zlib", "level": v.deflate},), 3: zarr.codecs.GzipCodec(level=v.deflate)}[zarr_format]
        if zarr_format == 2:
            codec = __import__("numcodecs").get_codec(codec[0])
        chunks = tuple(min(c, n) for c, n in zip(v.chunks, v.data.shape)) if v.chunks else v.data.shape
        array = homes[v.group].create_array(v.name, shape=v.data.shape, dtype=v.data.dtype, chunks=chunks,
                                            compressors=codec if v.deflate else None, filters=None,
                                            config={"write_empty_chunks": True}, **options)
        attrs = {k: _json(x) for k, x in v.attrs.items()}
        if zarr_format == 2:
            attrs["_ARRAY_DIMENSIONS"] = list(v.dims)
        if v.fill is not None:
            encode = xr.backends.zarr.FillValueCoder.encode
            attrs["_FillValue"] = encode(v.fill, v.data.dtype) if zarr_format == 3 else _json(v.fill)
        array.attrs.update(attrs)
        for i in v.written or ():
            array[i] = v.data[i]
        if v.written is None:
            array[...] = v.data
    zarr.consolidate_metadata(str(path), zarr_format=zarr_format)


def write(flavour, path, groups, variables):
    variables = variables_of(flavour, variables)
    if flavour.startswith("zarr"):
        write_zarr(path, groups, variables, int(flavour[-1]))
    else:
        {"nc4": write_nc4, "h5": write_h5}[flavour](path, groups, variables)


# ---- checkers: lists of differences between the description and a file, as its own library reads it

def _attribute(where, expected, got, typed, exact_shape=False):
    if isinstance(got, bytes):  # h5py shows fixed-length text so
        got = got.decode()
    if isinstance(got, np.ndarray) and got.size == 1 and got.dtype == object:
        got = got.item()
    if isinstance(expected, str):
        return [] if isinstance(got, str) and got == expected else ["%s: %r became %r" % (where, expected, got)]
    if typed:
        want, have = np.asarray(expected), np.asarray(got)
        if not exact_shape:
            want, have = want.ravel(), have.ravel()
        same = judges.same_values(want, have)
    else:
        same = judges.same_number(expected, got)
    return [] if same else ["%s: %r became %r (%s)" % (where, expected, got, getattr(got, "dtype", type(got).__name__))]


def _attributes(where, expected, got, typed, ignore=(), exact_shape=False):
    names = set(got) - set(ignore)
    out = []
    if names != set(expected) - set(ignore):
        out.append("%s: attributes missing %s, too many %s" % (where, sorted(set(expected) - names),
                                                              sorted(names - set(expected))))
    for key in set(expected) & names:
        out += _attribute("%s@%s" % (where, key), expected[key], got[key], typed, exact_shape)
    return out


def check_nc4(path, groups, variables, source, kept_chunks):
    typed = source in ("nc4", "h5")
    out = []
    with netCDF4.Dataset(path) as file, h5py.File(path) as raw_file:
        file.set_auto_maskandscale(False)
        for group in DIMS:
            home = file if group == "/" else file[group]
            got = {k: home.getncattr(k) for k in home.ncattrs()}
            out += _attributes(group, groups[group], got, typed, ignore=("nothing",))
            if source == "h5" and "nothing" not in got:
                out.append("%s@nothing: the empty attribute is gone" % group)
        if source in ("nc4", "h5") and not file.dimensions["time"].isunlimited():
            out.append("time is no longer unlimited")
        for v in variables:
            made = file[v.path]
            if made.dimensions != v.dims:
                out.append("%s: dims %s became %s" % (v.path, v.dims, made.dimensions))
            for dim in made.get_dims():
                home = "/obs" if dim.name == "station" else "/"
                if source == "nc4" and dim.group().path != home:
                    out.append("%s: its dim %s now lives in %s" % (v.path, dim.name, dim.group().path))
            if not judges.same_values(v.data, made[...]):
                out.append("%s: values differ (%s, %s)" % (v.path, v.data.dtype, made.dtype))
            got = {k: made.getncattr(k) for k in made.ncattrs()}
            want = dict(v.attrs, **({"_FillValue": v.fill} if v.fill is not None else {}))
            if v.name == "gaps" and source == "zarr2":
                got.pop("_FillValue", None)  # a v2 fill value may be taken for a missing value, as xarray does
            out += _attributes(v.path, want, got, typed)
            out += _chunks(v, raw_file[v.path]) if kept_chunks else []
    return out


def _chunks(v, dataset):
    if v.chunks and v.written is not None and dataset.id.get_num_chunks() != v.stored_chunks():
        return ["%s: %d chunks stored, not %d" % (v.path, dataset.id.get_num_chunks(), v.stored_chunks())]
    return []


def check_h5(path, groups, variables, source, kept_chunks):
    typed = source in ("nc4", "h5")
    scale = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_Netcdf4Coordinates", "_Netcdf4Dimid",
             "_NCProperties", "_nc3_strict", "DIMENSION_LABELS"}
    out = []
    with h5py.File(path) as file:
        for group in DIMS:
            got = dict(file[group].attrs)
            out += _attributes(group, groups[group], got, typed, ignore={"nothing"} | scale, exact_shape=source == "h5")
            if source == "h5" and not isinstance(got.get("nothing"), h5py.Empty):
                out.append("%s@nothing: %r is not empty" % (group, got.get("nothing")))
        for v in variables:
            made = file[v.path]
            data = v.data
            if source == "nc4" and v.written is not None:  # netCDF-C extends a variable to the last record written
                data = data[:made.shape[0]]
            if not judges.same_values(data, made[...]) or made.shape[0:1] < (max(v.written or (0,)) + 1,)[:made.ndim]:
                out.append("%s: values differ (%s, %s)" % (v.path, v.data.dtype, made.dtype))
            want = dict(v.attrs, **({"_FillValue": v.fill} if v.fill is not None else {}))
            got = dict(made.attrs)
            if v.name == "gaps" and source == "zarr2":
                got.pop("_FillValue", None)
            out += _attributes(v.path, want, got, typed, ignore=scale)
            if source in ("nc4", "h5") and "time" in v.dims and made.maxshape[0] is not None:
                out.append("%s: time cannot grow any more" % v.path)
            out += _chunks(v, made) if kept_chunks else []
    return out


def check_zarr(path, groups, variables, source, kept_chunks):
    out = []
    root = zarr.open_group(str(path), mode="r", use_consolidated=False)
    for group in DIMS:
        got = dict((root if group == "/" else root[group[1:]]).attrs)
        if source == "h5":
            if "nothing" not in got:
                out.append("%s@nothing: the empty attribute is gone" % group)
        out += _attributes(group, groups[group], _own(got), False, ignore=("nothing",))
    for v in variables:
        made = root[v.path[1:]]
        if not judges.same_values(v.data, made[...]):
            out.append("%s: values differ (%s, %s)" % (v.path, v.data.dtype, made.dtype))
        got = _own(dict(made.attrs))
        dims = tuple(made.attrs.get("_ARRAY_DIMENSIONS", ())) if made.metadata.zarr_format == 2 \
            else made.metadata.dimension_names or ()
        if dims != v.dims:
            out.append("%s: dims %s became %s" % (v.path, v.dims, dims))
        out += _attributes(v.path, v.attrs, got, False, ignore=("_FillValue",))  # _FillValue: xarray judges it
        count = len(judges.chunk_objects(str(path) + v.path))
        if kept_chunks and v.written is not None and count != v.stored_chunks():
            out.append("%s: %d chunk objects, not %d" % (v.path, count, v.stored_chunks()))
    return out


def _own(attrs):
    """Without the names that are reserved for the machinery."""
    return {k: x for k, x in attrs.items() if not k.startswith(("_ARRAY", "_chunkwise", "_nc", "_NC"))}


def check(flavour, path, groups, variables, source, kept_chunks=True):
    """`source`: the flavour it came from; `kept_chunks`: chunks that were never written must still be absent."""
    variables = variables_of(source, variables)
    checker = {"nc4": check_nc4, "h5": check_h5, "zarr2": check_zarr, "zarr3": check_zarr}[flavour]
    return checker(path, groups, variables, source, kept_chunks)
