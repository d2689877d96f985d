#include "array/tree_hash.h"

#include <xxhash.h>

#include "base/packing.h"
#include "codec/spec.h"

namespace chunkwise {
namespace {

void add(Packer& out, const Shape& shape) {
  out.number(static_cast<std::uint64_t>(shape.rank()));
  for (const Index n : shape) out.number(static_cast<std::uint64_t>(n));
}

void add(Packer& out, const DType& dtype) {
  out.number(static_cast<std::uint64_t>(dtype.kind));
  out.number(dtype.bytes);
  out.text(dtype.other);
  out.number(dtype.refers ? 1 : 0);
  out.text(dtype.unit);
  out.number(static_cast<std::uint64_t>(dtype.n_units));
  out.number(dtype.members.size());
  for (const DType::Member& member : dtype.members) {
    out.text(member.name);
    add(out, member.type);
    add(out, member.shape);
    out.number(static_cast<std::uint64_t>(member.byte_order));
  }
  out.number(dtype.names.size());
  for (const DType::Name& name : dtype.names) {
    out.text(name.name);
    out.number(static_cast<std::uint64_t>(name.value));
  }
  out.number(static_cast<std::uint64_t>(dtype.item_kind));
  out.number(dtype.item_bytes);
}

void add(Packer& out, const std::vector<Attribute>& attributes) {
  out.number(attributes.size());
  for (const Attribute& attribute : attributes) {
    const AttributeValue& value = attribute.value;
    out.text(attribute.name);
    out.number(static_cast<std::uint64_t>(value.kind));
    add(out, value.dtype);
    add(out, value.shape);
    out.bytes(value.data);
    out.number(value.texts.size());
    for (const std::string& text : value.texts) out.text(text);
    out.number((value.text_form.fixed ? 1u : 0u) | (value.text_form.utf8 ? 2u : 0u) | (value.empty_is_text ? 4u : 0u));
    out.text(value.json);
    out.text(value.description);
  }
}

void add(Packer& out, const ArrayMeta& meta) {
  out.text(meta.path);
  add(out, meta.dtype);
  add(out, meta.shape);
  add(out, meta.max_shape);
  out.number(meta.dims.size());
  for (const std::string& dim : meta.dims) out.text(dim);
  out.number(static_cast<std::uint64_t>(meta.storage));
  add(out, meta.chunk);
  out.number(meta.shards.size());
  for (const ShardLevel& level : meta.shards) {
    add(out, level.shape);
    add(out, level.index_axes);
    out.number(static_cast<std::uint64_t>(level.index_order));
    out.text(to_string(level.index_codecs));
    out.number(level.index_at_start ? 1 : 0);
  }
  out.number(static_cast<std::uint64_t>(meta.layout.byte_order));
  add(out, meta.layout.axes);
  out.text(to_string(meta.codecs));
  out.number((meta.pads_edges ? 1u : 0u) | (meta.raw_edges ? 2u : 0u) | (meta.ascii_texts ? 4u : 0u));
  out.bytes(meta.fill);
  out.number(meta.stored_bytes);
  out.number(static_cast<std::uint64_t>(meta.n_stored_chunks));
}

}  // namespace

std::uint64_t tree_hash(const Hierarchy& tree) {
  Packer out;
  out.text(tree.format);
  out.number(tree.groups.size());
  for (const GroupNode& group : tree.groups) {
    out.text(group.path);
    add(out, group.attributes);
    out.number(group.dimensions.size());
    for (const Dimension& dimension : group.dimensions) {
      out.text(dimension.name);
      out.number(static_cast<std::uint64_t>(dimension.length));
      out.number(dimension.unlimited ? 1 : 0);
    }
  }
  out.number(tree.arrays.size());
  for (const ArrayNode& array : tree.arrays) {
    add(out, array.meta);
    add(out, array.attributes);
  }
  out.number(tree.links.size());
  for (const LinkNode& link : tree.links) {
    out.text(link.path);
    out.number(static_cast<std::uint64_t>(link.kind));
    out.text(link.target);
    out.text(link.file);
  }
  out.number((tree.consolidated ? 1u : 0u) | (tree.classic_model ? 2u : 0u) | (tree.nameless ? 4u : 0u));
  return XXH3_64bits(out.view().data(), out.view().size());
}

}  // namespace chunkwise
