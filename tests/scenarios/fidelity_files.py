"""HDF5 and netCDF-4 files that hold one kind of thing each, in all its forms. Values follow from the names alone."""

import ctypes
from contextlib import contextmanager

import h5py
import netCDF4
import numpy as np
from h5py import h5a, h5d, h5f, h5g, h5l, h5o, h5p, h5r, h5s, h5t

from h5_compare import LIBRARY

OLD = ("earliest", "v110")


@contextmanager
def new(path, libver=OLD, **options):
    with h5py.File(path, "w", libver=libver, **options) as file:
        yield file


def vlen_strings(n):
    return np.array(["", "one", "zwei", "\u00fcber", "x" * 300] * (n // 5 + 1), dtype=object)[:n]


def links(path):
    with new(path, track_order=True) as f:
        f["z/data"] = np.arange(10)
        f["a/deep"] = f["z/data"]
        f["z/again"] = f["z"]  # a cycle
        f["soft"] = h5py.SoftLink("/z/data")
        f["dangling"] = h5py.SoftLink("/no/such/thing")
        f["round"] = h5py.SoftLink("/round")
        f["elsewhere"] = h5py.ExternalLink("missing.h5", "/x")
        f["m"] = np.float32(1)
        f.create_group("\u00e9t\u00e9")
        f["by name"] = np.arange(3)
        unordered = f.create_group("unordered", track_order=False)
        for name in "cab":
            unordered[name] = 1
        many = f.create_group("many", track_order=True)
        for i in range(40):  # dense storage of links
            many["link %d" % (39 - i)] = h5py.SoftLink("/z")
        h5o.set_comment(f["z"].id, b"a comment")


def named_types(path):
    with new(path, track_order=True) as f:
        inner = np.dtype([("x", "<f4"), ("y", ">i2")])
        f["before"] = np.arange(3)  # in its place in the order
        f["types/point"] = inner
        f["types/colour"] = h5py.enum_dtype({"RED": 0, "GREEN": 5}, "u1")
        f["types/text"] = h5py.string_dtype()
        f["types/alias"] = f["types/point"]
        f["types/point"].attrs["about"] = "a point"
        f["types/point"].attrs.create("origin", np.array((1, 2), inner), dtype=f["types/point"])
        f.create_dataset("points", (20,), f["types/point"], chunks=(6,))[:] = np.array([(i, -i) for i in range(20)], inner)
        f.create_dataset("colours", (9,), f["types/colour"], chunks=(4,))[:] = [0, 5, 0] * 3
        f.create_dataset("texts", (7,), f["types/text"], chunks=(3,))[:] = vlen_strings(7)
        f["points"].attrs.create("where", np.array((3, 4), inner), dtype=f["types/point"])
        f["colours"].attrs.create("best", 5, dtype=f["types/colour"])
        nameless = h5t.py_create(np.dtype("<i4"), logical=True).copy()
        nameless.commit  # committed without a name, and shared by two datasets
        LIBRARY.H5Tcommit_anon(ctypes.c_int64(f.id.id), ctypes.c_int64(nameless.id), ctypes.c_int64(0), ctypes.c_int64(0))
        for name in (b"n1", b"n2"):
            h5d.create(f.id, name, nameless, h5s.create_simple((4,)))
        f["to a type"] = np.array([f["types/point"].ref, f["types/colour"].ref], dtype=h5py.ref_dtype)


def used_before_named(path):
    """The name of a type comes after its user, in the order of names and in that of creation."""
    with new(path, track_order=True) as f:
        f["t"] = np.dtype([("a", "i4")])
        f.create_dataset("d", (3,), f["t"])
        f["later"] = f["t"]
        del f["t"]
        g = f.create_group("by name", track_order=False)
        g["z"] = np.dtype("f8")
        g.create_dataset("a", (3,), g["z"])


def references(path):
    with new(path) as f:
        f["a"] = np.arange(60).reshape(6, 10)
        g = f.create_group("g")
        f["t"] = np.dtype("i4")
        to = [f["a"].ref, g.ref, f["t"].ref, h5py.Reference(), f.ref]
        f.create_dataset("objects", data=np.array(to * 7, dtype=h5py.ref_dtype), chunks=(4,))
        f.create_dataset("compact", data=np.array(to, dtype=h5py.ref_dtype))
        regions = [f["a"].regionref[1:3, 2:9:3], f["a"].regionref[5, 0], h5py.RegionReference(), f["a"].regionref[...]]
        d = f.create_dataset("regions", (11,), h5py.regionref_dtype, chunks=(3,))
        for i in range(8):
            d[i] = regions[i % 4]
        points = f["a"].id.get_space()
        points.select_elements([(0, 1), (5, 9), (2, 2)])
        d[9] = h5r.create(f["a"].id, b".", h5r.DATASET_REGION, points)
        mixed = np.dtype([("what", h5py.ref_dtype), ("n", "i2"), ("part", h5py.regionref_dtype)])
        v = np.zeros(5, mixed)
        for i in range(5):
            v[i] = (to[i], i, regions[i % 4])
        f.create_dataset("compound", data=v, chunks=(2,))
        f.attrs.create("objects", np.array(to, dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
        f["a"].attrs.create("part", regions[0], dtype=h5py.regionref_dtype)
        f["a"].attrs.create("mixed", v, dtype=mixed)
        h5d.create(f.id, b"lists never written", h5t.vlen_create(h5t.STD_REF_OBJ), h5s.create_simple((3,)))
        d = f.create_dataset("lists", (7,), h5py.vlen_dtype(h5py.ref_dtype), chunks=(2,))
        for i in range(6):
            d[i] = np.array((to * 3)[i:2 * i + 1], dtype=h5py.ref_dtype)
        d = f.create_dataset("lists in one piece", (4,), h5py.vlen_dtype(h5py.ref_dtype))
        d[1] = np.array(to * 100, dtype=h5py.ref_dtype)


def reference_lists(path):
    """Lists of references, in a dataset and inside a compound, as dimension scales have them."""
    with new(path) as f:
        for name in ("x", "y", "time"):
            f[name] = np.arange(5.0)
            f[name].make_scale(name)
        d = f.create_dataset("v", data=np.arange(125.0).reshape(5, 5, 5), chunks=(2, 3, 5))
        for axis, name in enumerate(("time", "y", "x")):
            d.dims[axis].attach_scale(f[name])
            d.dims[axis].label = name
        f["more"] = f["v"]


def lists(path):
    with new(path) as f:
        d = f.create_dataset("ragged", (23,), h5py.vlen_dtype(np.dtype(">i2")), chunks=(5,), compression="gzip", shuffle=True)
        for i in range(23):
            if i % 3:
                d[i] = np.arange(i * i % 17)
        d = f.create_dataset("never written", (100,), h5py.vlen_dtype("f8"), chunks=(10,))
        d[25] = [1.0, 2.0]
        d = f.create_dataset("grid", (4, 6), h5py.string_dtype(), chunks=(3, 4), maxshape=(None, 6))
        d[...] = vlen_strings(24).reshape(4, 6)
        d = f.create_dataset("latin", (6,), h5py.string_dtype("ascii"))
        d[:] = ["a", "", "ccc", "d" * 5000, "e", "f"]
        f["scalar"] = "text"
        f.create_dataset("filled", (9,), h5py.string_dtype(), chunks=(2,), fillvalue="nothing")[3] = "some"
        f.create_dataset("compact", (3,), h5py.string_dtype())[:] = ["x", "y", "z"]
        inner = np.dtype([("name", h5py.string_dtype()), ("list", h5py.vlen_dtype("i4")), ("n", "u1", (2, 2))])
        d = f.create_dataset("compound", (7,), inner, chunks=(3,))
        for i in range(7):
            d[i] = ("n%d" % i, np.arange(i, dtype="i4"), np.full((2, 2), i))
        f.attrs.create("list", np.array([np.arange(3), np.arange(5)], dtype=object), dtype=h5py.vlen_dtype("i8"))
        f.attrs.create("texts", vlen_strings(6), dtype=h5py.string_dtype())
        f.attrs.create("compound", np.array([("x", np.arange(2, dtype="i4"), np.ones((2, 2)))], inner), dtype=inner)
        d = f.create_dataset("empty", (0,), h5py.string_dtype(), chunks=(4,), maxshape=(None,))


def zero_bytes(path):
    """Variable-length texts stored with zero bytes inside, or with their terminator."""
    with new(path) as f:
        t = h5t.C_S1.copy()
        t.set_size(h5t.VARIABLE)
        d = h5d.create(f.id, b"texts", t, h5s.create_simple((3,)), None)

        class List(ctypes.Structure):
            _fields_ = [("len", ctypes.c_size_t), ("p", ctypes.c_char_p)]

        values = (List * 3)(List(5, b"ab\0cd"), List(4, b"abc\0"), List(0, None))
        memory = h5t.vlen_create(h5t.NATIVE_UINT8)
        LIBRARY.H5Dwrite(ctypes.c_int64(d.id), ctypes.c_int64(memory.id), ctypes.c_int64(0), ctypes.c_int64(0),
                         ctypes.c_int64(0), values)


def fixed_types(path):
    with new(path) as f:
        def put(name, t, data, chunk=None):
            space = h5s.create_simple((len(data),))
            p = h5p.create(h5p.DATASET_CREATE)
            if chunk:
                p.set_chunk((chunk,))
            d = h5d.create(f.id, name, t, space, p)
            raw = np.frombuffer(b"".join(data), dtype="V%d" % t.get_size()).copy()
            d.write(h5s.ALL, h5s.ALL, raw, mtype=t)

        for pad in (h5t.STR_NULLTERM, h5t.STR_NULLPAD, h5t.STR_SPACEPAD):
            for charset in (h5t.CSET_ASCII, h5t.CSET_UTF8):
                t = h5t.C_S1.copy()
                t.set_size(5)
                t.set_strpad(pad)
                t.set_cset(charset)
                put(b"text %d %d" % (pad, charset), t, [b"abcde", b"a\0b\0c", b"     ", b"x\0\0\0\0"], 3)
        t = h5t.create(h5t.OPAQUE, 3)
        t.set_tag(b"a tag")
        put(b"opaque", t, [b"\0\1\2", b"\3\4\5"] * 3, 4)
        put(b"bits", h5t.STD_B16BE, [b"\1\2", b"\xff\0"] * 5, 3)
        t = h5t.STD_I32LE.copy()
        t.set_precision(17)
        t.set_offset(3)
        put(b"17 bits", t, [b"\1\2\3\0"] * 9, 4)
        t = h5t.IEEE_F32BE.copy()
        t.set_fields(31, 22, 9, 0, 22)
        put(b"odd float", t, [b"\1\2\3\4"] * 9, 4)
        put(b"time", h5t.UNIX_D32LE, [b"\1\2\3\4"] * 9, 4)
        put(b"long double", h5t.NATIVE_LDOUBLE, [bytes(range(16))] * 9, 4)
        e = h5t.enum_create(h5t.STD_I16BE)
        e.enum_insert(b"one", 1)
        e.enum_insert(b"minus", -2)
        put(b"enum", e, [b"\0\1", b"\xff\xfe", b"\1\1"] * 3, 4)
        c = h5t.create(h5t.COMPOUND, 24)  # with gaps
        c.insert(b"e", 1, e)
        c.insert(b"array", 5, h5t.array_create(h5t.STD_U8LE, (2, 3)))
        inner = h5t.create(h5t.COMPOUND, 8)
        inner.insert(b"x", 4, h5t.STD_I32BE)
        c.insert(b"inner", 14, inner)
        put(b"compound", c, [bytes(range(24)), bytes(range(100, 124))] * 4, 3)
        a = h5t.array_create(h5t.IEEE_F32LE, (3, 2))
        put(b"arrays", a, [bytes(range(24))] * 5, 2)
        f["complex"] = np.arange(4) * (1 + 2j)
        f["bool"] = np.array([True, False] * 3)
        f["half"] = np.arange(6).astype("f2")
        for i, d in enumerate(list(f)):
            f[d].attrs["n"] = i


def attributes(path):
    with new(path, libver=("v108", "v110"), track_order=True) as f:
        d = f.create_dataset("d", (3,), "i4", track_order=True)
        for i in reversed(range(20)):  # dense
            d.attrs["number %d" % i] = np.arange(i + 1)
        d.attrs.create("large", np.arange(20000, dtype="f8"))  # above 64 KiB
        d.attrs["null"] = h5py.Empty("f4")
        d.attrs["null text"] = h5py.Empty(h5py.string_dtype())
        d.attrs["none"] = np.zeros((0, 3), "i2")
        d.attrs["matrix"] = np.arange(6).reshape(2, 3)
        d.attrs["\u00fcber"] = "\u00fc"
        d.attrs["fixed"] = np.bytes_("fixed")
        d.attrs["opaque"] = np.void(b"abc")
        d.attrs["half"] = np.float16(1.5)
        d.attrs["compound"] = np.array([(1, 2.5)], [("a", "i2"), ("b", ">f8")])
        d.attrs.create("enum", 3, dtype=h5py.enum_dtype({"A": 3}, "i2"))
        for name in ("CLASS", "NAME"):
            f.attrs[name] = "something else"


def large_attribute_old_header(path):
    with new(path) as f:
        f["d"] = 1
    with h5py.File(path, "a", libver=("v108", "v110")) as f:
        f.create_group("g").attrs.create("large", np.zeros(70000, "u1"))


def spaces(path):
    with new(path) as f:
        f["scalar"] = np.float32(3)
        f["null"] = h5py.Empty("i8")
        f.create_dataset("growing", (3, 4), "i2", maxshape=(None, 9), chunks=(2, 3))[...] = 7
        f.create_dataset("bounded", (3, 4), "i2", maxshape=(5, 9), chunks=(2, 3))[0, 0] = 7
        f.create_dataset("empty", (0, 4), "i2", maxshape=(None, 4), chunks=(2, 3))
        f.create_dataset("nothing", (0,), "i2")
        f.create_dataset("wide", (2,) * 12, "u1", chunks=(1, 2) * 6)[...] = 1


def layouts(path):
    with new(path) as f:
        def make(name, shape, chunk=None, layout=None, fill=None, fill_time=None, alloc=None, options=None, write=None,
                 filters=False):
            p = h5p.create(h5p.DATASET_CREATE)
            if chunk:
                p.set_chunk(chunk)
            if layout is not None:
                p.set_layout(layout)
            if fill is not None:
                p.set_fill_value(np.array(fill, "<i4"))
            if fill_time is not None:
                p.set_fill_time(fill_time)
            if alloc is not None:
                p.set_alloc_time(alloc)
            if options:
                LIBRARY.H5Pset_chunk_opts(ctypes.c_int64(p.id), ctypes.c_uint(options))
            if filters:
                p.set_shuffle()
                p.set_deflate(4)
                p.set_fletcher32()
            p.set_obj_track_times(name.startswith("t"))
            h5d.create(f.id, name.encode(), h5t.STD_I32LE, h5s.create_simple(shape), p)
            if write is not None:
                f[name][write] = 1234

        make("compact", (9, 9), layout=h5d.COMPACT, write=np.s_[2])
        make("compact empty", (9, 9), layout=h5d.COMPACT)
        make("contiguous", (9, 9), write=np.s_[2])
        make("contiguous never", (9, 9))
        make("contiguous early", (9, 9), alloc=h5d.ALLOC_TIME_EARLY)
        make("t times", (9, 9), chunk=(4, 4), write=np.s_[...])
        make("some chunks", (50, 50), chunk=(7, 9), fill=-5, write=np.s_[20:22, 30:40], filters=True)
        make("no chunk", (50, 50), chunk=(7, 9), fill=-5)
        make("early", (20, 20), chunk=(7, 9), fill=-5, alloc=h5d.ALLOC_TIME_EARLY, write=np.s_[3, 3])
        make("late", (20, 20), chunk=(7, 9), alloc=h5d.ALLOC_TIME_LATE, write=np.s_[3, 3])
        make("fill never", (20, 20), chunk=(7, 9), fill=7, fill_time=h5d.FILL_TIME_NEVER, write=np.s_[0:7, 0:9])
        make("fill always", (20, 20), chunk=(7, 9), fill=7, fill_time=h5d.FILL_TIME_ALLOC, write=np.s_[3, 3])
        make("fill if set", (20, 20), chunk=(7, 9), fill=7, fill_time=h5d.FILL_TIME_IFSET, write=np.s_[3, 3])
        make("raw edges", (20, 20), chunk=(7, 9), options=2, write=np.s_[...], filters=True)
        p = h5p.create(h5p.DATASET_CREATE)
        LIBRARY.H5Pset_fill_value(ctypes.c_int64(p.id), ctypes.c_int64(h5t.STD_I32LE.id), None)
        h5d.create(f.id, b"fill undefined", h5t.STD_I32LE, h5s.create_simple((9, 9)), p)
        f["fill undefined"][...] = 3


def file_properties(strategy, persist, page=None, libver=OLD):
    def make(path):
        options = {"fs_strategy": strategy, "fs_persist": persist, "fs_threshold": 5}
        if page:
            options["fs_page_size"] = page
        with new(path, libver=libver, **options) as f:
            f.create_dataset("a", (100, 100), "i4", chunks=(30, 30))[...] = np.arange(10000).reshape(100, 100)
            f["text"] = "some text"
            f["gone"] = np.zeros(5000)
            del f["gone"]
    return make


def low_level_file(path):
    """Odd numbers of everything that a file can be told at its creation."""
    p = h5p.create(h5p.FILE_CREATE)
    p.set_sizes(8, 8)
    p.set_userblock(1024)
    for function, values in (("sym_k", (20, 10)), ("istore_k", (48,)), ("link_phase_change", (12, 9)),
                             ("shared_mesg_nindexes", (2,)), ("shared_mesg_phase_change", (60, 30))):
        call = getattr(LIBRARY, "H5Pset_" + function)
        call(ctypes.c_int64(p.id), *[ctypes.c_uint(v) for v in values])
    LIBRARY.H5Pset_shared_mesg_index(ctypes.c_int64(p.id), 0, ctypes.c_uint(2), ctypes.c_uint(30))
    LIBRARY.H5Pset_shared_mesg_index(ctypes.c_int64(p.id), 1, ctypes.c_uint(0x1000), ctypes.c_uint(20))
    p.set_link_creation_order(h5p.CRT_ORDER_TRACKED)
    access = h5p.create(h5p.FILE_ACCESS)
    access.set_libver_bounds(h5f.LIBVER_EARLIEST, h5f.LIBVER_V110)
    h5f.create(str(path).encode(), h5f.ACC_TRUNC, p, access).close()
    with h5py.File(path, "a", libver=OLD) as f:
        for i in range(20):
            f.create_dataset("d%d" % (20 - i), data=np.full((9, 9), i), chunks=(2, 9), track_order=i % 2 == 0)
            f["d%d" % (20 - i)].attrs["shared by many of them"] = np.arange(12)
        gcpl = h5p.create(h5p.GROUP_CREATE)
        for function, values in (("link_phase_change", (3, 2)), ("est_link_info", (100, 20))):
            getattr(LIBRARY, "H5Pset_" + function)(ctypes.c_int64(gcpl.id), *[ctypes.c_uint(v) for v in values])
        g = h5g.create(f.id, b"group", gcpl=gcpl)
        for i in range(9):
            h5g.create(g, b"%d" % i)
    with open(path, "r+b") as file:
        file.write(b"#!/bin/sh\necho a user block\n" + bytes(range(256)))


def shared_messages(indexes, most_in_list=50):
    """Equal spaces, types, fill values, filters and attributes stored once; `indexes`: their kinds and least bytes."""
    def make(path):
        p = h5p.create(h5p.FILE_CREATE)
        LIBRARY.H5Pset_shared_mesg_nindexes(ctypes.c_int64(p.id), ctypes.c_uint(len(indexes)))
        for i, (kinds, least) in enumerate(indexes):
            LIBRARY.H5Pset_shared_mesg_index(ctypes.c_int64(p.id), ctypes.c_uint(i), ctypes.c_uint(kinds),
                                             ctypes.c_uint(least))
        LIBRARY.H5Pset_shared_mesg_phase_change(ctypes.c_int64(p.id), ctypes.c_uint(most_in_list),
                                                ctypes.c_uint(most_in_list * 4 // 5))
        h5f.create(str(path).encode(), h5f.ACC_TRUNC, p, h5p.create(h5p.FILE_ACCESS)).close()
        point = np.dtype([("a", "i4"), ("b", "f8"), ("c", "S7")])
        with h5py.File(path, "a", libver=OLD) as f:
            f["named"] = point
            for i in range(12):
                d = f.create_dataset("d%d" % i, (20, 30 + i % 3), "i4", chunks=(5, 7), compression=1 + i % 2,
                                     shuffle=True, fillvalue=i % 4, maxshape=(None, 30 + i % 3))
                d[...] = np.arange(d.size).reshape(d.shape) + i
                d.attrs["numbers"] = np.arange(12)
                d.attrs["text"] = "hello " * (1 + i % 3)
                d.attrs["texts"] = ["x", "yy", "zzz"]
                d.attrs["own %d" % i] = i
                c = f.create_dataset("c%d" % i, (10,), point, chunks=(3,))
                c[...] = np.ones(10, point)
                c.attrs["reference"] = d.ref
                c.attrs["point"] = np.ones(3, point)
            for i in range(3):
                f.create_dataset("n%d" % i, (10,), dtype=f["named"])[...] = np.ones(10, point)
                f.create_dataset("s%d" % i, (10,), h5py.string_dtype(), chunks=(4,))[...] = vlen_strings(10)
                f.create_dataset("r%d" % i, (3,), h5py.ref_dtype)[...] = [f["d0"].ref] * 3
                f.create_dataset("g%d" % i, (2,), h5py.regionref_dtype)[0] = f["d0"].regionref[2:4, 3:8]
                f.create_dataset("v%d" % i, (3,), h5py.vlen_dtype("i2"))[0] = [1, 2, 3]
                q = h5p.create(h5p.DATASET_CREATE)
                q.set_chunk((7, 9))
                q.set_deflate(3)
                LIBRARY.H5Pset_chunk_opts(ctypes.c_int64(q.id), ctypes.c_uint(2))
                h5d.create(f.id, b"raw edges %d" % i, h5t.STD_I32LE, h5s.create_simple((20, 20)), q)
                f["raw edges %d" % i][...] = i
                f["group %d/x" % i] = np.arange(5.0)
                f["group %d" % i].attrs["numbers"] = np.arange(12)
    return make


def latest(path):
    with new(path, libver=("v110", "v110"), track_order=True) as f:
        f.create_dataset("array index", (50, 50), "i4", chunks=(7, 9), maxshape=(None, 50))[...] = 5
        f.create_dataset("second axis", (50, 50), "i4", chunks=(7, 9), maxshape=(50, None))[3:9] = 5
        f.create_dataset("tree index", (50, 50), "i4", chunks=(7, 9), maxshape=(None, None), compression=1)[...] = 5
        f.create_dataset("single", (50, 50), "i4", chunks=(50, 50))[...] = 5
        f.create_dataset("fixed", (50, 50), "i4", chunks=(7, 9))[10:20] = 5
        f.create_dataset("texts", (50,), h5py.string_dtype(), chunks=(7,))[...] = vlen_strings(50)
        f["t"] = np.dtype([("a", "i4"), ("s", h5py.string_dtype())])


def virtual(path):
    for name in ("v1", "v2"):
        with new(path.with_name(name + ".h5")) as f:
            f.create_dataset("part", data=np.arange(20).reshape(4, 5) * (10 if name == "v2" else 1), maxshape=(None, 5),
                             chunks=(2, 5))
    with new(path) as f:
        f["own"] = np.arange(5)
        layout = h5py.VirtualLayout((9, 5), "i8")
        layout[0:4] = h5py.VirtualSource("v1.h5", "part", (4, 5))
        layout[4:8] = h5py.VirtualSource("v2.h5", "part", (4, 5))
        layout[8] = h5py.VirtualSource(".", "own", (5,))
        f.create_virtual_dataset("joined", layout, fillvalue=-1)
        space = h5s.create_simple((4, 2, 5), (h5s.UNLIMITED, 2, 5))
        space.select_hyperslab((0, 0, 0), (h5s.UNLIMITED, 1, 1), stride=(1, 1, 1), block=(1, 2, 5)) if False else \
            space.select_hyperslab((0, 0, 0), (h5s.UNLIMITED, 1, 1), (1, 1, 1), (1, 2, 5))
        p = h5p.create(h5p.DATASET_CREATE)
        p.set_virtual(space, b"v%b.h5", b"part", h5s.create_simple((2, 5)))
        h5d.create(f.id, b"numbered", h5t.NATIVE_INT64, space, p)


def nc_types(path):
    path = path.with_suffix(".nc")
    with netCDF4.Dataset(path, "w") as n:
        n.createDimension("x", 7)
        n.createDimension("y", 5)
        n.createDimension("unused", 3)
        n.createDimension("time", None)
        inner = n.createCompoundType(np.dtype([("a", "i2"), ("b", "f8")], align=True), "inner_t")
        outer = n.createCompoundType(np.dtype([("in", inner.dtype), ("list", "f4", (2, 3))], align=True), "outer_t")
        ragged = n.createVLType(np.int32, "ragged_t")
        cloud = n.createEnumType(np.uint8, "cloud_t", {"clear": 0, "cumulus": 7, "missing": 255})
        n.createEnumType(np.int16, "never_used_t", {"one": 1})
        v = n.createVariable("outer", outer, ("x",), chunksizes=(3,))
        data = np.zeros(7, outer.dtype)
        data["in"]["a"], data["in"]["b"] = np.arange(7), np.arange(7) / 3
        v[:] = data
        v = n.createVariable("ragged", ragged, ("x", "y"), chunksizes=(3, 2))
        for i in range(7):
            for j in range(5):
                v[i, j] = np.arange(i + j, dtype="i4")
        v = n.createVariable("cloud", cloud, ("time", "x"), zlib=True, fill_value=255)
        v[0:4] = np.full((4, 7), 7)
        v[4, 0] = 0
        v = n.createVariable("name", str, ("time",))
        for i in range(5):
            v[i] = "name %d" % i
        v.long_name = "names"
        g = n.createGroup("sub")
        g.createEnumType(np.uint8, "cloud_t", {"other": 0, "same name": 1})
        w = g.createVariable("cloud", g.enumtypes["cloud_t"], ("x",))
        w[:] = 1
        n.createVariable("x", "f4", ("x",))[:] = np.arange(7)
        c = n.createVariable("station", "S1", ("x", "y"))
        c[:] = np.array([list("abcde")] * 7, "S1")
        n.title = "user types"
        n.listed = ["a", "bc"]
        n.none = ""
    return path


def nc_model(path):
    path = path.with_suffix(".nc")
    with netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC") as n:
        n.createDimension("b", 4)
        n.createDimension("a", 3)
        n.createDimension("t", None)
        v = n.createVariable("b", "f8", ("b",))
        v[:] = np.arange(4)
        n.createVariable("late", "i4", ("t", "b", "a"), chunksizes=(1, 2, 3), fill_value=-9)[2] = 5
        n.createVariable("a_first", "f4", ("a",))
        n.createVariable("t", "f8", ("t",))[:] = np.arange(3)
        n.createVariable("nofill", "i2", ("a", "b"), fill_value=False)[...] = 7
        n.createVariable("scalar", "i4", ())[...] = 3
    return path


def nc_plain_hdf5(path):
    """netCDF must not make up dimensions for a file of HDF5."""
    path = path.with_suffix(".nc")
    with new(path) as f:
        f.create_dataset("v", data=np.arange(12.0).reshape(3, 4), chunks=(2, 2))
        f.create_dataset("w", data=np.arange(3))
    return path


FILES = {
    "links": links, "named types": named_types, "used before named": used_before_named, "references": references,
    "reference lists": reference_lists, "lists": lists, "zero bytes": zero_bytes, "fixed types": fixed_types,
    "attributes": attributes, "large attribute": large_attribute_old_header, "spaces": spaces, "layouts": layouts,
    "aggregate": file_properties("aggregate", False), "page": file_properties("page", True, 8192),
    "free space": file_properties("fsm", True), "no strategy": file_properties("none", False),
    "page latest": file_properties("page", False, 4096, ("v110", "v110")),
    "low level": low_level_file, "shared spaces": shared_messages([(2, 10)]), "shared types": shared_messages([(8, 10)]),
    "shared fills": shared_messages([(0x20, 5)]), "shared filters": shared_messages([(0x800, 5)]),
    "shared attributes": shared_messages([(0x1000, 20)]), "all shared": shared_messages([(0x182a, 0)]),
    "all shared in trees": shared_messages([(2, 10), (8, 10), (0x20, 5), (0x800, 5), (0x1000, 20)], 0),
    "latest": latest, "virtual": virtual,
    "nc types": nc_types, "nc model": nc_model, "nc plain hdf5": nc_plain_hdf5,
}
