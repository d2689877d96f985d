"""zarr-python of another environment and elements of any length: `python other_texts.py WISHES ANSWERS`.

A wish is {"do": "write", "path", "values": nested list, "kind": "text" | "bytes" | "list", "item", "chunks", "order",
"compress", "written": [first, end], "fill", "transpose": axes (of Zarr v3)} or {"do": "read", "path", "kind"}. Values of bytes are lists of numbers. The
answer to a read has "values" and "fill"; to what failed "error".
"""

import json
import sys
import warnings

import numcodecs
import numpy as np
import zarr


def element(value, kind, item):
    if kind == "text":
        return value
    return bytes(value) if kind == "bytes" else np.array(value, item)


def objects(nested, shape, kind, item):
    flat = np.empty(int(np.prod(shape)), object)
    for i, value in enumerate(nested):
        flat[i] = element(value, kind, item)
    return flat.reshape(shape)


def write_transposed(wish):
    shape = tuple(wish["shape"])
    array = zarr.create_array(wish["path"], shape=shape, chunks=tuple(wish["chunks"]), dtype="string",
                              filters=zarr.codecs.TransposeCodec(order=tuple(wish["transpose"])), compressors=None)
    array[...] = objects(wish["values"], shape, "text", None)
    return {}


def write(wish):
    if "transpose" in wish:
        return write_transposed(wish)
    kind, item, shape = wish["kind"], wish.get("item"), tuple(wish["shape"])
    codec = {"text": numcodecs.VLenUTF8, "bytes": numcodecs.VLenBytes,
             "list": lambda: numcodecs.VLenArray(item)}[kind]()
    compressor = {"none": None, "zstd": numcodecs.Zstd(3), "blosc": numcodecs.Blosc("lz4", 5, 1),
                  "zlib": numcodecs.Zlib(1)}[wish.get("compress", "none")]
    filters = [numcodecs.CRC32()] if wish.get("crc") else None
    array = zarr.open_array(wish["path"], mode="w", shape=shape, chunks=tuple(wish["chunks"]), dtype=object,
                            object_codec=codec, compressor=compressor, order=wish.get("order", "C"), filters=filters,
                            fill_value=wish.get("fill"))
    values = objects(wish["values"], shape, kind, item)
    first, end = wish.get("written", [0, shape[0]])
    array[first:end] = values[first:end]
    array.attrs["title"] = "texts"
    return {}


def read(wish):
    array = zarr.open_array(wish["path"], mode="r")
    plain = {"text": lambda v: v, "bytes": list, "list": lambda v: np.asarray(v).tolist()}[wish["kind"]]
    values = [v if v is None or isinstance(v, int) else plain(v) for v in array[...].ravel().tolist()]
    return {"values": values, "fill": array.fill_value}


def main():
    warnings.simplefilter("ignore")
    with open(sys.argv[1]) as file:
        wishes = json.load(file)
    answers = []
    for wish in wishes:
        try:
            answers.append({"write": write, "read": read}[wish["do"]](wish))
        except Exception as error:
            answers.append({"error": "%s: %s" % (type(error).__name__, str(error)[:300])})
    with open(sys.argv[2], "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
