"""A judge of the interop matrix: writes combinations, or tells what it reads. Runs in the environment of the judge.

`python zarr_matrix_judge.py JUDGE write|read FOLDER COMBINATIONS ANSWERS`: COMBINATIONS is a pickle of a list, ANSWERS
becomes JSON: of each name {"error": text}, or what was read: {"type", "shape", "chunks", "values", "fill",
"attributes"}, as far as the judge knows it.
"""

import json
import pickle
import sys
import warnings

import numpy as np

import zarr_matrix as matrix


class ZarrPython:
    def __init__(self, folder):
        import zarr
        self.zarr, self.folder = zarr, folder
        self.is_3 = int(zarr.__version__.split(".")[0]) >= 3
        if self.is_3:
            import zarr.codecs.numcodecs  # noqa: F401  registers them

    def open(self, mode, zarr_format):
        more = {"zarr_format": zarr_format, "use_consolidated": False} if self.is_3 else {}
        self.group = self.zarr.open_group(self.folder, mode=mode, **more)

    def write(self, c):
        array = self.create(c)
        array[c.written] = c.values()
        array.attrs.update(c.attributes())

    def create(self, c):
        fill = c.fill()
        if not self.is_3:
            import numcodecs
            filters = [numcodecs.get_codec(dict(f)) for f in c.filters()]
            compressor = numcodecs.get_codec(dict(c.compressor())) if c.compressor() else None
            objects = {"object_codec": filters.pop(0)} if c.dtype in matrix.OBJECT_CODECS else {}
            return self.group.create_dataset(c.name, shape=matrix.SHAPE, chunks=matrix.CHUNKS, dtype=c.numpy_type,
                                             filters=filters or None, compressor=compressor, fill_value=fill,
                                             order=c.order, dimension_separator=c.key[1], **objects)
        if c.zarr_format == 2:
            import numcodecs
            dtype = self.zarr.core.dtype.VariableLengthBytes() if c.dtype == "bytes" else c.numpy_type
            return self.group.create_array(
                c.name, shape=matrix.SHAPE, chunks=matrix.CHUNKS, dtype=str if c.dtype == "text" else dtype,
                filters=[numcodecs.get_codec(dict(f)) for f in c.filters()] or None,
                compressors=numcodecs.get_codec(dict(c.compressor())) if c.compressor() else None, order=c.order,
                fill_value=fill, chunk_key_encoding={"name": "v2", "separator": c.key[1]})
        codecs = c.codecs()
        at = next(i for i, codec in enumerate(codecs) if codec["name"] in (
            "bytes", "sharding_indexed", *matrix.OBJECT_CODECS.values()))
        dtype = {"text": str, "bytes": None}.get(c.dtype, c.numpy_type.newbyteorder("="))
        if c.dtype == "bytes":
            dtype = self.zarr.core.dtype.VariableLengthBytes()
        return self.group.create_array(
            c.name, shape=matrix.SHAPE, chunks=matrix.SHARDS if c.shards else matrix.CHUNKS, dtype=dtype,
            filters=codecs[:at] or None, serializer=codecs[at], compressors=codecs[at + 1:] or None, fill_value=fill,
            chunk_key_encoding={"name": c.key[0], "configuration": {"separator": c.key[1]}})

    def read(self, c):
        array = self.group[c.name]
        values = array[...]
        fill = array.fill_value
        is_object = c.dtype in matrix.OBJECT_CODECS
        if fill is not None and not is_object:
            fill = matrix.bits(np.array(fill, dtype=array.dtype))
        return {"type": matrix.type_of(values.dtype), "shape": array.shape, "chunks": array.chunks,
                "values": matrix.bits(values), "fill": fill.hex() if isinstance(fill, bytes) else fill,
                "attributes": dict(array.attrs)}


class Gdal:
    """Numbers of Zarr v2, as bytes."""
    CODECS = {"blosc": ("BLOSC_CNAME", "BLOSC_CLEVEL", "BLOSC_SHUFFLE"), "zlib": ("ZLIB_LEVEL",), "gzip": ("GZIP_LEVEL",),
              "zstd": ("ZSTD_LEVEL",), "lzma": (), "lz4": ("LZ4_ACCELERATION",)}

    def __init__(self, folder):
        from osgeo import gdal
        gdal.UseExceptions()
        self.gdal, self.folder = gdal, folder

    def open(self, mode, zarr_format):
        if mode == "w":
            self.dataset = self.gdal.GetDriverByName("Zarr").CreateMultiDimensional(self.folder)
        else:
            self.dataset = self.gdal.OpenEx(self.folder, self.gdal.OF_MULTIDIM_RASTER,
                                            open_options=["USE_ZMETADATA=NO"])
        self.root = self.dataset.GetRootGroup()
        if mode == "w":
            self.dims = [self.root.CreateDimension(name, None, None, n) for name, n in zip("yx", matrix.SHAPE)]

    def write(self, c):
        gdal = self.gdal
        options = ["BLOCKSIZE=%d,%d" % matrix.CHUNKS, "CHUNK_MEMORY_LAYOUT=" + c.order, "DIM_SEPARATOR=" + c.key[1]]
        for codec in c.filters():
            options += ["FILTER=" + codec["id"].upper(), "DELTA_DTYPE=" + c.dtype]
        codec = c.compressor()
        if codec:
            options.append("COMPRESS=" + codec["id"].upper())
            for option in self.CODECS[codec["id"]]:
                value = codec[option.split("_")[-1].lower()]
                options.append("%s=%s" % (option, ("NONE", "BYTE", "BIT")[value] if "SHUFFLE" in option else value))
        types = {"u1": "Byte", "i2": "Int16", "u2": "UInt16", "i4": "Int32", "u4": "UInt32", "i8": "Int64",
                 "u8": "UInt64", "f4": "Float32", "f8": "Float64", "c8": "CFloat32", "c16": "CFloat64"}
        dtype = gdal.ExtendedDataType.Create(getattr(gdal, "GDT_" + types[c.dtype[1:]]))
        array = self.root.CreateMDArray(c.name, self.dims, dtype, options)
        if c.has_fill:
            array.SetNoDataValueRaw(c.fill().tobytes())
        values = c.values()
        array.Write(values.tobytes(), [0, 0], list(values.shape))
        title = array.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString())
        title.WriteString(c.attributes()["title"])

    def read(self, c):
        array = self.root.OpenMDArray(c.name)
        dtype = c.numpy_type.newbyteorder("=")
        fill = array.GetNoDataValueAsRaw()
        if array.GetDataType().GetSize() != dtype.itemsize:
            return {"error": "a type of another size"}
        return {"type": matrix.type_of(dtype), "shape": [d.GetSize() for d in array.GetDimensions()],
                "chunks": array.GetBlockSize(),
                "values": matrix.bits(np.frombuffer(array.Read(), dtype)),
                "fill": None if fill is None else matrix.bits(np.frombuffer(fill, dtype)),
                **{a.GetName(): a.ReadAsString() for a in array.GetAttributes() if a.GetName() == "title"}}


class NetCdf:
    def __init__(self, folder):
        import netCDF4
        self.module, self.folder = netCDF4, folder

    def open(self, mode, zarr_format):
        self.dataset = self.module.Dataset("file://%s#mode=zarr,file" % self.folder, mode)
        self.dataset.set_auto_maskandscale(False)

    def read(self, c):
        variable = self.dataset[c.name]
        values = variable[...]
        return {"type": matrix.type_of(values.dtype), "shape": variable.shape, "chunks": variable.chunking(),
                "values": matrix.bits(values),
                **({"fill": matrix.bits(variable.get_fill_value())} if c.has_fill else {}),
                **({"title": variable.getncattr("title")} if "title" in variable.ncattrs() else {})}


class TensorStore:
    def __init__(self, folder):
        import tensorstore
        self.ts, self.folder = tensorstore, folder

    def open(self, mode, zarr_format):
        if mode == "w":
            from pathlib import Path
            Path(self.folder).mkdir()
            name = ".zgroup" if zarr_format == 2 else "zarr.json"
            more = {} if zarr_format == 2 else {"node_type": "group"}
            (Path(self.folder) / name).write_text(json.dumps({"zarr_format": zarr_format, **more}))

    def spec(self, c):
        return {"driver": "zarr" if c.zarr_format == 2 else "zarr3",
                "kvstore": {"driver": "file", "path": "%s/%s/" % (self.folder, c.name)}}

    def write(self, c):
        values = c.values()
        fill = c.fill()
        if c.zarr_format == 2:
            compressor = c.compressor()
            if compressor:
                compressor.pop("checksum", None)  # which it refuses
            metadata = {"shape": matrix.SHAPE, "chunks": matrix.CHUNKS, "dtype": c.dtype, "order": c.order,
                        "filters": c.filters() or None, "compressor": compressor,
                        "dimension_separator": c.key[1], "fill_value": json_of(fill)}
        else:
            grid = matrix.SHARDS if c.shards else matrix.CHUNKS
            metadata = {"shape": matrix.SHAPE, "data_type": {"|b1": "bool"}.get(c.dtype, c.numpy_type.name),
                        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid}},
                        "chunk_key_encoding": {"name": c.key[0], "configuration": {"separator": c.key[1]}},
                        "codecs": c.codecs(), "attributes": c.attributes(), "fill_value": json_of(fill)}
        array = self.ts.open({**self.spec(c), "metadata": metadata}, create=True).result()
        array[c.written].write(values).result()

    def read(self, c):
        array = self.ts.open(self.spec(c), read=True).result()
        values = array.read().result()
        fill = array.fill_value
        return {"type": matrix.type_of(values.dtype), "shape": array.shape, "chunks": array.chunk_layout.read_chunk.shape,
                "values": matrix.bits(values), "fill": None if fill is None else matrix.bits(fill)}


def json_of(fill):
    if fill is None:
        return None
    fill = fill.item()
    return [fill.real, fill.imag] if isinstance(fill, complex) else fill


JUDGES = {"zarr-python": ZarrPython, "TensorStore": TensorStore, "GDAL": Gdal, "netCDF": NetCdf}


def main():
    warnings.simplefilter("ignore")
    kind, what, folder, wishes, answered = sys.argv[1:]
    with open(wishes, "rb") as file:
        combinations = pickle.load(file)
    judge = JUDGES[kind](folder)
    judge.open({"write": "w", "read": "r"}[what], combinations[0].zarr_format)
    answers = {}
    for combination in combinations:
        try:
            answers[combination.name] = getattr(judge, what)(combination) or {}
        except Exception as error:
            text = str(error).strip() or "no reason given"
            answers[combination.name] = {"error": "%s: %s" % (type(error).__name__, text.splitlines()[0][:300])}
    with open(answered, "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main()
