#include "format/zarr3/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "array/json_fields.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr3/extension.h"

namespace chunkwise::zarr3 {
namespace {

void parse_regular(const Extension& grid, ArrayMeta& meta) {
  meta.chunk = need_extents(need_configuration(grid, "chunk_grid", "chunk_shape"), "chunk_shape", 0);
  if (meta.chunk.rank() != meta.shape.rank()) {
    throw Error(Code::corrupt,
                fmt::format("'chunk_shape' has {} elements, but 'shape' has {}", meta.chunk.rank(), meta.shape.rank()));
  }
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    if (meta.chunk[axis] == 0 && meta.shape[axis] == 0) meta.chunk[axis] = 1;
    if (meta.chunk[axis] == 0) throw Error(Code::corrupt, "'chunk_shape' has the element 0");
  }
}

Index need_length(const Json& value) {
  const bool is_length = value.is_number_unsigned() && value.get<std::uint64_t>() >> 62 == 0 && value != Json(0);
  if (!is_length) throw Error(Code::corrupt, fmt::format("'chunk_shapes' has the length {}", quote(value)));
  return value.get<Index>();
}

// The chunks along one axis, as far as they matter: those that hold elements.
struct Edges {
  Index first = 1;
  Index last = 1;
  bool is_regular = true;  // all but the last are as long as the first
};

Edges parse_edges(const Json& value, Index extent) {
  Edges edges;
  if (!value.is_array()) {
    edges.first = edges.last = need_length(value);
    return edges;
  }
  Index covered = 0;
  bool is_first = true;
  for (const Json& entry : value) {
    const bool is_run = entry.is_array();
    if (is_run && entry.size() != 2)
      throw Error(Code::corrupt, fmt::format("'chunk_shapes' has {}, no length and count", quote(entry)));
    const Index length = need_length(is_run ? entry[0] : entry);
    const Index n = is_run ? need_length(entry[1]) : 1;
    if (covered >= extent && !is_first) continue;  // chunks beyond the array
    if (is_first) edges.first = length;
    // A shorter chunk may only be the last that holds elements.
    if (covered > 0 && edges.last != edges.first) edges.is_regular = false;
    if (length > edges.first || (length < edges.first && (n > 1 && covered + length < extent)))
      edges.is_regular = false;
    edges.last = length;
    is_first = false;
    const auto run = checked_mul(length, n);
    const auto sum = run ? checked_add(covered, *run) : std::nullopt;
    covered = sum ? *sum : extent;
  }
  if (is_first || covered < extent)
    throw Error(Code::corrupt, fmt::format("'chunk_shapes' has {}, which does not cover the {} elements of an axis",
                                           quote(value), extent));
  return edges;
}

std::string parse_rectilinear(const Extension& grid, ArrayMeta& meta) {
  if (!is_value(need_configuration(grid, "chunk_grid", "kind"), "inline"))
    return "chunk grid rectilinear of a new kind";
  const Json& shapes = need_configuration(grid, "chunk_grid", "chunk_shapes");
  if (!shapes.is_array() || static_cast<int>(shapes.size()) != meta.shape.rank()) {
    throw Error(Code::corrupt,
                fmt::format("'chunk_shapes' is {}, not a list of {} axes", quote(shapes), meta.shape.rank()));
  }
  bool any_clipped = false;
  bool any_padded = false;
  bool is_regular = true;
  meta.chunk = meta.shape;
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    const Index extent = meta.shape[axis];
    const Edges edges = parse_edges(shapes[static_cast<std::size_t>(axis)], extent);
    meta.chunk[axis] = edges.first;
    const Index rest = extent % edges.first;
    is_regular = is_regular && edges.is_regular;
    if (rest == 0) {
      is_regular = is_regular && (extent == 0 || edges.last == edges.first);
    } else {
      any_padded = any_padded || edges.last == edges.first;
      any_clipped = any_clipped || edges.last == rest;
      is_regular = is_regular && (edges.last == edges.first || edges.last == rest);
    }
  }
  if (!is_regular || (any_clipped && any_padded)) return "chunk grid rectilinear with chunks of several lengths";
  meta.pads_edges = !any_clipped;
  return {};
}

}  // namespace

std::string parse_grid(const Json& value, ArrayMeta& meta) {
  const Extension grid = parse_extension(value, "chunk_grid");
  std::string unsupported;
  if (grid.name == "regular") {
    parse_regular(grid, meta);
  } else if (grid.name == "rectilinear") {
    unsupported = parse_rectilinear(grid, meta);
  } else {
    unsupported = "chunk grid " + quote_name(grid.name);
  }
  if (!unsupported.empty()) {
    meta.chunk = meta.shape;
    for (Index& length : meta.chunk) length = std::max<Index>(length, 1);
  }
  return unsupported;
}

}  // namespace chunkwise::zarr3
