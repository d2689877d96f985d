"""Compares two HDF5 files as wholes, through h5py's low-level interface: what one has and the other has not.

Everything that the library tells about a file is compared: properties of the file, objects, links and their order,
types, dataspaces, creation properties, attributes, values, and what references lead to. Not compared: addresses, sizes,
times, and versions of headers.
"""

import ctypes
import os
import sys
from pathlib import Path

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5r, h5s, h5t

h5 = h5py.h5
SLAB_BYTES = 4 << 20
# The library inside h5py, for what h5py does not pass on.
LIBRARY = ctypes.CDLL(str(next((Path(h5py.__file__).parents[1] / "h5py.libs").glob("libhdf5-*"))))


def _safe(function, *arguments):
    """The answer of a call, or the name of its error: both files must answer alike."""
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001
        return "%s" % type(error).__name__


class Side:
    """One of the two files."""

    def __init__(self, path):
        self.path = path
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_fclose_degree(h5f.CLOSE_STRONG)
        self.id = h5f.open(os.fsencode(path), h5f.ACC_RDONLY, fapl=access)
        self.root = h5g.open(self.id, b"/")
        self.names = {}  # address -> first path

    def close(self):
        self.id.close()

    def name(self, address):
        return self.names.get(address, b"(nameless)")


# ---- types


def describe_type(side, t):
    """A type in words that do not depend on the file: class, sizes, orders, members; a committed type by its name."""
    words = [t.get_class(), t.get_size()]
    if isinstance(t, (h5t.TypeIntegerID, h5t.TypeFloatID, h5t.TypeBitfieldID, h5t.TypeTimeID)):
        words += [_safe(getattr(t, n)) if hasattr(t, n) else None
                  for n in ("get_order", "get_precision", "get_offset", "get_pad", "get_sign", "get_fields",
                            "get_ebias", "get_norm", "get_inpad")]
    if isinstance(t, h5t.TypeStringID):
        words += [t.is_variable_str(), t.get_strpad(), t.get_cset()]
    if isinstance(t, h5t.TypeOpaqueID):
        words.append(t.get_tag())
    if isinstance(t, h5t.TypeCompoundID):
        for i in range(t.get_nmembers()):
            words.append((t.get_member_name(i), t.get_member_offset(i), describe_type(side, t.get_member_type(i))))
    if isinstance(t, h5t.TypeEnumID):
        base = t.get_super()
        words.append(describe_type(side, base))
        words += [(t.get_member_name(i), _safe(t.get_member_value, i)) for i in range(t.get_nmembers())]
    if isinstance(t, (h5t.TypeArrayID, h5t.TypeVlenID)):
        words.append(describe_type(side, t.get_super()))
    if isinstance(t, h5t.TypeArrayID):
        words.append(t.get_array_dims())
    if t.committed():
        words.append(("committed as", side.name(h5o.get_info(t).addr)))
    return tuple(words)


def same_type(a, b):
    """H5Tequal where it can tell; types that refer into a file are never equal to it."""
    if a.equal(b):
        return True
    return _safe(a.encode) == _safe(b.encode)


# ---- values


def where_to(side, reference):
    """What a reference leads to: the name of the object, and the selected elements."""
    if not reference:
        return None
    try:
        target = h5r.dereference(reference, side.id)
        if target is None:
            return None
        place = side.name(h5o.get_info(target).addr)
    except Exception:  # noqa: BLE001
        return None  # leads nowhere, like a null reference
    if not isinstance(reference, h5r.RegionReference):
        return place
    space = h5r.get_region(reference, side.id)
    selection = [space.get_select_type(), _safe(space.get_select_npoints)]
    if space.get_select_type() == h5s.SEL_POINTS:
        selection.append(space.get_select_elem_pointlist().tolist())
    elif space.get_select_type() == h5s.SEL_HYPERSLABS:
        selection.append(space.get_select_hyper_blocklist().tolist())
    return place, selection


def plain(side, value, dtype):
    """Values in a form that Python compares: bytes for what means the same everywhere."""
    if dtype.kind == "O":
        return [one(side, v) for v in np.asarray(value, dtype=object).ravel().tolist()]
    if dtype.names and dtype.hasobject:
        return [plain(side, value[n], dtype[n].base) for n in dtype.names]
    if dtype.hasobject:
        return [plain(side, np.asarray(value), dtype.base)]
    if dtype.names:  # not the gaps
        return [plain(side, value[n], dtype[n].base) for n in dtype.names]
    return np.ascontiguousarray(value).tobytes()


def one(side, value):
    if isinstance(value, (h5r.Reference, h5r.RegionReference)):
        return where_to(side, value)
    if isinstance(value, np.ndarray):
        return [str(value.shape), plain(side, value, value.dtype)]
    return value


def attribute(side, obj, name):
    a = h5a.open(obj, name)
    t, space = a.get_type(), a.get_space()
    head = (describe_type(side, t), space.get_simple_extent_type(), a.shape, h5a.get_info(obj, name).cset)
    if space.get_simple_extent_type() == h5s.NULL or 0 in a.shape:
        return head, None
    try:
        if t.get_class() == h5t.REFERENCE or name == b"REFERENCE_LIST" or t.detect_class(h5t.REFERENCE) \
                or t.detect_class(h5t.VLEN) or t.detect_class(h5t.STRING) and not isinstance(t, h5t.TypeStringID):
            raise LookupError
        if isinstance(t, h5t.TypeStringID) and t.is_variable_str():
            raise LookupError
        raw = np.empty(a.shape, dtype="V%d" % t.get_size())
        a.read(raw, mtype=t)
        value = raw.tobytes()
    except LookupError:
        dtype = t.dtype
        data = np.empty(a.shape, dtype=dtype)
        a.read(data)
        value = plain(side, data, dtype)
    if name == b"REFERENCE_LIST":  # the order is the library's own; what leads nowhere may go
        data = data.ravel()
        value = sorted((where_to(side, r) or b"", int(i)) for r, i in zip(data["dataset"], data["dimension"]))
        value = [v for v in value if v[0]]
        head = head[:2]
    return head, value


def attribute_names(obj):
    plist = obj.get_create_plist()
    flags = plist.get_attr_creation_order() if hasattr(plist, "get_attr_creation_order") else \
        ask(plist, "attr_creation_order", UINT)[0]
    names = []
    h5a.iterate(obj, names.append, index_type=h5.INDEX_CRT_ORDER if flags & h5p.CRT_ORDER_TRACKED else h5.INDEX_NAME)
    return names


# ---- properties


def get(plist, *names):
    return {n: _safe(getattr(plist, "get_" + n)) for n in names}


def ask(plist, function, *kinds):
    """The answers of an H5Pget function that h5py does not have."""
    values = [kind() for kind in kinds]
    call = getattr(LIBRARY, "H5Pget_" + function)
    call.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * len(values)
    status = call(plist.id, *[ctypes.byref(v) for v in values])
    return [v.value for v in values] if status >= 0 else "error"


UINT, SIZE = ctypes.c_uint, ctypes.c_size_t


def file_properties(side):
    fcpl = side.id.get_create_plist()
    words = get(fcpl, "userblock", "sizes", "link_creation_order", "attr_creation_order", "attr_phase_change",
                "file_space_strategy", "file_space_page_size")
    words["sym_k"] = ask(fcpl, "sym_k", UINT, UINT)
    words["istore_k"] = ask(fcpl, "istore_k", UINT)
    words["link_phase_change"] = ask(fcpl, "link_phase_change", UINT, UINT)
    words["shared messages"] = [ask(fcpl, "shared_mesg_phase_change", UINT, UINT)]
    for i in range(ask(fcpl, "shared_mesg_nindexes", UINT)[0]):
        flags, least = UINT(), UINT()
        LIBRARY.H5Pget_shared_mesg_index(ctypes.c_int64(fcpl.id), UINT(i), ctypes.byref(flags), ctypes.byref(least))
        words["shared messages"].append((flags.value, least.value))
    with open(side.path, "rb") as file:
        words["user block"] = file.read(fcpl.get_userblock())
    return words


def group_properties(g):
    p = g.get_create_plist()
    words = get(p, "link_creation_order", "attr_creation_order", "attr_phase_change", "obj_track_times")
    words["link_phase_change"] = ask(p, "link_phase_change", UINT, UINT)
    words["est_link_info"] = ask(p, "est_link_info", UINT, UINT)
    words["local_heap_size_hint"] = ask(p, "local_heap_size_hint", SIZE)
    return words


def fill_value(p, t):
    defined = p.fill_value_defined()
    if defined != h5d.FILL_VALUE_USER_DEFINED:
        return defined, None
    try:
        if t.detect_class(h5t.VLEN) or t.detect_class(h5t.REFERENCE) or \
                isinstance(t, h5t.TypeStringID) and t.is_variable_str():
            raise TypeError
        value = np.zeros((), dtype=t.dtype)
        p.get_fill_value(value)
        return defined, value.tobytes()
    except (TypeError, ValueError, OSError):
        return defined, "?"


def virtual_maps(p):
    maps = []
    for i in range(p.get_virtual_count()):
        spaces = []
        for space in (p.get_virtual_vspace(i), p.get_virtual_srcspace(i)):
            spaces.append((space.get_select_type(),  # not the extents: they depend on which files are there
                           _safe(space.get_regular_hyperslab) if space.get_select_type() == h5s.SEL_HYPERSLABS
                           and space.is_regular_hyperslab() else _safe(lambda s=space: s.get_select_hyper_blocklist().tolist())))
        maps.append((p.get_virtual_filename(i), p.get_virtual_dsetname(i), str(spaces)))
    return maps


def dataset_properties(d, layout):
    p = d.get_create_plist()
    words = get(p, "attr_creation_order", "attr_phase_change", "obj_track_times", "fill_time")
    words["fill"] = fill_value(p, d.get_type())
    kind = p.get_layout()
    if kind == h5d.VIRTUAL:
        words["layout"] = "virtual"
        words["maps"] = virtual_maps(p)
    if layout:
        words["layout"] = kind
        words["alloc_time"] = p.get_alloc_time()
        if kind == h5d.CHUNKED:
            words["chunk"] = p.get_chunk()
            words["chunk_opts"] = ask(p, "chunk_opts", UINT)
            words["stored chunks"] = d.get_num_chunks()
            words["filters"] = [p.get_filter(i)[:3] for i in range(p.get_nfilters())]
        elif kind == h5d.CONTIGUOUS:
            words["allocated"] = d.get_storage_size() > 0
    return words


# ---- the walk


class Compare:
    def __init__(self, a, b, layout):
        self.a, self.b, self.layout = a, b, layout
        self.out = []

    def say(self, where, what, x, y):
        if x != y:
            if isinstance(x, dict) and isinstance(y, dict):
                for key in x.keys() | y.keys():
                    if x.get(key) != y.get(key):
                        self.out.append("%s: %s %s: %.200r became %.200r" % (where, what, key, x.get(key), y.get(key)))
                return
            self.out.append("%s: %s: %.200r became %.200r" % (where, what, x, y))

    def run(self):
        self.say("file", "property", file_properties(self.a), file_properties(self.b))
        pairs = []
        self.links(self.a.root, self.b.root, b"", pairs)
        self.a.names.setdefault(h5o.get_info(self.a.root).addr, b"/")
        self.b.names.setdefault(h5o.get_info(self.b.root).addr, b"/")
        self.object(self.a.root, self.b.root, b"/")
        # After all names are known, as types and references lead anywhere.
        for path, x, y in pairs:
            try:
                self.object(x, y, path)
            except Exception as error:  # noqa: BLE001
                if self.readable(x):
                    self.out.append("%s: cannot be compared: %s: %s" % (path, type(error).__name__, error))
        return self.out

    def readable(self, x):
        """False if h5py cannot read the original either."""
        try:
            Compare(self.a, self.a, self.layout).object(x, x, b"")
            return True
        except Exception:  # noqa: BLE001
            return False

    def links(self, a, b, path, pairs):
        self.a.names[h5o.get_info(a).addr] = path or b"/"
        self.b.names[h5o.get_info(b).addr] = path or b"/"
        tracked = a.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
        names = []
        for group in (a, b):
            names.append([])
            group.links.iterate(names[-1].append, idx_type=h5.INDEX_CRT_ORDER if tracked else h5.INDEX_NAME)
        self.say(path or b"/", "links", names[0], names[1])
        for name in names[0]:
            if name not in names[1]:
                continue
            here = path + b"/" + name
            x, y = a.links.get_info(name), b.links.get_info(name)
            self.say(here, "link", (x.type, x.cset, x.corder_valid), (y.type, y.cset, y.corder_valid))
            if x.type != y.type:
                continue
            if x.type != h5l.TYPE_HARD:
                self.say(here, "link to", _safe(a.links.get_val, name), _safe(b.links.get_val, name))
                continue
            p, q = h5o.open(a, name), h5o.open(b, name)
            self.say(here, "class", type(p), type(q))
            known = self.a.names.get(h5o.get_info(p).addr)
            self.say(here, "hard link to", known, self.b.names.get(h5o.get_info(q).addr))
            if known is not None or type(p) is not type(q):
                continue
            if isinstance(p, h5g.GroupID):
                pairs.append((here, p, q))
                self.links(p, q, here, pairs)
            else:
                self.a.names[h5o.get_info(p).addr] = here
                self.b.names[h5o.get_info(q).addr] = here
                pairs.append((here, p, q))

    def object(self, a, b, path):
        self.say(path, "comment", _safe(h5o.get_comment, a), _safe(h5o.get_comment, b))
        self.say(path, "number of links", h5o.get_info(a).rc, h5o.get_info(b).rc)
        self.attributes(a, b, path)
        if isinstance(a, h5g.GroupID):
            self.say(path, "property", group_properties(a), group_properties(b))
        elif isinstance(a, h5t.TypeID):
            self.say(path, "type", describe_type(self.a, a), describe_type(self.b, b))
            if not same_type(a, b):
                self.out.append("%s: the named type changed" % path)
        else:
            self.dataset(a, b, path)

    def attributes(self, a, b, path):
        x, y = attribute_names(a), attribute_names(b)
        self.say(path, "attributes", x, y)
        for name in x:
            if name not in y:
                continue
            try:
                left = attribute(self.a, a, name)
            except Exception:  # noqa: BLE001
                continue  # nor can the judge read the original
            place = "%s@%s" % (path.decode(errors="replace"), name.decode(errors="replace"))
            try:
                self.say(place, "attribute", left, attribute(self.b, b, name))
            except Exception as error:  # noqa: BLE001
                self.out.append("%s: h5py cannot read the copy: %s" % (place, error))

    def dataset(self, a, b, path):
        ta, tb = a.get_type(), b.get_type()
        self.say(path, "type", describe_type(self.a, ta), describe_type(self.b, tb))
        if not same_type(ta, tb):
            self.out.append("%s: its type changed" % path)
        x, y = a.get_space(), b.get_space()
        self.say(path, "class of extent", x.get_simple_extent_type(), y.get_simple_extent_type())
        virtual = a.get_create_plist().get_layout() == b.get_create_plist().get_layout() == h5d.VIRTUAL
        if not virtual:  # may depend on other files
            self.say(path, "shape", a.shape, b.shape)
            self.say(path, "most shape", x.get_simple_extent_dims(True) if a.shape is not None else None,
                     y.get_simple_extent_dims(True) if b.shape is not None else None)
        layout = self.layout(path) if callable(self.layout) else self.layout
        external = a.get_create_plist().get_external_count() > 0
        self.say(path, "property", dataset_properties(a, layout and not external),
                 dataset_properties(b, layout and not external))
        if external:
            self.say(path, "external files", 0, b.get_create_plist().get_external_count())
        if a.shape is not None and not virtual and a.shape == b.shape:
            self.values(a, b, path, ta.dtype if not _opaque(ta) else np.dtype("V%d" % ta.get_size()))

    def values(self, a, b, path, dtype):
        shape = a.shape
        n = int(np.prod(shape, dtype=object)) if shape else 1
        if n == 0 or (a.get_storage_size() == 0 and b.get_storage_size() == 0
                      and not a.get_create_plist().get_external_count()
                      and a.get_create_plist().get_layout() != h5d.VIRTUAL):
            return
        row = max(1, dtype.itemsize * n // max(1, shape[0])) if shape else 1
        if row > 64 * SLAB_BYTES:
            self.out.append("%s: rows too large for this comparison" % path)
            return
        rows = max(1, SLAB_BYTES // row)
        raw = not dtype.hasobject
        for first in range(0, shape[0] if shape else 1, rows):
            slabs = []
            for side, d in ((self.a, a), (self.b, b)):
                space = d.get_space()
                extent = shape
                if shape:
                    extent = (min(rows, shape[0] - first),) + shape[1:]
                    space.select_hyperslab((first,) + (0,) * (len(shape) - 1), extent)
                memory = h5s.create_simple(extent) if shape else h5s.create(h5s.SCALAR)
                # Zeros, as elements never to be filled stay as they are.
                data = np.zeros(extent, dtype="V%d" % d.get_type().get_size() if raw else dtype)
                try:
                    if raw:
                        d.read(memory, space, data, mtype=d.get_type())
                    else:
                        d.read(memory, space, data)
                except Exception as error:  # noqa: BLE001
                    if side is self.a:
                        return  # nor can the judge read the original
                    self.out.append("%s: h5py cannot read the copy: %s" % (path, error))
                    return
                slabs.append(data.tobytes() if raw else plain(side, data, dtype))
            if slabs[0] != slabs[1]:
                self.out.append("%s: values differ from row %d on" % (path, first))
                return


def _opaque(t):
    """h5py has no numpy type for it."""
    try:
        return t.dtype is None
    except (TypeError, ValueError, NotImplementedError):
        return True


def compare(path_a, path_b, layout=True):
    """Differences as sentences. `layout`: also layouts, chunks, filters and what is allocated; a function of the path
    chooses for each dataset."""
    a, b = Side(path_a), Side(path_b)
    try:
        return Compare(a, b, layout).run()
    finally:
        a.close()
        b.close()


if __name__ == "__main__":
    found = compare(sys.argv[1], sys.argv[2], layout="--values" not in sys.argv)
    print("\n".join(found))
    sys.exit(bool(found))
