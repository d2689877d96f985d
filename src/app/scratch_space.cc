#include "app/scratch_space.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "model/decode.h"

namespace chunkwise {
namespace {

double expected_target_bytes(const std::vector<PlanInput>& arrays) {
  double bytes = 0;
  for (const PlanInput& array : arrays) {
    const double decoded =
        static_cast<double>(array.source->n_stored_chunks) * static_cast<double>(array.source->chunk_bytes());
    const bool compresses = decode_cost(array.target->codecs).compresses;
    bytes += compresses ? std::min(decoded, static_cast<double>(array.source->stored_bytes)) : decoded;
  }
  return bytes;
}

}  // namespace

std::string folder_of_target(const std::string& target) {
  std::filesystem::path path = target;
  if (!path.has_filename()) path = path.parent_path();  // a trailing slash
  const std::string folder = path.parent_path().string();
  return folder.empty() ? "." : folder;
}

std::optional<ScratchSpace> scratch_space(const RechunkRequest& request, const std::vector<PlanInput>& arrays) {
  if (request.scratch == "none") return std::nullopt;
  ScratchSpace space;
  space.is_required = !request.scratch.empty();
  const std::string beside_target = folder_of_target(request.target);
  space.folder = space.is_required ? request.scratch : beside_target;
  struct stat status {};
  struct statvfs room {};
  if (::stat(space.folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      ::statvfs(space.folder.c_str(), &room) != 0) {
    if (!space.is_required) return std::nullopt;
    if (S_ISDIR(status.st_mode) || status.st_mode == 0)
      throw Error(Code::not_found, fmt::format("--scratch {}: there is no such folder", request.scratch),
                  "make it, or name another one");
    throw Error(Code::usage, fmt::format("--scratch {} is not a folder", request.scratch), "name a folder");
  }
  space.free_bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  struct stat target_status {};
  if (::stat(beside_target.c_str(), &target_status) == 0 && target_status.st_dev == status.st_dev) {
    const auto target_bytes = static_cast<std::uint64_t>(expected_target_bytes(arrays));
    space.free_bytes -= std::min(space.free_bytes, target_bytes);
  }
  return space;
}

}  // namespace chunkwise
