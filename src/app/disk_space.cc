#include "app/disk_space.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "app/scratch_space.h"
#include "base/error.h"
#include "base/sizes.h"
#include "rechunk/intermediate.h"

namespace chunkwise {
namespace {

struct Disk {
  std::uint64_t free_bytes = 0;
  dev_t device = 0;
};

std::optional<Disk> disk_of(const std::string& folder) {
  struct stat status {};
  struct statvfs room {};
  if (::stat(folder.c_str(), &status) != 0 || ::statvfs(folder.c_str(), &room) != 0) return std::nullopt;
  return Disk{static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize, status.st_dev};
}

}  // namespace

std::optional<DiskNeed> disk_need(const RechunkRequest& request, const Reader& reader, const PlannedRewrite& planned,
                                  bool samples) {
  DiskNeed need;
  need.folder = folder_of_target(request.target);
  const auto disk = disk_of(need.folder);
  if (!disk) return std::nullopt;
  need.free_bytes = disk->free_bytes;
  const Plan& plan = planned.plan;
  for (std::size_t i = 0; i < planned.targets.size(); ++i) {
    const ArrayPlan& array = plan.arrays[i];
    if (samples) {
      need.target += estimate_target(reader, planned.sources[i], planned.targets[i], array, plan);
    } else {
      const auto most = static_cast<double>(std::max(array.decoded_bytes, planned.sources[i].stored_bytes));
      need.target += {most, 0, most};
    }
    if (array.intermediate) need.scratch_bytes = std::max(need.scratch_bytes, array.intermediate->scratch_bytes);
  }
  if (need.scratch_bytes > 0) {
    const auto of_scratch = disk_of(plan.scratch_folder);
    need.scratch_beside_target = of_scratch && of_scratch->device == disk->device;
  }
  return need;
}

void require_space(const DiskNeed& need) {
  const double scratch = need.scratch_beside_target ? static_cast<double>(need.scratch_bytes) : 0;
  if (need.target.low_bytes + scratch <= static_cast<double>(need.free_bytes)) return;
  const auto text = [](double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); };
  throw Error(Code::io,
              fmt::format("does not fit the disk: the target takes about {} ({} to {}){}, '{}' has {} free",
                          text(need.target.bytes), text(need.target.low_bytes), text(need.target.high_bytes),
                          scratch > 0 ? fmt::format(" and the intermediate array {}", text(scratch)) : "", need.folder,
                          format_bytes(need.free_bytes)),
              "free some, name a target on another disk, or ask for a stronger codec with --codec");
}

}  // namespace chunkwise
