#include "array/element_stream.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/utf8.h"

namespace chunkwise {
namespace {

constexpr std::size_t kCountBytes = 4;
constexpr std::uint64_t kMostCount = std::numeric_limits<std::uint32_t>::max();

std::uint32_t read_count(const std::byte* at) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < kCountBytes; ++i) count |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
  return count;
}

std::byte* write_count(std::byte* at, std::uint64_t count) {
  for (std::size_t i = 0; i < kCountBytes; ++i) *at++ = static_cast<std::byte>(count >> (8 * i));
  return at;
}

[[noreturn]] void damaged(std::string what) {
  throw Error(Code::corrupt, std::move(what));
}

void check_element(ByteView bytes, const DType& dtype, std::size_t i) {
  if (dtype.kind == DType::Kind::list && bytes.size() % dtype.item_bytes != 0)
    damaged(fmt::format("element {} of the chunk has {} bytes, no whole number of {}", i, bytes.size(),
                        dtype.item().name()));
  if (dtype.kind == DType::Kind::string && !is_utf8(as_text(bytes)))
    damaged(fmt::format("element {} of the chunk is no text in UTF-8", i));
}

}  // namespace

void split_elements(ByteView stream, const DType& dtype, std::size_t n_elements, std::vector<ElementView>& elements) {
  elements.clear();
  if (stream.size() < kCountBytes)
    damaged(fmt::format("the chunk has {} bytes, too few to tell how many elements it holds", stream.size()));
  const std::uint32_t n = read_count(stream.data());
  if (n != n_elements) damaged(fmt::format("the chunk says that it holds {} elements, not {}", n, n_elements));
  if (n_elements > stream.size() / kCountBytes)
    damaged(fmt::format("the chunk has {} bytes, too few for {} elements", stream.size(), n));
  elements.reserve(n_elements);
  ByteView rest = stream.subspan(kCountBytes);
  for (std::size_t i = 0; i < n_elements; ++i) {
    if (rest.size() < kCountBytes) damaged(fmt::format("the chunk ends before its element {} of {}", i, n));
    const std::uint32_t size_bytes = read_count(rest.data());
    rest = rest.subspan(kCountBytes);
    if (size_bytes > rest.size())
      damaged(fmt::format("element {} of the chunk has {} bytes, but only {} are left", i, size_bytes, rest.size()));
    const ByteView bytes = rest.first(size_bytes);
    check_element(bytes, dtype, i);
    elements.emplace_back(bytes);
    rest = rest.subspan(size_bytes);
  }
  if (!rest.empty()) damaged(fmt::format("{} bytes follow the last element of the chunk", rest.size()));
}

std::uint64_t stream_bytes(std::span<const ElementView> elements) {
  if (elements.size() > kMostCount)
    throw Error(Code::unsupported, fmt::format("a chunk of {} elements of any length is too large", elements.size()),
                "use smaller chunks");
  std::uint64_t bytes = kCountBytes;
  for (const ElementView& element : elements) {
    if (element.size_bytes > kMostCount)
      throw Error(Code::unsupported, fmt::format("an element of {} bytes is too long for Zarr", element.size_bytes),
                  "leave the array out with --exclude");
    bytes += kCountBytes + element.size_bytes;
  }
  return bytes;
}

void join_elements(std::span<const ElementView> elements, Bytes& stream) {
  stream.resize_discard(static_cast<std::size_t>(stream_bytes(elements)));
  std::byte* at = write_count(stream.data(), elements.size());
  for (const ElementView& element : elements) {
    at = write_count(at, element.size_bytes);
    if (element.size_bytes == 0) continue;
    std::memcpy(at, element.data, static_cast<std::size_t>(element.size_bytes));
    at += element.size_bytes;
  }
}

}  // namespace chunkwise
