#include "store/zip_object.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "store/store_key.h"
#include "store/zip_format.h"

namespace chunkwise {
namespace {

constexpr std::size_t kInputBytes = std::size_t{64} << 10;
constexpr std::size_t kSkippedBytes = std::size_t{64} << 10;

[[noreturn]] void corrupt(const std::string& key, const std::string& what) {
  throw Error(Code::corrupt, fmt::format("the zip file's entry '{}' {}", shown_key(key), what),
              "the zip file is damaged; copy it again from its source");
}

/// What both kinds know.
struct Place {
  std::shared_ptr<const Object> file;
  std::string key;
  std::uint64_t begin = 0;  // of the bytes in the file
  std::uint64_t stored_bytes = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t crc32 = 0;

  void check_range(std::uint64_t offset, std::size_t n) const {
    if (offset <= size_bytes && n <= size_bytes - offset) return;
    corrupt(key, fmt::format("has {} bytes, but {} at byte {} are asked for", size_bytes, n, offset));
  }
  void check_whole(ByteView bytes) const {
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (crc32_gzip_refl(0, data, bytes.size()) != crc32) corrupt(key, "does not match its checksum");
  }
};

class StoredObject final : public Object {
 public:
  explicit StoredObject(Place place) : place_(std::move(place)) {}
  std::uint64_t size_bytes() const override { return place_.size_bytes; }
  void read(std::uint64_t offset, MutableByteView out) const override {
    place_.check_range(offset, out.size());
    place_.file->read(place_.begin + offset, out);
    if (out.size() == place_.size_bytes) place_.check_whole(out);
  }

 private:
  Place place_;
};

class DeflatedObject final : public Object {
 public:
  explicit DeflatedObject(Place place) : place_(std::move(place)) {}
  std::uint64_t size_bytes() const override { return place_.size_bytes; }

  void read(std::uint64_t offset, MutableByteView out) const override {
    place_.check_range(offset, out.size());
    const std::lock_guard lock(mutex_);
    if (stream_ == nullptr || offset < position_) begin();
    Bytes skipped(static_cast<std::size_t>(std::min<std::uint64_t>(offset - position_, kSkippedBytes)));
    while (position_ < offset) {
      decode(
          skipped.span().first(static_cast<std::size_t>(std::min<std::uint64_t>(offset - position_, skipped.size()))));
    }
    decode(out);
    if (position_ == place_.size_bytes) check_end();
    if (out.size() == place_.size_bytes) place_.check_whole(out);
  }

 private:
  struct Stream {
    inflate_state state{};
    Bytes input{kInputBytes};
    std::uint64_t n_taken = 0;  // of the stored bytes
  };

  void begin() const {
    if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
    isal_inflate_init(&stream_->state);
    stream_->state.crc_flag = ISAL_DEFLATE;
    stream_->n_taken = 0;
    position_ = 0;
  }

  /// Fills `out` with what comes next.
  void decode(MutableByteView out) const {
    position_ += out.size();
    while (!out.empty()) {
      const std::size_t n = step(out);
      if (n == 0) corrupt(place_.key, "has less content than its directory says");
      out = out.subspan(n);
    }
  }

  /// The entry must end where its content does.
  void check_end() const {
    std::byte more{};
    if (step(MutableByteView(&more, 1)) != 0) corrupt(place_.key, "has more content than its directory says");
    const std::uint64_t left = place_.stored_bytes - stream_->n_taken + stream_->state.avail_in;
    if (left > 0) corrupt(place_.key, fmt::format("has {} bytes behind its content", left));
  }

  /// Decodes some bytes: none only at the end.
  std::size_t step(MutableByteView out) const {
    inflate_state& state = stream_->state;
    while (state.block_state != ISAL_BLOCK_FINISH) {
      if (state.avail_in == 0) {
        const auto n = static_cast<std::size_t>(
            std::min<std::uint64_t>(place_.stored_bytes - stream_->n_taken, stream_->input.size()));
        place_.file->read(place_.begin + stream_->n_taken, stream_->input.span().first(n));
        stream_->n_taken += n;
        state.next_in = reinterpret_cast<std::uint8_t*>(stream_->input.data());
        state.avail_in = static_cast<std::uint32_t>(n);
      }
      const bool is_last_input = stream_->n_taken == place_.stored_bytes;
      const std::uint32_t before_in = state.avail_in;
      const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), std::size_t{1} << 30));
      state.next_out = reinterpret_cast<std::uint8_t*>(out.data());
      state.avail_out = room;
      if (isal_inflate(&state) != ISAL_DECOMP_OK) corrupt(place_.key, "is no deflate stream");
      if (state.avail_out < room) return room - state.avail_out;
      if (is_last_input && state.avail_in == before_in && state.block_state != ISAL_BLOCK_FINISH)
        corrupt(place_.key, "ends within its deflate stream");
    }
    return 0;
  }

  Place place_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Stream> stream_;
  mutable std::uint64_t position_ = 0;  // of what is decoded next
};

}  // namespace

std::unique_ptr<Object> open_zip_object(std::shared_ptr<const Object> file, const ZipIndex& index,
                                        const ZipEntry& entry) {
  Place place;
  const std::string_view name = index.full_name(entry);
  place.key = name;
  if ((entry.flags & zip::kFlagEncrypted) != 0) {
    throw Error(Code::unsupported, fmt::format("the zip file's entry '{}' is encrypted", shown_key(name)),
                "unpack it with its password first");
  }
  if (entry.method != zip::kStored && entry.method != zip::kDeflated) {
    throw Error(Code::unsupported,
                fmt::format("the zip file's entry '{}' is packed by method {}", shown_key(name), entry.method),
                "pack it anew, stored or deflated");
  }
  Bytes header(zip::kLocalBytes + name.size());
  file->read(entry.header_offset, header.span());
  // A folder's name would be one byte longer, but folders are no objects.
  if (zip::get32(header, 0) != zip::kLocalSignature || zip::get16(header, 26) != name.size() ||
      as_text(header.view().subspan(zip::kLocalBytes)) != name || zip::get16(header, 8) != entry.method) {
    corrupt(place.key, fmt::format("has another header at byte {}", entry.header_offset));
  }
  place.begin = entry.header_offset + header.size() + zip::get16(header, 28);
  place.stored_bytes = entry.stored_bytes;
  place.size_bytes = entry.size_bytes;
  place.crc32 = entry.crc32;
  const std::uint64_t end = index.end_of_entries();
  if (place.begin > end || place.stored_bytes > end - place.begin) corrupt(place.key, "runs into the directory");
  place.file = std::move(file);
  if (entry.method == zip::kDeflated) return std::make_unique<DeflatedObject>(std::move(place));
  return std::make_unique<StoredObject>(std::move(place));
}

}  // namespace chunkwise
