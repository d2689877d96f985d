"""netCDF-3 (CDF-1, CDF-2, CDF-5) read and written, judged by ncdump, nccopy, netCDF4-python and bytes made here."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import harness
import netCDF4
import numpy as np
import zarr

KINDS = {"NETCDF3_CLASSIC": 1, "NETCDF3_64BIT_OFFSET": 2, "NETCDF3_64BIT_DATA": 5}
LIMIT_S = 20
HERE = Path(__file__).resolve().parent

CDL = """netcdf a {
dimensions: t = UNLIMITED ; y = 3 ; x = 5 ; n = 4 ;
variables:
 float f(y,x) ; f:units = "K" ; f:_FillValue = -9.f ; f:arr = 1.5, 2.5 ; f:b = 1b ; f:s = 3s, 4s ; f:l = 7 ; f:fl = 1.f ;
 byte b(t,y) ; short s(t,x) ; double d(t) ; char c(t,y) ; int i(t,y,x) ; byte scalar ; short fs(x) ; char name(n) ;
 name:_FillValue = "-" ;
 :title = "hello" ; :empty = "" ; :accents = "Zürich" ;
data:
 f = 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 ; d = 1,2,3,4 ; b = 1,2,3,4,5,6,7,8,9,10,11,12 ; s = 1,2,3,4,5,6,7,8,9,10 ;
 scalar = 7 ; fs = 1,2,3,_,5 ; name = "abcd" ; c = "abc","def" ;
}"""


def tool(*argv):
    result = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=LIMIT_S)
    if result.returncode != 0:
        raise RuntimeError("%s: %s" % (argv[0], result.stderr))
    return result.stdout


def dump(path, *options):
    """What ncdump prints, without the name of the file."""
    return tool("ncdump", "-n", "x", *options, path)


def ncgen(path, cdl, kind="classic"):
    source = Path(str(path) + ".cdl")
    source.write_text(cdl)
    tool("ncgen", "-k", kind, "-o", path, source)
    source.unlink()
    return path


def version(path):
    magic = Path(path).read_bytes()[:4]
    return magic[3] if magic[:3] == b"CDF" else magic


def make_python(path, kind):
    """Fixed and record variables of every type, by netCDF4-python."""
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name, length in (("time", None), ("lat", 5), ("lon", 7), ("odd", 3)):
            file.createDimension(name, length)
        types = ["i1", "i2", "i4", "f4", "f8"] + (["u1", "u2", "u4", "i8", "u8"] if kind.endswith("DATA") else [])
        random = np.random.default_rng(1)
        for name in types:
            for prefix, dims in (("fixed", ("lat", "lon")), ("record", ("time", "odd")), ("series", ("time",))):
                v = file.createVariable("%s_%s" % (prefix, name), name, dims)
                shape = tuple(11 if d == "time" else len(file.dimensions[d]) for d in dims)
                v[:] = random.integers(0, 100, size=shape).astype(name)
                v.setncattr("a_" + name, np.arange(3, dtype=name))
                v.setncattr("one_" + name, np.array(5, dtype=name))
        text = file.createVariable("téxt", "S1", ("time", "odd"))
        text[:] = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz1234567", "S1").reshape(11, 3)
        file.createVariable("never", "f8", ("time", "lat"))
        file.createVariable("scalar", "f8", ())[...] = 2.5
        file.setncatts({"title": "classic", "größe": "äöü", "n": np.int32(3)})
    return path


def one_record_variable(path, nc_type, values, kind=1):
    """Bytes by hand: the only record variable, of a small type, three of it in a record: no padding."""
    code, letter = nc_type
    header = b"CDF" + bytes([kind]) + struct.pack(">I", len(values) // 3)
    header += struct.pack(">II", 0x0A, 2) + struct.pack(">I", 1) + b"t\0\0\0" + struct.pack(">I", 0)
    header += struct.pack(">I", 1) + b"x\0\0\0" + struct.pack(">I", 3)
    header += struct.pack(">II", 0, 0)
    header += struct.pack(">II", 0x0B, 1) + struct.pack(">I", 1) + b"v\0\0\0" + struct.pack(">III", 2, 0, 1)
    header += struct.pack(">II", 0, 0) + struct.pack(">I", code)
    element_bytes = struct.calcsize(letter)
    header += struct.pack(">I", (3 * element_bytes + 3) // 4 * 4)
    begin = len(header) + (4 if kind == 1 else 8)
    header += struct.pack(">I" if kind == 1 else ">Q", begin)
    Path(path).write_bytes(header + struct.pack(">%d%s" % (len(values), letter), *values))
    return path


class Classic:
    """A classic file taken apart here, without any library."""

    def __init__(self, path):
        self.data = Path(path).read_bytes()
        self.at, kind = 4, self.data[3]
        self.word = 8 if kind == 5 else 4
        self.n_records = self.number()
        self.dims = [(self.name(), self.number()) for _ in range(self.list())]
        self.attributes()
        self.variables = []
        for _ in range(self.list()):
            name = self.name()
            dims = [self.number() for _ in range(self.number())]
            self.attributes()
            code, _ = self.number(4), self.number()
            self.variables.append((name, dims, self.element_bytes(code), self.number(4 if kind == 1 else 8)))
        self.header_bytes = self.at

    def number(self, n_bytes=None):
        n_bytes = n_bytes or self.word
        self.at += n_bytes
        return int.from_bytes(self.data[self.at - n_bytes:self.at], "big")

    def list(self):
        self.number(4)
        return self.number()

    def skip(self, n_bytes):
        begin, self.at = self.at, self.at + (n_bytes + 3) // 4 * 4
        return self.data[begin:begin + n_bytes]

    def name(self):
        return self.skip(self.number()).decode()

    def attributes(self):
        for _ in range(self.list()):
            self.name()
            code, n = self.number(4), self.number()
            self.skip(n * self.element_bytes(code))

    @staticmethod
    def element_bytes(code):
        return (1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8)[code - 1]

    def without_padding(self):
        """The bytes with zeros where netCDF-C leaves what it happened to have in memory."""
        data = bytearray(self.data)
        slabs = []
        for _, dims, element_bytes, begin in self.variables:
            is_record = bool(dims) and self.dims[dims[0]][1] == 0
            size = element_bytes * int(np.prod([self.dims[d][1] for d in dims[is_record:]], dtype=int))
            slabs.append((begin, size, is_record))
        records = [size for _, size, is_record in slabs if is_record]
        stride = records[0] if len(records) == 1 else sum((size + 3) // 4 * 4 for size in records)
        for begin, size, is_record in slabs:
            if is_record and len(records) == 1:
                continue
            for r in range(self.n_records if is_record else 1):
                end = begin + r * stride + size
                data[end:end + -size % 4] = bytes(-size % 4)
        return bytes(data)


def same_bytes(t, what, a, b):
    first, second = Classic(a).without_padding(), Classic(b).without_padding()
    if first != second:
        at = next((i for i, (x, y) in enumerate(zip(first, second)) if x != y), -1)
        t.fail("%s: %d and %d bytes, the first difference at %d: %r, %r" % (
            what, len(first), len(second), at, first[at:at + 16], second[at:at + 16]))


def same_dump(t, what, a, b):
    first, second = dump(a), dump(b)
    lines = [x + " | " + y for x, y in zip(first.splitlines(), second.splitlines()) if x != y]
    t.none(what, lines)
    t.equal(what + ", lines", len(first.splitlines()), len(second.splitlines()))


def test_nothing_changes(t):
    for kind, number in KINDS.items():
        src = t.source(make_python(t / ("p%d.nc" % number), kind))
        t.rechunk(src, t / ("c%d.nc" % number), "--verify", "full")
        same_bytes(t, "CDF-%d" % number, src, t / ("c%d.nc" % number))
    for name, kind in (("g1", "classic"), ("g2", "64-bit offset"), ("g5", "64-bit data")):
        src = t.source(ncgen(t / (name + ".nc"), CDL, kind))
        t.rechunk(src, t / (name + "c.nc"))
        same_bytes(t, kind, src, t / (name + "c.nc"))


def test_to_netcdf4(t):
    """As nccopy has it, of the classic model where the types allow it."""
    for kind, number in KINDS.items():
        src = make_python(t / ("p%d.nc" % number), kind)
        out, ref = t / ("o%d.nc" % number), t / ("r%d.nc" % number)
        t.rechunk(src, out, "--to", "nc4", "--verify", "full")
        tool("nccopy", "-k", "nc4" if number == 5 else "nc7", src, ref)
        same_dump(t, "CDF-%d to netCDF-4" % number, ref, out)
        t.equal("model", "NETCDF4" if number == 5 else "NETCDF4_CLASSIC", netCDF4.Dataset(out).data_model)
        with netCDF4.Dataset(out) as file:
            t.equal("byte order", {"little"}, {v.endian() for v in file.variables.values() if v.dtype.kind in "iuf"
                                               and v.dtype.itemsize > 1})
        chunked = t / ("k%d.nc" % number)
        t.rechunk(src, chunked, "-c", "time/4,lat/2", "--codec", "shuffle,deflate:1",
                  says=("classic", "cannot be chunked", "writing netCDF-4"))
        same_dump(t, "CDF-%d chunked" % number, ref, chunked)
        with netCDF4.Dataset(chunked) as file:
            t.equal("chunks", [2, 7], file["fixed_i4"].chunking())
            t.equal("chunks", [4, 3], file["record_i4"].chunking())
        # And back to what it was.
        t.rechunk(out, t / ("b%d.nc3" % number), "--verify", "full")
        if number != 2:  # which need not be CDF-2
            same_bytes(t, "by way of netCDF-4", src, t / ("b%d.nc3" % number))


def test_from_netcdf4(t):
    """As nccopy -k nc3 has it, byte for byte but for the padding, which nccopy leaves zero."""
    src = ncgen(t / "g.nc", CDL, "netCDF-4 classic model")
    t.source(src)
    t.rechunk(src, t / "o.nc3", "--verify", "full")
    tool("nccopy", "-k", "nc3", src, t / "r.nc")
    t.equal("version", 1, version(t / "o.nc3"))
    same_dump(t, "netCDF-4 to netCDF-3", t / "r.nc", t / "o.nc3")
    same_bytes(t, "nccopy", t / "r.nc", t / "o.nc3")
    # Chunks, filters and absent chunks are nothing to netCDF-3.
    with netCDF4.Dataset(t / "c.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 10)
        v = file.createVariable("v", "f4", ("t", "x"), chunksizes=(2, 5), zlib=True, fill_value=np.float32(-1))
        v[4:6, :5] = 3
        w = file.createVariable("w", "i2", ("x",), chunksizes=(5,))
        w[5:] = 4
        file.createVariable("short", "i4", ("t",), chunksizes=(4,))[:2] = [1, 2]
    t.rechunk(t / "c.nc", t / "c.nc3", "--verify", "full", says=("no chunks",))
    same_dump(t, "absent chunks", t / "c.nc", t / "c.nc3")


def test_records(t):
    for (code, letter), name in (((1, "b"), "byte"), ((3, "h"), "short"), ((2, "B"), "char")):
        for kind in (1, 2):
            src = one_record_variable(t / ("%s%d.nc" % (name, kind)), (code, letter), list(range(65, 77)), kind)
            t.source(src)
            out = t / ("%s%d.out.nc" % (name, kind))
            t.rechunk(src, out, "--verify", "full")
            t.equal("%s without padding" % name, src.read_bytes(), out.read_bytes())
            t.rechunk(src, t / ("%s%d.nc4" % (name, kind)), "-c", "t/2,x/2", "--verify", "full")
            with netCDF4.Dataset(t / ("%s%d.nc4" % (name, kind))) as file:
                got = file["v"][:].tobytes() if name == "char" else list(np.ravel(file["v"][:]))
                t.equal(name, bytes(range(65, 77)) if name == "char" else list(range(65, 77)), got)
    # Streaming: the number of records is what the file holds.
    whole = (t / "short1.nc").read_bytes()
    (t / "stream.nc").write_bytes(whole[:4] + b"\xff\xff\xff\xff" + whole[8:])
    t.rechunk(t / "stream.nc", t / "stream.nc4", "--verify", "full")
    same_dump(t, "streaming", t / "short1.nc", t / "stream.nc4")
    # More records than there are data.
    (t / "cut.nc").write_bytes(whole[:-1])
    t.refused("rechunk", t / "cut.nc", t / "cut.nc4", code=5, says=("/v", "record 3"))
    (t / "more.nc").write_bytes(whole[:4] + struct.pack(">I", 9) + whole[8:])
    t.refused("rechunk", t / "more.nc", t / "more.zarr", code=5, says=("/v", "record 4"))


def test_zero_records(t):
    """pydata/xarray#678, pangeo-data/rechunker#126 (C14) as CDF-1"""
    for n in (0, 3):
        src = t / ("r%d.nc" % n)
        with netCDF4.Dataset(src, "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 4)
            v = file.createVariable("v", "f4", ("time", "x"))
            time = file.createVariable("time", "f8", ("time",))
            file.createVariable("q", "i4", ("x",))[:] = [1, 2, 3, 4]
            if n:
                v[:] = np.arange(n * 4).reshape(n, 4)
                time[:] = np.arange(n)
        t.source(src)
        advice = t.chunkadvise(src)
        t.check("/v" in advice.out and "nan" not in advice.out.lower(), "advice:\n" + advice.out[:500])
        t.rechunk(src, t / ("o%d.nc" % n), "-c", "time/10")
        with netCDF4.Dataset(t / ("o%d.nc" % n)) as file:
            time = file.dimensions["time"]
            t.equal("unlimited, length", (True, n), (time.isunlimited(), len(time)))
            t.equal("chunks of v", [10, 4], file["v"].chunking())
        for zarr_format in ("zarr2", "zarr3"):
            store = t / ("z%d.%s" % (n, zarr_format))
            t.rechunk(src, store, "--to", zarr_format)
            array = zarr.open(str(store))["v"]
            t.equal("shape in Zarr", (n, 4), array.shape)
            t.check(all(length >= 1 for length in array.chunks), "chunks %s" % (array.chunks,))
            t.rechunk(store, t / ("b%d.%s.nc3" % (n, zarr_format)))
            same_bytes(t, "by way of Zarr", src, t / ("b%d.%s.nc3" % (n, zarr_format)))


def test_by_zarr_and_back(t):
    for kind, number in KINDS.items():
        src = t.source(make_python(t / ("p%d.nc" % number), kind))
        for zarr_format in ("zarr2", "zarr3"):
            store = t / ("s%d.%s" % (number, zarr_format))
            t.rechunk(src, store, "--to", zarr_format, "-c", "time/2,lat/3", "--verify", "full")
            group = zarr.open_group(str(store), mode="r")
            with netCDF4.Dataset(src) as file:
                file.set_auto_maskandscale(False)
                file.set_auto_chartostring(False)
                for name, v in file.variables.items():
                    t.check(np.array_equal(v[...], group[name][...]), "%s in %s" % (name, zarr_format))
            t.rechunk(store, t / "back.nc", "--to", "nc3", "--overwrite")
            same_dump(t, "%s and back" % zarr_format, src, t / "back.nc")
            if number != 2:
                same_bytes(t, "by way of " + zarr_format, src, t / "back.nc")


def test_texts_in_zarr(t):
    """Written by zarr-python, read by us, and the other way round."""
    values = np.array([[b"ab", b""], [b"c", b"xyz"]], dtype="S3")
    for zarr_format in (2, 3):
        src, out = t / ("a%d.zarr" % zarr_format), t / ("b%d.zarr" % zarr_format)
        zarr.create_array(str(src), data=values, chunks=(1, 2), zarr_format=zarr_format, fill_value=b"q")
        t.source(src)
        t.rechunk(src, out, "-c", "2,1", "--verify", "full")
        array = zarr.open_array(str(out))
        t.check(np.array_equal(array[...], values) and array.chunks == (2, 1), "texts of Zarr v%d" % zarr_format)
        t.equal("fill", b"q", array.fill_value)


def test_large_records(t):
    """Unidata/netcdf-c#1595 (C50): record slabs beyond 4 GiB"""
    c = 1200000000
    header = b"CDF\x02" + struct.pack(">I", 2)
    header += struct.pack(">II", 0x0A, 2) + struct.pack(">I", 1) + b"t\0\0\0" + struct.pack(">I", 0)
    header += struct.pack(">I", 1) + b"c\0\0\0" + struct.pack(">I", c) + struct.pack(">II", 0, 0)
    header += struct.pack(">II", 0x0B, 2)
    begin = len(header) + 84
    for name, dims, code, vsize, at in ((b"w", (0,), 4, 4, begin), (b"v", (0, 1), 5, 0xFFFFFFFF, begin + 4)):
        header += struct.pack(">I", 1) + name + b"\0\0\0" + struct.pack(">I", len(dims))
        header += b"".join(struct.pack(">I", d) for d in dims) + struct.pack(">II", 0, 0)
        header += struct.pack(">IIQ", code, vsize, at)
    t.equal("header bytes", begin, len(header))
    record = 4 + 4 * c
    src = t / "big.nc"
    with open(src, "wb") as file:
        file.write(header)
        for r, w in ((0, 11), (1, 22)):
            file.seek(begin + r * record)
            file.write(struct.pack(">i", w))
        file.seek(begin + 2 * record - 4)
        file.write(struct.pack(">f", 7.0))
    t.equal("apparent size", begin + 9600000008, src.stat().st_size)
    advice = t.chunkadvise(src, measure=True)
    t.check(advice.seconds < 1 or os.getloadavg()[0] > 3, "advice takes %.2f s" % advice.seconds)
    t.check(advice.peak_rss_bytes < 100e6, "advice takes %d bytes" % advice.peak_rss_bytes)
    t.check("/v" in advice.out, "no line for v")
    t.rechunk(src, t / "w.nc", "--variable", "w", "--to", "nc4")
    with netCDF4.Dataset(t / "w.nc") as file:
        t.equal("w", [11, 22], list(file["w"][:]))


def test_what_it_cannot_hold(t):
    """OSGeo/gdal#14989 (C51) and the rest of what is refused by name"""
    st = ncgen(t / "st.nc", """netcdf st { dimensions: x = 2 ; variables: string expver ; int64 valid_time(x) ;
        data: expver = "0001" ; valid_time = 1, 2 ; }""", "nc4")
    t.refused("rechunk", st, t / "out.nc", "--to", "nc3", code=4, says=("/expver", "/valid_time", "CDF-5"))
    t.rechunk(st, t / "ok.nc", "--to", "nc3", "--exclude", "expver")
    t.equal("version", 5, version(t / "ok.nc"))
    t.equal("values", [1, 2], list(netCDF4.Dataset(t / "ok.nc")["valid_time"][:]))
    many = ncgen(t / "many.nc", """netcdf many { types: compound c { int a ; } ;
        dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 2 ;
        variables: c cc(x) ; int v(t, x) ; int w(x, u) ; string s(x) ; int plain(x) ; plain:l = 5 ;
        string plain:names = "a", "b" ; :c = {1} ;
        data: v = 1, 2, 3, 4 ; w = {1, 2}, {3, 4} ; plain = 5, 6 ;
        group: g { variables: int inner ; data: inner = 1 ; } }""".replace(":c = {1} ;", ""), "nc4")
    t.refused("rechunk", many, t / "m.nc3", code=4,
              says=("/cc", "/s:", "/u", "unlimited", "/g", "/g/inner", "/plain@names"))
    t.rechunk(many, t / "m.nc3", "--allow-loss")
    with netCDF4.Dataset(t / "m.nc3") as file:
        t.equal("variables", ["v", "w", "plain"], list(file.variables))
        t.equal("unlimited", {"t": True, "u": False, "x": False},
                {n: d.isunlimited() for n, d in file.dimensions.items()})
        t.equal("w", [1, 2, 3, 4], list(np.ravel(file["w"][:])))
    classic = ncgen(t / "cdf2.nc", CDL, "64-bit offset")
    t.rechunk(classic, t / "c51.nc", "-c", "x/1", says=("classic", "cannot be chunked, writing netCDF-4"))
    t.equal("model", "NETCDF4_CLASSIC", netCDF4.Dataset(t / "c51.nc").data_model)
    for arguments in (("-c", "x/1"), ("--codec", "zstd:3"), ("-c", "auto")):
        t.refused("rechunk", classic, t / "no.nc3", *arguments, code=4, says=("cannot be chunked",))
        t.refused("rechunk", classic, t / "no.nc", "--to", "nc3", *arguments, code=4, says=("cannot be chunked",))
    t.rechunk(classic, t / "yes.nc3", "-c", "contiguous", "--codec", "none")
    same_bytes(t, "kept", classic, t / "yes.nc3")


def test_sizes(t):
    """Beyond 2 GiB CDF-2 is written, beyond 4 GiB CDF-5; nothing is read or written but a little."""
    def notes(*rows):
        path = t / "s.zarr"
        shutil.rmtree(path, ignore_errors=True)
        group = zarr.open_group(str(path), mode="w", zarr_format=3)
        for i, n in enumerate(rows):
            group.create_array("v%d" % i, shape=(n, 1 << 16), chunks=(16, 1 << 16), dtype="i1", fill_value=0)
        return t.rechunk(path, t / "s.nc3", "--dry-run").err
    t.check("written as" not in notes(1, 1 << 15), "a large variable at the end fits CDF-1")
    t.check("CDF-2" in notes(1 << 15, 1), "a large variable that another follows needs CDF-2")
    t.check("CDF-5" in notes(1 << 16, 1), "beyond 4 GiB it needs CDF-5")


def test_interleaved(t):
    """Small records beside large ones, read by map and by series, and rewritten within little memory."""
    n = 3000
    src = t / "i.nc"
    with netCDF4.Dataset(src, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("t", None)
        for name, length in (("x", 11), ("y", 900)):
            file.createDimension(name, length)
        for name, kind, dims in (("small", "i2", ("t",)), ("large", "f4", ("t", "y")), ("mid", "i1", ("t", "x"))):
            v = file.createVariable(name, kind, dims)
            shape = tuple(n if d == "t" else len(file.dimensions[d]) for d in dims)
            v[:] = (np.arange(np.prod(shape)) % 113).reshape(shape).astype(kind)
    t.source(src)
    for i, arguments in enumerate((("-c", "t/3000,x/1,y/1"), ("-c", "t/7,x/11,y/450"), ("-c", "small:t/100"))):
        t.rechunk(src, t / ("o%d.nc" % i), *arguments, "--verify", "full")
        same_dump(t, " ".join(arguments), src, t / ("o%d.nc" % i))
        t.rechunk(t / ("o%d.nc" % i), t / ("b%d.nc3" % i), "--memory", "64MiB", "--verify", "full")
        same_dump(t, "back", src, t / ("b%d.nc3" % i))


def test_ncvalidator_corpus(t):
    root = Path(os.environ.get("CHUNKWISE_CORPUS", HERE.parents[2] / "shared" / "corpus"))
    if not (root / "pnetcdf-bad").is_dir():
        raise harness.Skip("no corpus at %s; CHUNKWISE_CORPUS names another folder" % root)
    files = sorted(p for p in (root / "pnetcdf-bad").rglob("*") if p.is_file())
    codes = {}
    for path in files:
        for command in (("chunkadvise", path), ("rechunk", path, t / "o.nc", "--to", "nc4", "--overwrite")):
            result = t.run(*command, code=(0, 2, 3, 4, 5), timeout=10)
            codes.setdefault(result.code, []).append(path.name)
    t.check(len(files) > 40, "%d files" % len(files))
    print({code: len(names) for code, names in codes.items()})
    for folder in ("gdal-netcdf", "netcdf4-python", "netcdf-c"):
        for path in sorted((root / folder).glob("*")):
            if path.is_file() and path.read_bytes()[:3] == b"CDF":
                t.rechunk(path, t / "g.nc", "--to", "nc4", "--overwrite", "--verify", "full")
                tool("nccopy", "-k", "nc7", path, t / "r.nc")
                same_dump(t, path.name, t / "r.nc", t / "g.nc")
                t.rechunk(path, t / "g3.nc", "--overwrite", "--to", "nc3")
                same_dump(t, path.name, path, t / "g3.nc")


if __name__ == "__main__":
    harness.main(globals())
