#include "format/hdf5/first_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>

#include "base/child_process.h"
#include "base/packing.h"
#include "base/process_memory.h"
#include "base/sizes.h"
#include "format/hdf5/attribute_copy.h"
#include "format/hdf5/native.h"
#include "format/hdf5/reader.h"
#include "format/hdf5/reference_fill.h"
#include "format/hdf5/walk.h"

namespace chunkwise::hdf5 {
namespace {

// What the look at one file may spend on chunk indexes; one that needs more is walked in a child of its own, once.
constexpr double kLocateSeconds = 0.3;
// And on elements with lists or references. Damaged files that crash the library are small.
constexpr double kElementSeconds = 0.3;

constexpr char kDone = 'd';
constexpr char kFailed = 'f';

/// Generous, so that no sound file meets them, on no slow machine: metadata takes about 30 ns and 9 bytes of memory per
/// byte of it.
ChildLimits limits_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t kLeastMemoryBytes = std::uint64_t{512} << 20;
  constexpr std::uint64_t kBytesPerSecond = 2'000'000;
  constexpr std::uint64_t kMemoryPerByte = 64;
  const std::uint64_t counted_bytes = std::min(file_bytes, std::uint64_t{1} << 40);
  ChildLimits limits;
  limits.cpu_s = 4 + counted_bytes / kBytesPerSecond;
  limits.extra_memory_bytes = std::min(kLeastMemoryBytes + kMemoryPerByte * counted_bytes,
                                       std::max(kLeastMemoryBytes, available_memory_bytes()));
  return limits;
}

std::string pack(const Error& error) {
  std::string reply = fmt::format("{}{}", kFailed, static_cast<int>(error.code()));
  for (const std::string* text : {&error.message(), &error.where(), &error.hint()}) reply.append(1, '\0').append(*text);
  return reply;
}

[[noreturn]] void rethrow_packed(std::string_view reply) {
  const auto next = [&reply] {
    const std::string_view word = reply.substr(0, reply.find('\0'));
    reply.remove_prefix(std::min(word.size() + 1, reply.size()));
    return std::string(word);
  };
  const std::string number = next();
  int code = static_cast<int>(Code::internal);
  std::from_chars(number.data(), number.data() + number.size(), code);
  std::string message = next();
  const std::string where = next();
  Error error(static_cast<Code>(code), std::move(message), next());
  if (!where.empty()) error.in(where);
  throw error;
}

Error no_answer(const ChildResult& result, const ChildLimits& limits, const char* doing) {
  constexpr const char* kHint = "copy or download it again";
  switch (result.end) {
    case ChildResult::End::out_of_time:
      return Error(Code::corrupt,
                   fmt::format("the file is damaged: the HDF5 library did not come to an end within {} s of computing "
                               "while {}",
                               limits.cpu_s, doing),
                   kHint);
    case ChildResult::End::out_of_memory:
      return Error(Code::corrupt,
                   fmt::format("the file is damaged: {} takes more than {} of memory", doing,
                               format_bytes(limits.extra_memory_bytes)),
                   kHint);
    default:
      break;
  }
  const std::string how = result.signal != 0 ? fmt::format(" (signal {})", result.signal) : std::string();
  return Error(Code::corrupt, fmt::format("the file is damaged: the HDF5 library crashes{} while {}", how, doing),
               kHint);
}

/// Runs `work` in a child that holds the lock, and hands on its reply or its Error.
template <typename Work>
std::string ask_child(const Lock& lock, const ChildLimits& limits, const char* doing, const Work& work) {
  const ChildResult result = run_in_child(limits, [&]() -> std::string {
    lock.take_over_in_child();
    try {
      return kDone + work();
    } catch (const Error& error) {
      return pack(error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return pack(Error(Code::internal, error.what()));
    }
  });
  if (result.end != ChildResult::End::replied || result.reply.empty()) throw no_answer(result, limits, doing);
  if (result.reply.front() != kDone) rethrow_packed(std::string_view(result.reply).substr(1));
  return result.reply.substr(1);
}

/// What this process reads later, when attributes are copied as they are: values in heaps, and where references lead.
void rehearse_attributes(const Lock& lock, const File& file, const std::string& path,
                         const std::vector<Attribute>& attributes) {
  std::vector<std::string> names;
  for (const Attribute& attribute : attributes)
    if (attribute.value.kind == AttributeValue::Kind::foreign) names.push_back(attribute.name);
  const Hid object = owned(lock, H5Oopen(file.id(), path.c_str(), H5P_DEFAULT), "cannot open " + path);
  if (H5Aexists(object.get(), "REFERENCE_LIST") > 0) names.emplace_back("REFERENCE_LIST");
  for (const std::string& name : names) {
    try {
      rehearse_copy(lock, file, object.get(), name);
    } catch (const Error&) {
      // Whoever wants this attribute will be told.
    }
  }
}

double expected_seconds(const ArrayMeta& meta) {
  return ChunkTable::expected_seconds(meta.n_stored_chunks, meta.grid().n_chunks());
}

/// True if the array's chunks have been looked up, or cannot be.
bool rehearse_source(const Hdf5Reader& reader, const ArrayMeta& meta, double& left_s) {
  if (meta.storage == Storage::chunked) {
    const double seconds = expected_seconds(meta);
    if (seconds > left_s) return false;
    left_s -= seconds;
  }
  try {
    reader.open_array(meta.path);
  } catch (const Error&) {
    // Said again when the array is opened; others may be fine.
  }
  return true;
}

/// What this process reads later, when elements with lists or references are copied by the library.
void rehearse_referring(const Lock& lock, const File& file, const ElementPlace& from, const ArrayNative& native,
                        double& left_s) {
  if (!from.meta.dtype.refers || native.null_space || left_s <= 0) return;
  try {
    has_reference_fill(lock, file, native.path);
    if (from.meta.storage != Storage::virtual_ && from.meta.n_stored_chunks > 0) rehearse_elements(from, left_s);
  } catch (const Error&) {
    // Said again by whoever copies it; chunkadvise need not read the elements.
  }
}

/// What the child does after the walk. Whatever else this process asks the library to read from a source belongs here
/// too: each kind of thing in a function of its own. The answer is FirstLook::located, a digit per array.
std::string rehearse(const Lock& lock, const File& file, const Hdf5Reader& reader) {
  for (const GroupNode& group : reader.tree().groups) {
    rehearse_attributes(lock, file, group.path, group.attributes);
    for (const ScaleNative& scale : dynamic_cast<const GroupNative&>(*group.native).scales)
      if (!scale.is_array) rehearse_attributes(lock, file, scale.path, {});
  }
  std::string located;
  double left_s = kLocateSeconds;
  double elements_left_s = kElementSeconds;
  for (const ArrayNode& array : reader.tree().arrays) {
    rehearse_attributes(lock, file, dynamic_cast<const ArrayNative&>(*array.native).path, array.attributes);
    const auto& native = dynamic_cast<const ArrayNative&>(*array.native);
    rehearse_referring(lock, file, reader.place(array.meta.path), native, elements_left_s);
    located.push_back(rehearse_source(reader, array.meta, left_s) ? '1' : '0');
  }
  return located;
}

}  // namespace

FirstLook first_look(const std::string& path, LookAt what) {
  const Lock lock;
  const std::uint64_t file_bytes = open_file_object(path)->size_bytes();
  try {
    const std::string reply = ask_child(lock, limits_for(file_bytes), "reading its metadata", [&] {
      const std::shared_ptr<File> file = File::open(path);
      FileRecords records = walk(lock, *file);
      Packer packer;
      packer.text(pack(records));
      packer.text(what == LookAt::everything ? rehearse(lock, *file, Hdf5Reader(file, std::move(records)))
                                             : std::string());
      return packer.take();
    });
    Unpacker unpacker(as_bytes(reply));
    FirstLook look;
    look.records = unpack_records(as_text(unpacker.bytes()));
    for (const char c : unpacker.text()) look.located.push_back(c == '1');
    return look;
  } catch (Error& error) {
    // The child names the file in its own errors.
    throw error.where().ends_with(path) ? error : error.in(path);
  }
}

ChunkTable locate_in_child(const Lock& lock, File& file, hid_t dataset, const ArrayMeta& meta) {
  ChildLimits limits = limits_for(file.size_bytes());
  limits.cpu_s += static_cast<std::uint64_t>(10 * expected_seconds(meta));
  const std::string doing = "looking up the chunks of " + meta.path;
  return ChunkTable::from_bytes(
      ask_child(lock, limits, doing.c_str(), [&] { return ChunkTable(lock, file, dataset, meta).to_bytes(); }));
}

}  // namespace chunkwise::hdf5
