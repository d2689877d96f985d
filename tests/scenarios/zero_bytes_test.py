"""Zero bytes in the texts of attributes: characters in netCDF, padding at the end of texts in plain HDF5."""

import json
import subprocess
from pathlib import Path

import h5py
import netCDF4
import numpy as np
from h5py import h5a, h5s, h5t

import harness

TEXTS = {"plain": b"plain", "trailing": b"ab\0\0", "inside": b"a\0bc", "zero": b"\0", "accent": b"\xc3\xbc\0"}
LIMIT_S = 20


def run(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout


def ncgen(path, kind):
    octal = {k: "".join("\\%03o" % b if b < 32 or b > 126 else chr(b) for b in v) for k, v in TEXTS.items()}
    lines = "".join(' v:%s = "%s" ;' % item for item in octal.items())
    source = Path(str(path) + ".cdl")
    source.write_text("netcdf a { dimensions: x = 2 ; variables: int v(x) ;%s data: v = 1, 2 ; }" % lines)
    run("ncgen", "-k", kind, "-o", path, source)
    source.unlink()
    return path


def characters(path):
    """The bytes of the characters of /v in a netCDF-4 file, all of the width."""
    found = {}
    with h5py.File(path) as file:
        for name in TEXTS:
            a = h5a.open(file["v"].id, name.encode())
            kind = a.get_type().copy()
            raw = np.zeros((), "V%d" % kind.get_size())
            a.read(raw, mtype=kind)
            found[name] = raw.tobytes()
    return found


def attributes_in_zarr(path):
    return json.loads((path / "v" / "zarr.json").read_text())["attributes"]


def test_characters_of_netcdf4(t):
    src = t.source(ncgen(t / "a.nc", "nc4"))
    t.equal("what netCDF-C writes", TEXTS, characters(src))
    classic = ncgen(t / "b.nc", "classic")
    t.rechunk(src, t / "c.nc", "--to", "nc3")
    t.equal("the bytes that netCDF-C writes as netCDF-3", classic.read_bytes(), (t / "c.nc").read_bytes())
    t.rechunk(classic, t / "d.nc", "--to", "nc4")
    t.equal("from netCDF-3", TEXTS, characters(t / "d.nc"))
    for kind in ("zarr2", "zarr3"):
        store = t / ("s." + kind)
        t.rechunk(src, store, "--to", kind)
        t.rechunk(store, t / "back.nc", "--to", "nc4", "--overwrite")
        t.equal("by way of " + kind, TEXTS, characters(t / "back.nc"))
        t.equal("ncdump of " + kind, run("ncdump", "-n", "x", src), run("ncdump", "-n", "x", t / "back.nc"))
    # Readers of netCDF do not show what fills up the width.
    t.equal("in JSON", {k: v.rstrip(b"\0").decode() for k, v in TEXTS.items()}, attributes_in_zarr(t / "s.zarr3"))
    with netCDF4.Dataset(src) as file:
        t.equal("in netCDF4", {k: v for k, v in attributes_in_zarr(t / "s.zarr3").items() if "\0" not in v},
                {k: file["v"].getncattr(k) for k in TEXTS if b"\0" not in TEXTS[k].rstrip(b"\0")})


def test_padding_of_plain_hdf5(t):
    texts = {"a": b"ab\0\0\0", "b": b"a\0b\0\0", "c": b"\0\0\0\0\0", "d": b"abcde"}
    with h5py.File(t / "a.h5", "w") as file:
        file["v"] = np.arange(3)
        for padding, word in ((h5t.STR_NULLTERM, "end"), (h5t.STR_NULLPAD, "pad")):
            kind = h5t.C_S1.copy()
            kind.set_size(5)
            kind.set_strpad(padding)
            for name, text in texts.items():
                a = h5a.create(file["v"].id, (word + name).encode(), kind, h5s.create(h5s.SCALAR))
                a.write(np.array(np.void(text)), mtype=kind)
    src = t.source(t / "a.h5")
    t.rechunk(src, t / "b.zarr")
    wanted = {w + k: v.rstrip(b"\0").decode() for w in ("end", "pad") for k, v in texts.items()}
    t.equal("in JSON", wanted, attributes_in_zarr(t / "b.zarr"))
    t.rechunk(src, t / "c.nc", "--to", "nc4")
    shown = [[line for line in run("ncdump", "-h", t / p).splitlines() if "v:" in line] for p in ("a.h5", "c.nc")]
    t.equal("what ncdump shows", shown[0], shown[1])
    with h5py.File(src) as a, h5py.File(t / "c.nc") as b:
        for name in wanted:
            # h5py ends one kind of text, and not the other, at a zero byte inside.
            if b"\0" not in wanted[name].encode():
                t.equal("what h5py shows of " + name, a["v"].attrs[name], b["v"].attrs[name])


if __name__ == "__main__":
    harness.main(globals())
