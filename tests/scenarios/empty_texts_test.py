#!/usr/bin/env python3
"""An empty text is not the same as no text, in netCDF strings and in their attributes."""
import netCDF4
import numpy as np

import harness
import judges


def test_empty_netcdf_strings(t):
    with netCDF4.Dataset(t / "s.nc", "w") as file:
        file.createDimension("x", 4)
        v = file.createVariable("s", str, ("x",), chunksizes=(4,))
        v[:] = np.array(["", "foo", "foobar", "Ωβ漢字"], object)
        v.setncattr_string("flag", "")
        v.setncattr("many", ["", "a"])
        file.setncattr_string("root", "")
    for arguments in (("-c", "x/2"), ("-c", "keep")):
        t.rechunk(t / "s.nc", t / "o.nc", "--overwrite", "--verify", "full", *arguments)
        judges_dump = [harness.subprocess.run(["ncdump", str(t / name)], capture_output=True, text=True, timeout=20,
                                              check=True).stdout.splitlines()[1:] for name in ("s.nc", "o.nc")]
        t.none("ncdump", judges.text_differences(*judges_dump))


if __name__ == "__main__":
    harness.main(globals())
