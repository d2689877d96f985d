// Objects of a zip file that come in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "store/posix_file.h"

namespace chunkwise {

/// Keeps pieces of objects in a nameless file until each object is whole: in a zip file an object is one range, whose
/// size must be known when its place is chosen. Thread-safe.
class ZipSpool {
 public:
  /// The file is made in `folder` when the first piece comes.
  explicit ZipSpool(std::string folder) : folder_(std::move(folder)) {}

  /// Throws Error{io}.
  void add(const std::string& key, std::uint64_t offset, ByteView bytes);
  /// Forgets what lies at `size_bytes` or behind.
  void cut(const std::string& key, std::uint64_t size_bytes);
  /// An object that is whole: its size, and its bytes in order, some at a time. It is gone afterwards.
  class Whole {
   public:
    std::uint64_t size_bytes() const { return size_bytes_; }
    /// Throws what `use` throws, Error{io}.
    void for_each_part(const std::function<void(ByteView)>& use) const;

   private:
    friend class ZipSpool;
    struct Piece {
      std::uint64_t offset = 0;
      std::uint64_t size_bytes = 0;
      std::uint64_t place = 0;  // in the spool
    };
    const ZipSpool* spool_ = nullptr;
    std::vector<Piece> pieces_;
    std::uint64_t size_bytes_ = 0;
  };
  Whole take(const std::string& key);

 private:
  std::string folder_;
  mutable std::mutex mutex_;
  posix::Descriptor fd_;
  std::uint64_t end_ = 0;
  std::map<std::string, std::vector<Whole::Piece>> pieces_;
};

}  // namespace chunkwise
