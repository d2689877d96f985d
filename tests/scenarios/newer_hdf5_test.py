"""Files for which our HDF5 library is too old: exit 4 and a sentence that says so. Those it can read are read."""

import ctypes
import glob
import os

import h5py
import numpy as np

import harness

NEWER = "needs a newer hdf5 library"


def make(path, low, high, fill):
    with h5py.File(path, "w", libver=(low, high)) as file:
        fill(file)
    return path


def plain(file):
    file.create_dataset("a", data=np.arange(100, dtype="f4").reshape(10, 10), chunks=(5, 5), compression="gzip")


def read_or_refuse(t, path):
    """Reads what the library of the commands can read; else both say what is missing. Returns the exit code."""
    t.source(path)
    result = t.chunkadvise(path, code=(0, 4))
    target = t / ("copy-" + path.name)
    done = t.rechunk(path, target, "-c", "5,10", code=result.code)
    if result.code == 4:
        t.judge(result, 4, says=NEWER)
        t.judge(done, 4, says=NEWER)
        t.check(not target.exists(), "a refused source left a target")
    else:
        with h5py.File(path) as a, h5py.File(target) as b:
            t.check(np.array_equal(a["a"][...], b["a"][...]), "values differ")
    return result.code


def test_format_versions(t):
    """Every bound of versions that the judges' library knows."""
    codes = {}
    for version in ("v108", "v110", "v112", "v114", "v200"):
        try:
            path = make(t / (version + ".h5"), version, version, plain)
        except ValueError:
            continue
        codes[version] = read_or_refuse(t, path)
    t.check(codes["v108"] == 0 and codes["v110"] == 0, "the versions of 1.8 and 1.10 are read: %s" % codes)


def test_complex_numbers(t):
    """HDF5 2 has a class of its own for them; before, they were compounds."""
    if not hasattr(h5py.h5t, "COMPLEX_IEEE_F64LE"):
        raise harness.Skip("the judges' h5py has no complex class")

    def fill(file):
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(file.id, b"a", h5py.h5t.COMPLEX_IEEE_F64LE, space)

    path = make(t / "complex.h5", "latest", "latest", fill)
    t.source(path)
    t.refused("chunkadvise", path, code=4, says=NEWER)
    t.refused("rechunk", path, t / "out.h5", code=4, says=NEWER)


def test_references_of_1_12(t):
    """H5R_ref_t as the type of an attribute; h5py cannot make one, its library can."""
    folder = os.path.join(os.path.dirname(h5py.__file__), os.pardir, "h5py.libs")
    libraries = glob.glob(os.path.join(folder, "libhdf5-*.so*"))
    if not libraries:
        raise harness.Skip("h5py brings no library of its own")
    library = ctypes.CDLL(libraries[0])
    library.H5Acreate2.restype = ctypes.c_int64
    library.H5Acreate2.argtypes = [ctypes.c_int64, ctypes.c_char_p] + [ctypes.c_int64] * 4
    library.H5Aclose.argtypes = [ctypes.c_int64]
    reference_type = ctypes.c_int64.in_dll(library, "H5T_STD_REF_g").value

    def fill(file):
        plain(file)
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        dataset = file["a"]  # its id lives as long as this
        attribute = library.H5Acreate2(dataset.id.id, b"to", reference_type, space.id, 0, 0)
        if attribute < 0:
            raise harness.Skip("the judges' library makes no such attribute")
        library.H5Aclose(attribute)

    path = make(t / "references.h5", "earliest", "latest", fill)
    t.source(path)
    code = t.chunkadvise(path, code=(0, 4)).code
    t.rechunk(path, t / "out.h5", "-c", "keep", code=4, says=NEWER if code == 4 else "reference")


if __name__ == "__main__":
    harness.main(globals())
