"""The policies against the libraries they describe, on random shapes."""

import os
import random
import warnings

import netCDF4
import numpy as np
from h5py._hl.filters import guess_chunk as h5py_guess
from zarr.core.chunk_grids import _auto_partition as zarr_partition
from zarr.core.chunk_grids import _guess_chunks as zarr_guess

import harness

try:
    from dask.array.core import normalize_chunks
except ImportError:
    normalize_chunks = None

try:
    import tensorstore
except ImportError:
    tensorstore = None

N_SHAPES = 10000 if os.environ.get("CHUNKWISE_FULL") else 150
DTYPES = {"f8": 8, "f4": 4, "i2": 2, "u1": 1}


def random_cases(seed, longest):
    generator = random.Random(seed)
    for _ in range(N_SHAPES):
        rank = generator.choice((2, 2, 3, 3, 4, 5))
        shape = tuple(max(1, round(10 ** generator.uniform(0, longest / rank))) for _ in range(rank))
        yield shape, generator.choice(list(DTYPES))


def chosen(t, shape, dtype, *policies):
    options = [word for policy in policies for word in ("--policy", policy)]
    document = t.chunkadvise("--shape", ",".join(map(str, shape)), "--dtype", dtype, "-a", "full", "--json",
                             *options).document()
    return {entry["name"]: tuple(entry["chunks"]) for entry in document["variables"][0]["layouts"] if entry["chunks"]}


def test_h5py_zarr_dask(t):
    wrong = []
    for shape, dtype in random_cases(1, 12):
        policies = ("h5py", "zarr", "zarr-shards") + (("dask",) if normalize_chunks else ())
        got = chosen(t, shape, dtype, *policies)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shards, in_shards = zarr_partition(array_shape=shape, chunk_shape="auto", shard_shape="auto",
                                               item_size=DTYPES[dtype])
        expected = {"zarr-shards": in_shards, "h5py": h5py_guess(shape, None, DTYPES[dtype]), "zarr": zarr_guess(shape, DTYPES[dtype])}
        if normalize_chunks:
            chunks = normalize_chunks("auto", shape=shape, dtype=np.dtype(dtype), limit=128 * 1024 * 1024)
            expected["dask"] = tuple(lengths[0] for lengths in chunks)
        for name, chunk in expected.items():
            if got[name] != tuple(chunk):
                wrong.append("%s of %s %s: %s, not %s" % (name, dtype, shape, got[name], tuple(chunk)))
    t.none("chunks that differ from the library's", wrong)
    if not normalize_chunks:
        print("        (dask is not installed: not compared)")


def test_zarr_shards(t):
    wrong = []
    for shape, dtype in list(random_cases(4, 11))[:150]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shards, chunks = zarr_partition(array_shape=shape, chunk_shape="auto", shard_shape="auto",
                                            item_size=DTYPES[dtype])
        document = t.chunkadvise("--shape", ",".join(map(str, shape)), "--dtype", dtype, "-a", "full", "--json",
                                 "--policy", "zarr-shards").document()
        layout = next(e for e in document["variables"][0]["layouts"] if e["name"] == "zarr-shards")
        got = tuple(layout["shards"] or layout["chunks"])
        if got != tuple(shards):
            wrong.append("%s of %s: %s, not %s" % (dtype, shape, got, shards))
    t.none("shards that differ from zarr-python's", wrong)


def test_tensorstore(t):
    if tensorstore is None:
        raise harness.Skip("tensorstore is not installed")
    wrong = []
    for number, (shape, dtype) in enumerate(list(random_cases(5, 11))[:150]):
        spec = {"driver": "zarr3", "kvstore": {"driver": "memory", "path": "a%d/" % number}}
        store = tensorstore.open(spec, dtype=np.dtype(dtype), shape=shape, create=True).result()
        expected = tuple(store.chunk_layout.write_chunk.shape)
        got = chosen(t, shape, dtype, "tensorstore")["tensorstore"]
        if got != expected:
            wrong.append("%s of %s: %s, not %s" % (dtype, shape, got, expected))
    t.none("chunks that differ from TensorStore's", wrong)


def test_netcdf(t):
    """netCDF-C as the judge has it: built with CMake, so 16 MiB. It computes with doubles since 4.9.3, with floats before."""
    version = tuple(int(part) for part in netCDF4.__netcdf4libversion__.split("-")[0].split(".")[:3])
    policy = "nc4-4.9.3:16MiB" if version >= (4, 9, 3) else "nc4:16MiB"
    wrong = []
    generator = random.Random(2)
    for number, (shape, dtype) in enumerate(list(random_cases(3, 9))[:1000]):
        unlimited = [generator.random() < 0.25 for _ in shape] if number % 2 else [False] * len(shape)
        if all(unlimited):
            unlimited[-1] = False
        path = t / "one.nc"
        with netCDF4.Dataset(path, "w") as file:
            names = ["d%d" % axis for axis in range(len(shape))]
            for name, length, grows in zip(names, shape, unlimited):
                file.createDimension(name, None if grows else length)
            variable = file.createVariable("v", dtype, names, zlib=True)
            chunking = tuple(variable.chunking())
            variable[tuple(slice(length - 1, length) for length in shape)] = 1  # stretches the growing dimensions
        document = t.chunkadvise(path, "/v", "-a", "full", "--policy", policy, "--json").document()
        layouts = {entry["name"]: entry for entry in document["variables"][0]["layouts"]}
        got = tuple(layouts[policy]["chunks"])
        if got != chunking:
            wrong.append("%s %s, unlimited %s: %s, not %s" % (dtype, shape, unlimited, got, chunking))
    t.none("chunks that differ from netCDF-C's", wrong)


if __name__ == "__main__":
    harness.main(globals())
