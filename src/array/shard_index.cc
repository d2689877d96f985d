#include "array/shard_index.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/endian.h"

namespace chunkwise {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
constexpr std::size_t kEntryBytes = 2 * kWordBytes;

}  // namespace

ShardIndexForm::ShardIndexForm(const ShardLevel& level, const Shape& part)
    : counts_(level.shape),
      strides_(level.shape),
      order_(level.index_order),
      at_start_(level.index_at_start),
      codecs_(level.index_codecs, kWordBytes) {
  const int rank = level.shape.rank();
  for (int axis = 0; axis < rank; ++axis) {
    if (level.shape[axis] % part[axis] != 0) {
      throw Error(Code::corrupt, fmt::format("shards of {} are no whole chunks of {}: {} is no multiple of {}",
                                             to_string(level.shape), to_string(part), level.shape[axis], part[axis]));
    }
    counts_[axis] = level.shape[axis] / part[axis];
  }
  const auto n_parts = checked_product(counts_);
  if (!n_parts || static_cast<std::uint64_t>(*n_parts) > kMostBytes / kEntryBytes) {
    throw Error(Code::unsupported, fmt::format("shards of {} chunks have an index of more than {}", to_string(counts_),
                                               format_bytes(kMostBytes)));
  }
  n_parts_ = static_cast<std::size_t>(*n_parts);
  stored_bytes_ = codecs_.max_encoded_bytes(n_parts_ * kEntryBytes);
  Index stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int axis = level.index_axes.rank() == 0 ? i : static_cast<int>(level.index_axes[i]);
    strides_[axis] = stride;
    stride *= counts_[axis];
  }
}

std::size_t ShardIndexForm::position(const Shape& coords) const {
  Index position = 0;
  for (int axis = 0; axis < coords.rank(); ++axis) position += coords[axis] * strides_[axis];
  return static_cast<std::size_t>(position);
}

std::uint64_t ShardIndexForm::place(std::uint64_t shard_bytes) const {
  if (shard_bytes < stored_bytes_) {
    throw Error(Code::corrupt,
                fmt::format("the shard has {} bytes, less than its index of {}", shard_bytes, stored_bytes_));
  }
  return at_start_ ? 0 : shard_bytes - stored_bytes_;
}

std::vector<ShardEntry> ShardIndexForm::decode(ByteView stored, CodecChain::Scratch& scratch) const {
  const ByteView words = codecs_.decode(stored, n_parts_ * kEntryBytes, 0, scratch);
  const auto load = [&](const std::byte* from) {
    return order_ == ByteOrder::little ? load_little<std::uint64_t>(from) : load_big<std::uint64_t>(from);
  };
  std::vector<ShardEntry> entries(n_parts_);
  const std::byte* from = words.data();
  for (ShardEntry& entry : entries) {
    entry = {load(from), load(from + kWordBytes)};
    from += kEntryBytes;
  }
  return entries;
}

ByteView ShardIndexForm::encode(std::span<const ShardEntry> entries, CodecChain::Scratch& scratch) const {
  CHUNKWISE_CHECK(entries.size() == n_parts_);
  Bytes& words = scratch.b;  // where the chain may encode from
  words.resize_discard(n_parts_ * kEntryBytes);
  std::byte* to = words.data();
  for (const ShardEntry& entry : entries) {
    for (const std::uint64_t number : {entry.offset_bytes, entry.length_bytes}) {
      order_ == ByteOrder::little ? store_little(number, to) : store_big(number, to);
      to += kWordBytes;
    }
  }
  return codecs_.encode(words, scratch);
}

void ShardIndexForm::check(const ShardEntry& entry, std::uint64_t shard_bytes) const {
  if (entry.absent()) return;
  const std::uint64_t index = place(shard_bytes);
  const auto end = checked_add(entry.offset_bytes, entry.length_bytes);
  const char* wrong = nullptr;
  if (!end || *end > shard_bytes) {
    wrong = "beyond its end";
  } else if (entry.length_bytes > 0 && entry.offset_bytes<index + stored_bytes_&& * end> index) {
    wrong = "inside the index itself";
  }
  if (wrong == nullptr) return;
  throw Error(Code::corrupt,
              fmt::format("the index of the shard of {} bytes speaks of {} bytes at byte {}, {}", shard_bytes,
                          entry.length_bytes, entry.offset_bytes, wrong),
              "the shard is damaged or truncated; copy it again from its source");
}

std::vector<ShardIndexForm> shard_index_forms(const ArrayMeta& meta) {
  std::vector<ShardIndexForm> forms;
  for (std::size_t i = 0; i < meta.shards.size(); ++i)
    forms.emplace_back(meta.shards[i], i + 1 < meta.shards.size() ? meta.shards[i + 1].shape : meta.chunk);
  return forms;
}

}  // namespace chunkwise
