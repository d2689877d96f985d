"""Compares datasets with readers that are not ours: h5py for HDF5 and netCDF-4, zarr-python for Zarr, xarray for both.

Every function returns a list of differences, each a line for people; an empty list means equal.
"""

import json
import os
import subprocess
import warnings
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401  lets h5py read the filters of plugins
import numpy as np
import xarray as xr
import zarr

warnings.filterwarnings("ignore")

ZARR_METADATA = {".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"}
VALUE_BYTES_PER_READ = 64 << 20


# ---- numbers and attributes

def raw(values):
    """The bytes of an array, so that NaN equals itself and 0.0 differs from -0.0."""
    return np.ascontiguousarray(values).tobytes()


def native(values):
    values = np.asarray(values)
    return values.astype(values.dtype.newbyteorder("="))


def same_values(a, b):
    """Bit for bit, whatever the byte order."""
    a, b = native(a), native(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "OUST":
        return a.tolist() == b.tolist()
    return raw(a) == raw(b)


def same_number(expected, got):
    """True if a JSON value (or any number) stands for the number or numbers `expected`, NaN included."""
    expected = np.asarray(expected)
    if expected.dtype == np.uint64 and isinstance(got, list) and all(isinstance(x, int) for x in got):
        return expected.ravel().tolist() == got  # numpy would make floats of them
    if isinstance(got, str) or (isinstance(got, list) and any(isinstance(x, str) for x in got)):
        return False
    got = np.asarray(got)
    if got.dtype == object or expected.size != got.size:
        return False
    if got.size == 0:
        return True
    if expected.dtype.kind in "iu" and got.dtype.kind == "f":
        return False  # an integer must not come back as 1.0
    with np.errstate(all="ignore"):
        return np.array_equal(expected.ravel(), got.ravel().astype(expected.dtype),
                              equal_nan=expected.dtype.kind == "f")


# ---- HDF5

def _h5_names(group):
    """Link names in the order that counts: by creation where tracked."""
    plist = group.id.get_create_plist()
    tracked = bool(plist.get_link_creation_order() & h5py.h5p.CRT_ORDER_TRACKED)
    names = []
    index = h5py.h5.INDEX_CRT_ORDER if tracked else h5py.h5.INDEX_NAME
    group.id.links.iterate(lambda name: names.append(name), idx_type=index)
    return [n.decode(errors="surrogateescape") for n in names]


_NAMES = {}  # of each file: object address -> its first path; asking HDF5 for a name costs O(objects) each time


def _names_by_address(file):
    if file.id not in _NAMES:
        names = _NAMES[file.id] = {}
        h5py.h5o.visit(file.id, lambda path, info: names.setdefault(info.addr, path.decode(errors="replace"))
                         and None, info=True)
    return _NAMES[file.id]


def _reference_name(file, reference):
    if not reference:
        return None
    try:
        address = h5py.h5o.get_info(h5py.h5r.dereference(reference, file.id)).addr
        return _names_by_address(file).get(address, "anonymous")
    except (ValueError, KeyError):
        return "dangling"


def _plain(file, value, dtype):
    """A value in a form that can be compared between files: references become names."""
    if h5py.check_ref_dtype(dtype) is h5py.Reference:
        return np.vectorize(lambda r: _reference_name(file, r), otypes=[object])(value).tolist()
    if h5py.check_ref_dtype(dtype) is h5py.RegionReference:
        return np.vectorize(lambda r: None if not r else "%s %s" % (
            _reference_name(file, r), h5py.h5r.get_region(r, file.id).get_select_bounds()),
            otypes=[object])(value).tolist()
    if dtype.names:
        return [_plain(file, value[n], dtype[n]) for n in dtype.names]
    inner = h5py.check_vlen_dtype(dtype)
    if inner is not None and inner not in (str, bytes):
        inner = np.dtype(inner)
        return [_plain(file, x, inner) for x in np.asarray(value, dtype=object).ravel()]
    if h5py.check_string_dtype(dtype) is not None or dtype.kind == "O":
        return np.asarray(value, dtype=object).tolist()
    return (str(dtype), np.shape(value), raw(value))


def _attribute(file, obj, name):
    aid = h5py.h5a.open(obj.id, name)
    space = aid.get_space()
    shape = None if space.get_simple_extent_type() == h5py.h5s.NULL else aid.shape
    type_id = aid.get_type()
    if shape is None:
        return type_id, shape, None
    dtype = aid.dtype
    inner = h5py.check_vlen_dtype(dtype)
    if inner not in (None, str, bytes) and h5py.check_ref_dtype(np.dtype(inner)) is h5py.RegionReference:
        return type_id, shape, None  # h5py crashes on these
    try:
        value = np.empty(shape, dtype=dtype)
        if value.size:
            aid.read(value)
        value = _plain(file, value, dtype)
    except (TypeError, OSError, ValueError):  # a type h5py has no words for (opaque, bitfield): its bytes
        buffer = np.empty(int(np.prod(shape, dtype=int)) * type_id.get_size(), "u1")
        aid.read(buffer, mtype=type_id)
        value = buffer.tobytes()
    if name == b"REFERENCE_LIST" and dtype.names and len(dtype.names) == 2:
        axes = np.empty(shape, dtype)
        aid.read(axes)
        value = sorted((_reference_name(file, r) or "", int(axis)) for r, axis in axes.ravel().tolist())
        value = [v for v in value if v[0] not in ("", "dangling")]  # a rewrite may drop entries that lead nowhere
        shape = (len(value),)
    return type_id, shape, value


def _attribute_names(obj):
    tracked = bool(obj.id.get_create_plist().get_attr_creation_order() & h5py.h5p.CRT_ORDER_TRACKED)
    names = []
    h5py.h5a.iterate(obj.id, lambda name: names.append(name),
                     index_type=h5py.h5.INDEX_CRT_ORDER if tracked else h5py.h5.INDEX_NAME)
    return names


def _same_type(a, b):
    """Equality of stored types: h5t.equal, except that references inside have no file to differ in."""
    return a == b or a.encode() == b.encode()


def h5_attributes(a, b, where, ignore=()):
    out = []
    names_a = [n for n in _attribute_names(a) if n.decode(errors="replace") not in ignore]
    names_b = [n for n in _attribute_names(b) if n.decode(errors="replace") not in ignore]
    if names_a != names_b:
        out.append("%s: attributes %s became %s" % (where, names_a, names_b))
    for name in names_a:
        if name not in names_b:
            continue
        try:
            type_a, shape_a, value_a = _attribute(a.file, a, name)
        except Exception as error:
            out.append("%s@%s: h5py cannot read the original: %s" % (where, name.decode(errors="replace"), error))
            continue
        try:
            type_b, shape_b, value_b = _attribute(b.file, b, name)
        except Exception as error:
            out.append("%s@%s: h5py cannot read the result: %s" % (where, name.decode(errors="replace"), error))
            continue
        place = "%s@%s" % (where, name.decode(errors="replace"))
        if not _same_type(type_a, type_b):
            out.append("%s: type %s became %s" % (place, type_a.dtype, type_b.dtype))
        if shape_a != shape_b:
            out.append("%s: shape %s became %s" % (place, shape_a, shape_b))
        elif value_a != value_b:
            out.append("%s: value %.80r became %.80r" % (place, value_a, value_b))
    return out


def _filters(plist):
    return [plist.get_filter(i)[:3] for i in range(plist.get_nfilters())]


def _fill(plist, type_id):
    status = plist.fill_value_defined()
    if status != h5py.h5d.FILL_VALUE_USER_DEFINED:
        return status, b""
    try:
        value = np.zeros((), dtype=type_id.dtype)
        plist.get_fill_value(value)
        return status, repr(value) if value.dtype.hasobject else raw(value)
    except (TypeError, OSError, ValueError, RuntimeError):
        return status, b"?"  # h5py has no words for the type


def h5_values(a, b, where):
    """Compares all elements, slab by slab along the first axis, raw."""
    dtype = a.dtype
    if a.shape is None:
        return [] if b.shape is None else [where + ": the null dataspace became %s" % (b.shape,)]
    if a.size == 0 or (not a.external and a.id.get_storage_size() == b.id.get_storage_size() == 0):
        return []
    row_bytes = max(1, dtype.itemsize * (a.size // a.shape[0] if a.ndim else 1))
    rows = max(1, VALUE_BYTES_PER_READ // row_bytes)
    for first in range(0, a.shape[0] if a.ndim else 1, rows):
        window = slice(first, first + rows) if a.ndim else ()
        try:
            left = np.asarray(a[window])
        except Exception:
            return []  # the judge cannot read the original either (a filter nobody has)
        try:
            right = np.asarray(b[window])
        except Exception as error:
            return ["%s: h5py cannot read the result: %s" % (where, error)]
        left, right = _plain(a.file, left, dtype), _plain(b.file, right, b.dtype)
        if left != right:
            return ["%s: values differ (from row %d)" % (where, first)]
    return []


def h5_dataset(a, b, where, layout=True, ignore=()):
    out = h5_attributes(a, b, where, ignore)
    if not _same_type(a.id.get_type(), b.id.get_type()):
        out.append("%s: type %s became %s" % (where, a.dtype, b.dtype))
        return out
    if (a.shape, a.maxshape) != (b.shape, b.maxshape):
        out.append("%s: extent %s of at most %s became %s of %s" % (where, a.shape, a.maxshape, b.shape, b.maxshape))
        return out
    pa, pb = a.id.get_create_plist(), b.id.get_create_plist()
    if layout:
        if pa.get_layout() != pb.get_layout() or a.chunks != b.chunks:
            out.append("%s: layout %d chunks %s became %d %s"
                       % (where, pa.get_layout(), a.chunks, pb.get_layout(), b.chunks))
        if a.chunks and a.id.get_num_chunks() != b.id.get_num_chunks():
            out.append("%s: %d stored chunks became %d" % (where, a.id.get_num_chunks(), b.id.get_num_chunks()))
        if _filters(pa) != _filters(pb):
            out.append("%s: filters %s became %s" % (where, _filters(pa), _filters(pb)))
    if _fill(pa, a.id.get_type()) != _fill(pb, b.id.get_type()):
        out.append("%s: fill %s became %s" % (where, _fill(pa, a.id.get_type()), _fill(pb, b.id.get_type())))
    if pa.get_fill_time() != pb.get_fill_time():
        out.append("%s: fill time %s became %s" % (where, pa.get_fill_time(), pb.get_fill_time()))
    return out + h5_values(a, b, where)


def h5_files(path_a, path_b, layout=True, order=True, ignore=()):
    """Everything in two HDF5 files: objects, links, order, attributes, types, layouts, fill values, filters, values.
    `layout=False` leaves chunks and filters out, `order=False` the order of members; `ignore` names
    attributes to leave out."""
    out = []
    _NAMES.clear()
    with h5py.File(path_a) as fa, h5py.File(path_b) as fb:
        first_name = {}  # object address in a -> path, to see hard links

        def walk(ga, gb, where):
            out.extend(h5_attributes(ga, gb, where or "/", ignore))
            names_a, names_b = _h5_names(ga), _h5_names(gb)
            if names_a != names_b if order else sorted(names_a) != sorted(names_b):
                out.append("%s: members %s became %s" % (where or "/", names_a, names_b))
            for name in names_a:
                if name not in names_b:
                    continue
                path = where + "/" + name
                link_a, link_b = ga.get(name, getlink=True), gb.get(name, getlink=True)
                if type(link_a) is not type(link_b):
                    out.append("%s: a %s became a %s" % (path, type(link_a).__name__, type(link_b).__name__))
                elif isinstance(link_a, h5py.ExternalLink):
                    if (link_a.filename, link_a.path) != (link_b.filename, link_b.path):
                        out.append("%s: the external link points elsewhere" % path)
                elif isinstance(link_a, h5py.SoftLink):
                    if link_a.path != link_b.path:
                        out.append("%s: soft link to %s became %s" % (path, link_a.path, link_b.path))
                else:
                    visit(ga[name], gb[name], path)

        def visit(a, b, path):
            if type(a) is not type(b):
                out.append("%s: a %s became a %s" % (path, type(a).__name__, type(b).__name__))
                return
            address = h5py.h5o.get_info(a.id).addr
            if address in first_name:
                if fb[first_name[address]] != b:
                    out.append("%s: was one object with %s" % (path, first_name[address]))
                return
            first_name[address] = path
            if isinstance(a, h5py.Dataset):
                out.extend(h5_dataset(a, b, path, layout, ignore))
            elif isinstance(a, h5py.Group):
                walk(a, b, path)
            elif not _same_type(a.id, b.id):
                out.append("%s: the named type changed" % path)

        first_name[h5py.h5o.get_info(fa.id).addr] = "/"
        walk(fa["/"], fb["/"], "")
    return out


# ---- Zarr

def chunk_objects(folder):
    """Relative names of all chunk objects below a folder."""
    folder = Path(folder)
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*")
                  if p.is_file() and p.name not in ZARR_METADATA)


def zarr_node(path):
    """Opens a group or an array, v2 or v3, without consolidated metadata."""
    try:
        return zarr.open_group(str(path), mode="r", use_consolidated=False)
    except Exception:
        return zarr.open_array(str(path), mode="r")


def _same_json(a, b):
    """Text comparison: NaN equals NaN, 1 differs from 1.0, order of members counts, but for the reserved one."""
    def text(attributes):
        own = {k: v for k, v in attributes.items() if k != "_ARRAY_DIMENSIONS"}
        return json.dumps([own, attributes.get("_ARRAY_DIMENSIONS")])
    return text(a) == text(b)


def zarr_arrays(a, b, where, layout=True):
    out = []
    for what in ("shape", "dtype") + (("chunks", "shards") if layout else ()):
        if getattr(a, what) != getattr(b, what):
            out.append("%s: %s %s became %s" % (where, what, getattr(a, what), getattr(b, what)))
    if a.shape != b.shape:
        return out
    if repr(a.fill_value) != repr(b.fill_value):
        out.append("%s: fill value %r became %r" % (where, a.fill_value, b.fill_value))
    if layout and a.metadata.zarr_format == b.metadata.zarr_format:
        ja, jb = a.metadata.to_dict(), b.metadata.to_dict()
        for key in sorted(set(ja) | set(jb)):
            if key not in ("attributes", "consolidated_metadata") and repr(ja.get(key)) != repr(jb.get(key)):
                out.append("%s: %s %.150r became %.150r" % (where, key, ja.get(key), jb.get(key)))
    try:
        left = a[...]
    except Exception:
        return out
    if not same_values(left, b[...]):
        out.append("%s: values differ" % where)
    return out


def zarr_trees(path_a, path_b, layout=True):
    """Groups, arrays, attributes, values; with `layout` also chunks, codecs and which chunk objects exist."""
    out = []

    def visit(a, b, where):
        if type(a) is not type(b):
            out.append("%s: a %s became a %s" % (where, type(a).__name__, type(b).__name__))
            return
        if not _same_json(dict(a.attrs), dict(b.attrs)):
            out.append("%s: attributes %.200s became %.200s" % (where, dict(a.attrs), dict(b.attrs)))
        if isinstance(a, zarr.Array):
            out.extend(zarr_arrays(a, b, where, layout))
            return
        members_a, members_b = dict(a.members()), dict(b.members())
        if sorted(members_a) != sorted(members_b):
            out.append("%s: members %s became %s" % (where, sorted(members_a), sorted(members_b)))
        for name in sorted(set(members_a) & set(members_b)):
            visit(members_a[name], members_b[name], where.rstrip("/") + "/" + name)

    visit(zarr_node(path_a), zarr_node(path_b), "/")
    if layout and not out and chunk_objects(path_a) != chunk_objects(path_b):
        out.append("chunk objects %.300s became %.300s" % (chunk_objects(path_a), chunk_objects(path_b)))
    return out


# ---- xarray

def open_xarray(path, group, mask_and_scale):
    engine = "zarr" if os.path.isdir(path) else "netcdf4"
    options = {"consolidated": False} if engine == "zarr" else {}
    return xr.open_dataset(path, engine=engine, group=group, mask_and_scale=mask_and_scale, decode_times=False,
                           decode_coords=False, **options)


def xarray_groups(path_a, path_b, groups, skip_fill_of=(), skip_attributes=()):
    """What xarray shows of each group, masked and raw. `skip_fill_of`: variables whose raw `_FillValue` may differ (a
    format that has no other way to say what unwritten cells are). `skip_attributes`: group attributes to overlook."""
    out = []
    for group in groups:
        for masked in (False, True):
            where = "xarray %s, %s, " % (group or "/", "masked" if masked else "raw")
            try:
                opened = open_xarray(path_b, group, masked)
            except Exception as error:
                out.append(where + "cannot open the result: %s" % error)
                continue
            with open_xarray(path_a, group, masked) as a, opened as b:
                if set(a.variables) != set(b.variables):
                    out.append(where + "variables %s became %s" % (sorted(a.variables), sorted(b.variables)))
                out += [where + d for d in _json_attributes(a.attrs, b.attrs, skip_attributes)]
                for name in sorted(set(a.variables) & set(b.variables)):
                    va, vb = a[name].variable, b[name].variable
                    if va.dims != vb.dims:
                        out.append(where + "%s: dims %s became %s" % (name, va.dims, vb.dims))
                    if masked and name in skip_fill_of:
                        continue
                    if va.dtype != vb.dtype or not same_values(va.values, vb.values):
                        out.append(where + "%s: values differ (%s, %s)" % (name, va.dtype, vb.dtype))
                    skip = ("_FillValue",) if name in skip_fill_of else ()
                    out += [where + name + d for d in _json_attributes(va.attrs, vb.attrs, skip)]
                    for key in ("scale_factor", "add_offset", "_FillValue"):
                        if key not in skip and (key in va.encoding) != (key in vb.encoding):
                            out.append(where + "%s: %s in one only" % (name, key))
    return out


def _json_attributes(a, b, skip=()):
    out = []
    if set(a) - set(skip) != set(b) - set(skip):
        out.append("@: %s became %s" % (sorted(a), sorted(b)))
    for key in (set(a) & set(b)) - set(skip):
        x, y = a[key], b[key]
        if isinstance(x, str) or isinstance(y, str):
            same = x == y
        else:
            same = same_number(x, y) or same_number(y, x)
        if not same:
            out.append("@%s: %r became %r" % (key, x, y))
    return out


# ---- netCDF

def ncdump_header(path):
    """`ncdump -h` without the line that names the file."""
    text = subprocess.run(["ncdump", "-h", str(path)], capture_output=True, text=True, check=True).stdout
    return text.splitlines()[1:]


def text_differences(a, b):
    import difflib
    return [line for line in difflib.unified_diff(a, b, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]
