#include "rechunk/journal.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "array/tree_hash.h"
#include "base/error.h"
#include "codec/spec.h"

namespace chunkwise {
namespace {

/// The first number of every record.
constexpr std::uint64_t kIdentity = 1;
constexpr std::uint64_t kCheckpoint = 2;
constexpr std::uint64_t kEnd = 3;
/// Fractions are stored in millionths.
constexpr double kMillion = 1e6;

struct stat status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) posix::throw_io("examine", path, errno);
  return status;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string layout_in_words(const ArrayMeta& meta) {
  const std::string codecs = meta.codecs.empty() ? "no codec" : to_string(meta.codecs);
  if (meta.storage == Storage::contiguous) return "contiguous";
  if (meta.storage == Storage::compact) return "compact";
  const std::string shards = meta.shards.empty() ? "" : fmt::format(" in shards of {}", to_string(meta.unit()));
  return fmt::format("chunks of {}{} with {}", to_string(meta.chunk), shards, codecs);
}

void pack(Packer& out, const WorkIdentity& identity) {
  out.number(kIdentity);
  out.text(identity.program);
  out.text(identity.source);
  out.number(identity.source_bytes);
  out.number(static_cast<std::uint64_t>(identity.source_mtime_ns));
  out.number(identity.source_hash);
  out.text(identity.format);
  out.number(identity.arrays.size());
  for (const auto& [path, layout] : identity.arrays) {
    out.text(path);
    out.text(layout);
  }
  out.number(identity.target_hash);
  out.text(identity.temporary);
  out.number(identity.temporary_node);
  out.number(static_cast<std::uint64_t>(identity.started_s));
}

WorkIdentity unpack_identity(Unpacker& in) {
  WorkIdentity identity;
  identity.program = in.text();
  identity.source = in.text();
  identity.source_bytes = in.number();
  identity.source_mtime_ns = static_cast<std::int64_t>(in.number());
  identity.source_hash = in.number();
  identity.format = in.text();
  for (std::uint64_t n = in.number(); n > 0; --n) {
    std::string path = in.text();
    identity.arrays.emplace_back(std::move(path), in.text());
  }
  identity.target_hash = in.number();
  identity.temporary = in.text();
  identity.temporary_node = in.number();
  identity.started_s = static_cast<std::int64_t>(in.number());
  return identity;
}

std::string difference_of_arrays(const WorkIdentity& earlier, const WorkIdentity& now) {
  for (const auto& [path, layout] : earlier.arrays) {
    const auto same = std::find_if(now.arrays.begin(), now.arrays.end(),
                                   [&, name = path](const auto& other) { return other.first == name; });
    if (same == now.arrays.end()) return fmt::format("it was to hold {}", path);
    if (same->second != layout) return fmt::format("{} was to get {}, not {}", path, layout, same->second);
  }
  for (const auto& [path, layout] : now.arrays)
    if (std::none_of(earlier.arrays.begin(), earlier.arrays.end(),
                     [&, name = path](const auto& other) { return other.first == name; }))
      return fmt::format("it was not to hold {}", path);
  return "its arrays or attributes were to be others";
}

}  // namespace

WorkIdentity identify(const std::string& source, const Hierarchy& source_tree, std::string_view format,
                      const Hierarchy& target) {
  WorkIdentity identity;
  identity.program = "rechunk " CHUNKWISE_VERSION;
  identity.source = std::filesystem::weakly_canonical(source).string();
  const struct stat status = status_of(source);
  // Of a directory these are about the list of names in it, which is part of what it says.
  identity.source_bytes = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  identity.source_mtime_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  identity.source_hash = tree_hash(source_tree);
  identity.format = format;
  for (const ArrayNode& node : target.arrays) identity.arrays.emplace_back(node.meta.path, layout_in_words(node.meta));
  identity.target_hash = tree_hash(target);
  identity.started_s = static_cast<std::int64_t>(::time(nullptr));
  return identity;
}

std::optional<std::string> changed_since(const WorkIdentity& earlier) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(earlier.source, error)) return std::nullopt;
  fs::recursive_directory_iterator entry(earlier.source, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    struct stat status {};
    // A link that leads nowhere is damage that reading tells.
    if (::stat(entry->path().c_str(), &status) == 0 && status.st_mtim.tv_sec > earlier.started_s)
      return entry->path().string();
  }
  if (error) posix::throw_io("list", earlier.source, error.value());
  return std::nullopt;
}

std::optional<std::string> what_differs(const WorkIdentity& earlier, const WorkIdentity& now) {
  if (earlier.program != now.program)
    return fmt::format("it was begun by {}, this is {}", earlier.program, now.program);
  if (earlier.source != now.source)
    return fmt::format("it was made from '{}', not from '{}'", earlier.source, now.source);
  if (earlier.source_bytes != now.source_bytes || earlier.source_mtime_ns != now.source_mtime_ns ||
      earlier.source_hash != now.source_hash)
    return fmt::format("the source '{}' has changed since ({})", now.source,
                       earlier.source_bytes != now.source_bytes         ? "its size"
                       : earlier.source_mtime_ns != now.source_mtime_ns ? "its time of change"
                                                                        : "its metadata");
  if (earlier.format != now.format) return fmt::format("it was to be {}, not {}", earlier.format, now.format);
  if (earlier.arrays != now.arrays || earlier.target_hash != now.target_hash) return difference_of_arrays(earlier, now);
  return std::nullopt;
}

Journal::Journal(std::string path, WorkIdentity identity) : path_(std::move(path)), identity_(std::move(identity)) {}

std::unique_ptr<Journal> Journal::open(const std::string& path) {
  std::optional<RecordLog> log = RecordLog::open(path);
  if (!log) return nullptr;
  std::unique_ptr<Journal> journal(new Journal);
  journal->path_ = path;
  bool first = true;
  try {
    log->for_each([&](ByteView record) {
      Unpacker in(record);
      const std::uint64_t kind = in.number();
      if (first ? kind != kIdentity : kind != kCheckpoint && kind != kEnd)
        throw Error(Code::corrupt, "a record of an unknown kind");
      if (first) {
        journal->identity_ = unpack_identity(in);
      } else if (kind == kEnd) {
        journal->is_complete_ = true;
      } else {
        journal->fraction_done_ = static_cast<double>(in.number()) / kMillion;
        ++journal->n_checkpoints_;
      }
      first = false;
    });
  } catch (Error& error) {
    throw error.in(path);
  }
  journal->is_empty_ = first;
  journal->log_ = std::move(log);
  return journal;
}

void Journal::begin() {
  identity_.temporary_node = status_of(folder_of(path_) + "/" + identity_.temporary).st_ino;
  log_ = RecordLog::create(path_);
  Packer out;
  pack(out, identity_);
  log_->append(out.view());
  // The names of both files must be durable too.
  posix::sync_path(folder_of(path_));
}

void Journal::append(double fraction_done, const Packer& packed_done, ByteView state) {
  if (!log_) begin();
  Packer out;
  out.number(kCheckpoint);
  out.number(static_cast<std::uint64_t>(fraction_done * kMillion));
  out.bytes(packed_done.view());
  out.bytes(state);
  log_->append(out.view());
  ++n_checkpoints_;
  fraction_done_ = fraction_done;
}

void Journal::append_end() {
  if (!log_) begin();
  Packer out;
  out.number(kEnd);
  log_->append(out.view());
  is_complete_ = true;
}

void Journal::restore(DoneChunks& done) const {
  CHUNKWISE_CHECK(log_.has_value());
  log_->for_each([&done](ByteView record) {
    Unpacker in(record);
    if (in.number() != kCheckpoint) return;
    in.number();
    Unpacker packed(in.bytes());
    done.restore(packed);
  });
}

void Journal::for_each_state(const std::function<void(ByteView)>& use) const {
  CHUNKWISE_CHECK(log_.has_value());
  log_->for_each([&use](ByteView record) {
    Unpacker in(record);
    if (in.number() != kCheckpoint) return;
    in.number();
    in.bytes();
    use(in.bytes());
  });
}

void Journal::remove() {
  if (!log_) return;
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) posix::throw_io("remove", path_, errno);
  log_.reset();
}

}  // namespace chunkwise
