#include "rechunk/element_copy.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/sizes.h"
#include "base/utf8.h"
#include "rechunk/element_tile.h"
#include "rechunk/encoded_elements.h"
#include "rechunk/plan.h"
#include "rechunk/shard_blocks.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

/// The memory is for a tile, for reading or decoding, and twice as much for encoding or writing; or, to compare, for
/// two tiles and two sources. What was written fits when it is read back, see open_element_sink.
constexpr std::uint64_t kShares = 4;

std::string position_text(const Box& box, std::size_t i) {
  const Shape position = position_in(box, static_cast<Index>(i));
  return fmt::format("({})", fmt::join(position.begin(), position.end(), ", "));
}

/// What never-written elements read as: without null elements (Zarr) those that are not defined are empty.
ElementView fill_as_read(const ArrayMeta& meta) {
  const ElementView fill = fill_element(meta);
  return fill.is_null() && !meta.dtype.refers ? ElementView(ByteView()) : fill;
}

/// Elements of HDF5 on their way to Zarr: what those cannot be there.
class Conversion {
 public:
  Conversion(const ArrayMeta& source, const ArrayMeta& target)
      : target_(target), is_needed_(source.dtype.refers && !target.dtype.refers) {}

  /// The fill of the source in the target's terms. Never-written elements are no loss.
  ElementView fill(const ArrayMeta& source) const {
    const ElementView fill = fill_as_read(source);
    return fill.is_null() && !target_.dtype.refers ? ElementView(ByteView()) : fill;
  }

  /// Changes the elements of a tile, and counts those that are no longer what they were. False if the tile has no room.
  bool run(ElementTile& tile) {
    if (!is_needed_) return true;
    Counts counts;
    const std::span<ElementView> elements = tile.elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      ElementView& element = elements[i];
      if (element.is_null()) {
        element = ElementView(ByteView());
        note(counts.n_null, counts.first_null, tile.box(), i);
      } else if (target_.dtype.kind == DType::Kind::string && !is_utf8(as_text(element.bytes()))) {
        const std::string text = latin1_to_utf8(as_text(element.bytes()));
        if (!tile.keep(as_bytes(text), element)) return false;
        note(counts.n_latin1, counts.first_latin1, tile.box(), i);
      }
    }
    found_ = counts;
    return true;
  }

  /// For what run() found last.
  void refuse() const {
    const char* const hint = "leave the array out with --exclude, or accept the loss with --allow-loss";
    if (found_.n_null > 0)
      throw Error(Code::unsupported,
                  fmt::format("the element {} of {} is null, which the target cannot tell from an empty one",
                              found_.first_null, target_.path),
                  hint);
    if (found_.n_latin1 > 0)
      throw Error(Code::unsupported,
                  fmt::format("the element {} of {} is no text in UTF-8, as the target wants it", found_.first_latin1,
                              target_.path),
                  hint);
  }
  void sum_up() {
    if (all_.n_null == 0) all_.first_null = found_.first_null;
    if (all_.n_latin1 == 0) all_.first_latin1 = found_.first_latin1;
    all_.n_null += found_.n_null;
    all_.n_latin1 += found_.n_latin1;
  }
  std::vector<Loss> losses() const {
    std::vector<Loss> losses;
    if (all_.n_null > 0)
      losses.push_back({target_.path, fmt::format("{} null elements, the first at {}, became empty ones", all_.n_null,
                                                  all_.first_null)});
    if (all_.n_latin1 > 0)
      losses.push_back({target_.path, fmt::format("{} texts that are not UTF-8, the first at {}, were read as Latin-1",
                                                  all_.n_latin1, all_.first_latin1)});
    return losses;
  }

 private:
  struct Counts {
    Index n_null = 0;
    Index n_latin1 = 0;
    std::string first_null;
    std::string first_latin1;
  };

  static void note(Index& n, std::string& first, const Box& box, std::size_t i) {
    if (n++ == 0) first = position_text(box, i);
  }

  const ArrayMeta& target_;
  bool is_needed_;
  Counts found_;
  Counts all_;
};

std::uint64_t hash_of(std::span<const ElementView> elements) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const ElementView& element : elements) {
    const std::uint64_t size = element.is_null() ? ~std::uint64_t{0} : element.size_bytes;
    XXH3_64bits_update(state.get(), &size, sizeof size);
    if (element.size_bytes > 0) XXH3_64bits_update(state.get(), element.data, element.size_bytes);
  }
  return XXH3_64bits_digest(state.get());
}

std::uint64_t bytes_of(std::span<const ElementView> elements) {
  std::uint64_t bytes = 0;
  for (const ElementView& element : elements) bytes += element.size_bytes;
  return bytes;
}

/// Mean length of some elements of the source.
std::uint64_t typical_bytes(ElementSource& source) {
  constexpr Index kEnough = 4096;
  const ChunkGrid grid = source.meta().grid();
  for (Index i = 0; i < grid.n_chunks(); ++i) {
    if (!source.is_written(ChunkId{i})) continue;
    Box some = grid.box(ChunkId{i});
    while (product(some.shape) > kEnough) some = halves(some).front();
    std::vector<ElementView> elements;
    while (!source.read(some, elements)) some = halves(some).front();
    return bytes_of(elements) / std::max<std::uint64_t>(elements.size(), 1);
  }
  return 0;
}

/// Tiles that read the source as few times as the memory allows, as far as that can be known before.
Shape tile_of(ElementSource& source, const ArrayMeta& target, std::uint64_t most_bytes) {
  ArrayMeta from = source.meta();
  ArrayMeta to = target;
  const std::uint64_t bytes = typical_bytes(source);
  from.dtype.bytes = to.dtype.bytes = static_cast<std::size_t>(sizeof(ElementView) + bytes + bytes / 4);
  return choose_tile(from, to, most_bytes);
}

/// Two halves of a box of whole chunks; nothing if it is one chunk.
std::vector<Box> chunk_halves(const ChunkGrid& grid, const Box& box) {
  std::vector<Box> parts = halves(grid.chunks_of(box));
  for (Box& part : parts) {
    for (int axis = 0; axis < part.shape.rank(); ++axis) {
      part.origin[axis] *= grid.chunk()[axis];
      part.shape[axis] *= grid.chunk()[axis];
    }
    part = intersect(part, whole(grid.array()));
  }
  return parts;
}

/// Calls `work` for boxes of whole target chunks that cover the array; it answers false for one that is too large.
template <typename Work>
void for_each_tile(const ArrayMeta& target, const Shape& tile, std::uint64_t most_bytes, const std::stop_token& stop,
                   const Work& work) {
  const ChunkGrid grid = target.grid();
  const ChunkGrid tiles(target.shape, tile);
  TileOrder order(tiles, block_of(target, tile));
  Index most_elements = product(target.shape);
  std::vector<Box> todo;
  while (const auto step = order.next()) {
    todo.push_back(tiles.box(step->tile));
    while (!todo.empty() && !stop.stop_requested()) {
      const Box box = todo.back();
      todo.pop_back();
      if (product(box.shape) <= most_elements && work(box)) continue;
      std::vector<Box> parts = chunk_halves(grid, box);
      if (parts.empty()) {
        if (product(box.shape) > most_elements && work(box)) continue;
        throw Error(
            Code::budget,
            fmt::format("chunk ({}) of {} takes more than {} with all its elements",
                        to_string(grid.coords(grid.overlapping(box).front())), target.path, format_bytes(most_bytes)),
            "allow more memory with --memory, or use smaller chunks");
      }
      most_elements = std::min(most_elements, std::max<Index>(product(box.shape) - 1, 1));
      todo.insert(todo.end(), parts.rbegin(), parts.rend());
    }
  }
}

}  // namespace

ElementCopy copy_elements(const Reader& reader, const ArrayMeta& source, Writer& writer, const ArrayMeta& target,
                          bool allows_loss, const ElementWork& work) {
  ElementCopy copy;
  const std::uint64_t share_bytes = work.memory_bytes / kShares;
  const auto from = open_element_source(reader, source.path, share_bytes);
  const auto to = open_element_sink(writer, target, 2 * share_bytes);
  Conversion conversion(source, target);
  ElementTile tile(share_bytes);
  const ElementView fill = conversion.fill(source);
  const ElementView target_fill = fill_element(target);
  const ChunkGrid source_grid = source.grid();
  const ChunkGrid grid = target.grid();
  const bool may_stay_unwritten = to->unwritten_is_readable() || !from->unwritten_is_readable();
  std::vector<ElementView> elements;
  const auto write = [&](ChunkId id) {
    tile.elements(grid.box(id), elements);
    const auto all_are = [&](const ElementView& value) {
      return std::all_of(elements.begin(), elements.end(), [&](const ElementView& e) { return e == value; });
    };
    // What was never written is the same on both sides, even if it is not defined.
    const auto stays_unwritten = [&] {
      const std::vector<ChunkId> sources = source_grid.overlapping(intersect(grid.box(id), whole(source.shape)));
      return std::none_of(sources.begin(), sources.end(), [&](ChunkId chunk) { return from->is_written(chunk); });
    };
    const bool is_fill = (to->unwritten_is_readable() && all_are(target_fill)) ||
                         (may_stay_unwritten && source.fill == target.fill && all_are(fill) && stays_unwritten());
    is_fill ? to->leave_out(id) : to->write(id, elements);
    if (is_sampled(grid, id)) copy.proofs.push_back({id, hash_of(elements), is_fill});
    if (work.done)
      work.done(!is_fill, is_fill ? 0 : bytes_of(elements), elements.size() * std::uint64_t{target.dtype.bytes});
  };
  for_each_tile(target, tile_of(*from, target, share_bytes), share_bytes, work.stop, [&](const Box& box) {
    if (!gather_elements(*from, box, fill, tile) || !conversion.run(tile)) return false;
    if (!allows_loss) conversion.refuse();
    conversion.sum_up();
    for (const ChunkId id : grid.overlapping(box)) write(id);
    return true;
  });
  copy.losses = conversion.losses();
  return copy;
}

void compare_elements(const Reader& wanted, const ArrayMeta& source, const Reader& got, const ArrayMeta& target,
                      const ElementWork& work) {
  const std::uint64_t share_bytes = work.memory_bytes / kShares;
  const auto a = open_element_source(wanted, source.path, share_bytes);
  const auto b = open_element_source(got, target.path, share_bytes);
  Conversion conversion(source, target);
  ElementTile wanted_tile(share_bytes);
  ElementTile got_tile(share_bytes);
  const ElementView fill = conversion.fill(source);
  const ElementView target_fill = fill_as_read(b->meta());
  const ChunkGrid grid = target.grid();
  for_each_tile(target, tile_of(*a, target, share_bytes), share_bytes, work.stop, [&](const Box& box) {
    if (!gather_elements(*a, box, fill, wanted_tile) || !conversion.run(wanted_tile)) return false;
    try {
      if (!gather_elements(*b, box, target_fill, got_tile)) return false;
    } catch (const Error& error) {
      if (error.code() == Code::budget) throw;
      throw Error(Code::mismatch, fmt::format("{}: the target cannot be read back: {}", target.path, error.what()));
    }
    const std::span<const ElementView> x = wanted_tile.elements();
    const std::span<const ElementView> y = got_tile.elements();
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(x[i] == y[i]))
        throw Error(Code::mismatch, fmt::format("{}: element {} differs between source and target", target.path,
                                                position_text(box, i)));
    if (!work.done) return true;
    std::vector<ElementView> elements;
    for (const ChunkId id : grid.overlapping(box)) {
      got_tile.elements(grid.box(id), elements);
      work.done(true, bytes_of(elements), elements.size() * std::uint64_t{target.dtype.bytes});
    }
    return true;
  });
}

void check_element_proofs(const Reader& got, const ArrayMeta& target, const std::vector<ChunkProof>& proofs,
                          const ElementWork& work) {
  const std::uint64_t share_bytes = work.memory_bytes / kShares;
  const auto source = open_element_source(got, target.path, share_bytes);
  ElementTile tile(share_bytes);
  const ChunkGrid grid = target.grid();
  const ElementView fill = fill_as_read(source->meta());
  for (const ChunkProof& proof : proofs) {
    if (work.stop.stop_requested()) return;
    const std::string place = fmt::format("chunk ({}) of {}", to_string(grid.coords(proof.id)), target.path);
    bool fits = false;
    try {
      fits = gather_elements(*source, grid.box(proof.id), fill, tile);
    } catch (const Error& error) {
      if (error.code() == Code::budget) throw;
      throw Error(Code::mismatch, fmt::format("{} cannot be read back: {}", place, error.what()));
    }
    // It fitted when it was written.
    CHUNKWISE_CHECK(fits);
    if (hash_of(tile.elements()) != proof.hash)
      throw Error(Code::mismatch, fmt::format("{} differs from what was written", place));
    if (work.done)
      work.done(!proof.absent, bytes_of(tile.elements()), tile.elements().size() * std::uint64_t{target.dtype.bytes});
  }
}

}  // namespace chunkwise
