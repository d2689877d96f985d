#include "format/hdf5/element_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "base/sizes.h"
#include "format/hdf5/element_buffer.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/shared_messages.h"

namespace chunkwise::hdf5 {
namespace {

/// What is left of the memory for elements when the library holds its chunks: the one being written, a copy of it for
/// its filters, and the same of the source. A long list stands in memory up to four times: ours, the one in which the
/// library converts it, and in the cached heaps of both files.
std::uint64_t room_bytes(const ArrayMeta& a, const ArrayMeta& b, std::uint64_t memory_bytes) {
  const std::uint64_t held = 2 * (chunk_cache_bytes(a) + chunk_cache_bytes(b));
  return memory_bytes > held ? (memory_bytes - held) / 4 : 0;
}

[[noreturn]] void throw_too_large(const ArrayMeta& meta, const Box& box, std::uint64_t room) {
  throw Error(Code::budget,
              fmt::format("the element ({}) of {} alone takes more than {}", to_string(box.origin), meta.path,
                          format_bytes(room)),
              "allow more memory with --memory");
}

/// Calls `piece` for parts of `box` until it takes them; it answers false for a part that is too large.
template <typename Piece>
void in_pieces(const Box& box, Index& most_elements, const Piece& piece, const ArrayMeta& meta, std::uint64_t room) {
  if (product(box.shape) <= most_elements && piece(box)) return;
  const std::vector<Box> parts = halves(box);
  if (parts.empty()) throw_too_large(meta, box, room);
  most_elements = std::min(most_elements, std::max<Index>(product(box.shape) - 1, 1));
  for (const Box& part : parts) in_pieces(part, most_elements, piece, meta, room);
}

/// H5Sencode got a further parameter with 1.12; the older form still has a name there.
herr_t encode_space(hid_t space, void* encoded, std::size_t* size_bytes) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Sencode1(space, encoded, size_bytes);
#else
  return H5Sencode(space, encoded, size_bytes);
#endif
}

class Compare {
 public:
  Compare(const Lock& lock, const File& wanted, const ObjectPaths& wanted_paths, const File& got,
          const ObjectPaths& got_paths)
      : lock_(lock), wanted_(wanted), wanted_paths_(wanted_paths), got_(got), got_paths_(got_paths) {}

  bool same(ElementForm::Kind kind, const std::byte* a, const std::byte* b) const {
    const H5R_type_t type = kind == ElementForm::Kind::object_reference ? H5R_OBJECT : H5R_DATASET_REGION;
    const std::string path = path_of(type, wanted_, wanted_paths_, a);
    if (path != path_of(type, got_, got_paths_, b)) return false;
    return path.empty() || type == H5R_OBJECT || selection(wanted_, a) == selection(got_, b);
  }

 private:
  /// Empty if it leads nowhere.
  std::string path_of(H5R_type_t type, const File& file, const ObjectPaths& paths, const std::byte* at) const {
    hdset_reg_ref_t bytes{};
    std::memcpy(&bytes, at, type == H5R_OBJECT ? sizeof(hobj_ref_t) : sizeof bytes);
    const Hid object(H5Rdereference2(file.id(), H5P_DEFAULT, type, &bytes));
    if (!object) {
      static_cast<void>(library_error(lock_, {}));
      return {};
    }
    const auto found = paths.find(object_address(lock_, object.get()));
    return found == paths.end() ? "(an object without a name)" : found->second;
  }

  std::vector<unsigned char> selection(const File& file, const std::byte* at) const {
    constexpr const char* kWhat = "cannot read a region";
    hdset_reg_ref_t bytes{};
    std::memcpy(&bytes, at, sizeof bytes);
    const Hid region = owned(lock_, H5Rget_region(file.id(), H5R_DATASET_REGION, &bytes), kWhat);
    // The encoded extent says which version of the format the file has.
    const Hid space = fresh_space(lock_, region.get());
    checked(lock_, H5Sselect_copy(space.get(), region.get()), kWhat);
    std::size_t size_bytes = 0;
    checked(lock_, encode_space(space.get(), nullptr, &size_bytes), kWhat);
    std::vector<unsigned char> encoded(size_bytes);
    checked(lock_, encode_space(space.get(), encoded.data(), &size_bytes), kWhat);
    return encoded;
  }

  const Lock& lock_;
  const File& wanted_;
  const ObjectPaths& wanted_paths_;
  const File& got_;
  const ObjectPaths& got_paths_;
};

}  // namespace

void copy_elements(const ElementPlace& from, const ElementPlace& to, ObjectMap& objects, const ElementWork& work) {
  std::optional<Lock> lock(std::in_place);
  const Hid source = open_with_cache(*lock, from);
  const Hid target = open_with_cache(*lock, to);
  const MemoryForm as_lists = form_of(*lock, source.get(), from.meta);
  const MemoryForm as_texts = form_of(*lock, source.get(), from.meta, Texts::as_texts);
  const bool has_texts = as_texts.form.has_texts;
  const Presence presence(*lock, from, source.get());
  lock.reset();
  const std::uint64_t room = room_bytes(from.meta, to.meta, work.memory_bytes) / (has_texts ? 2 : 1);
  ElementBuffer lists(room);
  ElementBuffer texts(room);
  Index most_elements = product(to.meta.shape);
  const ChunkGrid grid = to.meta.grid();
  for (Index i = 0; i < grid.n_chunks() && !work.stop.stop_requested(); ++i) {
    const Box chunk = grid.box(ChunkId{i});
    std::uint64_t moved_bytes = 0;
    const auto copy = [&](const Box& box) {
      const Lock held;
      const std::string reading = "cannot read " + from.meta.path;
      const auto n = static_cast<std::size_t>(product(box.shape));
      if (!lists.read(held, source.get(), as_lists, box, reading)) return false;
      TextFacts facts;
      if (has_texts) {
        if (!texts.read(held, source.get(), as_texts, box, reading)) return false;
        look_at_texts(as_lists.form, lists.data(), as_texts.form, texts.data(), n, facts);
        if (facts.contradict() && n > 1) return false;  // in smaller pieces each may have a form of its own
        if (facts.contradict())
          throw Error(
              Code::unsupported,
              fmt::format("the element ({}) of {} holds an empty text and one with a zero byte in it, which the "
                          "HDF5 library cannot write together",
                          to_string(box.origin), to.meta.path),
              "leave the array out with --exclude");
      }
      const bool use_texts = facts.best() == Texts::as_texts;
      const MemoryForm& form = use_texts ? as_texts : as_lists;
      ElementBuffer& buffer = use_texts ? texts : lists;
      moved_bytes += buffer.size_bytes();
      move_references(held, form.form, buffer.data(), n, objects);
      const std::string writing = "cannot write " + to.meta.path;
      const BoxSpaces spaces = box_spaces(held, target.get(), box, writing);
      checked(
          held,
          H5Dwrite(target.get(), form.type.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, buffer.data()),
          writing, Code::io);
      return true;
    };
    const std::vector<Box> parts = presence.parts(chunk);
    for (const Box& part : parts) in_pieces(part, most_elements, copy, to.meta, room);
    if (work.done)
      work.done(!parts.empty(), moved_bytes, static_cast<std::uint64_t>(product(chunk.shape)) * to.meta.dtype.bytes);
  }
}

void rehearse_elements(const ElementPlace& from, double& left_s) {
  constexpr std::uint64_t kMostBytes = 32 << 20;
  constexpr Index kMostElements = 1024;  // of a piece: the clock is asked in between
  if (chunk_cache_bytes(from.meta) > kMostBytes) return;
  if (from.meta.storage == Storage::chunked &&
      ChunkTable::expected_seconds(from.meta.n_stored_chunks, from.meta.grid().n_chunks()) > left_s)
    return;
  const Lock lock;
  const auto begin = std::chrono::steady_clock::now();
  const auto used_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const Hid source = open_with_cache(lock, from);
  const MemoryForm form = form_of(lock, source.get(), from.meta);
  const Presence presence(lock, from, source.get());
  ElementBuffer buffer(kMostBytes);
  const ChunkGrid grid = from.meta.grid();
  for (Index i = 0; i < grid.n_chunks() && used_s() < left_s; ++i) {
    std::vector<Box> boxes = presence.parts(grid.box(ChunkId{i}));
    while (!boxes.empty() && used_s() < left_s) {
      const Box box = boxes.back();
      boxes.pop_back();
      const auto n = product(box.shape);
      if (n > kMostElements || !buffer.read(lock, source.get(), form, box, "cannot read " + from.meta.path)) {
        for (const Box& half : halves(box)) boxes.push_back(half);
        continue;
      }
      visit_references(form.form, buffer.data(), static_cast<std::size_t>(n),
                       [&](ElementForm::Kind kind, const std::byte* at) {
                         follow_reference(lock, from.file->id(), kind, at);
                         return Kept::yes;
                       });
    }
  }
  left_s -= used_s();
}

void compare_elements(const ElementPlace& wanted, const ObjectPaths& wanted_paths, const ElementPlace& got,
                      const ObjectPaths& got_paths, const ElementWork& work) {
  std::optional<Lock> lock(std::in_place);
  const Hid a = open_with_cache(*lock, wanted);
  const Hid b = open_with_cache(*lock, got);
  const Presence presence(*lock, wanted, a.get());
  const MemoryForm form = form_of(*lock, a.get(), wanted.meta);
  lock.reset();
  const std::uint64_t room = room_bytes(wanted.meta, got.meta, work.memory_bytes) / 2;
  ElementBuffer wanted_elements(room);
  ElementBuffer got_elements(room);
  Index most_elements = product(got.meta.shape);
  const ChunkGrid grid = got.meta.grid();
  for (Index i = 0; i < grid.n_chunks() && !work.stop.stop_requested(); ++i) {
    const ChunkId id{i};
    if (work.chosen && !work.chosen(grid, id)) continue;
    std::uint64_t compared_bytes = 0;
    const auto compare = [&](const Box& box) {
      const Lock held;
      const Compare references(held, *wanted.file, wanted_paths, *got.file, got_paths);
      if (!wanted_elements.read(held, a.get(), form, box, "cannot read " + wanted.meta.path)) return false;
      try {
        if (!got_elements.read(held, b.get(), form, box, "cannot read " + got.meta.path)) return false;
      } catch (const Error& error) {
        throw Error(Code::mismatch, fmt::format("{}: the target cannot be read back: {}", got.meta.path, error.what()));
      }
      compared_bytes += got_elements.size_bytes();
      const std::size_t size_bytes = form.form.size_bytes;
      for (std::size_t at = 0; at < static_cast<std::size_t>(product(box.shape)); ++at) {
        const bool equal =
            equal_elements(form.form, wanted_elements.data() + at * size_bytes, got_elements.data() + at * size_bytes,
                           [&](ElementForm::Kind kind, const std::byte* x, const std::byte* y) {
                             return references.same(kind, x, y);
                           });
        if (equal) continue;
        throw Error(Code::mismatch, fmt::format("{}: element ({}) differs between source and target", got.meta.path,
                                                to_string(position_in(box, static_cast<Index>(at)))));
      }
      return true;
    };
    for (const Box& part : presence.parts(grid.box(id))) in_pieces(part, most_elements, compare, got.meta, room);
    if (work.done)
      work.done(true, compared_bytes, static_cast<std::uint64_t>(product(grid.box(id).shape)) * got.meta.dtype.bytes);
  }
}

}  // namespace chunkwise::hdf5
