#!/usr/bin/env python3
"""Write the small file that the quickstart and the tests start from: a year of six-hourly weather on a coarse grid.

    build/judges/bin/python tools/make_sample.py [OUT.nc]     default: data/sample.nc

It has what such files usually have: an unlimited time, coordinates, a float field with _FillValue, a packed field, a group
of fixed fields, and the chunks that netCDF chooses by itself for a record variable: one map each. The same arguments give
the same values on every machine with the same numpy.
"""
import os
import sys

import netCDF4
import numpy as np

N_TIME, N_LAT, N_LON, STEPS_A_DAY = 1460, 25, 36, 4


def smooth_field(rng, n_modes):
    """A few long waves over the grid: (mode, lat, lon) and their drift in time: (time, mode)."""
    lat, lon = np.meshgrid(np.linspace(0, 1, N_LAT), np.linspace(0, 1, N_LON, endpoint=False), indexing="ij")
    k_lat, k_lon = rng.integers(0, 4, n_modes), rng.integers(0, 5, n_modes)
    phase = rng.uniform(0, 2 * np.pi, n_modes)
    waves = np.cos(np.pi * k_lat[:, None, None] * lat + 2 * np.pi * k_lon[:, None, None] * lon + phase[:, None, None])
    weights = np.cumsum(rng.standard_normal((N_TIME, n_modes)), axis=0) * 0.05 + rng.standard_normal(n_modes)
    return waves / np.sqrt(1 + k_lat**2 + k_lon**2)[:, None, None], weights


def temperature(rng, lat, height):
    step = np.arange(N_TIME)
    year = np.cos(2 * np.pi * (step / N_TIME - 0.54))
    day = np.cos(2 * np.pi * (step / STEPS_A_DAY - 0.6))
    climate = 300 - 45 * np.sin(np.radians(lat)) ** 2
    season = 14 * np.sin(np.radians(lat))
    waves, weights = smooth_field(rng, 12)
    field = climate[:, None] + np.einsum("tm,mij->tij", weights, waves) - 0.0065 * height
    field += year[:, None, None] * season[:, None] + 2 * day[:, None, None]
    return (np.round(field * 16) / 16).astype("f4")  # an analysis is not known better than to 1/16 K


def precipitation(rng):
    waves, weights = smooth_field(rng, 10)
    wet = np.einsum("tm,mij->tij", weights, waves) - 1.5
    return np.round(np.maximum(wet, 0) * 2, 1)  # mm, mostly 0


def main(path):
    rng = np.random.default_rng(2013)
    lat = np.linspace(60, -60, N_LAT)
    lon = np.linspace(0, 350, N_LON)
    waves, weights = smooth_field(rng, 8)
    height = np.round(np.maximum(np.einsum("m,mij->ij", weights[0], waves), 0) * 800)

    file = netCDF4.Dataset(path, "w", format="NETCDF4")
    file.Conventions = "CF-1.8"
    file.title = "Sample: a year of six-hourly weather, made up"
    file.createDimension("time", None)
    file.createDimension("lat", N_LAT)
    file.createDimension("lon", N_LON)

    times = file.createVariable("time", "f8", ("time",), chunksizes=(512,))
    times.setncatts({"units": "hours since 2013-01-01 00:00:00", "calendar": "365_day", "standard_name": "time"})
    for name, units, values in (("lat", "degrees_north", lat), ("lon", "degrees_east", lon)):
        axis = file.createVariable(name, "f4", (name,))
        axis.setncatts({"units": units, "standard_name": {"lat": "latitude", "lon": "longitude"}[name]})
        axis[:] = values

    grid = {"zlib": True, "complevel": 1, "shuffle": True}
    record = dict(grid, chunksizes=(1, N_LAT, N_LON))
    t2m = file.createVariable("t2m", "f4", ("time", "lat", "lon"), fill_value=np.float32(-999), **record)
    t2m.setncatts({"units": "K", "standard_name": "air_temperature", "long_name": "2 metre temperature"})
    tp = file.createVariable("tp", "i2", ("time", "lat", "lon"), fill_value=np.int16(-32768), **record)
    tp.setncatts({"units": "mm", "long_name": "total precipitation", "scale_factor": 0.1, "add_offset": 0.0,
                  "valid_range": np.array([0, 5000], "i2")})
    fixed = file.createGroup("fixed")
    fixed.title = "Fields that do not change"
    orography = fixed.createVariable("orography", "f4", ("lat", "lon"), **grid)
    orography.setncatts({"units": "m", "standard_name": "surface_altitude"})
    land = fixed.createVariable("land", "i1", ("lat", "lon"), **grid)
    land.setncatts({"flag_values": np.array([0, 1], "i1"), "flag_meanings": "sea land"})

    values = temperature(rng, lat, height)
    values[700:704, :, :] = -999  # a day without an analysis
    t2m.set_auto_maskandscale(False)
    t2m[:] = values
    tp[:] = precipitation(rng)
    times[:] = np.arange(N_TIME) * (24 // STEPS_A_DAY)
    orography[:] = height
    land[:] = height > 0
    file.close()
    print(f"{path}: {os.path.getsize(path):,} bytes")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/sample.nc")
