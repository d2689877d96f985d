#include "format/hdf5/records.h"

#include <algorithm>
#include <concepts>
#include <map>
#include <optional>
#include <type_traits>
#include <variant>

#include "base/packing.h"

namespace chunkwise::hdf5 {
namespace {

template <typename T, typename Record>
concept Is = std::same_as<std::remove_const_t<T>, Record>;

// The members of each kind of record, in one list that serves both directions.

template <typename Archive>
void members(Archive& archive, Is<DType::Name> auto& name) {
  archive(name.name, name.value);
}

template <typename Archive>
void members(Archive& archive, Is<DType> auto& dtype);

template <typename Archive>
void members(Archive& archive, Is<DType::Member> auto& member) {
  archive.choice(member.byte_order, ByteOrder::big);
  archive(member.name, member.type, member.shape);
}

template <typename Archive>
void members(Archive& archive, Is<DType> auto& dtype) {
  archive.choice(dtype.kind, DType::Kind::other);
  archive.choice(dtype.item_kind, DType::Kind::other);
  archive(dtype.bytes, dtype.other, dtype.refers, dtype.unit, dtype.n_units, dtype.members, dtype.named, dtype.names,
          dtype.item_bytes);
}

template <typename Archive>
void members(Archive& archive, Is<AttributeValue> auto& value) {
  archive.choice(value.kind, AttributeValue::Kind::foreign);
  archive(value.dtype, value.shape, value.data, value.texts, value.text_form.fixed, value.text_form.utf8,
          value.empty_is_text, value.json, value.description);
}

template <typename Archive>
void members(Archive& archive, Is<Attribute> auto& attribute) {
  archive(attribute.name, attribute.value);
}

template <typename Archive>
void members(Archive& archive, Is<CodecSpec> auto& codec) {
  archive(codec.name, codec.params);
}

template <typename Archive>
void members(Archive& archive, Is<ArrayMeta> auto& meta) {
  archive.choice(meta.storage, Storage::virtual_);
  archive.choice(meta.layout.byte_order, ByteOrder::big);
  archive(meta.path, meta.dtype, meta.shape, meta.max_shape, meta.dims, meta.chunk, meta.layout.axes, meta.codecs,
          meta.pads_edges, meta.raw_edges, meta.fill, meta.ascii_texts, meta.unsupported, meta.stored_bytes,
          meta.n_stored_chunks);
}

template <typename Archive>
void members(Archive& archive, Is<AxisBooks> auto& axes) {
  archive(axes.is_scale, axes.is_dimension_only, axes.dimension_id, axes.coordinates, axes.scales, axes.labels);
}

template <typename Archive>
void members(Archive& archive, Is<GroupRecord> auto& group) {
  archive(group.path, group.address, group.attributes, group.order);
}

template <typename Archive>
void members(Archive& archive, Is<DatasetRecord> auto& dataset) {
  archive(dataset.path, dataset.address, dataset.meta, dataset.null_space, dataset.other_files, dataset.axes,
          dataset.attributes, dataset.order);
}

template <typename Archive>
void members(Archive& archive, Is<TypeRecord> auto& type) {
  archive.choice(type.byte_order, ByteOrder::big);
  archive(type.path, type.address, type.dtype, type.attributes, type.order);
}

template <typename Archive>
void members(Archive& archive, Is<LinkNode> auto& link) {
  archive.choice(link.kind, LinkNode::Kind::external);
  archive(link.path, link.target, link.file, link.order);
}

template <typename Archive>
void members(Archive& archive, Is<UnsupportedNode> auto& node) {
  archive(node.path, node.what);
}

template <typename Archive>
void members(Archive& archive, Is<FileRecords> auto& records) {
  archive(records.groups, records.datasets, records.types, records.links, records.unsupported, records.is_netcdf,
          records.classic_model, records.has_large_attributes);
}

class Put {
 public:
  explicit Put(Packer& out) : out_(out) {}

  template <typename... T>
  void operator()(const T&... values) {
    (one(values), ...);
  }
  template <typename Enum>
  void choice(Enum value, Enum) {
    out_.number(static_cast<std::uint64_t>(value));
  }

 private:
  template <typename T>
  void one(const T& value) {
    if constexpr (std::is_integral_v<T>)
      out_.number(static_cast<std::uint64_t>(value));
    else
      members(*this, value);
  }
  void one(const std::string& text) { out_.text(text); }
  void one(const std::vector<std::byte>& bytes) { out_.bytes(bytes); }
  template <typename T>
  void one(const std::vector<T>& values) {
    out_.number(values.size());
    for (const T& value : values) one(value);
  }
  template <typename T>
  void one(const std::optional<T>& value) {
    one(value.has_value());
    if (value) one(*value);
  }
  void one(const Shape& shape) {
    one(shape.rank());
    for (const Index n : shape) one(n);
  }
  void one(const std::map<std::string, CodecSpec::Value>& params) {
    out_.number(params.size());
    for (const auto& [name, value] : params) {
      one(name);
      out_.number(value.index());
      std::visit([this](const auto& held) { one(held); }, value);
    }
  }

  Packer& out_;
};

[[noreturn]] void throw_impossible() {
  throw Error(Code::corrupt, "the file is damaged: the HDF5 library makes things of it that cannot be",
              "copy or download it again");
}

class Take {
 public:
  explicit Take(Unpacker& in) : in_(in) {}

  template <typename... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  template <typename Enum>
  void choice(Enum& value, Enum last) {
    const std::uint64_t number = in_.number();
    if (number > static_cast<std::uint64_t>(last)) throw_impossible();
    value = static_cast<Enum>(number);
  }

 private:
  template <typename T>
  void one(T& value) {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(in_.number());
    } else if constexpr (std::same_as<T, DType>) {
      if (++nesting_ > kMaxNesting) throw_impossible();
      members(*this, value);
      --nesting_;
    } else {
      members(*this, value);
    }
  }
  void one(std::string& text) { text = in_.text(); }
  void one(std::vector<std::byte>& bytes) {
    const ByteView packed = in_.bytes();
    bytes.assign(packed.begin(), packed.end());
  }
  template <typename T>
  void one(std::vector<T>& values) {
    // Grows as elements are found, so that no number is believed before its elements are there.
    for (std::uint64_t n = in_.number(); n > 0; --n) one(values.emplace_back());
  }
  template <typename T>
  void one(std::optional<T>& value) {
    bool has_value = false;
    one(has_value);
    if (has_value) one(value.emplace());
  }
  void one(Shape& shape) {
    const std::uint64_t rank = in_.number();
    if (rank > kMaxRank) throw_impossible();
    shape = Shape::filled(static_cast<int>(rank), 0);
    for (Index& n : shape) one(n);
  }
  void one(std::map<std::string, CodecSpec::Value>& params) {
    for (std::uint64_t n = in_.number(); n > 0; --n) {
      CodecSpec::Value& value = params[in_.text()];
      const std::uint64_t index = in_.number();
      if (index == 1)
        value.emplace<1>();
      else if (index == 2)
        value.emplace<2>();
      else if (index != 0)
        throw_impossible();
      std::visit([this](auto& held) { one(held); }, value);
    }
  }

  static constexpr int kMaxNesting = 64;
  Unpacker& in_;
  int nesting_ = 0;  // of types
};

bool all_at_least(Index least, const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [least](Index n) { return n >= least; });
}

bool can_be(const DType& dtype) {
  std::size_t bytes = 0;
  for (const DType::Member& member : dtype.members) {
    const auto n = checked_product(member.shape);
    if (!n || *n > static_cast<Index>(dtype.bytes) || !can_be(member.type)) return false;
    bytes += member.bytes();
  }
  return dtype.members.empty() || bytes == dtype.bytes;
}

bool can_be(const DatasetRecord& dataset) {
  const ArrayMeta& meta = dataset.meta;
  const int rank = meta.shape.rank();
  return meta.max_shape.rank() == rank && meta.chunk.rank() == rank && all_at_least(0, meta.shape) &&
         all_at_least(kUnlimited, meta.max_shape) && all_at_least(1, meta.chunk) &&
         (meta.fill.empty() || meta.dtype.is_varying() || meta.fill.size() == meta.dtype.bytes) &&
         (meta.dtype.kind != DType::Kind::list || meta.dtype.item_bytes > 0) && meta.n_stored_chunks >= 0 &&
         (!dataset.axes.is_scale || rank > 0) && can_be(meta.dtype) &&
         (dataset.axes.labels.empty() || dataset.axes.labels.size() == static_cast<std::size_t>(rank));
}

bool can_be(const std::vector<Attribute>& attributes) {
  return std::all_of(attributes.begin(), attributes.end(), [](const Attribute& attribute) {
    const AttributeValue& value = attribute.value;
    if (value.kind != AttributeValue::Kind::numbers && value.kind != AttributeValue::Kind::text) return true;
    const auto n = checked_product(value.shape);
    if (!n) return false;
    const auto n_elements = static_cast<std::uint64_t>(*n);
    return value.kind == AttributeValue::Kind::text
               ? value.texts.size() == n_elements
               : value.dtype.bytes > 0 && value.data.size() / value.dtype.bytes == n_elements &&
                     value.data.size() % value.dtype.bytes == 0;
  });
}

bool can_be(const FileRecords& records) {
  const auto have_good_attributes = [](const auto& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return can_be(node.attributes); });
  };
  return !records.groups.empty() && records.groups.front().path == "/" && have_good_attributes(records.groups) &&
         have_good_attributes(records.datasets) && have_good_attributes(records.types) &&
         std::all_of(records.datasets.begin(), records.datasets.end(),
                     [](const DatasetRecord& dataset) { return can_be(dataset); });
}

}  // namespace

std::string pack(const FileRecords& records) {
  Packer packer;
  Put put(packer);
  put(records);
  return packer.take();
}

FileRecords unpack_records(std::string_view packed) {
  Unpacker unpacker(as_bytes(packed));
  Take take(unpacker);
  FileRecords records;
  take(records);
  if (!unpacker.at_end() || !can_be(records)) throw_impossible();
  return records;
}

}  // namespace chunkwise::hdf5
