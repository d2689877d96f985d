#include "app/profiles.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMostProfile_bytes = 1024 * 1024;

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool looks_like_path(const std::string& text) {
  return text.find('/') != std::string::npos || (text.size() > 5 && text.substr(text.size() - 5) == ".json");
}

Device read_profile(const std::string& path) {
  const std::string text = read_text(path);
  if (text.size() > kMostProfile_bytes) throw Error(Code::usage, fmt::format("{} is too long for a profile", path));
  return parse_profile(text, path);
}

}  // namespace

Device load_device(const std::string& name_or_path) {
  if (name_or_path.empty()) {
    const auto saved = saved_profile_path();
    return !saved.empty() && is_file(saved) ? read_profile(saved) : find_device(kDefaultDevice);
  }
  std::vector<std::string> names;
  for (const auto& device : devices()) {
    if (device.name == name_or_path) return device;
    names.push_back(device.name);
  }
  if (is_file(name_or_path) || looks_like_path(name_or_path)) return read_profile(name_or_path);
  throw Error(Code::usage, fmt::format("no device '{}'", name_or_path),
              fmt::format("{}\n  or name a profile that calibrate wrote", suggest(name_or_path, names)));
}

std::string saved_profile_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/') return std::string(config) + "/chunkwise/profile.json";
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::string(home) + "/.config/chunkwise/profile.json";
}

void save_profile(const std::string& path, const std::string& json) {
  namespace fs = std::filesystem;
  const fs::path target(path);
  const fs::path temporary = path + ".tmp";
  std::error_code failure;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), failure);
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << json;
  file.close();
  if (file) fs::rename(temporary, target, failure);
  if (!file || failure) {
    const std::string why = failure ? failure.message() : std::strerror(errno);
    fs::remove(temporary, failure);
    throw Error(Code::io, fmt::format("cannot write the profile {}: {}", path, why));
  }
}

std::string read_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || !text) {
    throw Error(errno == ENOENT ? Code::not_found : Code::io,
                fmt::format("cannot read {}: {}", path, errno != 0 ? std::strerror(errno) : "no file"));
  }
  return text.str();
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace chunkwise
