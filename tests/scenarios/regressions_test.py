"""What once went wrong: each test is a defect that was found and mended."""

import os
import shutil
import signal
import subprocess
import time
import warnings

import h5py
import netCDF4
import numpy as np
import zarr

import harness

warnings.filterwarnings("ignore")


def small_zarr(path, version=3):
    root = zarr.open_group(str(path), mode="w", zarr_format=version)
    for name in ("a", "b"):
        root.create_array(name, shape=(4, 4), chunks=(2, 2), dtype="i4")[...] = 7
    return root


def test_target_that_contains_its_source(t):
    small_zarr(t / "s.zarr")
    for target in ("s.zarr", "s.zarr/"):
        t.refused("rechunk", t / "s.zarr" / "a", "%s/%s" % (t.dir, target), "--overwrite", code=2, says=["contains"])
    shutil.copytree(t / "s.zarr" / "a", t / "s.zarr" / "inner")
    t.refused("rechunk", t / "s.zarr", t / "s.zarr" / "inner", "--overwrite", code=2, says=["inside"])
    t.equal("arrays left", ["a", "b", "inner", "zarr.json"], sorted(p.name for p in (t / "s.zarr").iterdir()))


def test_many_objects_within_the_memory(t):
    with netCDF4.Dataset(t / "many.nc", "w") as file:
        file.createDimension("x", 4)
        for i in range(400):
            v = file.createVariable("v%d" % i, "i4", ("x",), chunksizes=(2,))
            v[:], v.units = i, "m"
    with h5py.File(t / "big.h5", "w", libver=("earliest", "v110"), track_order=True) as file:
        for i in range(10):
            file.attrs["a%d" % i] = np.zeros(50000)
        file.create_dataset("v", data=np.arange(4.0), chunks=(2,))
    with h5py.File(t / "tiny.h5", "w") as file:
        file.create_dataset("v", data=np.arange(100000) % 251, dtype="u1", chunks=(5,))
    for source in ("many.nc", "big.h5", "tiny.h5"):
        for target in ("o.nc" if source.endswith("nc") else "o.h5", "o.zarr"):
            keep = [] if target.endswith("zarr") else ["-c", "keep"]  # else the file is copied as it is
            refusal = t.rechunk(t / source, t / target, "--memory", "1MiB", *keep, code=7, says=["least"])
            least = int(refusal.err.split("--memory ")[-1].split("MiB")[0])
            run = t.rechunk(t / source, t / target, "--memory", "%dMiB" % least, "--overwrite", *keep, measure=True)
            t.check(run.peak_rss_bytes <= least << 20, "%s to %s: %d MiB with --memory %dMiB"
                    % (source, target, run.peak_rss_bytes >> 20, least))


def test_codecs_without_configuration_open_in_zarr_python(t):
    small_zarr(t / "s.zarr")
    t.rechunk(t / "s.zarr", t / "o.zarr", "--codec", "fletcher32")
    t.equal("values", 7, int(zarr.open_group(str(t / "o.zarr"), mode="r")["a"][3, 3]))


def test_chunks_with_skipped_filters_to_zarr(t):
    values = np.arange(16, dtype="i4").reshape(4, 4)
    with h5py.File(t / "s.h5", "w") as file:
        d = file.create_dataset("v", data=values, chunks=(2, 2), compression="gzip")
        d.id.write_direct_chunk((0, 0), np.array([9, 8, 7, 6], "i4").tobytes(), filter_mask=1)
    values[:2, :2] = [[9, 8], [7, 6]]
    for target, arguments in (("o.zarr2", []), ("p.zarr2", ["-c", "3,3"]), ("q.zarr3", [])):
        t.rechunk(t / "s.h5", t / target, "--verify", "full", *arguments)
        t.equal(target, values.tolist(), zarr.open_group(str(t / target), mode="r")["v"][...].tolist())


def test_suffix_chooses_the_zarr_version(t):
    small_zarr(t / "two.zarr", 2)
    t.rechunk(t / "two.zarr", t / "o.zarr3")
    t.rechunk(t / "o.zarr3", t / "p.zarr2")
    t.rechunk(t / "two.zarr", t / "q.zarr")
    t.equal("versions", [3, 2, 2], [zarr.open_group(str(t / n), mode="r").metadata.zarr_format
                                    for n in ("o.zarr3", "p.zarr2", "q.zarr")])


def test_stale_consolidated_metadata(t):
    for version in (2, 3):
        path = t / ("s%d.zarr" % version)
        small_zarr(path, version)
        zarr.consolidate_metadata(str(path))
        root = zarr.open_group(str(path), use_consolidated=False)
        root.create_array("late", shape=(4,), chunks=(2,), dtype="i4")[...] = 2
        root["a"].resize((6, 4))
        t.rechunk(path, t / ("o%d.zarr" % version))
        got = zarr.open_group(str(t / ("o%d.zarr" % version)), mode="r")
        t.equal("version %d" % version, {"a": (6, 4), "b": (4, 4), "late": (4,)}, {n: a.shape for n, a in got.arrays()})


def test_hangup_is_an_interruption(t):
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        file.createDimension("x", 20_000_000)
        file.createVariable("v", "f8", ("x",), chunksizes=(100_000,))[:] = np.random.default_rng(1).random(20_000_000)
    process = subprocess.Popen([harness.binary("rechunk"), "-q", "-j1", t / "s.nc", t / "o.nc", "--codec", "deflate:9"],
                               stderr=subprocess.PIPE)
    time.sleep(0.7)
    process.send_signal(signal.SIGHUP)
    message = process.communicate(timeout=20)[1].decode()
    t.equal("exit code", 10, process.returncode)
    left = [name for name in harness.listing(t.dir) if name != "s.nc"]
    t.check("o.nc" not in left, "there is a target")
    if left:  # what a checkpoint has kept
        t.check(left[0] in message and "--resume" in message, "what is left is not named: %s" % message)


def test_fill_value_that_netcdf_cannot_hold(t):
    for value in ([1, 2], "abc", 1.5):
        root = zarr.open_group(str(t / "s.zarr"), mode="w", zarr_format=3)
        root.create_array("v", shape=(4,), chunks=(2,), dtype="i4", dimension_names=["x"],
                          attributes={"_FillValue": value})[...] = 1
        t.rechunk(t / "s.zarr", t / "o.nc", code=4, says=["_FillValue"])


def test_records_beyond_a_short_variable(t):
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        file.createDimension("x", None)
        file.createVariable("short", "i1", ("x",), chunksizes=(4,))[:3] = [35, 21, 29]
        file.createVariable("none", "i1", ("x",), chunksizes=(4,))
        file.createVariable("full", "i1", ("x",), chunksizes=(4,))[:5] = 1
    t.rechunk(t / "s.nc", t / "o.zarr")
    got = zarr.open_group(str(t / "o.zarr"), mode="r")
    t.equal("short", [35, 21, 29, -127, -127], got["short"][...].tolist())
    t.equal("none", [-127] * 5, got["none"][...].tolist())
    with netCDF4.Dataset(t / "nofill.nc", "w") as file:
        file.createDimension("x", None)
        file.createVariable("short", "i2", ("x",), fill_value=False)[:2] = 4
        file.createVariable("full", "i2", ("x",))[:5] = 1
    t.rechunk(t / "nofill.nc", t / "p.zarr", code=4, says=["/short"])


def test_groups_with_many_links(t):
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        group = file.createGroup("g")
        group.createDimension("x", 3)
        for i in range(12):
            group.createVariable("v%d" % i, "f4", ("x",))[:] = i
    t.rechunk(t / "s.nc", t / "o.nc")
    with netCDF4.Dataset(t / "o.nc") as file:
        t.equal("values", list(range(12)), [int(file["g/v%d" % i][2]) for i in range(12)])


def test_growing_along_an_inner_axis(t):
    values = np.arange(44 * 40, dtype="u8").reshape(44, 40)
    with h5py.File(t / "s.h5", "w", libver=("earliest", "v110")) as file:
        file.create_dataset("v", data=values, chunks=(32, 9), maxshape=(44, None), compression="gzip")
    t.rechunk(t / "s.h5", t / "o.h5", "-c", "10,10")
    t.check((h5py.File(t / "o.h5")["v"][...] == values).all(), "values differ")


def test_verification_finds_what_the_disk_changed(t):
    """Exit 9: between rechunk and the system, one byte of every large write is flipped."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise harness.Skip("no C compiler")
    (t / "flip.c").write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
static ssize_t flipped(const char* name, int fd, const void* data, size_t n, off_t at) {
  ssize_t (*real)(int, const void*, size_t, off_t) = dlsym(RTLD_NEXT, name);
  if (n < 4096) return real(fd, data, n, at);
  char* copy = malloc(n);
  memcpy(copy, data, n);
  copy[n / 2] ^= 1;
  ssize_t done = real(fd, copy, n, at);
  free(copy);
  return done;
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) { return flipped("pwrite", fd, data, n, at); }
ssize_t pwrite64(int fd, const void* data, size_t n, off_t at) { return flipped("pwrite64", fd, data, n, at); }
""")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", t / "flip.so", t / "flip.c", "-ldl"], check=True)
    with h5py.File(t / "s.h5", "w") as file:
        file.create_dataset("v", data=np.arange(64 * 4096, dtype="i4").reshape(64, 4096), chunks=(1, 4096))
    for mode in ("sample", "full"):
        run = t.rechunk(t / "s.h5", t / "o.h5", "-c", "8,1024", "--verify", mode, code=9, says=["/v", "kept as"],
                        env=dict(os.environ, LD_PRELOAD=str(t / "flip.so")))
        t.check(not (t / "o.h5").exists(), "the target stands under its name")
        t.check("kept as" in run.err and any(p.name.startswith(".o.h5.rechunk") for p in t.dir.iterdir()), run.err)


def test_order_of_dimensions_with_one_shadowed(t):
    """By way of Zarr: /g/h/v has the `d` of /g, which no hint tells of, beside that of the root, which one does."""
    with netCDF4.Dataset(t / "a.nc", "w") as file:
        for name, length in (("a", None), ("c", 4), ("d", 1), ("b", None)):
            file.createDimension(name, length)
        file.createVariable("c", "i4", ("c",))
        file.createVariable("v", "i4", ("d",))
        group = file.createGroup("g")
        group.createDimension("d", 4)
        group.createVariable("v", "i4", ("c", "d"))
        group.createGroup("h").createVariable("v", "i4", ("b", "d"))
    for version in ("zarr2", "zarr3"):
        store, back = t / (version + ".zarr"), t / (version + ".nc")
        t.rechunk(t / "a.nc", store, "--to", version)
        t.rechunk(store, back, "--to", "nc4")
        with netCDF4.Dataset(t / "a.nc") as a, netCDF4.Dataset(back) as b:
            for path in ("root", "g", "g/h"):
                one, two = (file if path == "root" else file[path] for file in (a, b))
                t.equal("dimensions of %s by way of %s" % (path, version),
                        [(d.name, d.size, d.isunlimited()) for d in one.dimensions.values()],
                        [(d.name, d.size, d.isunlimited()) for d in two.dimensions.values()])


if __name__ == "__main__":
    harness.main(globals())
