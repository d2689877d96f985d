"""Random arrays through random rewrites: any rank, type, byte order, chunk shape, codec, format, memory, threads.

The seed is fixed; `random_test.py --seed N --count M` runs others. A failure prints the number of the case and its
command.
"""

import argparse
import shutil
import sys

import h5py
import numcodecs
import numpy as np
import zarr

import harness
import judges

NETCDF_TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
TYPES = NETCDF_TYPES + ("f2", "?")
CODECS = ("none", "deflate:1", "deflate:6", "shuffle,deflate:3", "zstd:1", "shuffle,zstd:2", "fletcher32",
          "shuffle,deflate:2,fletcher32")
ZARR_CODECS = ("none", "zstd:3", "blosc:lz4:5:shuffle", "blosc:zstd:1:bitshuffle", "gzip:2", "crc32c", "zstd:1,crc32c")


def values_for(rng, shape, dtype):
    """Half smooth, half noise, with NaN payloads, so that codecs have something to do and nothing hides."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    count = int(np.prod(shape))
    if rng.random() < 0.5:
        data = np.arange(count) % int(rng.integers(1, 1000) + 1)
        return data.reshape(shape).astype(dtype) if kind == "f" else data.astype("i8").astype(dtype).reshape(shape)
    return np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype).reshape(shape)


def random_shape(rng, longest):
    rank = int(rng.choice([0, 1, 2, 3, 4, 5], p=[0.04, 0.16, 0.25, 0.3, 0.15, 0.1]))
    limit = {0: 1, 1: 20000, 2: 200, 3: 40, 4: 14, 5: 8}[rank]
    shape = tuple(int(n) for n in rng.integers(1, limit + 1, rank))
    if rank and rng.random() < 0.04:
        shape = (0,) + shape[1:]
    return shape


def random_chunks(rng, shape):
    return tuple(int(rng.integers(1, max(n, 1) + 1)) for n in shape)


def random_box(rng, shape):
    starts = [int(rng.integers(0, n + 1)) if n else 0 for n in shape]
    return tuple(slice(a, int(rng.integers(a, n + 1)) if n else 0) for a, n in zip(starts, shape))


def write_h5(rng, path, values, box, fill):
    options = {"fillvalue": fill} if fill is not None else {}
    shape = values.shape
    if shape and rng.random() < 0.8:
        options["chunks"] = random_chunks(rng, shape)
        if rng.random() < 0.6:
            options.update(compression="gzip", compression_opts=int(rng.integers(1, 10)))
        options.update(shuffle=bool(rng.random() < 0.5), fletcher32=bool(rng.random() < 0.3))
        if rng.random() < 0.4 or 0 in shape:
            options["maxshape"] = tuple(None if n == 0 or rng.random() < 0.5 else n for n in shape)
    with h5py.File(path, "w", libver=("earliest", "v110")[int(rng.random() < 0.5)]) as file:
        data = file.create_dataset("v", shape, values.dtype, **options)
        data[box] = values[box]


def write_zarr(rng, path, values, box, fill, zarr_format):
    shape = values.shape
    options = {"fill_value": fill if fill is not None else values.dtype.type(0)}
    if zarr_format == 2:
        options["order"] = "F" if rng.random() < 0.3 else "C"
        compressor = [None, numcodecs.Zlib(3), numcodecs.Blosc("lz4", 3, int(rng.integers(0, 3))), numcodecs.Zstd(2),
                      numcodecs.LZ4(), numcodecs.GZip(2)][int(rng.integers(0, 6))]
        filters = [numcodecs.Shuffle(values.dtype.itemsize)] if compressor and rng.random() < 0.3 else None
        options["chunk_key_encoding"] = {"name": "v2", "separator": "./"[int(rng.random() < 0.3)]}
    else:
        compressor = [None, zarr.codecs.GzipCodec(level=2), zarr.codecs.ZstdCodec(level=1),
                      zarr.codecs.BloscCodec(cname="zstd", clevel=2, shuffle="bitshuffle")][int(rng.integers(0, 4))]
        filters = None
        if len(shape) > 1 and rng.random() < 0.3:
            filters = [zarr.codecs.TransposeCodec(order=[int(i) for i in rng.permutation(len(shape))])]
        if values.dtype.itemsize > 1 and rng.random() < 0.3:
            options["serializer"] = zarr.codecs.BytesCodec(endian="big")
    root = zarr.open_group(str(path), mode="w", zarr_format=zarr_format)
    array = root.create_array("v", shape=shape, dtype=values.dtype, chunks=random_chunks(rng, shape),
                              compressors=compressor, filters=filters, **options)
    array[box] = values[box]


def read(path):
    if path.is_dir():
        return np.asarray(zarr.open_group(str(path), mode="r")["v"][...])
    with h5py.File(path) as file:
        return np.asarray(file["v"][...])


def one_case(t, number, rng):
    source = ("h5", "zarr2", "zarr3")[int(rng.integers(0, 3))]
    target = ("nc4", "h5", "zarr2", "zarr3")[int(rng.integers(0, 4))]
    code = str(rng.choice(NETCDF_TYPES if target == "nc4" else TYPES))
    dtype = np.dtype(code)
    if source != "zarr3" and rng.random() < 0.3:
        dtype = dtype.newbyteorder(">")
    shape = random_shape(rng, 0)
    values = values_for(rng, shape, dtype)
    fill = None if rng.random() < 0.5 else values_for(rng, (1,), dtype)[0]
    box = random_box(rng, shape) if rng.random() < 0.4 else (slice(None),) * len(shape)
    src = t / ("s.h5" if source == "h5" else "s.zarr")
    out = t / ("o.h5" if target in ("h5", "nc4") else "o.zarr")
    for path in (src, out):
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    if source == "h5":
        write_h5(rng, src, values, box if shape else (), fill)
    else:
        write_zarr(rng, src, values, box if shape else (), fill, int(source[-1]))
    expected = read(src)

    arguments = ["--to", target, "-j", int(rng.integers(1, 5)), "--verify", str(rng.choice(["none", "sample", "full"]))]
    if shape and rng.random() < 0.8:
        chunks = random_chunks(rng, shape)
        arguments += ["-c", "v:" + ",".join("%d/%d" % (i, n) for i, n in enumerate(chunks))]
    if rng.random() < 0.6:
        codec = str(rng.choice(CODECS if target in ("h5", "nc4") else ZARR_CODECS))
        arguments += ["--codec", codec]
    if rng.random() < 0.3:
        arguments += ["--memory", "64MiB"]
    result = t.rechunk(src, out, *arguments, code=(0, 4), timeout=60)
    if result.code != 0:
        # Only a boolean has no place in a netCDF file; everything generated here can be kept.
        t.fail("case %d: %s of %s from %s refused: %s" % (number, dtype, shape, source, result.err.strip()[-200:]))
        return
    got = read(out)
    if got.dtype.kind == "b" or expected.dtype.kind == "b":
        got, expected = got.astype("u1"), expected.astype("u1")
    t.check(judges.same_values(expected, got),
            "case %d: %s of %s from %s: values differ" % (number, dtype, shape, source))


def test_random_rewrites(t):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", type=int)
    options = parser.parse_known_args()[0]
    for number in range(options.count):
        if options.only is None or number == options.only:
            one_case(t, number, np.random.default_rng([options.seed, number]))
        if len(t.failures) > 10:
            break


if __name__ == "__main__":
    harness.main(globals())
