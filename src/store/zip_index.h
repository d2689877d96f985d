// The table of contents of a zip file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace chunkwise {

/// What the central directory says of an object.
struct ZipEntry {
  std::uint64_t header_offset = 0;  // of the local header, in the file
  std::uint64_t stored_bytes = 0;
  std::uint64_t size_bytes = 0;  // decoded
  std::uint64_t name_at = 0;     // in the table's names
  std::uint32_t name_bytes = 0;
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

/// The objects of a zip file, sorted by key. Of several entries with one name the last holds. If all objects lie below
/// one folder, that folder is the root. Immutable, thread-safe.
class ZipIndex {
 public:
  /// Reads the central directory, through a buffer. Throws Error{corrupt} for what contradicts itself: sizes and places
  /// that do not fit the file or each other, counts that are wrong, overlapping entries, more content than deflate
  /// could make of the stored bytes, names that are no keys. Throws Error{unsupported} for archives in several parts,
  /// Error{io}.
  explicit ZipIndex(const Object& file);

  std::size_t n_entries() const { return entries_.size(); }
  const ZipEntry& entry(std::size_t i) const { return entries_[i]; }
  /// The key below the root.
  std::string_view key(std::size_t i) const { return full_name(entries_[i]).substr(root_.size()); }
  /// As the archive spells it.
  std::string_view full_name(const ZipEntry& entry) const {
    return std::string_view(names_).substr(static_cast<std::size_t>(entry.name_at), entry.name_bytes);
  }
  /// The first entry whose key is not before this one.
  std::size_t lower_bound(std::string_view key) const;
  /// Null if there is none.
  const ZipEntry* find(std::string_view key) const;
  /// Where the entries end and the central directory begins.
  std::uint64_t end_of_entries() const { return end_of_entries_; }

 private:
  void read_entries(const Object& file, std::uint64_t begin, std::uint64_t size_bytes, std::uint64_t n_entries,
                    std::uint64_t shift);
  void add(ByteView record, std::uint64_t shift);
  void check_overlaps() const;
  void sort();
  void check_folders() const;
  void find_root();

  std::string names_;
  std::vector<ZipEntry> entries_;
  std::string root_;  // "folder/", or empty
  std::uint64_t end_of_entries_ = 0;
};

}  // namespace chunkwise
