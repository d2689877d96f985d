"""What netCDF-C writes as Zarr (NCZarr) comes back as the netCDF-4 file it was made of; ncdump is the judge.

Two netCDF-C write here: that of the system's nccopy, and the one inside of the netCDF4 module.
"""

import json
import shutil
import subprocess

import netCDF4
import numpy as np
import zarr

import harness
import judges

CDL = """netcdf a {
dimensions: time = 3 ; lat = 4 ; lon = 5 ; nchar = 6 ;
variables:
  double time(time) ; time:units = "days since 2000-01-01" ;
  float T(time, lat, lon) ; T:_FillValue = -999.f ; T:valid_range = 1.f, 2.f ; T:one = 7s ; T:cell_methods = "time: mean" ;
  short s(lat) ; byte b(lat) ; ubyte ub(lat) ; ushort us(lat) ; uint ui(lat) ; int64 i64(lat) ; uint64 u64(lat) ;
  double d(lat) ; d:_FillValue = -1.e+300 ;
  int scalar ; scalar:note = "x" ;
  char name(lat, nchar) ; name:long_name = "of a station" ;
  char filled(nchar) ; filled:_FillValue = "-" ;
  char c ;
  :title = "title" ; :n = 3 ; :f = 1.5f, 2.5f ; :d = 1.0 ; :big = 9007199254740993ll ; :u = 255ub ;
data:
  time = 0, 1, 2 ; T = 1, 2, 3 ; s = 1, -2, 3, 4 ; b = -1, 2, 3, 4 ; ub = 255, 1, 2, 3 ; us = 65535, 1, 2, 3 ;
  ui = 4294967295, 1, 2, 3 ; i64 = -9223372036854775807, 1, 2, 3 ; u64 = 18446744073709551614, 1, 2, 3 ;
  d = 0.1, 0.2, _, 1e300 ; scalar = 42 ; name = "ab", "cdefgh", "", "x" ; filled = "abc" ; c = "q" ;
group: g {
  dimensions: z = 2 ; lat = 7 ;
  variables: int v(z, lon) ; int w(lat) ; v:u = 1b, 2b ; :gatt = "y" ;
  data: v = 1, 2, 3 ; w = 1, 2, 3, 4, 5, 6, 7 ;
  group: h { variables: float q(z) ; data: q = 1, _ ; }
}
group: empty { :k = 1 ; }
}
"""


def url(path, mode="nczarr,file"):
    return "file://%s#mode=%s" % (path, mode)


def dump(path, *options):
    text = subprocess.run(["ncdump", *options, str(path)], capture_output=True, text=True, check=True).stdout
    return text.split("{", 1)[1].splitlines()


def by_nccopy(t):
    (t / "a.cdl").write_text(CDL)
    subprocess.run(["ncgen", "-4", "-o", str(t / "a.nc"), str(t / "a.cdl")], check=True)
    done = subprocess.run(["nccopy", str(t / "a.nc"), url(t / "a.zarr")], capture_output=True, text=True)
    if done.returncode != 0:
        raise harness.Skip("the system's netCDF writes no NCZarr: " + done.stderr[-200:])
    return t / "a.nc", t / "a.zarr"


def test_written_by_nccopy(t):
    source, path = by_nccopy(t)
    t.source(path)
    out = t / "back.nc"
    t.rechunk(path, out, "--verify", "full")
    t.none("data and metadata", judges.text_differences(dump(source), dump(out)))
    advice = t.chunkadvise(path, "--json").document()
    t.equal("format", "zarr2", advice["format"])


def test_default_fill_as_mask(t):
    """netCDF-C writes six digits of it; told as `_FillValue` it is that value all the same."""
    (t / "a.cdl").write_text("""netcdf a { dimensions: x = 3 ; variables:
      double d(x) ; d:_FillValue = 9.9692099683868690e+36 ; float f(x) ; f:_FillValue = 9.9692099683868690e+36f ;
      double other(x) ; other:_FillValue = 9.96922e+36 ; data: d = 1, _, 3 ; f = _, 2, 3 ; other = 1, _, 3 ; }""")
    subprocess.run(["ncgen", "-4", "-o", str(t / "a.nc"), str(t / "a.cdl")], check=True)
    if subprocess.run(["nccopy", str(t / "a.nc"), url(t / "a.zarr")], capture_output=True).returncode != 0:
        raise harness.Skip("the system's netCDF writes no NCZarr")
    t.rechunk(t.source(t / "a.zarr"), t / "back.nc")
    exactly = ("-p", "9,17")
    t.none("data", judges.text_differences(dump(t / "a.nc", *exactly), dump(t / "back.nc", *exactly)))


def test_its_notes_stay_there(t):
    _, path = by_nccopy(t)
    for suffix in (".zarr2", ".zarr3"):
        out = t / ("plain" + suffix)
        t.rechunk(path, out, "--verify", "full")
        texts = "".join(p.read_text() for p in out.rglob("*") if p.name in (".zattrs", ".zarray", ".zgroup", "zarr.json"))
        t.check("nczarr" not in texts.lower() and "_NCProperties" not in texts, "notes of NCZarr in %s" % out.name)
        node = zarr.open_group(str(out), mode="r")
        t.equal("a scalar", ((), 42), (node["scalar"].shape, node["scalar"][()]))
        t.equal("characters", b"cdefgh", b"".join(node["name"][1].tolist()))
        t.equal("an attribute", 9007199254740993, node.attrs["big"])


def copy_by_module(t, target):
    """A dataset with an unlimited dimension and strings, written by the module's netCDF-C."""
    with netCDF4.Dataset(target, "w") as d:
        d.setncattr("title", "module")
        d.n = np.int16(3)
        d.createDimension("t", None)
        d.createDimension("x", 4)
        v = d.createVariable("T", "f4", ("t", "x"), chunksizes=(2, 2))
        v.units, v.valid = "K", np.float32([1, 2])
        v[0:3, :] = np.arange(12).reshape(3, 4)
        d.createVariable("masked", "f8", ("x",), fill_value=-1.5)[1:3] = [0.1, 0.2]
        d.createVariable("unwritten_f8", "f8", ("x",))
        d.createVariable("unwritten_f4", "f4", ("x",))
        d.createVariable("unwritten_i8", "i8", ("x",))
        d.createVariable("unwritten_u1", "u1", ("x",))
        d.createVariable("s", "f4", ())[...] = 3
        d.createVariable("ch", "S1", ("x",))[:] = np.array(list("abcd"), "S1")
        g = d.createGroup("g")
        g.att = "x"
        g.createDimension("z", 2)
        g.createVariable("q", "i2", ("z", "x"))[...] = np.arange(8).reshape(2, 4)


def test_written_by_the_module(t):
    source, path = t / "m.nc", t / "m.zarr"
    copy_by_module(t, str(source))
    try:
        copy_by_module(t, url(path))
    except OSError as error:
        raise harness.Skip("the module's netCDF writes no NCZarr: %s" % error)
    out = t / "back.nc"
    t.rechunk(t.source(path), out, "--verify", "full")
    t.none("data and metadata", judges.text_differences(dump(source), dump(out)))
    with netCDF4.Dataset(source) as a, netCDF4.Dataset(out) as b:
        for name in a.variables:
            va, vb = a[name], b[name]
            va.set_auto_mask(False), vb.set_auto_mask(False)
            t.check(va[...].tobytes() == vb[...].tobytes(), "%s: %s became %s" % (name, va[...], vb[...]))


def test_first_variant(t):
    """netCDF-C 4.8.0 kept its notes in objects of their own."""
    source, path = by_nccopy(t)
    for document in list(path.rglob(".z*")):
        members = json.loads(document.read_text())
        for key, name in (("_NCZARR_SUPERBLOCK", ".nczarr"), ("_NCZARR_GROUP", ".nczgroup"), ("_NCZARR_ARRAY", ".nczarray"),
                          ("_NCZARR_ATTR", ".nczattr")):
            if key in members:
                (document.parent / name).write_text(json.dumps(members.pop(key)))
        if "fill_value" in members:
            members["fill_value"] = [members["fill_value"]] if members["fill_value"] is not None else None
        document.write_text(json.dumps(members))
    out = t / "back.nc"
    t.rechunk(t.source(path), out, "--verify", "full")
    t.none("data and metadata", judges.text_differences(dump(source), dump(out)))


def test_characters_of_plain_zarr(t):
    """Without its notes nothing tells that "<U1" is one byte here: refused, since the chunk is too short."""
    source, _ = by_nccopy(t)
    path = t / "p.zarr"
    subprocess.run(["nccopy", str(source), url(path, "zarr,file")], check=True, capture_output=True)
    shutil.rmtree(path / "g", ignore_errors=True)
    t.refused("rechunk", path, t / "o.zarr", "--variable", "name", code=(4, 5))


if __name__ == "__main__":
    harness.main(globals())
