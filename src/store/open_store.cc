#include "store/open_store.h"

#include <filesystem>
#include <system_error>

#include "store/zip_store.h"

namespace chunkwise {
namespace {

bool is_directory(const std::string& path) {
  std::error_code ignored;  // opening it tells
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

bool has_zip_name(const std::string& path) {
  constexpr std::size_t kSuffixBytes = 4;
  if (path.size() < kSuffixBytes) return false;
  std::string end = path.substr(path.size() - kSuffixBytes);
  for (char& c : end)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return end == ".zip";
}

std::unique_ptr<Store> open_store(const std::string& path) {
  return !is_directory(path) && is_zip_file(path) ? open_zip_store(path) : open_directory_store(path);
}

StoreProbe::StoreProbe(const std::string& path) {
  if (is_directory(path)) {
    folder_ = path;
  } else if (is_zip_file(path)) {
    zip_ = open_zip_store(path);
  }
}

bool StoreProbe::has(std::string_view name) const {
  std::error_code ignored;
  if (zip_ != nullptr) return zip_->size_bytes(name).has_value();
  return !folder_.empty() && std::filesystem::is_regular_file(std::filesystem::path(folder_) / name, ignored);
}

std::unique_ptr<Store> create_store(const std::string& path) {
  return is_directory(path) ? open_directory_store(path) : create_zip_store(path);
}

}  // namespace chunkwise
