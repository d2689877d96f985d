#include "store/zip_index.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "store/store_key.h"
#include "store/zip_format.h"

namespace chunkwise {
namespace {

using zip::get16;
using zip::get32;
using zip::get64;

constexpr std::size_t kMostCommentBytes = 65535;
/// Of the buffer that the central directory is read through, and the longest record that may be in it.
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kMostRecordBytes = zip::kCentralBytes + 3 * 65535;
/// A bit of deflate makes at most this many bytes, times eight; and some for what is shorter than a byte.
constexpr std::uint64_t kMostDeflateRatio = 1032;
constexpr std::uint64_t kDeflateSlackBytes = 1032;

[[noreturn]] void corrupt(const std::string& what) {
  throw Error(Code::corrupt, what, "the zip file is damaged or cut off; copy it again from its source");
}

/// Where the central directory is said to be.
struct End {
  std::uint64_t directory_end = 0;  // in the file
  std::uint64_t directory_bytes = 0;
  std::uint64_t directory_offset = 0;  // as stated
  std::uint64_t n_entries = 0;
};

void refuse_parts(std::uint64_t disk, std::uint64_t directory_disk, std::uint64_t n_here, std::uint64_t n_all) {
  if (disk == 0 && directory_disk == 0 && n_here == n_all) return;
  throw Error(Code::unsupported, "the zip file is one part of an archive in several parts",
              "put the parts together first, with zip -s 0");
}

/// The zip64 record that a locator leads to; nothing if there is no locator.
std::optional<End> find_end64(const Object& file, std::uint64_t end_at) {
  if (end_at < zip::kLocator64Bytes) return std::nullopt;
  std::byte locator[zip::kLocator64Bytes];
  file.read(end_at - zip::kLocator64Bytes, locator);
  if (get32(locator, 0) != zip::kLocator64Signature) return std::nullopt;
  const std::uint64_t locator_at = end_at - zip::kLocator64Bytes;
  std::byte record[zip::kEnd64Bytes];
  // Where it says, or right before it, if something was put in front of the archive.
  const std::uint64_t stated = get64(locator, 8);
  for (const std::uint64_t at : {stated, locator_at - std::min<std::uint64_t>(locator_at, zip::kEnd64Bytes)}) {
    if (at > locator_at || locator_at - at < zip::kEnd64Bytes) continue;
    file.read(at, record);
    if (get32(record, 0) != zip::kEnd64Signature) continue;
    refuse_parts(get32(record, 16), get32(record, 20), get64(record, 24), get64(record, 32));
    return End{at, get64(record, 40), get64(record, 48), get64(record, 32)};
  }
  corrupt("the zip64 end record is not where its locator says");
}

End find_end(const Object& file) {
  const std::uint64_t size = file.size_bytes();
  if (size >= zip::kEndBytes) {
    Bytes tail(static_cast<std::size_t>(std::min<std::uint64_t>(size, zip::kEndBytes + kMostCommentBytes)));
    file.read(size - tail.size(), tail.span());
    for (std::size_t at = tail.size() - zip::kEndBytes + 1; at-- > 0;) {
      const ByteView record = tail.view().subspan(at);
      if (get32(record, 0) != zip::kEndSignature || get16(record, 20) != record.size() - zip::kEndBytes) continue;
      const std::uint64_t end_at = size - record.size();
      if (auto end = find_end64(file, end_at)) return *end;
      refuse_parts(get16(record, 4), get16(record, 6), get16(record, 8), get16(record, 10));
      return End{end_at, get32(record, 12), get32(record, 16), get16(record, 10)};
    }
  }
  corrupt("the zip file has no end record");
}

/// Replaces numbers that are told in the zip64 field.
void take_extra64(ByteView extra, std::uint64_t& size, std::uint64_t& stored, std::uint64_t& offset) {
  if (size != zip::kIn64 && stored != zip::kIn64 && offset != zip::kIn64) return;
  while (extra.size() >= 4) {
    const std::size_t length = get16(extra, 2);
    if (length > extra.size() - 4) break;
    ByteView field = extra.subspan(4, length);
    if (get16(extra, 0) == zip::kExtra64) {
      for (std::uint64_t* const number : {&size, &stored, &offset}) {
        if (*number != zip::kIn64) continue;
        if (field.size() < 8) corrupt("a zip64 field ends early");
        *number = get64(field, 0);
        field = field.subspan(8);
      }
      return;
    }
    extra = extra.subspan(4 + length);
  }
}

void check_name(std::string_view name) {
  const char* fault = key_fault(name);
  if (fault == nullptr && name.find('\\') != std::string_view::npos) fault = "it contains a backslash";
  if (fault == nullptr && !is_utf8(name)) fault = "it is not UTF-8";
  if (fault != nullptr) corrupt(fmt::format("the zip file has an entry '{}': {}", shown_key(name), fault));
}

}  // namespace

ZipIndex::ZipIndex(const Object& file) {
  const End end = find_end(file);
  if (end.directory_bytes > end.directory_end) {
    corrupt(fmt::format("the zip file's directory is said to have {} bytes, more than the {} before its end record",
                        end.directory_bytes, end.directory_end));
  }
  const std::uint64_t begin = end.directory_end - end.directory_bytes;
  if (end.directory_offset > begin) {
    corrupt(fmt::format("the zip file's directory is said to be at byte {}, but ends before", end.directory_offset));
  }
  if (end.n_entries > end.directory_bytes / zip::kCentralBytes) {
    corrupt(fmt::format("the zip file is said to have {} entries, more than its directory of {} bytes can hold",
                        end.n_entries, end.directory_bytes));
  }
  end_of_entries_ = begin;
  // What stands in front of an archive shifts all of it.
  read_entries(file, begin, end.directory_bytes, end.n_entries, begin - end.directory_offset);
  check_overlaps();
  sort();
  check_folders();
  find_root();
}

void ZipIndex::read_entries(const Object& file, std::uint64_t begin, std::uint64_t size_bytes, std::uint64_t n_entries,
                            std::uint64_t shift) {
  entries_.reserve(static_cast<std::size_t>(n_entries));
  Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, kBufferBytes)));
  ByteView rest;
  std::uint64_t n_found = 0;
  std::uint64_t next = begin;
  const std::uint64_t end = begin + size_bytes;
  for (; next < end || !rest.empty(); ++n_found) {
    if (rest.size() < kMostRecordBytes && next < end) {
      std::copy(rest.begin(), rest.end(), buffer.data());
      const auto n_new = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size() - rest.size(), end - next));
      file.read(next, buffer.span().subspan(rest.size(), n_new));
      rest = buffer.view().first(rest.size() + n_new);
      next += n_new;
    }
    if (rest.size() < zip::kCentralBytes || get32(rest, 0) != zip::kCentralSignature) {
      corrupt(fmt::format("the zip file's directory is damaged after {} entries", n_found));
    }
    const std::size_t length = zip::kCentralBytes + get16(rest, 28) + get16(rest, 30) + get16(rest, 32);
    if (length > rest.size()) corrupt(fmt::format("the zip file's directory ends within entry {}", n_found));
    add(rest.first(length), shift);
    rest = rest.subspan(length);
  }
  if (n_found != n_entries) {
    corrupt(fmt::format("the zip file is said to have {} entries, but its directory lists {}", n_entries, n_found));
  }
}

void ZipIndex::add(ByteView record, std::uint64_t shift) {
  const std::size_t n_name = get16(record, 28);
  std::string_view name = as_text(record.subspan(zip::kCentralBytes, n_name));
  const bool is_folder = !name.empty() && name.back() == '/';
  if (is_folder) name.remove_suffix(1);
  check_name(name);

  ZipEntry entry;
  entry.flags = get16(record, 8);
  entry.method = get16(record, 10);
  entry.crc32 = get32(record, 16);
  entry.stored_bytes = get32(record, 20);
  entry.size_bytes = get32(record, 24);
  entry.header_offset = get32(record, 42);
  take_extra64(record.subspan(zip::kCentralBytes + n_name, get16(record, 30)), entry.size_bytes, entry.stored_bytes,
               entry.header_offset);
  const std::uint64_t room = end_of_entries_ - shift;
  const std::uint64_t header_bytes = zip::kLocalBytes + n_name;
  if (entry.header_offset > room || header_bytes > room - entry.header_offset ||
      entry.stored_bytes > room - entry.header_offset - header_bytes) {
    corrupt(fmt::format("the zip file's entry '{}' is said to lie at byte {} with {} bytes, outside of the file",
                        shown_key(name), entry.header_offset, entry.stored_bytes));
  }
  entry.header_offset += shift;
  const bool is_encrypted = (entry.flags & zip::kFlagEncrypted) != 0;
  const bool fits = entry.method == zip::kStored ? entry.size_bytes == entry.stored_bytes || is_encrypted
                    : entry.method == zip::kDeflated
                        ? entry.size_bytes / kMostDeflateRatio <= entry.stored_bytes + kDeflateSlackBytes
                        : true;
  if (!fits) {
    corrupt(fmt::format("the zip file's entry '{}' is said to become {} bytes, which its {} bytes cannot hold",
                        shown_key(name), entry.size_bytes, entry.stored_bytes));
  }
  if (is_folder) return;
  entry.name_at = names_.size();
  entry.name_bytes = static_cast<std::uint32_t>(name.size());
  names_ += name;
  entries_.push_back(entry);
}

void ZipIndex::check_overlaps() const {
  std::vector<std::uint32_t> order;
  const auto before = [](const ZipEntry& a, const ZipEntry& b) { return a.header_offset < b.header_offset; };
  const auto check = [this](const ZipEntry& a, const ZipEntry& b) {
    if (b.header_offset - a.header_offset >= zip::kLocalBytes + a.name_bytes + a.stored_bytes) return;
    corrupt(
        fmt::format("the zip file's entries '{}' and '{}' overlap", shown_key(full_name(a)), shown_key(full_name(b))));
  };
  if (std::is_sorted(entries_.begin(), entries_.end(), before)) {
    for (std::size_t i = 1; i < entries_.size(); ++i) check(entries_[i - 1], entries_[i]);
    return;
  }
  if (entries_.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Code::unsupported, fmt::format("a zip file of {} entries", entries_.size()));
  order.resize(entries_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return before(entries_[a], entries_[b]); });
  for (std::size_t i = 1; i < order.size(); ++i) check(entries_[order[i - 1]], entries_[order[i]]);
}

void ZipIndex::sort() {
  // Names lie in the order of the directory.
  std::sort(entries_.begin(), entries_.end(), [this](const ZipEntry& a, const ZipEntry& b) {
    const int order = full_name(a).compare(full_name(b));
    return order != 0 ? order < 0 : a.name_at < b.name_at;
  });
  const auto is_replaced = [this](std::size_t i) {
    return i + 1 < entries_.size() && full_name(entries_[i]) == full_name(entries_[i + 1]);
  };
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (is_replaced(i)) continue;
    if (n_kept != i) entries_[n_kept] = entries_[i];
    ++n_kept;
  }
  entries_.resize(n_kept);
}

void ZipIndex::check_folders() const {
  std::string_view checked;  // folders are neighbours
  for (const ZipEntry& entry : entries_) {
    const std::string_view name = full_name(entry);
    const std::size_t last = name.rfind('/');
    if (last == std::string_view::npos || name.substr(0, last) == checked) continue;
    checked = name.substr(0, last);
    for (std::size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
      if (find(name.substr(0, slash)) == nullptr) continue;
      corrupt(fmt::format("the zip file's entry '{}' is a folder of others too", shown_key(name.substr(0, slash))));
    }
  }
}

void ZipIndex::find_root() {
  // Some programs add their own folder beside the content.
  constexpr std::string_view kForeign = "__MACOSX/";
  const auto is_foreign = [&](const ZipEntry& entry) {
    return full_name(entry).substr(0, kForeign.size()) == kForeign;
  };
  if (std::any_of(entries_.begin(), entries_.end(), [&](const ZipEntry& entry) { return !is_foreign(entry); })) {
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), is_foreign), entries_.end());
  }
  while (!entries_.empty()) {
    // The first and the last name share the folder only if all between do.
    const std::string_view first = full_name(entries_.front()).substr(root_.size());
    const std::size_t slash = first.find('/');
    if (slash == std::string_view::npos) return;
    const std::string_view folder = full_name(entries_.front()).substr(0, root_.size() + slash + 1);
    if (full_name(entries_.back()).substr(0, folder.size()) != folder) return;
    root_ = folder;
  }
}

std::size_t ZipIndex::lower_bound(std::string_view key) const {
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), key, [this](const ZipEntry& entry, std::string_view wanted) {
        return full_name(entry).substr(root_.size()) < wanted;
      });
  return static_cast<std::size_t>(at - entries_.begin());
}

const ZipEntry* ZipIndex::find(std::string_view key) const {
  const std::size_t at = lower_bound(key);
  return at < entries_.size() && this->key(at) == key ? &entries_[at] : nullptr;
}

}  // namespace chunkwise
