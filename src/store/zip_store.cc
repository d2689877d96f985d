// Reading. Lookups and listings are binary searches in the sorted index.
#include "store/zip_store.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"
#include "store/store_key.h"
#include "store/zip_format.h"
#include "store/zip_index.h"
#include "store/zip_object.h"

namespace chunkwise {
namespace {

class ZipStore final : public Store {
 public:
  explicit ZipStore(std::string path) : path_(std::move(path)), file_(open_file_object(path_)), index_(*file_) {}

  std::unique_ptr<Object> open(std::string_view key) const override {
    const ZipEntry* const entry = find(key);
    if (entry == nullptr) return nullptr;
    try {
      return open_zip_object(file_, index_, *entry);
    } catch (Error& error) {
      throw error.in(path_);
    }
  }

  std::optional<Bytes> read(std::string_view key, std::uint64_t max_bytes) const override {
    const std::unique_ptr<Object> object = open(key);
    if (object == nullptr) return std::nullopt;
    if (object->size_bytes() > max_bytes) {
      throw Error(Code::corrupt, fmt::format("'{}' has {}, more than the {} it can have", shown_key(key),
                                             format_bytes(object->size_bytes()), format_bytes(max_bytes)))
          .in(path_);
    }
    Bytes bytes(static_cast<std::size_t>(object->size_bytes()));
    object->read(0, bytes.span());
    return bytes;
  }

  std::optional<std::uint64_t> size_bytes(std::string_view key) const override {
    const ZipEntry* const entry = find(key);
    return entry == nullptr ? std::nullopt : std::optional(entry->size_bytes);
  }

  std::vector<Entry> list(std::string_view prefix) const override {
    std::vector<Entry> entries;
    list_sizes(prefix, [&](const SizedEntry& entry) { entries.push_back({std::string(entry.name), entry.is_prefix}); });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
  }

  void list_sizes(std::string_view prefix, const std::function<void(const SizedEntry&)>& found) const override {
    if (!prefix.empty()) check_key(prefix, path_);
    const std::string start = prefix.empty() ? std::string() : std::string(prefix) + '/';
    for (std::size_t i = index_.lower_bound(start); i < index_.n_entries();) {
      const std::string_view key = index_.key(i);
      if (key.substr(0, start.size()) != start) return;
      const std::string_view rest = key.substr(start.size());
      const std::size_t slash = rest.find('/');
      if (slash == std::string_view::npos) {
        found({rest, false, index_.entry(i).size_bytes});
        ++i;
        continue;
      }
      found({rest.substr(0, slash), true, 0});
      // On to what comes after all that begins with "name/".
      const std::string after = std::string(key.substr(0, start.size() + slash)) + static_cast<char>('/' + 1);
      i = index_.lower_bound(after);
    }
  }

  void write(std::string_view, ByteView) override { is_read_only(); }
  std::unique_ptr<PieceWriter> open_pieces(std::string_view, std::optional<std::uint64_t>) override { is_read_only(); }
  void sync() override { is_read_only(); }

 private:
  [[noreturn]] void is_read_only() const {
    throw Error(Code::internal, fmt::format("the zip file '{}' was opened to be read, not written", path_));
  }
  const ZipEntry* find(std::string_view key) const {
    check_key(key, path_);
    return index_.find(key);
  }

  std::string path_;
  std::shared_ptr<const Object> file_;
  ZipIndex index_;
};

}  // namespace

bool is_zip_file(const std::string& path) {
  try {
    const std::unique_ptr<Object> file = open_file_object(path);
    std::array<std::byte, 4> start{};
    if (file->size_bytes() < start.size()) return false;
    file->read(0, start);
    const std::uint32_t signature = zip::get32(start, 0);
    return signature == zip::kLocalSignature || signature == zip::kEndSignature;
  } catch (const Error&) {
    return false;
  }
}

std::unique_ptr<Store> open_zip_store(const std::string& path) {
  try {
    return std::make_unique<ZipStore>(path);
  } catch (Error& error) {
    if (error.code() == Code::not_found) throw;
    throw error.in(path);
  }
}

}  // namespace chunkwise
