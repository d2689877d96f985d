"""Every filter of HDF5 files: kept with its order, flags, parameters and masks, decoded and made anew, or refused by name.

The files are written, and the results judged, by h5py with the plugins of hdf5plugin.
"""

import os

import h5py
import hdf5plugin
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

import harness

MANDATORY, OPTIONAL = h5z.FLAG_MANDATORY, h5z.FLAG_OPTIONAL
DEFLATE, SHUFFLE, FLETCHER32, SZIP, NBIT, SCALEOFFSET, BZIP2 = 1, 2, 3, 4, 5, 6, 307
LZF, BLOSC, LZ4, BITSHUFFLE, ZFP, ZSTD, BITGROOM, BLOSC2 = 32000, 32001, 32004, 32008, 32013, 32015, 32022, 32026
EC, NN = 4, 32
# Parameters that tell something of the chunk, by filter: not kept when chunks change.
OF_THE_CHUNK = {LZF: (2,), BLOSC: (3,), SZIP: (3,), NBIT: (2,), SCALEOFFSET: (2,)}
SHAPE, CHUNK = (48, 60), (24, 20)


def plugin(options):
    """(id, parameters) of an option of hdf5plugin."""
    return options["compression"], tuple(options["compression_opts"])


def values(dtype, shape=SHAPE):
    """A third smooth, a third of few values, a third noise: chunks that shrink, and chunks that do not."""
    rng = np.random.default_rng(5)
    dtype = np.dtype(dtype)
    n = shape[0] // 3
    smooth = np.add.outer(np.arange(n), np.arange(shape[1]) / 7)
    few = rng.integers(0, 3, (n, shape[1]))
    if dtype.kind == "f":
        noise = rng.normal(size=(shape[0] - 2 * n, shape[1]))
    else:
        info = np.iinfo(dtype)
        noise = rng.integers(info.min, info.max, (shape[0] - 2 * n, shape[1]), dtype=dtype.newbyteorder("="))
    return np.concatenate([smooth.astype(dtype), few.astype(dtype), noise.astype(dtype)])


def create(file, name, filters, data, file_type=None, fill=None, chunk=CHUNK, write=True):
    """A dataset with exactly these (id, flags, parameters)."""
    plist = h5p.create(h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    if fill is not None:
        plist.set_fill_value(np.asarray(fill, data.dtype))
    for number, flags, parameters in filters:
        if number == SCALEOFFSET:
            plist.set_scaleoffset(*parameters)
        elif number == SZIP:
            plist.set_szip(*parameters)
        else:
            plist.set_filter(number, flags, tuple(parameters))
    kind = file_type if file_type is not None else h5t.py_create(data.dtype)
    dataset = h5d.create(file.id, name.encode(), kind, h5s.create_simple(data.shape), dcpl=plist)
    if write:
        dataset.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(data))
    return dataset


def pipeline(dataset, leave_out_chunk=False):
    """[(id, flags, parameters)]"""
    plist = dataset.get_create_plist()
    found = []
    for i in range(plist.get_nfilters()):
        number, flags, parameters, _ = plist.get_filter(i)
        if leave_out_chunk:
            parameters = tuple(p for place, p in enumerate(parameters) if place not in OF_THE_CHUNK.get(number, ()))
        found.append((number, flags, tuple(parameters)))
    return found


def raw_chunks(dataset):
    return {info.chunk_offset: (info.filter_mask, dataset.read_direct_chunk(info.chunk_offset)[1])
            for info in (dataset.get_chunk_info(i) for i in range(dataset.get_num_chunks()))}


def bits(dataset):
    """All elements as they lie in the file."""
    kind = dataset.get_type()
    out = np.zeros(dataset.shape, "V%d" % kind.get_size())
    dataset.read(h5s.ALL, h5s.ALL, out, mtype=kind)
    return out.tobytes()


def type_of(bits_used, size, offset=0, order=h5t.ORDER_LE, base=h5t.STD_I32LE):
    kind = base.copy()
    kind.set_size(size)
    kind.set_order(order)
    kind.set_precision(bits_used)
    kind.set_offset(offset)
    return kind


def short_float():
    """20 bits in 4 bytes."""
    kind = h5t.IEEE_F32LE.copy()
    kind.set_fields(26, 20, 6, 7, 13)
    kind.set_offset(7)
    kind.set_precision(20)
    kind.set_ebias(31)
    return kind


def lossless(file):
    """One dataset per filter and what matters for it."""
    shuffle = (SHUFFLE, OPTIONAL, ())
    for name, dtype, filters in (
            ("deflate", "<f4", [(DEFLATE, MANDATORY, (6,))]),
            ("deflate_checked", "<i2", [shuffle, (DEFLATE, OPTIONAL, (9,)), (FLETCHER32, MANDATORY, ())]),
            ("checked_first", "<i2", [(FLETCHER32, MANDATORY, ()), (DEFLATE, OPTIONAL, (1,))]),
            ("shuffle_mandatory", ">f8", [(SHUFFLE, MANDATORY, ()), (DEFLATE, MANDATORY, (4,))]),
            ("lzf", "<i4", [(LZF, OPTIONAL, ())]),
            ("lzf_shuffled", "<f8", [shuffle, (LZF, OPTIONAL, ()), (FLETCHER32, MANDATORY, ())]),
            ("bzip2", "<i2", [(BZIP2, OPTIONAL, (3,))]),
            ("lz4", "<f4", [(LZ4, OPTIONAL, ())]),
            ("lz4_blocks", "<f4", [(LZ4, MANDATORY, (512,))]),
            ("zstd", "<f4", [shuffle, (ZSTD, OPTIONAL, (7,))]),
            ("bitshuffle", "<i2", [(BITSHUFFLE, OPTIONAL, (0, 0))]),
            ("bitshuffle_lz4", ">i4", [(BITSHUFFLE, OPTIONAL, (0, 2))]),
            ("bitshuffle_blocks", "<u8", [(BITSHUFFLE, MANDATORY, (128, 2))]),
            ("bitshuffle_zstd", "<f8", [(BITSHUFFLE, OPTIONAL, (0, 3, 5))]),
            ("bitshuffle_bytes", "u1", [(BITSHUFFLE, OPTIONAL, (0, 2))]),
            ("szip_nn", "<i4", [(SZIP, OPTIONAL, (NN, 8))]),
            ("szip_ec", "<f4", [(SZIP, OPTIONAL, (EC, 32))]),
            ("szip_pad", ">i2", [(SZIP, OPTIONAL, (NN, 16))]),
            ("szip_bytes", "u1", [(SZIP, OPTIONAL, (NN, 4))]),
            ("szip_double", "<f8", [shuffle, (SZIP, OPTIONAL, (NN, 10))]),
            ("scaleoffset", "<i4", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0))]),
            ("scaleoffset_unsigned", ">u2", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0)), (DEFLATE, OPTIONAL, (1,))]),
            ("scaleoffset_bytes", "i1", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0))]),
            ("scaleoffset_long", "<i8", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0))]),
            ("nbit_whole", "<f4", [(NBIT, OPTIONAL, ())])):
        create(file, name, filters, values(dtype))
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        number, parameters = plugin(hdf5plugin.Blosc(cname=cname, clevel=4, shuffle=1))
        create(file, "blosc_" + cname, [(number, OPTIONAL, parameters)], values("<f4"))
    few = values("<i4") % 1000
    create(file, "scaleoffset_fill", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0))], np.where(few % 7, few, -9), fill=-9)
    create(file, "scaleoffset_bits", [(SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 12))], few)
    for name, kind, dtype in (("nbit_17", type_of(17, 4), "<i4"),
                              ("nbit_shifted", type_of(9, 2, 3, h5t.ORDER_BE), "<i4"),
                              ("nbit_long", type_of(40, 8, 5), "<i8")):
        # Written as their own type: pad bits are zero, as any converting writer leaves them.
        create(file, name, [(NBIT, OPTIONAL, ()), (DEFLATE, OPTIONAL, (2,))], values(dtype) % 200, file_type=kind)
    create(file, "nbit_float", [(NBIT, OPTIONAL, ())], values("<f4"), file_type=short_float())


def chunk_halves(t, src, out, *more, code=0, says=()):
    return t.rechunk(src, out, "-c", "12,20", *more, code=code, says=says, go_on=True)


def test_chunks_that_stay_are_copied_as_they_are(t):
    src, out = t / "all.h5", t / "copy.h5"
    with h5py.File(src, "w") as file:
        lossless(file)
        create(file, "rounded", [(SCALEOFFSET, OPTIONAL, (h5z.SO_FLOAT_DSCALE, 2))], values("<f4"))
        for name, options in (("blosc2", hdf5plugin.Blosc2()), ("zfp", hdf5plugin.Zfp(reversible=True))):
            number, parameters = plugin(options)
            create(file, name, [(number, MANDATORY, parameters)], values("<f4"))
    t.source(src)
    t.rechunk(src, out)
    with h5py.File(src) as before, h5py.File(out) as after:
        for name in before:
            a, b = before[name].id, after[name].id
            t.equal(name + ": filters", pipeline(a), pipeline(b))
            t.check(raw_chunks(a) == raw_chunks(b), name + ": stored chunks differ")
            t.check(bits(a) == bits(b), name + ": values differ")


def test_chunks_are_made_anew(t):
    src, out = t / "all.h5", t / "new.h5"
    with h5py.File(src, "w") as file:
        lossless(file)
    t.source(src)
    for chunk in ("12,20", "48,60", "7,33"):
        t.rechunk(src, out, "-c", chunk, "--overwrite", "--verify", "full")
        with h5py.File(src) as before, h5py.File(out) as after:
            for name in before:
                a, b = before[name].id, after[name].id
                t.equal("%s: chunks" % name, tuple(map(int, chunk.split(","))), after[name].chunks)
                t.equal(name + ": filters", pipeline(a, True), pipeline(b, True))
                t.check(bits(a) == bits(b), "%s in chunks of %s: values differ" % (name, chunk))


def test_the_library_would_set_the_same_parameters(t):
    """What set_local of the plugins and of the library computes for the new chunks is what we wrote."""
    src, out = t / "all.h5", t / "new.h5"
    with h5py.File(src, "w") as file:
        lossless(file)
    t.rechunk(src, out, "-c", "16,30")
    with h5py.File(out) as after, h5py.File(t / "own.h5", "w") as own:
        for name in after:
            dataset = after[name].id
            plist = dataset.get_create_plist()
            if plist.get_filter(0)[0] == BITSHUFFLE:  # what it computes comes before what it is given
                number, flags, parameters, _ = plist.get_filter(0)
                plist.remove_filter(number)
                plist.set_filter(number, flags, tuple(parameters[3:]))
            made = h5d.create(own.id, name.encode(), dataset.get_type(), dataset.get_space(), dcpl=plist)
            for (number, _, ours), (_, _, theirs) in zip(pipeline(dataset), pipeline(made)):
                if number in (BLOSC, BITSHUFFLE):  # versions, which nobody reads
                    ours, theirs = ours[2:], theirs[2:]
                t.equal("%s: parameters of filter %d" % (name, number), theirs, ours)


def test_masks_are_honoured_and_kept(t):
    """Chunks that leave out one filter, the other, or both."""
    src, out = t / "masks.h5", t / "out.h5"
    data = values("<i2")
    with h5py.File(src, "w") as file:
        for name, last in (("deflate", (DEFLATE, OPTIONAL, (1,))), ("lzf", (LZF, OPTIONAL, ())),
                           ("bitshuffle", (BITSHUFFLE, OPTIONAL, (0, 2))), ("szip", (SZIP, OPTIONAL, (NN, 4))),
                           ("scaleoffset", (SCALEOFFSET, OPTIONAL, (h5z.SO_INT, 0)))):
            whole = create(file, name, [(SHUFFLE, OPTIONAL, ()), last], data)
            alone = create(file, name + "_alone", [last], data)
            bare = np.ascontiguousarray(data[:24, 20:40]).tobytes()
            whole.write_direct_chunk((0, 20), bare, 3)
            whole.write_direct_chunk((24, 0), alone.read_direct_chunk((24, 0))[1],
                                     1 | alone.get_chunk_info_by_coord((24, 0)).filter_mask << 1) \
                if name != "scaleoffset" else None
            shuffled = np.frombuffer(np.ascontiguousarray(data[24:, 40:]).tobytes(), "u1").reshape(-1, 2).T.tobytes()
            whole.write_direct_chunk((24, 40), shuffled, 2)
    t.source(src)
    t.rechunk(src, out)
    with h5py.File(src) as before, h5py.File(out) as after:
        for name in before:
            t.check(raw_chunks(before[name].id) == raw_chunks(after[name].id), name + ": stored chunks differ")
            if name != "scaleoffset":
                t.check(np.array_equal(before[name][()], data), name + ": the source is not what it should be")
    t.rechunk(src, t / "new.h5", "-c", "12,30", "--verify", "full")
    with h5py.File(src) as before, h5py.File(t / "new.h5") as after:
        for name in before:
            t.check(bits(before[name].id) == bits(after[name].id), name + ": values differ")


def test_lzf_leaves_out_what_does_not_shrink(t):
    src, out = t / "noise.h5", t / "out.h5"
    noise = np.random.default_rng(1).integers(0, 256, SHAPE, "u1")
    with h5py.File(src, "w") as file:
        create(file, "v", [(LZF, OPTIONAL, ())], noise)
    t.rechunk(src, out, "-c", "12,30")
    with h5py.File(out) as file:
        t.equal("masks", {1}, {mask for mask, _ in raw_chunks(file["v"].id).values()})
        t.check(np.array_equal(file["v"][()], noise), "values differ")


def test_lossy_filters_are_not_applied_again(t):
    src = t / "lossy.h5"
    data = np.arange(1000, dtype="<f4") / 7
    with h5py.File(src, "w") as file:
        create(file, "so", [(SCALEOFFSET, OPTIONAL, (h5z.SO_FLOAT_DSCALE, 2))], data, chunk=(100,))
        create(file, "d64", [(SCALEOFFSET, OPTIONAL, (h5z.SO_FLOAT_DSCALE, 3))], data.astype(">f8"), chunk=(100,),
               fill=2)
    t.source(src)
    for name, number, label in (("so", SCALEOFFSET, "scaleoffset"), ("d64", SCALEOFFSET, "scale")):
        out = t / (name + ".h5")
        t.refused("rechunk", src, out, "--variable", name, "-c", "130", code=4,
                  says=("/" + name, str(number), label, "--codec"))
        t.rechunk(src, out, "--variable", name, "-c", "130", "--codec", "shuffle,deflate:1")
        with h5py.File(src) as before, h5py.File(out) as after:
            t.check(bits(before[name].id) == bits(after[name].id), name + ": values differ")
            t.equal(name + ": filters", [SHUFFLE, DEFLATE], [f[0] for f in pipeline(after[name].id)])


def test_filters_nobody_decodes(t):
    """Advice and copies work; chunks are not made anew, and the filter is named."""
    src = t / "foreign.h5"
    with h5py.File(src, "w") as file:
        for name, options in (("blosc2", hdf5plugin.Blosc2()), ("zfp", hdf5plugin.Zfp(reversible=True))):
            number, parameters = plugin(options)
            create(file, name, [(number, OPTIONAL, parameters)], values("<f4"))
        file["plain"] = values("<f4")
    t.source(src)
    result = t.chunkadvise(src)
    t.check("32026" in result.out, "the advice does not tell the filter")
    t.refused("rechunk", src, t / "out.h5", "-c", "12,20", code=4, says=("/blosc2", "32026", "blosc2"))
    t.refused("rechunk", src, t / "out.h5", "-c", "12,20", "--variable", "zfp", code=4, says=("/zfp", "32013"))
    t.rechunk(src, t / "out.h5", "-c", "plain:12,20")
    with h5py.File(src) as before, h5py.File(t / "out.h5") as after:
        for name in before:
            t.check(bits(before[name].id) == bits(after[name].id), name + ": values differ")


def test_rounding_filters_do_not_round_again(t):
    """BitGroom's filter has nothing to decode; h5py lacks it, so chunks are written and read without the library."""
    src, out = t / "rounded.h5", t / "out.h5"
    data = values("<f4")
    with h5py.File(src, "w") as file:
        # Optional, so that the library takes it although it does not know it.
        plist = h5p.create(h5p.DATASET_CREATE)
        plist.set_chunk(CHUNK)
        plist.set_filter(BITGROOM, OPTIONAL, (3, 4, 0, 0, 0))
        dataset = h5d.create(file.id, b"v", h5t.IEEE_F32LE, h5s.create_simple(SHAPE), dcpl=plist)
        for i in range(0, SHAPE[0], CHUNK[0]):
            for j in range(0, SHAPE[1], CHUNK[1]):
                dataset.write_direct_chunk((i, j), np.ascontiguousarray(data[i:i + 24, j:j + 20]).tobytes(), 0)
        expected = pipeline(dataset)
    t.source(src)
    t.rechunk(src, out, "-c", "12,60")
    with h5py.File(out) as file:
        dataset = file["v"].id
        t.equal("filters", expected, pipeline(dataset))
        for (i, j), (mask, chunk) in raw_chunks(dataset).items():
            t.check(chunk == np.ascontiguousarray(data[i:i + 12, j:j + 60]).tobytes(), "chunk %d,%d differs" % (i, j))


def test_codecs_asked_for(t):
    src = t / "plain.h5"
    with h5py.File(src, "w") as file:
        for dtype in ("u1", ">i2", "<i4", "<f4", ">f8", "<u8"):
            file.create_dataset("v_" + dtype.strip("<>"), data=values(dtype), chunks=CHUNK)
    for codec, number in (("lzf", LZF), ("bz2:2", BZIP2), ("bitshuffle", BITSHUFFLE), ("bitshuffle:zstd:4", BITSHUFFLE),
                          ("bitshuffle:none", BITSHUFFLE), ("szip", SZIP), ("szip:ec:32", SZIP), ("zstd", ZSTD),
                          ("blosc:lz4", BLOSC), ("hdf5-lz4", LZ4)):
        out = t / "out.h5"
        t.rechunk(src, out, "-c", "12,20", "--codec", codec, "--overwrite")
        with h5py.File(src) as before, h5py.File(out) as after:
            for name in before:
                t.equal(codec + ": filters", [number], [f[0] for f in pipeline(after[name].id)])
                t.check(bits(before[name].id) == bits(after[name].id), "%s %s: values differ" % (codec, name))
    t.refused("rechunk", src, t / "no.h5", "-c", "2,3", "--codec", "szip:nn:32", code=4, says=("/v_", "szip"))
    t.refused("rechunk", src, t / "no.h5", "--codec", "nbit", code=2, says="nbit")


def test_without_plugins_all_the_same(t):
    """An empty plugin path: what we ship is decoded, whoever wrote it."""
    src, out = t / "all.h5", t / "out.h5"
    with h5py.File(src, "w") as file:
        lossless(file)
    empty = t / "empty"
    empty.mkdir()
    t.rechunk(src, out, "-c", "12,20", env={**os.environ, "HDF5_PLUGIN_PATH": str(empty)})
    with h5py.File(src) as before, h5py.File(out) as after:
        t.equal("datasets", sorted(before), sorted(after))
        for name in before:
            t.check(bits(before[name].id) == bits(after[name].id), name + ": values differ")


def test_to_zarr(t):
    """Filters that only HDF5 has become what Zarr has; rounded values arrive as they were read."""
    import zarr
    src = t / "all.h5"
    with h5py.File(src, "w") as file:
        lossless(file)
        for name in list(file):
            if name.startswith("nbit_") and name != "nbit_whole":
                del file[name]
        create(file, "rounded", [(SCALEOFFSET, OPTIONAL, (h5z.SO_FLOAT_DSCALE, 2))], values("<f4"))
    for version in ("zarr2", "zarr3"):
        out = t / (version + ".zarr")
        t.rechunk(src, out, "--to", version, "-c", "12,20")
        group = zarr.open_group(out, mode="r")
        with h5py.File(src) as before:
            t.equal(version + ": arrays", sorted(before), sorted(group.array_keys()))
            for name in before:
                t.check(np.array_equal(before[name][()], group[name][...], equal_nan=before[name].dtype.kind == "f"),
                        "%s %s: values differ" % (version, name))


if __name__ == "__main__":
    harness.main(globals())
