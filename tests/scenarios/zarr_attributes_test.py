"""Conventions that live in attributes of Zarr (OME-NGFF, GeoZarr) are untouched: every JSON type, order and nesting, on the
root, on nested, empty and implicit groups and on arrays, whatever is done to the chunks."""

import json

import numpy as np
import zarr

import harness

MULTISCALES = [{
    "version": "0.4", "name": "image", "axes": [
        {"name": "t", "type": "time", "unit": "millisecond"}, {"name": "c", "type": "channel"},
        {"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space", "unit": "micrometer"}],
    "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0, 0.5, 0.5]}]},
                 {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [1.0, 1.0, 1.0, 1.0]},
                                                             {"type": "translation", "translation": [0, 0, 0.25, 0.25]}]}],
    "coordinateTransformations": [{"type": "scale", "scale": [0.1, 1, 1, 1]}], "type": "gaussian",
    "metadata": {"method": "skimage.transform.pyramid_gaussian", "args": "[true]", "kwargs": {"multichannel": True}}}]
GEOZARR = {"grid_mapping": "spatial_ref", "proj:epsg": 32633, "proj:transform": [10.0, 0.0, 300000.0, 0.0, -10.0, 5e6],
           "multiscales": {"tile_matrix_set": {"id": "x", "tileMatrices": [{"id": "0", "scaleDenominator": 35714.28,
                                                                            "cellSize": 10.0, "tileWidth": 256}]},
                           "resampling_method": "average"}}
# As text, since Python would lose the spelling: 1 is not 1.0, and beyond 2^53 a double is another number.
SPELLED = """{"int": 1, "float": 1.0, "minus": -0.0, "big": 9007199254740993, "most": 18446744073709551615,
 "least": -9223372036854775808, "small": 1e-300, "large": 1.7976931348623157e+308, "tenth": 0.1, "nan": NaN, "inf": Infinity,
 "ninf": -Infinity, "text nan": "NaN", "true": true, "null": null, "empty list": [], "empty object": {}, "empty": "",
 "mixed": [1, 1.0, "1", null, true, [1, [2, {"a": NaN}]]], "unicode": "\\u00e9\\ud83d\\ude00 \\u0000 \\n", "z": 1, "a": 2,
 "nested": {"z": {"y": {"x": [1, 2.0, 9007199254740993]}}, "a": -0.0}, "": "no name", "with/slash": 1}"""


def exactly(text):
    """A document in which numbers keep their type, and objects their order."""
    return json.loads(text, parse_int=lambda s: ("int", int(s)), parse_float=lambda s: ("float", repr(float(s))),
                      parse_constant=lambda s: ("constant", s), object_pairs_hook=lambda pairs: ("object", pairs))


def member(document, name):
    return dict(document[1]).get(name, ("object", []))


def attributes(path, version):
    """Of every node of a store that has a document, exactly."""
    found = {}
    if version == 3:
        for item in path.rglob("zarr.json"):
            found[str(item.parent.relative_to(path))] = member(exactly(item.read_text()), "attributes")
        return found
    for item in path.rglob("*"):
        if item.name in (".zgroup", ".zarray"):
            file = item.parent / ".zattrs"
            text = exactly(file.read_text()) if file.exists() else ("object", [])
            found[str(item.parent.relative_to(path))] = ("object", [m for m in text[1] if m[0] != "_ARRAY_DIMENSIONS"])
    return found


def image(t, version):
    """An image pyramid with labels below; some groups have no document of their own, some hold nothing."""
    path = t / ("image%d.zarr" % version)
    root = zarr.create_group(str(path), zarr_format=version,
                             attributes={"multiscales": MULTISCALES, "omero": {"channels": [{"color": "FFFFFF"}]}})
    names = {"dimension_names": ("t", "c", "y", "x")} if version == 3 else {}
    data = np.arange(2 * 1 * 64 * 64, dtype="u2").reshape(2, 1, 64, 64)
    for level in ("0", "1"):
        step = int(level) + 1
        part = data[:, :, ::step, ::step]
        root.create_array(level, shape=part.shape, dtype="u2", chunks=(1, 1, 16, 16), **names)[...] = part
    root.create_group("labels", attributes={"labels": ["cells"]}).create_group("cells", attributes=GEOZARR)
    root.create_group("empty")
    root.create_group("tables/deep/er", attributes={"x": 1})
    root.create_array("spelled", shape=(4,), dtype="f4", chunks=(2,), attributes={"here": 1})[...] = [1, 2, 3, 4]
    zarr_json = path / "spelled" / ("zarr.json" if version == 3 else ".zattrs")
    if version == 3:
        text = zarr_json.read_text()
        start = text.index('"attributes"')
        opened = text.index("{", start)
        zarr_json.write_text(text[:opened] + SPELLED + text[text.index("}", opened) + 1:])
    else:
        zarr_json.write_text(SPELLED)
    return t.source(path)


def untouched(t, source, target, version, out_version):
    before, after = attributes(source, version), attributes(target, out_version)
    t.equal("nodes", sorted(before), sorted(after))
    for node in sorted(set(before) & set(after)):
        t.equal("attributes of %s" % node, before[node], after[node])


def test_chunks_change_and_attributes_do_not(t):
    for version in (2, 3):
        source = image(t, version)
        out = t / ("out%d.zarr" % version)
        t.rechunk(source, out, "-c", "1,1,8,8", "--verify", "full")
        untouched(t, source, out, version, version)
        a, b = zarr.open_group(str(source), mode="r"), zarr.open_group(str(out), mode="r")
        for level in ("0", "1"):
            t.check(np.array_equal(a[level][...], b[level][...]), "values of %s differ" % level)
        t.equal("empty group", [], list(b["empty"].members()))


def test_from_one_version_to_the_other(t):
    for version, other in ((2, 3), (3, 2)):
        source = image(t, version)
        out = t / ("to.zarr%d" % other)
        t.rechunk(source, out, "--verify", "full")
        untouched(t, source, out, version, other)
        back = t / ("back.zarr%d" % version)
        t.rechunk(out, back)
        untouched(t, source, back, version, version)


def test_implicit_groups(t):
    """Version 3 lets groups do without a document: their members are found all the same."""
    source = image(t, 3)
    (source / "tables" / "zarr.json").unlink()
    (source / "tables" / "deep" / "zarr.json").unlink()
    t.source(source)
    out = t / "out.zarr"
    t.rechunk(source, out, "-c", "spelled:keep")
    after = attributes(out, 3)
    t.equal("what lies below", ("object", [("x", ("int", 1))]), after.get("tables/deep/er"))
    t.equal("a group that was implied", ("object", []), after.get("tables/deep", ("object", [])))


if __name__ == "__main__":
    harness.main(globals())
