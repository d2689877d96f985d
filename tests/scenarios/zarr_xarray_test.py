"""Datasets that xarray writes, with every codec it can ask for, are for xarray the same after we cut them anew or move them
between the versions of Zarr: identical, raw and decoded.
"""

import itertools
import warnings

import numcodecs
import numpy as np
import xarray as xr
import zarr.codecs

import harness

warnings.filterwarnings("ignore")

SHAPE, CHUNKS, SHARDS = (6, 5), (2, 3), (4, 3)
TYPES = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16", "S3", "U4"]
CODECS = {
    2: {"none": None, "zlib": numcodecs.Zlib(1), "gzip": numcodecs.GZip(1), "bz2": numcodecs.BZ2(1),
        "zstd": numcodecs.Zstd(1), "lz4": numcodecs.LZ4(), "lzma": numcodecs.LZMA(),
        "blosc_lz4": numcodecs.Blosc("lz4", 5, 1), "blosc_zstd": numcodecs.Blosc("zstd", 3, 2)},
    3: {"none": (), "gzip": zarr.codecs.GzipCodec(level=1), "zstd": zarr.codecs.ZstdCodec(level=1),
        "blosc_lz4": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle"),
        "blosc_zstd": zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle"),
        "crc32c": (zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec())},
}


def values(dtype, random):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, SHAPE).astype(bool)
    if dtype.kind in "SU":
        return np.array([["%d" % (x % 10 ** 3) for x in row] for row in random.integers(0, 1000, SHAPE)]).astype(dtype)
    return random.integers(0, 256, int(np.prod(SHAPE)) * dtype.itemsize).astype("u1").view(dtype).reshape(SHAPE)


def fill_of(dtype):
    return {"i": -3, "u": 3, "f": -9.5, "c": 9 - 2j}.get(np.dtype(dtype).kind)


def make(path, zarr_format, shards):
    """One variable for each type and codec, with a mask and without; and what xarray encodes: times, packed numbers, texts."""
    random = np.random.default_rng(7)
    variables, encoding = {}, {}
    for number, (dtype, (codec, compressor)) in enumerate(itertools.product(TYPES, CODECS[zarr_format].items())):
        name = "%s_%s" % (dtype, codec)
        data = values(dtype, random)
        fill = fill_of(dtype) if number % 2 else None
        if fill is not None:
            data[1:3] = fill
        variables[name] = (("y", "x"), data, {"units": "m", "number": number})
        how = {"chunks": SHARDS if shards else CHUNKS}
        if shards:
            how = {"chunks": CHUNKS, "shards": SHARDS}
        how["compressors"] = compressor
        if fill is not None:
            how["_FillValue"] = np.dtype(dtype).type(fill)
        encoding[name] = how
    plain = {"chunks": CHUNKS}
    times = np.datetime64("2001-02-03T04:05") + np.arange(30).reshape(SHAPE) * np.timedelta64(90, "m")
    variables["time"] = (("y", "x"), times.astype("M8[ns]"))
    encoding["time"] = {"units": "minutes since 2000-01-01", "dtype": "i4", **plain}
    variables["packed"] = (("y", "x"), np.where(np.eye(*SHAPE), np.nan, random.random(SHAPE)))
    encoding["packed"] = {"scale_factor": 0.01, "add_offset": 0.5, "dtype": "i2", "_FillValue": -999, **plain}
    variables["words"] = (("y", "x"), np.array([["w" * (i * j % 4) for j in range(5)] for i in range(6)], object))
    encoding["words"] = plain
    coords = {"x": ("x", np.arange(5) * 0.5, {"axis": "X"}), "y": ("y", np.arange(6), {"axis": "Y"}),
              "both": (("y", "x"), np.arange(30.0).reshape(SHAPE))}
    xr.Dataset(variables, coords, {"title": "of everything"}).to_zarr(path, zarr_format=zarr_format, encoding=encoding)


def differences(a, b):
    out = []
    for what, options in (("decoded", {}), ("raw", {"decode_cf": False})):
        with xr.open_zarr(a, chunks=None, **options) as left, xr.open_zarr(b, chunks=None, **options) as right:
            left.load(), right.load()
            if left.identical(right) and same_bits(left, right):
                continue
            out += ["%s, %s: %s %s became %s %s" % (name, what, left[name].dtype, left[name].attrs, right[name].dtype,
                                                   right[name].attrs)
                    for name in left.variables if name not in right.variables
                    or not left[name].variable.identical(right[name].variable)
                    or not same_bits(left[[name]], right[[name]])] or [what + ": not identical"]
    return out


def same_bits(left, right):
    return all(left[n].dtype == right[n].dtype and (left[n].dtype.kind not in "fcMm" or
                                                    left[n].values.tobytes() == right[n].values.tobytes())
               for n in left.variables)


def test_from_xarray(t):
    for zarr_format, shards in ((2, False), (3, False), (3, True)):
        src = t / ("v%d%s.zarr" % (zarr_format, "s" * shards))
        make(src, zarr_format, shards)
        t.source(src)
        for target in (2, 3):
            for options in ((), ("-c", "y/3,x/2", "--shards", "none"), ("-c", "y/3,x/5", "--shards", "y/6,x/5")):
                if target == 2:
                    if options[-1:] == ("y/6,x/5",):
                        continue
                    options = options[:2] + ("--shards", "none") * shards
                out = t / "out.zarr"
                t.rechunk(src, out, "--to", "zarr%d" % target, "--overwrite", "--verify", "full", *options, go_on=True)
                what = "%s to v%d %s" % (src.stem, target, " ".join(options))
                if out.exists():
                    t.none(what, differences(src, out))
        print("        %s: %d variables" % (src.stem, 3 + len(TYPES) * len(CODECS[zarr_format])))


if __name__ == "__main__":
    harness.main(globals())
