// The file gets its header and its full length at once; then every run of elements has its place, and can be written in
// any order, by any thread, more than once.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "array/linear.h"
#include "base/error.h"
#include "format/netcdf3/file_plan.h"
#include "format/netcdf3/format.h"
#include "format/netcdf3/native.h"
#include "format/netcdf3/source.h"
#include "store/posix_file.h"

namespace chunkwise::netcdf3 {
namespace {

constexpr std::uint64_t kPiece_bytes = 1u << 20;

bool is_zero(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

struct OutputFile {
  std::string path;
  posix::Descriptor descriptor;

  void write(std::uint64_t offset, ByteView bytes) const { posix::write_at(descriptor.get(), offset, bytes, path); }
};

/// What follows a slab to the next multiple of 4 bytes: the fill value, as netCDF-C has it there.
std::vector<std::byte> padding_of(const Place& place, const std::vector<std::byte>& fill) {
  std::vector<std::byte> padding(static_cast<std::size_t>(place.padding_bytes));
  for (std::size_t i = 0; i < padding.size(); ++i) padding[i] = fill[i % fill.size()];
  // The file is zeros already.
  if (is_zero(padding)) padding.clear();
  return padding;
}

class VariableSink final : public ArraySink {
 public:
  VariableSink(std::shared_ptr<const OutputFile> file, ArrayMeta meta, const Place& place)
      : ArraySink(std::move(meta)), file_(std::move(file)), place_(place), padding_(padding_of(place_, meta_.fill)) {
    check_linear(meta_);
  }

  void write(ChunkId id, const EncodedChunk& chunk) override {
    CHUNKWISE_CHECK(linear(id) >= 0 && linear(id) < grid_.n_chunks());
    if (chunk.absent) return;
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    if (chunk.bytes.size() != range.size_bytes)
      throw Error(Code::corrupt, fmt::format("chunk {} of {} has {} bytes, but needs {}", linear(id), meta_.path,
                                             chunk.bytes.size(), range.size_bytes));
    for_each_piece(place_, range.offset_bytes, range.size_bytes,
                   [&](std::uint64_t address, std::uint64_t offset, std::uint64_t n_bytes) {
                     file_->write(address, chunk.bytes.subspan(offset, n_bytes));
                     const bool ends_slab = (range.offset_bytes + offset + n_bytes) % place_.slab_bytes == 0;
                     if (ends_slab && !padding_.empty()) file_->write(address + n_bytes, padding_);
                   });
  }

 private:
  const std::shared_ptr<const OutputFile> file_;
  const Place place_;
  const std::vector<std::byte> padding_;
};

/// Fills all of a variable of which some will not be written.
void fill_slabs(const OutputFile& file, const Place& place, const std::vector<std::byte>& fill) {
  if (is_zero(fill)) return;
  const std::uint64_t slab_bytes = place.slab_bytes + place.padding_bytes;
  // A whole number of elements, and of 4-byte words.
  Bytes piece(static_cast<std::size_t>(std::min(slab_bytes + 8 - slab_bytes % 8, kPiece_bytes)));
  fill_elements(piece.span(), fill);
  for (std::uint64_t slab = 0; slab < place.n_slabs; ++slab)
    for (std::uint64_t done = 0; done < slab_bytes; done += piece.size()) {
      const auto n_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), slab_bytes - done));
      file.write(place.begin_bytes + slab * place.stride_bytes + done, piece.view().first(n_bytes));
    }
}

enum class Begin { anew, where_it_ended };

class ClassicWriter final : public Writer {
 public:
  ClassicWriter(const std::string& path, const Hierarchy& tree, Begin begin) : file_(std::make_shared<OutputFile>()) {
    Header header = plan_file(tree);
    const std::uint64_t file_bytes = lay_out(header);
    file_->path = path;
    const int how = begin == Begin::anew ? O_CREAT | O_EXCL : O_NOFOLLOW;
    file_->descriptor = posix::Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | how, 0666));
    if (!file_->descriptor) posix::throw_io(begin == Begin::anew ? "create" : "open", path, errno);
    if (begin == Begin::anew)
      extend(print_header(header), file_bytes);
    else
      require_begun(print_header(header), file_bytes);
    std::map<std::string, const ArrayNode*> nodes;
    for (const ArrayNode& node : tree.arrays) nodes[base_name(node.meta.path)] = &node;
    for (const Variable& variable : header.variables) {
      const ArrayNode& node = *nodes.at(variable.name);
      targets_.emplace(node.meta.path, Target{node.meta, variable.place});
      const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
      const bool has_gaps = native == nullptr || native->has_gaps;
      if (begin == Begin::anew && has_gaps) fill_slabs(*file_, variable.place, node.meta.fill);
    }
  }

  std::unique_ptr<ArraySink> open_array(const std::string& path) override {
    const auto found = targets_.find(path);
    CHUNKWISE_CHECK(found != targets_.end());
    return std::make_unique<VariableSink>(file_, found->second.meta, found->second.place);
  }

  /// Every run of elements has its place, so that nothing needs to be told.
  std::optional<std::string> checkpoint() override {
    if (::fdatasync(file_->descriptor.get()) != 0) posix::throw_io("make durable", file_->path, errno);
    return std::string();
  }

  void finish() override { posix::sync_path(file_->path); }

 private:
  void extend(const std::string& header, std::uint64_t file_bytes) const {
    file_->write(0, as_bytes(header));
    if (::ftruncate(file_->descriptor.get(), static_cast<off_t>(file_bytes)) != 0)
      posix::throw_io("extend", file_->path, errno);
  }

  /// Header, length and fill values stood before the first checkpoint, which made them durable.
  void require_begun(const std::string& header, std::uint64_t file_bytes) const {
    struct stat status {};
    if (::fstat(file_->descriptor.get(), &status) != 0) posix::throw_io("look at", file_->path, errno);
    Bytes found(header.size());
    const bool is_whole = static_cast<std::uint64_t>(status.st_size) == file_bytes && found.size() <= file_bytes;
    if (is_whole) posix::read_at(file_->descriptor.get(), 0, found.span(), file_->path);
    if (!is_whole || as_text(found.view()) != header)
      throw Error(Code::unsupported, "the unfinished target is not what its journal was written for",
                  "remove it, and begin anew")
          .in(file_->path);
  }

  struct Target {
    ArrayMeta meta;
    Place place;
  };
  const std::shared_ptr<OutputFile> file_;
  std::map<std::string, Target> targets_;
};

}  // namespace

std::unique_ptr<Writer> create(const std::string& path, const Hierarchy& tree) {
  return std::make_unique<ClassicWriter>(path, tree, Begin::anew);
}

std::unique_ptr<Writer> resume(const std::string& path, const Hierarchy& tree, const EarlierWork&) {
  return std::make_unique<ClassicWriter>(path, tree, Begin::where_it_ended);
}

}  // namespace chunkwise::netcdf3
