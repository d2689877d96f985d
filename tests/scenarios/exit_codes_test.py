"""Every exit code, provoked from outside: the code, the sentence on stderr, and that nothing was left behind.

Code 9 (a verified copy that differs) cannot be provoked without breaking the program; unit tests cover it.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import zarr

import harness

NOBODY = 65534
MIB = 1 << 20


def make_nc(path, n_time=20, seed=1):
    """temp(time, lat, lon) f4 and packed i2, deflated, some 100 kB."""
    rng = np.random.default_rng(seed)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("lat", 30), ("lon", 40)):
            file.createDimension(name, length)
            variable = file.createVariable(name, "f8", (name,))
            variable[:] = np.arange(length or n_time)
        temp = file.createVariable("temp", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(5, 30, 40))
        temp[:] = rng.normal(size=(n_time, 30, 40))
    return path


def make_zarr(path, zarr_format=3, codec="zstd"):
    root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
    compressors = {"zstd": "auto", None: None}[codec]
    values = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    root.create_array("a", data=values, chunks=(16, 16), compressors=compressors)
    return path


# ---- 2: the request makes no sense

def test_2_unknown_options(t):
    src = t.source(make_nc(t / "a.nc"))
    t.refused("rechunk", src, t / "b.nc", "--chunkz", "time/2", code=2, says=("--chunkz", "--chunks"))
    t.refused("rechunk", src, t / "b.nc", "--overwrit", code=2, says=("--overwrit", "--overwrite"))
    t.refused("chunkadvise", src, "--jsonn", code=2, says=("--jsonn", "--json"))
    t.refused("rechunk", src, code=2, says=("DST",))
    t.refused("rechunk", code=2, says=("SRC",))
    t.refused("chunkadvise", code=2, says=("FILE",))
    t.refused("rechunk", src, t / "b.nc", t / "c.nc", code=2)


def test_2_unknown_names(t):
    src = t.source(make_nc(t / "a.nc"))
    t.refused("rechunk", src, t / "b.nc", "-c", "tyme/4", code=2, says=("tyme", "time"))
    t.refused("rechunk", src, t / "b.nc", "-c", "temp:latt/4", code=2, says=("latt", "lat"))
    t.refused("rechunk", src, t / "b.nc", "-c", "zzz/4", code=2, says=("zzz", "time", "lat", "lon"))
    t.refused("rechunk", src, t / "b.nc", "-c", "tmp:lat/4", code=2, says=("tmp", "temp"))
    t.refused("rechunk", src, t / "b.nc", "-c", "temp:3/4", code=2, says=("3",))
    t.refused("rechunk", src, t / "b.nc", "--variable", "tempp", code=2, says=("tempp", "temp"))
    t.refused("rechunk", src, t / "b.nc", "--exclude", "tempp", code=2, says=("tempp", "temp"))
    t.refused("rechunk", src, t / "b.nc", "--codec", "tmp:zstd:3", code=2, says=("tmp", "temp"))
    t.refused("chunkadvise", src, "tempp", code=2, says=("tempp", "temp"))
    t.refused("chunkadvise", src, "-a", "x=tyme/all,lat/1", code=2, says=("tyme", "time"))
    t.refused("chunkadvise", src, "--device", "floppy", code=2, says=("floppy", "hdd"))


def test_2_bad_values(t):
    src = t.source(make_nc(t / "a.nc"))
    for option, value, *says in (
            ("-c", "time/0", "0"), ("-c", "time/-3", "-3"), ("-c", "time/two", "two"), ("-c", "time/", "time/"),
            ("-c", "12XB", "12XB"), ("-c", ""), ("-c", "temp:"),
            ("--codec", "defalte:1", "defalte", "deflate"), ("--codec", "deflate:99", "99"),
            ("--codec", "zstd:x", "x"), ("--codec", ""), ("--memory", "lots", "lots"), ("--memory", "-5", "-5"),
            ("--memory", "12XB", "12XB"), ("-j", "0", "0"), ("-j", "many", "many"),
            ("--verify", "maybe", "maybe", "full"),
            ("--to", "nc5", "nc5", "nc4"), ("--progress", "loud", "loud")):
        t.refused("rechunk", src, t / "b.nc", option, value, code=2, says=says)
    t.refused("rechunk", src, t / "b.xyz", "-c", "time/2,time/3", code=2, says=("time",))
    for arguments in (("--shape", "3,x"), ("--shape", "0,-1"), ("--shape", "10,20", "--dtype", "q9"),
                      ("--shape", "10,20", "--dims", "a,b,c"), ("-a", "x=lat"), (src, "--shape", "3,4")):
        arguments = arguments if arguments[0] in ("--shape", src) else (src, *arguments)
        t.refused("chunkadvise", *arguments, code=2)


def test_2_or_4_not_built_yet(t):
    """What is not there yet is refused by name, never ignored."""
    src = t.source(make_nc(t / "a.nc"))
    for option, *value in (("--resume",), ("--shards", "time/2"), ("--scratch", "."), ("--stats",)):
        before = harness.listing(t.dir)
        result = t.run("rechunk", src, t / "b.nc", option, *value, code=(0, 2, 4))
        if result.code == 0:  # built by now: scenarios of its own check what it does
            os.unlink(t / "b.nc")
        else:
            t.check(option in result.err, "stderr does not name %s" % option)
        t.equal("names in the folder", before, harness.listing(t.dir))


# ---- 3: not there

def test_3_missing(t):
    src = t.source(make_nc(t / "a.nc"))
    t.refused("rechunk", t / "none.nc", t / "b.nc", code=3, says=("none.nc", "no such file"))
    t.refused("chunkadvise", t / "none.nc", code=3, says=("none.nc", "no such file"))
    t.refused("rechunk", src, t / "nowhere" / "b.nc", code=3, says=("nowhere",))


def test_3_not_a_dataset(t):
    (t / "text.nc").write_text("these are words\n" * 100)
    (t / "empty.nc").write_bytes(b"")
    (t / "folder").mkdir()
    (t / "folder" / "file.txt").write_text("x")
    for name in ("text.nc", "empty.nc", "folder"):
        t.source(t / name)
        t.refused("rechunk", t / name, t / "b.nc", code=3, says=(name, "not a dataset"))
        t.refused("chunkadvise", t / name, code=3, says=(name, "not a dataset"))


# ---- 4: understood, but cannot be kept

def test_4_types(t):
    record = np.dtype([("x", "f4"), ("y", "i4")])
    types = {"reference": h5py.ref_dtype, "compound": np.dtype([("s", h5py.string_dtype())]),
             "list": h5py.vlen_dtype(record)}  # HDF5 only
    for kind, dtype in types.items():
        path = t / (kind + ".h5")
        with h5py.File(path, "w") as file:
            file["good"] = np.arange(10.0)
            file.create_dataset("group/bad_" + kind, (4,), dtype)
        t.source(path)
        t.refused("rechunk", path, t / "o.zarr", code=4, says=("/group/bad_" + kind, kind))
        t.chunkadvise(path)
        t.rechunk(path, t / (kind + "_rest.h5"), "--exclude", "/group/bad_" + kind)


def test_4_cannot_be_said_in_the_target(t):
    with h5py.File(t / "half.h5", "w") as file:
        file["fine"] = np.arange(3.0)
        file["half"] = np.array([1.0, 65504, 6e-8], "f2")
    t.source(t / "half.h5")
    t.refused("rechunk", t / "half.h5", t / "b.nc", code=4, says=("/half", "f2"))
    t.refused("rechunk", t / "half.h5", t / "b.x", "--to", "nc4", code=4, says=("/half", "f2"))
    t.rechunk(t / "half.h5", t / "b.h5")


def test_4_filter_nobody_has(t):
    with h5py.File(t / "zfp.h5", "w") as file:
        file.create_dataset("z", data=np.random.default_rng(0).normal(size=(64, 64)), chunks=(16, 16),
                            **hdf5plugin.Zfp(reversible=True))
    t.source(t / "zfp.h5")
    t.refused("rechunk", t / "zfp.h5", t / "b.h5", "-c", "32,32", code=4, says=("/z", "32013"))
    t.chunkadvise(t / "zfp.h5")


def test_4_classic(t):
    with netCDF4.Dataset(t / "classic.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "f4", ("x",))[:] = 1
    t.source(t / "classic.nc")
    t.refused("rechunk", t / "classic.nc", t / "b.nc3", "-c", "x/2", code=4, says=("/v", "netcdf-3", "chunked"))
    t.refused("rechunk", t / "classic.nc", t / "b.nc", "--to", "nc3", "--codec", "deflate:1", code=4, says=("netcdf-3",))
    t.rechunk(t / "classic.nc", t / "b.nc")
    t.equal("bytes", (t / "classic.nc").read_bytes(), (t / "b.nc").read_bytes())


# ---- 5: the input contradicts itself or ends early

def test_5_truncated_netcdf(t):
    whole = make_nc(t / "a.nc").read_bytes()
    for part in (0.02, 0.1, 0.5, 0.9, 0.99):
        cut = t / "cut.nc"
        cut.write_bytes(whole[:int(len(whole) * part)])
        t.refused("rechunk", cut, t / "b.nc", code=5, says=("cut.nc",))
        t.refused("chunkadvise", cut, code=5, says=("cut.nc",))
    cut.write_bytes(whole[:-1])
    t.refused("rechunk", cut, t / "b.nc", code=5, says=("cut.nc",))


def test_5_damaged_chunk_in_hdf5(t):
    with h5py.File(t / "a.h5", "w") as file:
        file.create_dataset("deep/v", data=np.arange(64 * 64.0).reshape(64, 64), chunks=(16, 64), compression="gzip",
                            fletcher32=True)
        chunk = file["deep/v"].id.get_chunk_info(2)
    data = bytearray((t / "a.h5").read_bytes())
    data[chunk.byte_offset + chunk.size // 2] ^= 0x55
    (t / "a.h5").write_bytes(data)
    t.source(t / "a.h5")
    t.refused("rechunk", t / "a.h5", t / "b.h5", "-c", "64,16", code=5, says=("/deep/v", "chunk"))
    t.refused("rechunk", t / "a.h5", t / "b.zarr", code=5, says=("/deep/v", "chunk"))


def test_5_truncated_zarr_chunk(t):
    for zarr_format, codec in ((2, "zstd"), (3, "zstd"), (2, None), (3, None)):
        src = make_zarr(t / "a.zarr", zarr_format, codec)
        chunk = src / ("a/c/1/1" if zarr_format == 3 else "a/1.1")
        whole = chunk.read_bytes()
        for length in (len(whole) // 2, 0):
            chunk.write_bytes(whole[:length])
            t.refused("rechunk", src, t / "b.zarr", "-c", "64,8", code=5, says=("/a", ("1/1", "1.1", "1 x 1")))
        os.rename(src, t / ("done%d%s" % (zarr_format, codec)))


def test_5_bad_zarr_metadata(t):
    for change in (lambda m: m[:len(m) // 2], lambda m: "[]", lambda m: m.replace("64,", "-64,", 1),
                   lambda m: m.replace('"chunk_shape"', '"chunk_shapes"'), lambda m: m.replace("16", "0"),
                   lambda m: m.replace('"shape"', '"shap"', 1), lambda m: m.replace("64,", "1e30,", 1)):
        src = make_zarr(t / "a.zarr")
        file = src / "a" / "zarr.json"
        before = file.read_text()
        after = change(json.dumps(json.loads(before), indent=1))
        t.check(after != before, "the test damages nothing")
        file.write_text(after)
        t.refused("rechunk", src, t / "b.zarr", code=(4, 5), says=("a/zarr.json",))
        t.refused("chunkadvise", src, code=(4, 5), says=("a/zarr.json",))


# ---- 6: the system says no

def test_6_permissions(t):
    if os.geteuid() == 0:
        as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    else:
        as_user = {}
    src = t.source(make_nc(t / "a.nc"))
    (t / "closed").mkdir(mode=0o555)
    (t / "open").mkdir()
    (t / "open").chmod(0o777)
    t.run("rechunk", src, t / "closed" / "b.nc", code=6, says=("closed", "permission denied"), **as_user)
    t.run("rechunk", src, t / "closed" / "b.zarr", code=6, says=("closed", "permission denied"), **as_user)
    secret = make_nc(t / "secret.nc")
    secret.chmod(0)
    t.run("rechunk", secret, t / "open" / "b.nc", code=6, says=("secret.nc", "permission denied"), **as_user)
    t.run("chunkadvise", secret, code=6, says=("secret.nc", "permission denied"), **as_user)
    store = make_zarr(t / "z.zarr")
    (store / "a/c/1/1").chmod(0)
    t.run("rechunk", store, t / "open" / "b.zarr", "-c", "64,8", code=6, says=("permission denied", "1/1"), **as_user)
    t.equal("left in the folders", ([], []), (harness.listing(t / "closed"), harness.listing(t / "open")))
    # Reading from where nothing can be written works.
    (t / "read").mkdir()
    make_nc(t / "read" / "a.nc").chmod(0o444)
    (t / "read").chmod(0o555)
    t.run("rechunk", t / "read" / "a.nc", t / "open" / "fine.nc", **as_user)


def test_6_disk_full(t):
    with netCDF4.Dataset(t / "a.nc", "w") as file:
        file.createDimension("x", 3 * MIB)
        variable = file.createVariable("v", "f4", ("x",), chunksizes=(MIB // 4,))
        variable[:] = np.random.default_rng(1).normal(size=3 * MIB)
    src = t.source(t / "a.nc")
    full = t / "full"
    full.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", full], capture_output=True).returncode:
        raise harness.Skip("no right to mount a small file system")
    try:
        for name, *more in (("b.nc",), ("b.nc", "-c", "x/50000"), ("b.zarr",), ("b.zarr", "-c", "x/50000")):
            # What is known not to fit is refused with the numbers; a copy finds out.
            t.run("rechunk", src, full / name, *more, code=6,
                  says=("no space left", "b.") if not more and name == "b.nc" else ("does not fit the disk", "full"))
            t.equal("left on the full disk", [], harness.listing(full))
    finally:
        subprocess.run(["umount", full], check=True)


def test_6_file_size_limit(t):
    with netCDF4.Dataset(t / "a.nc", "w") as file:
        file.createDimension("x", MIB)
        file.createVariable("v", "f4", ("x",), chunksizes=(MIB // 4,))[:] = np.random.default_rng(1).normal(size=MIB)
    src = t.source(t / "a.nc")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))
    for name in ("b.nc", "b.zarr"):
        # One chunk is as large as the limit, so only the file of all chunks passes it.
        more = ("-c", "x/524288") if name.endswith("zarr") else ()
        t.refused("rechunk", src, t / name, *more, code=6, says=("file too large", name[:2]), preexec_fn=limit)


# ---- 7: does not fit the memory

def test_7_memory(t):
    with h5py.File(t / "a.h5", "w") as file:
        file.create_dataset("v", data=np.arange(2048 * 1024, dtype="f8").reshape(2048, 1024), chunks=(64, 1024))
    src = t.source(t / "a.h5")
    result = t.refused("rechunk", src, t / "b.h5", "-c", "2048,256", "--memory", "1MiB", code=7,
                       says=("1 MiB", "--memory"))
    values = re.findall(r"(\d+(?:\.\d+)?) ?([KMG]iB)", result.err)
    sizes = [float(n) * {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit] for n, unit in values]
    least = int(max(sizes, default=0))
    if not t.check(least > MIB, "stderr names no larger value: " + result.err):
        return
    done = t.rechunk(src, t / "b.h5", "-c", "2048,256", "--memory", least, measure=True)
    t.check(done.peak_rss_bytes <= least, "peak %d MiB with --memory %d MiB" % (done.peak_rss_bytes >> 20, least >> 20))
    t.refused("rechunk", src, t / "c.h5", "-c", "2048,256", "--memory", least - 4 * MIB, code=7)
    with h5py.File(t / "b.h5") as file:
        t.check((file["v"][...].ravel() == np.arange(2048 * 1024)).all(), "values differ")


# ---- 8: the target exists

def test_8_exists(t):
    src = t.source(make_nc(t / "a.nc"))
    store = t.source(make_zarr(t / "s.zarr"))
    old = t.source(make_nc(t / "old.nc", seed=2))
    old_store = t.source(make_zarr(t / "old.zarr"))
    foreign = t / "foreign.zarr"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")
    t.source(foreign)
    t.refused("rechunk", src, old, code=8, says=("old.nc", "exists", "--overwrite"))
    t.refused("rechunk", src, old_store, code=8, says=("old.zarr", "exists", "--overwrite"))
    t.refused("rechunk", store, old, "--to", "zarr3", code=8, says=("old.nc", "exists"))
    t.refused("rechunk", src, foreign, "--to", "zarr3", code=8, says=("foreign.zarr",))
    t.refused("rechunk", src, foreign, "--to", "zarr3", "--overwrite", code=8, says=("foreign.zarr",))
    t.refused("rechunk", src, foreign, "--to", "nc4", "--overwrite", code=8, says=("foreign.zarr",))
    t.refused("rechunk", src, src, code=(2, 8))
    t.refused("rechunk", src, src, "--overwrite", code=(0, 2, 8))


def test_8_failure_keeps_the_old_target(t):
    """With --overwrite, an old target goes only when the new one is complete."""
    src = make_zarr(t / "a.zarr")
    (src / "a/c/1/1").write_bytes(b"rubbish")
    old = t.source(make_zarr(t / "old.zarr"))
    t.refused("rechunk", src, old, "-c", "64,8", "--overwrite", code=5)


# ---- 10: stopped by the user

def interrupt(t, target, number, arguments):
    process = subprocess.Popen([harness.binary("rechunk"), str(t / "big.zarr"), str(t / target), *arguments],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    t.command = "rechunk big.zarr %s %s, then %s" % (target, " ".join(arguments), number.name)
    started = time.monotonic()
    while process.poll() is None and time.monotonic() - started < 20:
        if any(target in name for name in harness.listing(t.dir)):
            break
        time.sleep(0.002)
    time.sleep(0.1)
    running = process.poll() is None
    process.send_signal(number)
    sent = time.monotonic()
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return t.fail("still running 20 s after the signal")
    if not t.check(running, "the run was over before the signal; make it longer"):
        return None
    t.judge(harness.Result(t.command, process.returncode, out.decode(), err.decode(), 0), 10, ("interrupted",))
    t.check(time.monotonic() - sent < 5, "took %.1f s to stop" % (time.monotonic() - sent))
    # After the first checkpoint the work is kept, under a name that is told; see resume_test.py.
    rest = [name for name in harness.listing(t.dir) if name != "big.zarr"]
    for name in rest:
        t.check(name.startswith(".%s.rechunk-" % target), "%s is left" % name)
        t.check(name in err.decode() or name.endswith(".journal"), "%s is left, and not named" % name)
        path = t / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return None


def test_10_signals(t):
    values = np.random.default_rng(1).integers(0, 4000, (96, 512, 512)).astype("f4")
    zarr.create_array(str(t / "big.zarr"), data=values, chunks=(8, 512, 512), compressors=None)
    t.source(t / "big.zarr")
    slow = ("-c", "96,32,32", "--codec", "shuffle,deflate:9", "-j", "1")
    interrupt(t, "b.h5", signal.SIGINT, slow)
    interrupt(t, "b.zarr", signal.SIGINT, ("-c", "96,32,32", "--codec", "zstd:19", "-j", "1"))
    interrupt(t, "b.h5", signal.SIGTERM, slow)


if __name__ == "__main__":
    harness.main(globals())
