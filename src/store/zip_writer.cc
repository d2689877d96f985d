// Writing. An object's place in the file is handed out under a lock; its bytes are written outside of it. The central
// directory, zip64 where numbers need it, comes last.
#include <fcntl.h>
#include <isa-l/crc.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "store/posix_file.h"
#include "store/store_key.h"
#include "store/zip_format.h"
#include "store/zip_spool.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

using zip::Putter;

constexpr std::uint16_t kVersion = 20;    // folders
constexpr std::uint16_t kVersion64 = 45;  // zip64
constexpr std::uint16_t kMadeByUnix = 3U << 8U;
constexpr std::uint32_t kRegularFile = 0100644U << 16U;
/// 1 January 1980, the first that zip knows: the same data makes the same file.
constexpr std::uint16_t kNoDate = 0x21;
constexpr std::size_t kMostNameBytes = 65535;
constexpr std::size_t kNamesBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kMostExtraBytes = 4 + 3 * 8;

/// Texts of any number, not moved when more come.
class Names {
 public:
  std::string_view add(std::string_view name) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < name.size()) {
      blocks_.emplace_back().reserve(std::max(kNamesBlockBytes, name.size()));
    }
    std::string& block = blocks_.back();
    block += name;
    return std::string_view(block).substr(block.size() - name.size());
  }

 private:
  std::deque<std::string> blocks_;
};

class ZipWriter final : public Archive {
 public:
  explicit ZipWriter(const std::string& path) : path_(path), spool_(folder_of(path)) {
    do {
      fd_ = posix::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    } while (!fd_ && errno == EINTR);
    if (fd_) return;
    if (errno == EEXIST) throw Error(Code::exists, fmt::format("'{}' exists", path));
    posix::throw_io("create", path, errno);
  }

  void write(std::string_view key, ByteView bytes) override {
    check_name(key);
    const std::uint64_t offset = take_room(local_bytes(key, bytes.size()) + bytes.size());
    const std::uint32_t crc = crc_of(0, bytes);
    write_both(offset, local_header(key, bytes.size(), crc), bytes);
    add_entry({offset, bytes.size(), key, crc});
  }

  std::unique_ptr<PieceWriter> open_pieces(std::string_view key, std::optional<std::uint64_t> most_bytes) override {
    check_name(key);
    if (most_bytes) spool_.cut(std::string(key), *most_bytes);
    return std::make_unique<Pieces>(*this, std::string(key));
  }

  void sync() override {
    while (::fdatasync(fd_.get()) != 0)
      if (errno != EINTR) posix::throw_io("make durable", path_, errno);
  }

  void finish() override {
    {
      const std::lock_guard lock(mutex_);
      CHUNKWISE_CHECK(!is_finished_);
      is_finished_ = true;
    }
    // Sorted by key, then by age: of one key the last holds.
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.name != b.name ? a.name < b.name : a.offset < b.offset; });
    write_directory();
    sync();
    if (::close(fd_.release()) != 0 && errno != EINTR) posix::throw_io("write", path_, errno);
  }

  std::unique_ptr<Object> open(std::string_view) const override { is_write_only(); }
  std::optional<Bytes> read(std::string_view, std::uint64_t) const override { is_write_only(); }
  std::optional<std::uint64_t> size_bytes(std::string_view) const override { is_write_only(); }
  std::vector<Store::Entry> list(std::string_view) const override { is_write_only(); }
  void list_sizes(std::string_view, const std::function<void(const SizedEntry&)>&) const override { is_write_only(); }

 private:
  struct Entry {
    std::uint64_t offset = 0;  // of the header
    std::uint64_t size_bytes = 0;
    std::string_view name;
    std::uint32_t crc32 = 0;
  };

  class Pieces final : public PieceWriter {
   public:
    Pieces(ZipWriter& zip, std::string key) : zip_(zip), key_(std::move(key)) {}
    void write(std::uint64_t offset, ByteView bytes) override { zip_.spool_.add(key_, offset, bytes); }
    void close() override { zip_.write_whole(key_); }

   private:
    ZipWriter& zip_;
    std::string key_;
  };

  static std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  }

  static std::uint32_t crc_of(std::uint32_t before, ByteView bytes) {
    return crc32_gzip_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }

  void check_name(std::string_view key) const {
    check_key(key, path_);
    if (key.size() <= kMostNameBytes && key.find('\\') == std::string_view::npos) return;
    throw Error(Code::unsupported, fmt::format("zip files cannot have an entry '{}'", shown_key(key)),
                "write a directory instead");
  }

  std::uint64_t take_room(std::uint64_t n_bytes) {
    const std::lock_guard lock(mutex_);
    CHUNKWISE_CHECK(!is_finished_);
    return std::exchange(end_, end_ + n_bytes);
  }

  void add_entry(Entry entry) {
    const std::lock_guard lock(mutex_);
    entry.name = names_.add(entry.name);
    entries_.push_back(entry);
  }

  /// An object that came in pieces: its checksum is known when all of them are in place.
  void write_whole(const std::string& key) {
    const ZipSpool::Whole whole = spool_.take(key);
    const std::uint64_t header_bytes = local_bytes(key, whole.size_bytes());
    const std::uint64_t offset = take_room(header_bytes + whole.size_bytes());
    std::uint64_t at = offset + header_bytes;
    std::uint32_t crc = 0;
    whole.for_each_part([&](ByteView part) {
      posix::write_at(fd_.get(), at, part, path_);
      at += part.size();
      crc = crc_of(crc, part);
    });
    posix::write_at(fd_.get(), offset, local_header(key, whole.size_bytes(), crc), path_);
    add_entry({offset, whole.size_bytes(), key, crc});
  }

  static std::size_t local_extra_bytes(std::uint64_t size_bytes) { return size_bytes >= zip::kIn64 ? 4 + 2 * 8 : 0; }
  static std::size_t local_bytes(std::string_view key, std::uint64_t size_bytes) {
    return zip::kLocalBytes + key.size() + local_extra_bytes(size_bytes);
  }

  static Bytes local_header(std::string_view key, std::uint64_t size_bytes, std::uint32_t crc) {
    const bool is_64 = size_bytes >= zip::kIn64;
    const auto size32 = is_64 ? zip::kIn64 : static_cast<std::uint32_t>(size_bytes);
    Bytes header(local_bytes(key, size_bytes));
    Putter put(header.data());
    put.put(zip::kLocalSignature).put(is_64 ? kVersion64 : kVersion).put(flags_of(key)).put(zip::kStored);
    put.put(std::uint16_t{0}).put(kNoDate).put(crc).put(size32).put(size32);
    put.put(static_cast<std::uint16_t>(key.size())).put(static_cast<std::uint16_t>(local_extra_bytes(size_bytes)));
    std::copy_n(as_bytes(key).data(), key.size(), put.at());
    if (is_64)
      Putter(put.at() + key.size()).put(zip::kExtra64).put(std::uint16_t{2 * 8}).put(size_bytes).put(size_bytes);
    return header;
  }

  [[noreturn]] void is_write_only() const {
    throw Error(Code::internal, fmt::format("the zip file '{}' is being written and cannot be read", path_));
  }

  static std::uint16_t flags_of(std::string_view name) {
    const bool is_ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
    return is_ascii ? std::uint16_t{0} : zip::kFlagUtf8;
  }

  /// In one call, as a rule.
  void write_both(std::uint64_t offset, ByteView header, ByteView bytes) const {
    const auto part = [](ByteView view) { return iovec{const_cast<std::byte*>(view.data()), view.size()}; };
    const iovec parts[2] = {part(header), part(bytes)};
    ssize_t written = 0;
    do {
      written = ::pwritev(fd_.get(), parts, 2, static_cast<off_t>(offset));
    } while (written < 0 && errno == EINTR);
    if (written < 0) posix::throw_io("write", path_, errno);
    const auto n = static_cast<std::size_t>(written);
    if (n < header.size()) posix::write_at(fd_.get(), offset + n, header.subspan(n), path_);
    const std::size_t n_of_bytes = n - std::min(n, header.size());
    posix::write_at(fd_.get(), offset + header.size() + n_of_bytes, bytes.subspan(n_of_bytes), path_);
  }

  void write_directory() {
    const std::uint64_t begin = end_;
    std::uint64_t n_entries = 0;
    Bytes buffer(kBufferBytes);
    std::size_t used = 0;
    const auto flush = [&] {
      posix::write_at(fd_.get(), end_, buffer.view().first(used), path_);
      end_ += used;
      used = 0;
    };
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      if (const auto next = entry + 1; next != entries_.end() && next->name == entry->name) continue;
      if (buffer.size() - used < zip::kCentralBytes + kMostExtraBytes + entry->name.size()) flush();
      used += put_central(*entry, buffer.data() + used);
      ++n_entries;
    }
    flush();
    const std::uint64_t directory_bytes = end_ - begin;
    used = put_end(begin, directory_bytes, n_entries, buffer.data());
    flush();
  }

  static std::size_t put_central(const Entry& entry, std::byte* begin) {
    const bool is_size_64 = entry.size_bytes >= zip::kIn64;
    const bool is_offset_64 = entry.offset >= zip::kIn64;
    const auto n_extra64 = static_cast<std::uint16_t>((is_size_64 ? 2 * 8 : 0) + (is_offset_64 ? 8 : 0));
    const auto n_extra = static_cast<std::uint16_t>(n_extra64 == 0 ? 0 : 4 + n_extra64);
    const std::uint16_t version = n_extra == 0 ? kVersion : kVersion64;
    const auto size32 = is_size_64 ? zip::kIn64 : static_cast<std::uint32_t>(entry.size_bytes);
    Putter put(begin);
    put.put(zip::kCentralSignature).put(static_cast<std::uint16_t>(kMadeByUnix | version)).put(version);
    put.put(flags_of(entry.name)).put(zip::kStored).put(std::uint16_t{0}).put(kNoDate).put(entry.crc32);
    put.put(size32).put(size32).put(static_cast<std::uint16_t>(entry.name.size())).put(n_extra);
    put.put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(kRegularFile);
    put.put(is_offset_64 ? zip::kIn64 : static_cast<std::uint32_t>(entry.offset));
    std::copy_n(as_bytes(entry.name).data(), entry.name.size(), put.at());
    Putter extra(put.at() + entry.name.size());
    if (n_extra64 > 0) extra.put(zip::kExtra64).put(n_extra64);
    if (is_size_64) extra.put(entry.size_bytes).put(entry.size_bytes);
    if (is_offset_64) extra.put(entry.offset);
    return static_cast<std::size_t>(extra.at() - begin);
  }

  std::size_t put_end(std::uint64_t begin, std::uint64_t directory_bytes, std::uint64_t n_entries,
                      std::byte* at) const {
    Putter put(at);
    if (n_entries >= zip::kIn64Short || directory_bytes >= zip::kIn64 || begin >= zip::kIn64) {
      const std::uint64_t end64_at = begin + directory_bytes;
      put.put(zip::kEnd64Signature).put(std::uint64_t{zip::kEnd64Bytes - 12});
      put.put(static_cast<std::uint16_t>(kMadeByUnix | kVersion64)).put(kVersion64);
      put.put(std::uint32_t{0}).put(std::uint32_t{0}).put(n_entries).put(n_entries).put(directory_bytes).put(begin);
      put.put(zip::kLocator64Signature).put(std::uint32_t{0}).put(end64_at).put(std::uint32_t{1});
    }
    const auto n16 = static_cast<std::uint16_t>(std::min<std::uint64_t>(n_entries, zip::kIn64Short));
    put.put(zip::kEndSignature).put(std::uint16_t{0}).put(std::uint16_t{0}).put(n16).put(n16);
    put.put(static_cast<std::uint32_t>(std::min<std::uint64_t>(directory_bytes, zip::kIn64)));
    put.put(static_cast<std::uint32_t>(std::min<std::uint64_t>(begin, zip::kIn64))).put(std::uint16_t{0});
    return static_cast<std::size_t>(put.at() - at);
  }

  std::string path_;
  posix::Descriptor fd_;
  std::mutex mutex_;
  std::uint64_t end_ = 0;  // of what was handed out
  Names names_;
  ZipSpool spool_;
  std::deque<Entry> entries_;
  bool is_finished_ = false;
};

}  // namespace

std::unique_ptr<Archive> create_zip_store(const std::string& path) {
  return std::make_unique<ZipWriter>(path);
}

}  // namespace chunkwise
