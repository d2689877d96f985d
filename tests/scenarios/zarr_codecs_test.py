"""Every codec of Zarr, v2 and v3: what zarr-python, TensorStore and numcodecs write is read, and what we write they read.

Codecs that change values are decoded as numcodecs decodes them, copied as they are, and never applied again.
"""

import json
import os
import shutil
import warnings
from pathlib import Path

import h5py
import numcodecs
import numpy as np
import tensorstore
import zarr
import zarr.codecs
import zarr.codecs.numcodecs as v3

import harness

warnings.filterwarnings("ignore")

SOURCE = Path(os.environ["CHUNKWISE_SOURCE_DIR"])
CORPUS = Path(os.environ.get("CHUNKWISE_CORPUS", SOURCE / "../shared/corpus")) / "numcodecs"
SHAPE, CHUNK = (37, 29), (10, 13)
RNG = np.random.default_rng(4)
INNER = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
# Its decoders need libraries of their own.
FOREIGN = ("zfpy", "pcodec")
OBJECTS = ("json2", "msgpack2", "pickle", "vlen-array", "vlen-bytes", "vlen-utf8")


def values(dtype):
    """A field with some noise, in whole numbers for integers."""
    dtype = np.dtype(dtype)
    y, x = np.mgrid[0:SHAPE[0], 0:SHAPE[1]]
    smooth = 60 + 50 * np.sin(y / 7) * np.cos(x / 9) + RNG.integers(0, 4, SHAPE)
    if dtype.kind == "b":
        return (smooth > 60).astype(dtype)
    if dtype.kind == "f":
        return (smooth / 8).astype(dtype)
    return smooth.astype(dtype)


def create(path, data, fmt, name="v", chunks=CHUNK, **options):
    group = zarr.open_group(str(path), mode="a", zarr_format=fmt)
    array = group.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype, **options)
    array[...] = data
    return array


def inner_codecs(t):
    """Those of Blosc; one depends on how its library was built."""
    code = harness.run("rechunk", "--dry-run", "--codec", "blosc:snappy", t / "nothing", t / "no.zarr").code
    return INNER if code == 4 else INNER + ["snappy"]


def metadata(path, name="v"):
    array = Path(path) / name
    document = array / ".zarray"
    return json.loads((document if document.exists() else array / "zarr.json").read_text())


def chains(path, name="v"):
    """What the metadata says of codecs."""
    document = metadata(path, name)
    if "codecs" in document:
        return document["codecs"]
    return document["filters"], document["compressor"]


def read_zarr(path, name="v"):
    return zarr.open_array(str(Path(path) / name), mode="r")[...]


def read_tensorstore(path, name="v"):
    array = Path(path) / name
    driver = "zarr" if (array / ".zarray").exists() else "zarr3"
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(array) + "/"}}
    return tensorstore.open(spec, read=True).result().read().result()


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.astype(a.dtype.newbyteorder("=")).tobytes() == b.astype(
        b.dtype.newbyteorder("=")).tobytes()


# ---- numcodecs' own buffers

def fixtures():
    """(name, config, encoded bytes) of all buffers that codecs of bytes and numbers have made."""
    for config_file in sorted(CORPUS.rglob("config.json")):
        config = json.loads(config_file.read_text())
        kind = config_file.relative_to(CORPUS).parts[0]
        if kind in OBJECTS or config.get("dtype") == "|O":
            continue
        for encoded in sorted(config_file.parent.glob("encoded.*.dat")):
            name = "%s_%s" % ("_".join(config_file.relative_to(CORPUS).parts[:-1]), encoded.name.split(".")[1])
            yield kind, name.replace(".", "_"), config, encoded.read_bytes()


def decoded_by_numcodecs(config, encoded):
    out = numcodecs.get_codec(dict(config)).decode(encoded)
    return out.tobytes() if isinstance(out, np.ndarray) else bytes(out)


def write_fixture(store, name, config, n_bytes, encoded):
    """An array of bytes that is one chunk, encoded by one codec."""
    array = Path(store) / name
    array.mkdir(parents=True)
    (array / ".zarray").write_text(json.dumps({
        "zarr_format": 2, "shape": [n_bytes], "chunks": [n_bytes], "dtype": "|u1", "fill_value": 0, "order": "C",
        "filters": None, "compressor": config}))
    (array / "0").write_bytes(encoded)


def chunk_or_zeros(path, expected):
    """What reads as the fill value need not be there."""
    return path.read_bytes() if path.exists() else bytes(len(expected))


def is_snappy(config):
    return config.get("cname") == "snappy"


def test_buffers_of_numcodecs_are_decoded_as_numcodecs_does(t):
    if not CORPUS.is_dir():
        raise harness.Skip("no numcodecs corpus at %s" % CORPUS)
    src = t / "src.zarr2"
    src.mkdir()
    (src / ".zgroup").write_text('{"zarr_format": 2}')
    due = {}
    for kind, name, config, encoded in fixtures():
        if kind in FOREIGN or (is_snappy(config) and "snappy" not in inner_codecs(t)):
            continue
        try:
            due[name] = decoded_by_numcodecs(config, encoded)
        except RuntimeError:  # of Blosc's compressors numcodecs has only some
            t.equal("codec that numcodecs cannot decode", "blosc", config["id"])
            continue
        write_fixture(src, name, config, max(len(due[name]), 1), encoded)
    t.check(len(due) > 700, "only %d buffers" % len(due))
    t.source(src)
    out = t / "raw.zarr2"
    t.rechunk(src, out, "--codec", "none", "--verify", "full", timeout=300)
    t.none("decoded buffers", [name for name, expected in due.items()
                               if chunk_or_zeros(out / name / "0", expected) != expected])
    # And as they are.
    t.rechunk(src, t / "copy.zarr2", timeout=300)
    for name in due:
        t.check((t / "copy.zarr2" / name / "0").read_bytes() == (src / name / "0").read_bytes(), name + " is no copy")


def test_codecs_nobody_decodes_here_are_copied_or_refused_by_name(t):
    if not CORPUS.is_dir():
        raise harness.Skip("no numcodecs corpus at %s" % CORPUS)
    for label in ("zfpy", "pcodec", "snappy"):
        if label == "snappy" and "snappy" in inner_codecs(t):
            continue
        src = t / ("%s.zarr2" % label)
        found = [f for f in fixtures() if f[0] == label or (label == "snappy" and is_snappy(f[2]))]
        _, _, config, encoded = found[0]
        src.mkdir()
        (src / ".zgroup").write_text('{"zarr_format": 2}')
        write_fixture(src, "v", config, 8000, encoded)
        create(src, values("<f4"), 2, "other")
        t.source(src)
        t.rechunk(src, t / "copy.zarr2", "--overwrite")
        t.check((t / "copy.zarr2/v/0").read_bytes() == encoded, label + ": the chunk is no copy")
        t.equal(label + ": codec", config, metadata(t / "copy.zarr2")["compressor"])
        t.rechunk(src, t / "copy.zarr2", "-c", "other:5,5", "--overwrite")
        t.equal(label + ": codec", config, metadata(t / "copy.zarr2")["compressor"])
        for more in (("-c", "v:100"), ("--codec", "v:zstd")):
            t.refused("rechunk", src, t / "no.zarr2", *more, code=4, says=(label, "/v"))
        if label != "snappy":
            t.refused("rechunk", src, t / "no.zarr3", "--to", "zarr3", code=4, says=(label, "/v"))
    # zarr 3, where the codec makes bytes of the array.
    src = t / "v3.zarr"
    data = values("<f8")
    create(src, data, 3)
    document = metadata(src)
    unknown = [{"name": "pcodec", "configuration": {"level": 8}}, {"name": "zstd", "configuration": {"level": 1,
                                                                                                 "checksum": False}}]
    for chain in (unknown, [{"name": "reshape", "configuration": {"shape": [[0, 1]]}}] + document["codecs"]):
        document["codecs"] = chain
        (src / "v/zarr.json").write_text(json.dumps(document))
        if (src / "zarr.json").exists():
            (src / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
        t.rechunk(src, t / "copy.zarr", "--overwrite")
        t.equal("codecs", chain, chains(t / "copy.zarr"))
        t.refused("rechunk", src, t / "no.zarr", "-c", "v:7,7", code=4, says=(chain[0]["name"], "/v"))


# ---- stores of others, made anew

def compressors():
    yield "none", None
    for level in (0, 1, 9):
        yield "zlib_%d" % level, numcodecs.Zlib(level)
    yield "gzip", numcodecs.GZip(5)
    yield "bz2", numcodecs.BZ2(2)
    yield "zstd", numcodecs.Zstd(3)
    yield "zstd_checked", numcodecs.Zstd(-1, checksum=True)
    yield "lz4", numcodecs.LZ4(3)
    for name in INNER:
        for shuffle in (-1, 0, 1, 2):
            yield "blosc_%s_%d" % (name, shuffle + 1), numcodecs.Blosc(name, 4, shuffle)
    yield "lzma", numcodecs.LZMA()
    yield "lzma_checked", numcodecs.LZMA(preset=1, check=10)
    yield "lzma_alone", numcodecs.LZMA(format=2, preset=3)
    yield "lzma_raw", numcodecs.LZMA(format=3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 2}])
    yield "base64", numcodecs.get_codec({"id": "base64"})


def filters():
    """Filters that any chunk can be made with anew, each for a type."""
    for dtype in ("<i4", ">i4", "<u2", ">i8", "|i1"):
        yield "delta", dtype, [numcodecs.Delta(dtype)]
    yield "delta_wide", "<i2", [numcodecs.Delta("<i2", "<i4")]
    yield "delta_of_bits", "<f4", [numcodecs.Delta("<i4")]
    yield "shuffle", "<f4", [numcodecs.Shuffle(4)]
    yield "shuffle_odd", ">f8", [numcodecs.Shuffle(2)]
    yield "astype", "<i2", [numcodecs.AsType("<i8", "<i2")]
    yield "astype_float", "<i2", [numcodecs.AsType("<f4", "<i2")]
    yield "packbits", "|b1", [numcodecs.PackBits()]
    for dtype in ("<f2", "<f4", "<f8"):
        yield "bitround", dtype, [numcodecs.BitRound(5)]
        yield "quantize", dtype, [numcodecs.Quantize(1, dtype)]
    for checksum in (numcodecs.Fletcher32(), numcodecs.CRC32(), numcodecs.Adler32(), numcodecs.CRC32("end"),
                     numcodecs.CRC32C(), numcodecs.CRC32C("start"), numcodecs.JenkinsLookup3(),
                     numcodecs.JenkinsLookup3(initval=9)):
        yield checksum.codec_id, "<f4", [checksum]
    yield "many", "<i4", [numcodecs.Delta("<i4"), numcodecs.AsType("<i8", "<i4"), numcodecs.Shuffle(8),
                          numcodecs.CRC32()]


def check_kept(t, src, due, judges, chunk="8,9"):
    """Other chunks, the same codecs."""
    t.source(src)
    out = t / (Path(src).name + ".out." + Path(src).suffix.strip("."))
    t.rechunk(src, out, "-c", chunk, "--verify", "full", timeout=300)
    for name, data in due.items():
        t.equal(name + ": codecs", chains(src, name), chains(out, name))
        for judge in judges:
            try:
                got = judge(out, name)
            except Exception as error:
                t.fail("%s: %s cannot read it: %s" % (name, judge.__name__, error))
                continue
            t.check(same(data, got), "%s: %s reads other values" % (name, judge.__name__))


def test_compressors_of_v2_are_kept(t):
    src, due = t / "src.zarr2", {}
    for name, compressor in compressors():
        for dtype in ("<f4", ">i2", "|u1"):
            data = values(dtype)
            key = "%s_%s" % (name, np.dtype(dtype).name)
            array = create(src, data, 2, key, compressors=compressor, filters=None)
            due[key] = array[...]
    check_kept(t, src, due, [read_zarr])


def test_filters_of_v2_are_kept_in_either_order(t):
    src, due = t / "src.zarr2", {}
    for i, (name, dtype, chain) in enumerate(filters()):
        for order in "CF":
            key = "%s_%d_%s" % (name, i, order)
            array = create(src, values(dtype), 2, key, filters=chain, compressors=numcodecs.Zlib(1), order=order)
            due[key] = array[...]
    check_kept(t, src, due, [read_zarr])


def test_compressors_in_the_place_of_filters(t):
    src = t / "src.zarr2"
    data = values("<i4")
    create(src, data, 2, filters=[numcodecs.Delta("<i4"), numcodecs.Zlib(1), numcodecs.CRC32()],
           compressors=numcodecs.BZ2(1))
    check_kept(t, src, {"v": data}, [read_zarr])


def v3_chains():
    """(name, dtype, options of create_array) of what zarr-python writes and any chunk can be made with anew."""
    core = {"gzip": [zarr.codecs.GzipCodec(level=4)], "zstd": [zarr.codecs.ZstdCodec(level=2, checksum=True)],
            "crc32c": [zarr.codecs.ZstdCodec(level=0), zarr.codecs.Crc32cCodec()], "none": None}
    for cname in INNER:
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            core["blosc_%s_%s" % (cname, shuffle)] = [
                zarr.codecs.BloscCodec(cname=cname, clevel=3, shuffle=shuffle, typesize=4)]
    for name, chain in core.items():
        yield name, "<f4", {"compressors": chain}
    for endian in ("little", "big"):
        yield "bytes_" + endian, "<i4", {"serializer": zarr.codecs.BytesCodec(endian=endian), "compressors": core["gzip"]}
    yield "transposed", "<i4", {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))], "compressors": core["zstd"]}
    of_bytes = {"blosc": v3.Blosc(cname="lz4", clevel=3, shuffle=1), "lz4": v3.LZ4(acceleration=2),
                "zstd": v3.Zstd(level=2), "zlib": v3.Zlib(level=7), "gzip": v3.GZip(level=2), "bz2": v3.BZ2(level=1),
                "lzma": v3.LZMA(preset=1), "shuffle": v3.Shuffle(elementsize=4), "shuffle_untold": v3.Shuffle(),
                "crc32": v3.CRC32(), "crc32c": v3.CRC32C(), "adler32": v3.Adler32(), "fletcher32": v3.Fletcher32(),
                "crc32c_start": v3.CRC32C(location="start"), "jenkins": v3.JenkinsLookup3()}
    for name, codec in of_bytes.items():
        yield "numcodecs_" + name, "<i4", {"compressors": [codec]}
    of_arrays = {"delta": ("<i4", v3.Delta(dtype="<i4")), "delta_named": ("<u2", v3.Delta(dtype="uint16")),
                 "delta_wide": ("<i2", v3.Delta(dtype="<i2", astype="<i4")),
                 "bitround": ("<f4", v3.BitRound(keepbits=4)), "packbits": ("|b1", v3.PackBits()),
                 "astype": ("<i2", v3.AsType(encode_dtype="<i8", decode_dtype="<i2")),
                 "quantize": ("<f8", v3.Quantize(digits=1, dtype="<f8"))}
    for name, (dtype, codec) in of_arrays.items():
        yield "numcodecs_" + name, dtype, {"filters": [codec], "compressors": core["zstd"]}


def test_codecs_of_v3_are_kept(t):
    src, due = t / "src.zarr", {}
    for name, dtype, options in v3_chains():
        due[name] = create(src, values(dtype), 3, name, **options)[...]
    spelled = {name: chains(src, name) for name in due}
    t.source(src)
    out = t / "out.zarr"
    t.rechunk(src, out, "-c", "8,9", "--verify", "full", timeout=300)
    for name, data in due.items():
        t.equal(name + ": codecs", named(spelled[name]), named(chains(out, name)))
        t.check(same(data, read_zarr(out, name)), name + ": zarr-python reads other values")
        if not name.startswith("numcodecs"):
            t.check(same(data, read_tensorstore(out, name)), name + ": TensorStore reads other values")


def named(chain):
    """Types are written as numpy's short names, and sizes that were not told are."""
    plain = []
    for codec in chain:
        configuration = dict(codec.get("configuration") or {})
        for key in ("dtype", "astype"):
            if key in configuration:
                configuration[key] = np.dtype(configuration[key]).str
        if codec["name"] in ("numcodecs.delta", "numcodecs.quantize"):
            configuration.setdefault("astype", configuration["dtype"])
        if codec["name"] == "numcodecs.shuffle":
            configuration["elementsize"] = configuration.get("elementsize") or 4
        if codec["name"] == "numcodecs.lzma":
            configuration = {**{"format": 1, "check": -1, "filters": None}, **configuration}
        if codec["name"] == "numcodecs.jenkins_lookup3":
            configuration.setdefault("initval", 0)
        if codec["name"] in ("numcodecs.blosc", "numcodecs.gzip", "numcodecs.zstd", "numcodecs.crc32c"):
            if configuration.get("location", "end") == "end":
                plain.append(codec["name"].split(".")[1])  # the registered codec is the same
                continue
        if codec["name"] in ("blosc", "gzip", "zstd", "crc32c"):
            plain.append(codec["name"])
            continue
        plain.append((codec["name"], configuration))
    return plain


def test_tensorstore_writes_and_reads(t):
    for driver, suffix in (("zarr", "zarr2"), ("zarr3", "zarr")):
        for i, compressor in enumerate(tensorstore_codecs(driver)):
            src = t / ("src_%d.%s" % (i, suffix))
            data = values("<u2")
            spec = {"driver": driver, "kvstore": {"driver": "file", "path": str(src / "v") + "/"}}
            if driver == "zarr":
                spec["metadata"] = {"shape": SHAPE, "chunks": CHUNK, "dtype": "<u2", **compressor}
            else:
                spec["metadata"] = {"shape": SHAPE, "data_type": "uint16", "codecs": compressor,
                                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": CHUNK}}}
            src.mkdir()
            name = ".zgroup" if driver == "zarr" else "zarr.json"
            (src / name).write_text('{"zarr_format": 2}' if driver == "zarr" else
                                    '{"zarr_format": 3, "node_type": "group"}')
            tensorstore.open(spec, create=True).result().write(data).result()
            out = t / ("out_%d.%s" % (i, suffix))
            t.rechunk(src, out, "-c", "9,8", "--verify", "full")
            t.equal("codecs", without_empty(chains(src)), without_empty(chains(out)))
            t.check(same(data, read_tensorstore(out)), "TensorStore reads other values: %s" % (compressor,))
            t.check(same(data, read_zarr(out)), "zarr-python reads other values: %s" % (compressor,))


def without_empty(chain):
    return [{k: v for k, v in codec.items() if v != {}} if isinstance(codec, dict) else codec for codec in chain]


def tensorstore_codecs(driver):
    if driver == "zarr":
        for compressor in (None, {"id": "zlib", "level": 3}, {"id": "gzip", "level": 1}, {"id": "bz2", "level": 1},
                           {"id": "zstd", "level": 2},
                           {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}):
            for order in "CF":
                yield {"compressor": compressor, "order": order, "filters": None}
        return
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    yield [little]
    yield [big, {"name": "gzip", "configuration": {"level": 3}}]
    yield [{"name": "transpose", "configuration": {"order": [1, 0]}}, little,
           {"name": "zstd", "configuration": {"level": 2, "checksum": True}}, {"name": "crc32c"}]
    yield [little, {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle",
                                                      "typesize": 2, "blocksize": 0}}]


# ---- asked for

ASKED = ["none", "shuffle", "shuffle,zlib:6", "deflate:1", "gzip:3", "zstd:5", "zstd:3:checksum", "lz4", "lz4:9", "bz2:1",
         "lzma", "lzma:1", "shuffle,lzma:0", "blosc", "zstd,crc32c", "gzip,fletcher32", "crc32", "adler32,zlib",
         "jenkins_lookup3", "shuffle,zstd:1,crc32c"] + [
    "blosc:%s:%d:%s" % (name, level, shuffle) for name in INNER for level, shuffle in
    ((1, "shuffle"), (5, "bitshuffle"), (9, "noshuffle"))]
ONLY_V2 = ["base64", "zstd,base64"]
OF_INTEGERS = ["delta", "delta,zstd:1", "delta,shuffle,zlib:1,crc32"]
OF_BOOLEANS = ["packbits", "packbits,zstd:1"]


def test_codecs_that_are_asked_for(t):
    data = {"f": values("<f4"), "i": values("<i4"), "b": values("|b1")}
    for source in (2, 3):
        src = t / ("src.zarr%d" % source)
        for name, each in data.items():
            create(src, each, source, name)
        t.source(src)
        for target in (2, 3):
            asked = [(spec, "f") for spec in ASKED + (ONLY_V2 if target == 2 else [])]
            asked += [(spec, "i") for spec in OF_INTEGERS] + [(spec, "b") for spec in OF_BOOLEANS]
            for spec, name in asked if source == target else asked[::5]:
                out = t / "out.zarr"
                t.rechunk(src, out, "--variable", name, "--to", "zarr%d" % target, "-c", "9,11", "--codec", spec,
                          "--overwrite", "--verify", "full")
                what = "%s from v%d to v%d" % (spec, source, target)
                t.check(same(data[name], read_zarr(out, name)), what + ": zarr-python reads other values")
                chain = chains(out, name)
                if target == 3 and all("numcodecs." not in codec["name"] for codec in chain):
                    t.check(same(data[name], read_tensorstore(out, name)), what + ": TensorStore reads other values")


def test_codecs_that_cannot_be_had(t):
    src = t / "src.zarr"
    create(src, values("<f4"), 3)
    for spec, says in (("delta", "delta"), ("packbits", "packbits"), ("zstd,delta", "delta"), ("base64", "base64")):
        t.refused("rechunk", src, t / "no.zarr", "--codec", spec, code=4, says=(says, "/v"))
    for spec in ("quantize", "fixedscaleoffset", "astype", "bitround", "categorize", "byteswap", "zarr3-packbits"):
        t.refused("rechunk", src, t / "no.zarr", "--codec", spec, code=2, says=spec)
    t.refused("rechunk", src, t / "no.nc", "--codec", "delta", code=4, says="delta")


# ---- what changes values

LOSSY = [("fixedscaleoffset", "<f8", dict(offset=50, scale=10, dtype="<f8", astype="<i2")),
         ("fixedscaleoffset", "<f4", dict(offset=0.5, scale=3, dtype="<f4", astype="|u1")),
         ("fixedscaleoffset", "<f8", dict(offset=0, scale=100, dtype="<f8", astype="<f4")),
         ("fixedscaleoffset", "<i4", dict(offset=7, scale=2, dtype="<i4", astype="<i2")),
         ("quantize", "<f8", dict(digits=1, dtype="<f8", astype="<f4")),
         ("quantize", "<f4", dict(digits=2, dtype="<f4", astype="<f2")),
         ("astype", "<f8", dict(encode_dtype="<f4", decode_dtype="<f8")),
         ("astype", ">i4", dict(encode_dtype=">i2", decode_dtype=">i4")),
         ("delta", "<f4", dict(dtype="<f4")),
         ("delta", "<f8", dict(dtype="<f8", astype="<f4"))]
LOSSY_V3 = {"fixedscaleoffset": v3.FixedScaleOffset, "quantize": v3.Quantize, "astype": v3.AsType, "delta": v3.Delta}


def test_codecs_that_change_values_are_never_applied_again(t):
    for fmt in (2, 3):
        src, due = t / ("src.zarr%d" % fmt), {}
        for i, (kind, dtype, config) in enumerate(LOSSY):
            if fmt == 3 and dtype.startswith(">"):
                continue
            codec = numcodecs.get_codec({"id": kind, **config}) if fmt == 2 else LOSSY_V3[kind](**config)
            compressor = numcodecs.Zstd(1) if fmt == 2 else zarr.codecs.ZstdCodec()
            name = "%s_%d" % (kind, i)
            array = create(src, values(dtype), fmt, name, filters=[codec], compressors=compressor)
            try:
                due[name] = array[...]
            except ValueError:  # zarr-python cannot read what it wrote where the element size changes
                t.equal("format that zarr-python cannot read back", 3, fmt)
                shutil.rmtree(src / name)
        t.source(src)
        copy = t / ("copy.zarr%d" % fmt)
        t.rechunk(src, copy)
        for name, data in due.items():
            t.equal(name + ": codecs", named(chains(src, name)) if fmt == 3 else chains(src, name),
                    named(chains(copy, name)) if fmt == 3 else chains(copy, name))
            for chunk in (src / name).rglob("*"):
                if chunk.is_file() and chunk.name not in (".zarray", ".zattrs", "zarr.json"):
                    t.check(chunk.read_bytes() == (copy / chunk.relative_to(src)).read_bytes(), name + ": no copy")
            t.check(same(data, read_zarr(copy, name)), name + ": other values")
            t.refused("rechunk", src, t / "no.zarr", "--variable", name, "-c", "7,7", code=4,
                      says=(name.split("_")[0], "/" + name, "--codec"))
        for target in ("zarr2", "zarr3", "h5"):
            out = t / ("out_%d.%s" % (fmt, target))
            t.rechunk(src, out, "--to", target, "-c", "7,7", "--codec", "shuffle,zlib:1", "--verify", "full")
            for name, data in due.items():
                if target == "h5":
                    with h5py.File(out) as file:
                        got = file[name][...]
                else:
                    got = read_zarr(out, name)
                t.check(same(data, got), "%s to %s: other values" % (name, target))
        if fmt == 2:
            # In another format, with the codecs that all its readers have.
            t.rechunk(src, t / "core.zarr", "--to", "zarr3", "--verify", "full")
            for name, data in due.items():
                t.check(same(data, read_tensorstore(t / "core.zarr", name)), name + ": TensorStore reads other values")
        t.rechunk(src, t / ("plain_%d.nc" % fmt), "--verify", "full")
        with h5py.File(t / ("plain_%d.nc" % fmt)) as file:
            for name, data in due.items():
                t.check(same(data, file[name][...]), name + ": h5py reads other values")


# ---- across formats

def chunk_bytes_h5(path, name):
    with h5py.File(path) as file:
        dataset = file[name].id
        return {dataset.get_chunk_info(i).chunk_offset: dataset.read_direct_chunk(dataset.get_chunk_info(i).chunk_offset)[1]
                for i in range(dataset.get_num_chunks())}


def chunk_bytes_zarr2(path, name, chunk):
    found = {}
    for file in (Path(path) / name).iterdir():
        if not file.name.startswith("."):
            found[tuple(int(i) * n for i, n in zip(file.name.split("."), chunk))] = file.read_bytes()
    return found


def test_encoded_chunks_move_between_hdf5_and_zarr_2(t):
    data = {"shuffled": values("<f4"), "checked": values("<i2"), "plain": values("<f8")}
    h5 = t / "a.h5"
    with h5py.File(h5, "w") as file:
        file.create_dataset("shuffled", data=data["shuffled"], chunks=CHUNK, shuffle=True, compression="gzip",
                            compression_opts=6)
        file.create_dataset("checked", data=data["checked"], chunks=CHUNK, shuffle=True, compression="gzip",
                            compression_opts=1, fletcher32=True)
        file.create_dataset("plain", data=data["plain"], chunks=CHUNK, compression="gzip", compression_opts=9)
    t.rechunk(h5, t / "b.zarr2")
    for name, each in data.items():
        t.equal(name + ": chunks", chunk_bytes_h5(h5, name), chunk_bytes_zarr2(t / "b.zarr2", name, CHUNK))
        t.check(same(each, read_zarr(t / "b.zarr2", name)), name + ": zarr-python reads other values")
    t.rechunk(t / "b.zarr2", t / "c.h5")
    for name, each in data.items():
        t.equal(name + ": chunks", chunk_bytes_h5(h5, name), chunk_bytes_h5(t / "c.h5", name))
        with h5py.File(t / "c.h5") as file:
            t.check(same(each, file[name][...]), name + ": h5py reads other values")
    # As zarr-python writes them.
    src = t / "d.zarr2"
    create(src, data["shuffled"], 2, filters=[numcodecs.Shuffle(4)], compressors=numcodecs.Zlib(-1))
    t.rechunk(src, t / "e.nc")
    t.equal("chunks of zarr-python", chunk_bytes_zarr2(src, "v", CHUNK), chunk_bytes_h5(t / "e.nc", "v"))


def test_default_codecs_of_zarr_3_are_read_by_all(t):
    data = values("<f4")
    with h5py.File(t / "a.h5", "w") as file:
        file.create_dataset("v", data=data, chunks=CHUNK, shuffle=True, compression="gzip", fletcher32=True)
    result = t.rechunk(t / "a.h5", t / "a.zarr", "--json")
    t.equal("codecs", ["bytes", "blosc", "crc32c"], [codec["name"] for codec in chains(t / "a.zarr")])
    t.check("shuffle" in result.out and "blosc" in result.out, "the report does not say what became of the codecs")
    t.check(same(data, read_tensorstore(t / "a.zarr")), "TensorStore reads other values")
    t.check(same(data, read_zarr(t / "a.zarr")), "zarr-python reads other values")


if __name__ == "__main__":
    harness.main(globals())
