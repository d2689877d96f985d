"""References where they are hard to keep: as fill values, and in heaps that were damaged."""

import ctypes

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

import harness
from h5_compare import LIBRARY


class List(ctypes.Structure):
    _fields_ = [("len", ctypes.c_size_t), ("p", ctypes.c_void_p)]


def with_fill(path, kind, value):
    """/a, and /refers with this fill value."""
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file["a"] = np.arange(12)
        fill = value(file)
        p = h5p.create(h5p.DATASET_CREATE)
        p.set_chunk((4,))
        done = LIBRARY.H5Pset_fill_value(ctypes.c_int64(p.id), ctypes.c_int64(kind.id), ctypes.byref(fill))
        assert done >= 0
        h5d.create(file.id, b"refers", kind, h5s.create_simple((9,)), p)
    return path


def address(file):
    reference = ctypes.c_uint64()
    LIBRARY.H5Rcreate(ctypes.byref(reference), ctypes.c_int64(file.id.id), b"a", 0, ctypes.c_int64(-1))
    return reference


def test_fill_values(t):
    lists = h5t.vlen_create(h5t.STD_REF_OBJ)
    held = []

    def one_in_a_list(file):
        held.append(address(file))
        return List(1, ctypes.addressof(held[-1]))

    cases = {
        "reference": (h5t.STD_REF_OBJ, address, 4),
        "null": (h5t.STD_REF_OBJ, lambda file: ctypes.c_uint64(0), 0),
        "list": (lists, one_in_a_list, 4),
        "empty list": (lists, lambda file: List(0, None), 0),
    }
    for name, (kind, value, code) in cases.items():
        src, dst = with_fill(t / (name + ".h5"), kind, value), t / (name + " copy.h5")
        t.source(src)
        if code:
            t.refused("rechunk", src, dst, "--to", "h5", "-c", "/refers:3", code=code, says=["/refers", "fill value"])
            t.check(not dst.exists(), name + ": there is a target")
            t.rechunk(src, dst, "--to", "h5", "--exclude", "/refers", "--verify", "full")
            dst.unlink()
        else:
            t.rechunk(src, dst, "--to", "h5", "-c", "/refers:3", "--verify", "full")


def test_fill_value_with_text_in_a_file_that_shares_messages(t):
    """The library has no way to take it out of such a file that is safe: refused before anything is written."""
    p = h5p.create(h5p.FILE_CREATE)
    LIBRARY.H5Pset_shared_mesg_nindexes(ctypes.c_int64(p.id), ctypes.c_uint(1))
    LIBRARY.H5Pset_shared_mesg_index(ctypes.c_int64(p.id), ctypes.c_uint(0), ctypes.c_uint(0x20), ctypes.c_uint(1))
    h5f.create(str(t / "a.h5").encode(), h5f.ACC_TRUNC, p).close()
    with h5py.File(t / "a.h5", "a", libver=("earliest", "v110")) as file:
        file.create_dataset("filled", (9,), h5py.string_dtype(), chunks=(2,), fillvalue="nothing")[3] = "some"
        file["plain"] = np.arange(3)
    t.refused("rechunk", t / "a.h5", t / "b.h5", "-c", "/filled:3", code=4, says=["/filled", "fill value", "shares"])
    t.refused("rechunk", t / "a.h5", t / "b.h5", "-c", "/filled:3", "--dry-run", code=4, says=["/filled", "fill value"])
    t.run("rechunk", t / "a.h5", t / "b.h5", "-c", "keep", "--exclude", "filled")
    with h5py.File(t / "b.h5") as file:
        t.equal("values", [0, 1, 2], file["plain"][...].tolist())


def test_damaged_heaps(t):
    """Every word of the heap of lists and texts, made senseless: never a signal."""
    with h5py.File(t / "sound.h5", "w", libver=("earliest", "v110")) as file:
        file.create_dataset("texts", (40,), h5py.string_dtype(), chunks=(7,))[...] = ["text %d" % i for i in range(40)]
        file.create_dataset("refs", (3,), h5py.vlen_dtype(h5py.ref_dtype))[1] = np.array(
            [file["texts"].ref] * 5, dtype=h5py.ref_dtype)
        parts = file.create_dataset("parts", (2,), h5py.regionref_dtype)
        parts[0] = file["texts"].regionref[2:9]
    sound = (t / "sound.h5").read_bytes()
    starts = []
    at = sound.find(b"GCOL")
    while at >= 0:
        starts.append(at)
        at = sound.find(b"GCOL", at + 1)
    t.check(starts, "no heap in the file")
    n_broken = 0
    for start in starts:
        for at in range(start + 8, start + 80, 8):
            for word in (b"\xff" * 8, b"\xff\xff\xff\x7f\0\0\0\0", b"\0" * 8):
                damaged = t / "damaged.h5"
                damaged.write_bytes(sound[:at] + word + sound[at + 8:])
                result = t.rechunk(damaged, t / "out.h5", "--to", "h5", "--overwrite", "-c", "/texts:5",
                                   code=(0, 3, 4, 5), timeout=20)
                n_broken += result.code == 5
                t.chunkadvise(damaged, code=(0, 3, 4, 5), timeout=20)
                (t / "out.h5").unlink(missing_ok=True)
    t.check(n_broken, "no damage was noticed")


if __name__ == "__main__":
    harness.main(globals())
