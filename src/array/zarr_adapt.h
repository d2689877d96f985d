// What both Zarr formats do when a hierarchy is translated to them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/dataset.h"
#include "array/hierarchy.h"
#include "array/zarr_tree.h"

namespace chunkwise {

/// Tells whether a version of Zarr can spell an element type.
using HasType = bool (*)(const DType& dtype);

/// Removes what no Zarr store can hold (each a loss), turns contiguous and compact arrays into chunked ones (each a
/// note), and gives every array a ZarrArray of its own as native. `target` is "zarr2" or "zarr3". Throws
/// Error{unsupported} for a codec that neither we nor the target know and for a name that cannot be part of a key.
void adapt_to_zarr(Hierarchy& tree, std::string_view target, HasType has_type, AdaptReport& report);

/// The array's own ZarrArray, after adapt_to_zarr.
ZarrArray& zarr_native(ArrayNode& node);
/// The array's ZarrArray, or the defaults.
ZarrArray zarr_native_or_default(const ArrayNode& node);

/// Replaces codecs and notes it: "/T: shuffle,deflate:1 becomes blosc:zstd:1:shuffle, <why>".
void replace_codecs(ArrayNode& node, CodecSpecs codecs, const std::string& why, AdaptReport& report);

/// For filters that only HDF5 has, the nearest that Zarr has: "blosc:zstd:3:shuffle"; "none" for those that encode
/// nothing.
std::string blosc_like(const CodecSpec& codec, std::size_t chunk_bytes);

/// The value of a `_FillValue` attribute as one element of the array's type in native byte order, as ArrayMeta::fill;
/// nothing if there is
/// no such attribute or it is no such element.
std::optional<std::vector<std::byte>> mask_value(const ArrayNode& node);

/// A `_FillValue` read from JSON by the default rules, in the type of the array: floats are rounded (JSON spells an f4
/// as the user wrote it), integers must fit.
AttributeValue in_array_type(const AttributeValue& value, const DType& dtype);

/// Throws Error{unsupported} if an array is not a plain grid of chunks of elements that a Zarr store can hold.
/// `has_spelling` tells whether the format can write a codec.
void check_zarr_array(const ArrayMeta& meta, const char* format, HasType has_type,
                      bool (*has_spelling)(const std::string& codec));

/// True if the hierarchy is nameless and still is nothing but one array: it is written as one again.
bool is_single_array(const Hierarchy& tree);
/// "/a/b" -> "a/b"; the array of a single-array store -> "".
std::string node_key(const Hierarchy& tree, const std::string& path);

}  // namespace chunkwise
