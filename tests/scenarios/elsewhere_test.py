"""HDF5 datasets whose elements lie in other files: virtual ones, and those with raw files."""

import os

import h5py
import numpy as np
import zarr

import harness

VALUES = np.arange(20, dtype="<i8").reshape(4, 5)


def make_virtual(folder):
    for name, factor in (("v1.h5", 1), ("v2.h5", 10)):
        with h5py.File(folder / name, "w", libver=("earliest", "v110")) as file:
            file["part"] = VALUES * factor
    with h5py.File(folder / "whole.h5", "w", libver=("earliest", "v110")) as file:
        layout = h5py.VirtualLayout((9, 5), "<i8")
        layout[0:4] = h5py.VirtualSource("v1.h5", "part", (4, 5))
        layout[4:8] = h5py.VirtualSource("v2.h5", "part", (4, 5))
        file.create_virtual_dataset("joined", layout, fillvalue=-1)
        texts = h5py.VirtualLayout((2,), h5py.string_dtype())
        file["words"] = np.array(["one", "zwei"], dtype=object)
        texts[:] = h5py.VirtualSource(".", "words", (2,))
        file.create_virtual_dataset("texts", texts)
    return folder / "whole.h5"


EXPECTED = np.concatenate([VALUES, VALUES * 10, np.full((1, 5), -1)])


def test_virtual_stays_virtual(t):
    source = t.source(make_virtual(t.dir))
    t.rechunk(source, t / "copy.h5", "--verify", "full", says=("/joined", "v1.h5"))
    with h5py.File(t / "copy.h5") as file:
        t.check(file["joined"].is_virtual and file["texts"].is_virtual, "virtual datasets became real")
        t.equal("values", EXPECTED.tolist(), file["joined"][...].tolist())
        t.equal("names of sources", ["v1.h5", "v2.h5"], [s.file_name for s in file["joined"].virtual_sources()])
    (t / "sub").mkdir()
    t.rechunk(source, t / "sub" / "copy.h5", "-c", "2,2", says=("/joined", "stays virtual"))
    with h5py.File(t / "sub" / "copy.h5") as file:
        t.check(file["joined"].is_virtual, "a general -c made a virtual dataset real")


def test_virtual_becomes_real_on_request(t):
    source = t.source(make_virtual(t.dir))
    (t / "sub").mkdir()
    t.rechunk(source, t / "sub" / "o.h5", "-c", "/joined:4,5", "-c", "/texts:1", "--codec", "/joined:shuffle,deflate:1",
              "--verify", "full", cwd="/")
    with h5py.File(t / "sub" / "o.h5") as file:
        t.equal("values", EXPECTED.tolist(), file["joined"][...].tolist())
        t.equal("chunks", ((4, 5), (1,)), (file["joined"].chunks, file["texts"].chunks))
        t.equal("texts", [b"one", b"zwei"], file["texts"][...].tolist())
    t.rechunk(source, t / "o.zarr", "--exclude", "texts", "--exclude", "words")
    t.equal("values in Zarr", EXPECTED.tolist(), zarr.open(t / "o.zarr")["joined"][...].tolist())


def test_virtual_with_a_missing_file(t):
    source = make_virtual(t.dir)
    (t / "v2.h5").unlink()
    t.rechunk(source, t / "copy.h5")
    for options in ([], ["--dry-run"]):
        t.refused("rechunk", source, t / "o.h5", "-c", "/joined:4,5", *options, code=3, says=("v2.h5", "/joined"))
        t.refused("rechunk", source, t / "o.zarr", "--exclude", "texts", "--exclude", "words", *options, code=3,
                  says=("v2.h5", "/joined"))


def make_external(folder):
    folder.mkdir()
    (folder / "a.raw").write_bytes(b"head" + VALUES[:2].tobytes())
    (folder / "b.raw").write_bytes(VALUES[2:].tobytes())
    with h5py.File(folder / "raw.h5", "w", libver=("earliest", "v110")) as file:
        file.create_dataset("x", (4, 5), "<i8", external=[("a.raw", 4, 80), ("b.raw", 0, 80)])
    return folder / "raw.h5"


def test_raw_files_come_into_the_file(t):
    source = t.source(make_external(t / "in"))
    for name, options in (("linear.h5", []), ("chunks.h5", ["-c", "3,2", "--codec", "deflate:1"])):
        t.rechunk(source, t / name, "--verify", "full", *options, says=("/x", "a.raw"), cwd="/")
        with h5py.File(t / name) as file:
            t.equal("external files", None, file["x"].external)
            t.equal("values", VALUES.tolist(), file["x"][...].tolist())
            t.equal("chunks", (3, 2) if options else None, file["x"].chunks)
    t.rechunk(source, t / "o.zarr")
    t.equal("values in Zarr", VALUES.tolist(), zarr.open(t / "o.zarr")["x"][...].tolist())


def test_raw_file_missing(t):
    source = make_external(t / "in")
    os.remove(t / "in" / "b.raw")
    for target in ("o.h5", "o.zarr"):
        for options in ([], ["--dry-run"]):
            t.refused("rechunk", source, t / target, *options, code=3, says=("b.raw", "/x"))


if __name__ == "__main__":
    harness.main(globals())
