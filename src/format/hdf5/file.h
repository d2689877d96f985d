// An HDF5 file opened or created through our file driver.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/hdf5/allocation.h"
#include "format/hdf5/handle.h"
#include "store/store.h"

namespace chunkwise::hdf5 {

struct DriverState;  // driver.h
class Writeback;

/// Where the HDF5 part begins: at 0, 512, 1024, 2048, ...; nothing if `object` is no HDF5 file. Throws Error{io}.
std::optional<std::uint64_t> find_signature(const Object& object);

/// How to create a file. The defaults make the file an old library reads.
struct CreateOptions {
  H5F_libver_t libver_low = H5F_LIBVER_EARLIEST;
  H5F_libver_t libver_high = H5F_LIBVER_LATEST;
  /// What stands before the HDF5 part: written as it is. Its size must be 0 or a power of two >= 512.
  Bytes userblock;
  /// H5P_FILE_CREATE list (space strategy, creation order, ...); none: the library's default. Borrowed during the call;
  /// its user block size is set from `userblock`.
  hid_t fcpl = H5P_DEFAULT;
  /// Metadata is allocated in blocks of this size, so that it lies together. More chunks want larger blocks; up to one
  /// block may be lost at the end.
  std::uint64_t metadata_block_bytes = 2048;
  /// Not null: `path` holds an earlier file that was begun with the same options and never finished. It is begun anew,
  /// but these bytes of it stay, until forget_kept(). Borrowed until then.
  const KeptRanges* kept = nullptr;
};

/// Owned by shared_ptr: sources, sinks, readers and writers keep it alive. Thread-safe, except that finish() must be
/// the last call.
class File {
 public:
  /// Opens for reading. Throws Error{not_found}, Error{io} (also: another program holds the file open for writing),
  /// Error{corrupt} "not an HDF5 file ..." or with the library's reason, e.g. for a truncated file.
  static std::shared_ptr<File> open(const std::string& path);
  /// Creates `path`, which must not exist (but see CreateOptions::kept). Throws Error{exists}, Error{io},
  /// Error{unsupported} for bad options.
  static std::shared_ptr<File> create(const std::string& path, const CreateOptions& options);
  /// Closes without a word about errors; finish() is the way to learn of them.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  hid_t id() const { return id_.get(); }
  const std::string& path() const { return path_; }
  /// Of a file opened for reading: its bytes, from the very beginning (user block included), as addresses in sources
  /// count. Must not be called on a file being created.
  const Object& object() const;
  std::uint64_t size_bytes() const;  // of a file opened for reading

  /// Bytes before the HDF5 part.
  std::uint64_t userblock_bytes() const { return userblock_bytes_; }
  /// 0 to 3.
  unsigned superblock_version() const { return superblock_version_; }
  /// The lowest bound a writer must set so that its superblock is of this file's version.
  H5F_libver_t libver_low() const;

  /// Writes `bytes` at an absolute address of a file being created, outside the lock, and starts writing to the device
  /// early. Throws Error{io} naming the file.
  void write_at(std::uint64_t address, ByteView bytes);
  /// Remembers where the library placed data, in the order of the calls.
  void note(const Lock& lock, const Allocation& allocation);
  /// What was noted since the last call. Everything that write_at() wrote before the call is durable when it returns.
  /// Throws Error{io}.
  std::vector<Allocation> checkpoint();
  void forget_noted(const Lock& lock);
  /// The library's writes may go anywhere again.
  void forget_kept(const Lock& lock);
  /// Ends a file being created: closes all ids of the file, truncates, fsyncs. Ids still held elsewhere are dead
  /// afterwards (closing them is harmless). Throws Error{io}, Error{internal}.
  void finish();

 private:
  friend class RawCapture;
  File();

  std::string path_;
  std::unique_ptr<Object> object_;
  int lock_fd_ = -1;  // of a file being read: only to lock it
  std::unique_ptr<DriverState> driver_;
  std::unique_ptr<Writeback> writeback_;
  Hid id_;
  std::uint64_t userblock_bytes_ = 0;
  unsigned superblock_version_ = 0;
  std::vector<Allocation> noted_;  // guarded by the Lock
};

/// While it lives, transfers of raw data between the library and `file` from or to `buffer` are only noted, not done.
/// All other transfers go their ordinary way. With a null buffer every transfer of raw data is only noted: flush the
/// file first, or global heap data waiting in the metadata cache may be lost. Not nestable.
class RawCapture {
 public:
  RawCapture(const Lock& lock, File& file, const void* buffer);
  ~RawCapture();
  RawCapture(const RawCapture&) = delete;
  RawCapture& operator=(const RawCapture&) = delete;

  /// Transfers noted since construction or clear().
  std::uint64_t n_transfers() const;
  /// Of the last one; absolute, from the beginning of the file, user block included.
  std::uint64_t address() const;
  std::uint64_t size_bytes() const;
  void clear();

 private:
  DriverState& driver_;
};

}  // namespace chunkwise::hdf5
