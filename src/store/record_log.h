// A file of records that is only appended to and may be cut anywhere by a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "store/posix_file.h"

namespace chunkwise {

/// The grammar is in docs/journal.md. What follows the last whole record (a torn one) is not there for readers and is
/// cut off before the next one is appended; a log cut off in its first bytes has no records. One process holds a log at
/// a time, by a lock that ends with it. Movable; not thread-safe.
class RecordLog {
 public:
  /// Makes a new log and holds it. Throws Error{exists}, Error{io}.
  static RecordLog create(const std::string& path);
  /// Opens a log and holds it; nothing if another process does. Throws Error{not_found}, Error{corrupt} if it is no
  /// log, Error{io}.
  static std::optional<RecordLog> open(const std::string& path);

  const std::string& path() const { return path_; }
  /// Writes a record at the end and makes it durable. Throws Error{io}.
  void append(ByteView payload);
  /// Every whole record, in order; the view lasts for the call. Throws what `use` throws, Error{io}.
  void for_each(const std::function<void(ByteView payload)>& use) const;

 private:
  RecordLog(std::string path, posix::Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  void find_end();

  std::string path_;
  posix::Descriptor fd_;
  std::uint64_t end_ = 0;  // of the last whole record
  bool torn_ = false;      // something follows it
};

}  // namespace chunkwise
