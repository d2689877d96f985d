#include "format/hdf5/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "codec/registry.h"

namespace chunkwise::hdf5 {
namespace {

// Below are the library's own filters (deflate, shuffle, fletcher32, szip, nbit, scaleoffset).
constexpr int kFirstForeignFilter = 256;
// The library does not tell a filter how much may come out; what it can use ends at its limit for chunks.
constexpr std::size_t kMaxChunkBytes = 0xffffffffU;
constexpr std::size_t kUsualChunkBytes = 64U << 20U;

// The library calls a filter without its id, so each codec gets a function of its own: slot i serves row i.
constexpr std::size_t kSlots = 32;

std::size_t run_codec(const CodecRow& row, bool decode, std::span<const unsigned> values, std::size_t n_bytes,
                      std::size_t* buffer_bytes, void** buffer) {
  const std::unique_ptr<Codec> codec = row.bind(row.from_hdf5(values), 1);
  const ByteView in(static_cast<const std::byte*>(*buffer), n_bytes);
  Bytes out;
  if (!decode) {
    codec->encode(in, out);
  } else {
    try {
      codec->decode(in, std::max(kUsualChunkBytes, 4 * n_bytes), out);
    } catch (const Error&) {
      codec->decode(in, kMaxChunkBytes, out);
    }
  }
  if (out.size() > *buffer_bytes) {
    void* larger = H5allocate_memory(out.size(), false);
    if (larger == nullptr) return 0;
    H5free_memory(*buffer);
    *buffer = larger;
    *buffer_bytes = out.size();
  }
  if (!out.empty()) std::memcpy(*buffer, out.data(), out.size());
  return out.size();
}

template <std::size_t slot>
std::size_t filter_slot(unsigned flags, std::size_t n_values, const unsigned* values, std::size_t n_bytes,
                        std::size_t* buffer_bytes, void** buffer) {
  try {
    return run_codec(codec_rows()[slot], (flags & H5Z_FLAG_REVERSE) != 0, {values, n_values}, n_bytes, buffer_bytes,
                     buffer);
  } catch (...) {
    return 0;  // the library's word for failure
  }
}

std::size_t filter_unknown(unsigned, std::size_t, const unsigned*, std::size_t, std::size_t*, void**) {
  return 0;
}

template <std::size_t... slots>
constexpr std::array<H5Z_func_t, sizeof...(slots)> make_slots(std::index_sequence<slots...>) {
  return {filter_slot<slots>...};
}
constexpr auto kSlotFunctions = make_slots(std::make_index_sequence<kSlots>{});

bool register_filter(int id, const char* name, H5Z_func_t function) {
  H5Z_class2_t filter{};
  filter.version = H5Z_CLASS_T_VERS;
  filter.id = id;
  filter.encoder_present = 1;
  filter.decoder_present = 1;
  filter.name = name;  // kept by the library
  filter.filter = function;
  return H5Zregister(&filter) >= 0;
}

const char* keep_name(const std::string& name) {
  static std::deque<std::string> names;  // guarded by the lock
  return names.emplace_back(name).c_str();
}

}  // namespace

void make_filter_known(const Lock& lock, int id, const std::string& name) {
  if (id < 0 || id > H5Z_FILTER_MAX) throw Error(Code::unsupported, fmt::format("{} is no HDF5 filter id", id));
  const htri_t available = H5Zfilter_avail(id);
  if (available > 0) return;
  H5Eclear2(H5E_DEFAULT);  // a plugin not found is no error here
  if (!register_filter(id, keep_name(name), filter_unknown)) {
    throw library_error(lock, fmt::format("HDF5 filter {} ({}) cannot be made known", id, name), Code::unsupported);
  }
}

void register_codec_filters() {
  const std::span<const CodecRow> rows = codec_rows();
  for (std::size_t i = 0; i < rows.size() && i < kSlots; ++i) {
    const CodecRow& row = rows[i];
    if (row.hdf5_filter < kFirstForeignFilter || row.from_hdf5 == nullptr || row.bind == nullptr) continue;
    // Should the library refuse, creating a dataset with this filter says so.
    register_filter(row.hdf5_filter, keep_name(std::string(row.name)), kSlotFunctions[i]);
  }
}

}  // namespace chunkwise::hdf5
