"""The interop matrix of Zarr as a table: every combination of type, codec, order, key and shard layout, and what is in it.

Imports nothing but numpy, as it serves in the environments of all judges (zarr_matrix_judge.py).
"""

import base64
import itertools
import zlib
from dataclasses import dataclass

import numpy as np

SHAPE = (4, 3)
CHUNKS, NEW_CHUNKS = (3, 2), (2, 2)
# Of arrays in shards: chunks and shards as written, and as rechunk makes them.
INNER, SHARDS, NEW_INNER, NEW_SHARDS = (2, 1), (4, 2), (1, 2), (2, 4)

STRUCTURES = {"little": [("a", "<i4"), ("b", "<f8"), ("c", "|S3")],
              "big": [("a", ">i2"), ("z", ">c8"), ("t", ">U2")],
              "nested": [("id", "|u1"), ("at", [("x", "<f4"), ("y", "<f4")]), ("raw", "|V2")],
              "arrays": [("v", "<f4", (3,)), ("m", ">i2", (2, 2)), ("k", "|u1")]}
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
TYPES_V2 = ["|b1", "|i1", "|u1"] + [o + n for n in NUMBERS[2:] for o in "<>"] + [
    "<M8[ns]", ">M8[us]", "<M8[10us]", "<m8[s]", ">m8[ms]", "|S1", "|S7", "<U1", ">U5", "|V3", "text", "bytes",
    *STRUCTURES]
TYPES_V3 = ["|b1", "|i1", "|u1"] + ["<" + n for n in NUMBERS[2:]] + [
    "<M8[ns]", "<M8[10us]", "<m8[s]", "|S7", "<U4", "|V3", "text", "bytes", "little"]
OBJECT_CODECS = {"text": "vlen-utf8", "bytes": "vlen-bytes"}

# (filters, compressor) as numcodecs configures them; SIZE is the number of bytes of an element, TYPE its name.
CODECS_V2 = {
    "none": ([], None), "zlib": ([], {"id": "zlib", "level": 1}), "gzip": ([], {"id": "gzip", "level": 1}),
    "bz2": ([], {"id": "bz2", "level": 1}), "zstd": ([], {"id": "zstd", "level": 1, "checksum": False}),
    "lzma": ([], {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None}),
    "lz4": ([], {"id": "lz4", "acceleration": 1}),
    **{"blosc_%s_%d" % (name, shuffle + 1): ([], {"id": "blosc", "cname": name, "clevel": 5, "shuffle": shuffle,
                                                  "blocksize": 0})
       for name, shuffle in (("lz4", 1), ("zstd", 2), ("blosclz", 0), ("zlib", -1), ("lz4hc", 1))},
    "shuffle_zlib": ([{"id": "shuffle", "elementsize": "SIZE"}], {"id": "zlib", "level": 1}),
    "fletcher32": ([{"id": "fletcher32"}], None),
    "crc32_zstd": ([{"id": "crc32"}], {"id": "zstd", "level": 1, "checksum": False}),
    "adler32": ([{"id": "adler32"}], None), "crc32c": ([{"id": "crc32c", "location": "end"}], None),
    "delta": ([{"id": "delta", "dtype": "TYPE", "astype": "TYPE"}], {"id": "zlib", "level": 1}),
    "packbits": ([{"id": "packbits"}], {"id": "zlib", "level": 1}),
}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
CRC32C = {"name": "crc32c"}


def blosc(cname, shuffle):
    typesize = {} if shuffle == "noshuffle" else {"typesize": "SIZE"}
    return {"name": "blosc", "configuration": {"cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0,
                                               **typesize}}


def of_numcodecs(name, **configuration):
    return {"name": "numcodecs." + name, "configuration": configuration}


# What follows the codec from arrays to bytes.
CODECS_V3 = {
    "none": [], "gzip": [GZIP], "zstd": [ZSTD], "crc32c": [CRC32C], "zstd_crc32c": [ZSTD, CRC32C],
    "zstd_checked": [{"name": "zstd", "configuration": {"level": 3, "checksum": True}}],
    "blosc_lz4": [blosc("lz4", "shuffle")], "blosc_zstd": [blosc("zstd", "bitshuffle")],
    "blosc_zlib": [blosc("zlib", "shuffle")], "blosc_blosclz": [blosc("blosclz", "noshuffle")],
    "n_zlib": [of_numcodecs("zlib", level=1)], "n_lz4": [of_numcodecs("lz4", acceleration=1)],
    "n_bz2": [of_numcodecs("bz2", level=1)], "n_lzma": [of_numcodecs("lzma", preset=1)],
    "n_shuffle": [of_numcodecs("shuffle", elementsize="SIZE"), GZIP], "n_fletcher32": [of_numcodecs("fletcher32")],
    "n_crc32": [of_numcodecs("crc32")], "n_adler32": [of_numcodecs("adler32")],
}
KEYS_V3 = [("default", "/"), ("default", "."), ("v2", "."), ("v2", "/")]
# Of the index: where, in which byte order, with a checksum or not. "nested": shards inside shards.
SHARDS_V3 = {"end": ("end", "little", True), "start": ("start", "little", True), "bare": ("end", "little", False),
             "big": ("start", "big", False)}


@dataclass(frozen=True)
class Combination:
    zarr_format: int
    dtype: str
    codec: str
    order: str       # of v2 C or F; of v3 C, or F for a transposed array
    key: tuple       # (encoding, separator)
    shards: str = ""
    has_fill: bool = True

    @property
    def name(self):
        plain = "".join(c for c in self.dtype.replace("<", "l").replace(">", "b") if c.isalnum())
        key = self.key[0][0] + {"/": "s", ".": "d"}[self.key[1]]
        fill = "" if self.has_fill else "null"
        return "_".join(filter(None, (plain, self.codec, self.order, key, self.shards, fill)))

    @property
    def written(self):
        """The right column of chunks stays absent, but where everybody has his own idea of what that means."""
        everything = self.dtype in OBJECT_CODECS or not self.has_fill
        return (slice(0, 4), slice(0, 3 if everything else 2))

    @property
    def numpy_type(self):
        if self.dtype in OBJECT_CODECS:
            return np.dtype(object)
        return np.dtype(STRUCTURES.get(self.dtype, self.dtype))

    @property
    def is_number(self):
        return self.dtype[1:] in NUMBERS + ["b1"]

    def _filled_in(self, json):
        if isinstance(json, list):
            return [self._filled_in(x) for x in json]
        if isinstance(json, dict):
            return {key: self._filled_in(x) for key, x in json.items()}
        size = self.numpy_type.itemsize if self.dtype not in OBJECT_CODECS else 1
        return {"SIZE": size, "TYPE": self.dtype}.get(json, json) if isinstance(json, str) else json

    def filters(self):
        """Of v2, as numcodecs configures them."""
        own = [{"id": OBJECT_CODECS[self.dtype]}] if self.dtype in OBJECT_CODECS else []
        return own + self._filled_in(CODECS_V2[self.codec][0])

    def compressor(self):
        return self._filled_in(CODECS_V2[self.codec][1])

    def codecs(self):
        """Of v3: from the array to bytes, and on."""
        if self.dtype in OBJECT_CODECS:
            to_bytes = {"name": OBJECT_CODECS[self.dtype]}
        elif self.numpy_type.itemsize == 1 or self.dtype[0] == "|":
            to_bytes = {"name": "bytes"}
        else:
            # The byte order is one more dimension; with every codec and type some have either.
            big = zlib.crc32(self.name.encode()) % 2 and self.is_number
            to_bytes = {"name": "bytes", "configuration": {"endian": "big" if big else "little"}}
        transpose = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if self.order == "F" else []
        chain = transpose + [to_bytes] + self._filled_in(CODECS_V3[self.codec])
        if not self.shards:
            return chain
        where, order, checked = SHARDS_V3[self.shards]
        index = [{"name": "bytes", "configuration": {"endian": order}}] + [CRC32C] * checked
        return [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": list(INNER), "codecs": chain, "index_codecs": index, "index_location": where}}]

    def fill(self):
        """None if there is none."""
        if not self.has_fill:
            return None
        dtype = self.numpy_type
        if self.dtype in OBJECT_CODECS:
            return {"text": "", "bytes": b""}[self.dtype]
        if dtype.fields and any(dtype[n].kind in "SUM" for n in dtype.names):
            element = np.zeros((), dtype)
            element[dtype.names[0]] = 7
            return element[()]
        if dtype.fields or dtype.kind == "V":
            return np.frombuffer(bytes(range(1, dtype.itemsize + 1)), dtype)[0]
        value = {"b": True, "i": -7, "u": 7, "f": -1.5, "c": 2.5 - 3j, "M": np.datetime64(12345, "D"),
                 "m": np.timedelta64(86400, "s"), "S": b"x", "U": "ä"}[dtype.kind]
        return np.array([value]).astype(dtype)[0]

    def values(self):
        """What is written into `written`."""
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        shape = tuple(s.stop - s.start for s in self.written)
        return random_values(self.dtype, self.numpy_type, shape, random)

    def expected(self):
        dtype = self.numpy_type
        out = np.zeros(SHAPE, dtype)
        if self.has_fill:
            out[...] = self.fill()
        out[self.written] = self.values()
        return out

    def attributes(self):
        return {"title": "of " + self.name, "numbers": [1, 2.5, "x", None]}


def random_values(name, dtype, shape, random):
    """Any bits at all, NaNs with payloads included, but for types of which some mean nothing. No chunk is all zero: what
    such a chunk is without a fill value, if its writer left it out, is everybody's own idea."""
    n = int(np.prod(shape))
    if dtype.subdtype:
        return random_values(name, dtype.subdtype[0], (n,) + dtype.subdtype[1], random)
    letters = list("aZ9 äßλЖ漢字😀")
    if name in OBJECT_CODECS:
        values = np.empty(n, object)
        for i in range(n):
            length = int(random.integers(i % 2, 9))
            values[i] = "".join(random.choice(letters, length)) if name == "text" else random.bytes(length)
    elif dtype.fields:
        values = np.zeros(n, dtype)
        for member in dtype.names:
            values[member] = random_values(member, dtype[member], (n,), random).reshape(values[member].shape)
    elif dtype.kind == "b":
        values = (random.integers(0, 2, n) | np.arange(n) % 2).astype(dtype)
    elif dtype.kind == "U":
        length = dtype.itemsize // 4
        values = np.array(["".join(random.choice(letters, random.integers(0, length + 1))) for _ in range(n)], dtype)
    elif dtype.kind == "S":
        values = random.integers(1, 256, n * dtype.itemsize).astype("u1").view("S%d" % dtype.itemsize)
    else:
        values = random.integers(0, 256, n * dtype.itemsize).astype("u1").view(dtype)
    return values.reshape(shape)


def bits(values):
    """Values as text, bit for bit, without their byte order."""
    values = np.asarray(values)
    if values.dtype.kind in "OT":
        return [x.hex() if isinstance(x, bytes) else x for x in values.ravel().tolist()]
    if values.dtype.fields:
        return [bits(np.ascontiguousarray(values[name])) for name in values.dtype.names]
    plain = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"))
    return base64.b64encode(plain.tobytes()).decode()


def type_of(dtype):
    """The name of a numpy type without its byte order."""
    if dtype.kind in "OT":
        return "object"
    return str(np.lib.format.dtype_to_descr(np.dtype(dtype).newbyteorder("<")))


def combinations_v2():
    """Everything with everything."""
    for number, (dtype, codec, order, separator) in enumerate(
            itertools.product(TYPES_V2, CODECS_V2, "CF", "./")):
        if codec == "delta" and (dtype[1:] not in NUMBERS or dtype[1] not in "iu"):
            continue  # of floats it is lossy
        if codec == "packbits" and dtype != "|b1":
            continue
        if dtype in OBJECT_CODECS and codec == "shuffle_zlib":
            continue
        yield Combination(2, dtype, codec, order, ("v2", separator), 
                          has_fill=dtype != "bytes" and number % 7 % 3 != 0)


def combinations_v3(every_key):
    """Everything with everything; the spelling of keys, which nothing else depends on, only if `every_key`, else every
    pair with one of the others."""
    for number, (dtype, codec, order, shards) in enumerate(
            itertools.product(TYPES_V3, CODECS_V3, "CF", ("", *SHARDS_V3))):
        if codec == "n_shuffle" and dtype in OBJECT_CODECS:
            continue
        for key in KEYS_V3 if every_key else KEYS_V3[(number + number // 4 + number // 64) % 4:][:1]:
            yield Combination(3, dtype, codec, order, key, shards)


if __name__ == "__main__":
    print(len(list(combinations_v2())), len(list(combinations_v3(False))))
