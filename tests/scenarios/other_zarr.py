"""zarr-python of another environment, asked by a file of wishes: `python other_zarr.py WISHES ANSWERS`.

Runs under zarr-python 2 and 3 alike, so it imports nothing of the other scripts. A wish is {"do": "write", "path",
"values": NPY, "written": [[first, end], ...], "chunks", "order", "fill": NPY or null, "format": 2 or 3, "separator",
"endian"} or {"do": "read", "path", "values": NPY}. The answer to each is {} or {"error": text}; of a read also the
attributes, and the fill value as an NPY file beside the values.
"""

import json
import sys
import warnings

import numpy as np
import zarr

IS_3 = int(zarr.__version__.split(".")[0]) >= 3


def write(wish):
    values = np.load(wish["values"])
    fill = None if wish["fill"] is None else np.load(wish["fill"])[()]
    options = {"chunks": tuple(wish["chunks"]), "shape": values.shape, "fill_value": fill}
    if IS_3 and wish["format"] == 3:
        endian = wish["endian"] if values.dtype.itemsize > 1 else "little"
        array = zarr.create_array(wish["path"], dtype=values.dtype.newbyteorder("="), zarr_format=3, compressors=None,
                                  serializer=zarr.codecs.BytesCodec(endian=endian), **options)
    elif IS_3:
        array = zarr.create_array(wish["path"], dtype=values.dtype, zarr_format=2, compressors=None, order=wish["order"],
                                  chunk_key_encoding={"name": "v2", "separator": wish["separator"]}, **options)
    else:
        array = zarr.open_array(wish["path"], mode="w", dtype=values.dtype, compressor=None, order=wish["order"],
                                dimension_separator=wish["separator"], **options)
    window = tuple(slice(a, b) for a, b in wish["written"])
    array[window] = values[window]
    array.attrs["title"] = "of " + wish["path"].rsplit("/", 1)[-1]
    return {}


def read(wish):
    array = zarr.open_array(wish["path"], mode="r")
    np.save(wish["values"], np.asarray(array[...]))
    fill = array.fill_value
    if fill is not None:
        np.save(wish["values"] + ".fill", np.array(fill, dtype=array.dtype))
    return {"attributes": dict(array.attrs), "has_fill": fill is not None}


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[1]) as file:
        wishes = json.load(file)
    answers = []
    for wish in wishes:
        try:
            answers.append({"write": write, "read": read}[wish["do"]](wish))
        except Exception as error:
            answers.append({"error": "%s: %s" % (type(error).__name__, str(error).splitlines()[0][:200])})
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
