#include "format/hdf5/element_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/sizes.h"
#include "format/hdf5/element_buffer.h"

namespace chunkwise::hdf5 {
namespace {

/// A long element stands in memory up to four times: ours, the one in which the library converts it, and in the cached
/// heap of the file; and a text as a list as well as with a zero byte behind it.
constexpr std::uint64_t kCopies = 4;
/// Pieces of a write, so that what is made for it stays small.
constexpr std::uint64_t kPieceBytes = 4U << 20U;

std::uint64_t room_bytes(const ArrayMeta& meta, std::uint64_t most_bytes) {
  const std::uint64_t held = 2 * chunk_cache_bytes(meta);
  return most_bytes > held ? (most_bytes - held) / kCopies : 0;
}

hvl_t list_at(const ElementForm& form, const std::byte* data, std::size_t i) {
  hvl_t list{};
  std::memcpy(&list, data + i * form.size_bytes, sizeof list);
  return list;
}

/// To hand out a fill of any length HDF5 (1.10 to 1.14) puts it into the file's heap first, which fails in a file that
/// is open for reading.
bool reads_unwritten(const ArrayMeta& meta) {
  return meta.fill.empty();
}

class Hdf5ElementSource final : public ElementSource {
 public:
  Hdf5ElementSource(const Lock& lock, const ElementPlace& place, std::uint64_t most_bytes)
      : ElementSource(place.meta),
        file_(place.file),
        dataset_(open_with_cache(lock, place)),
        presence_(lock, place, dataset_.get()),
        as_lists_(form_of(lock, dataset_.get(), place.meta)),
        as_texts_(form_of(lock, dataset_.get(), place.meta, Texts::as_texts)),
        room_bytes_(room_bytes(place.meta, most_bytes)),
        lists_(room_bytes_),
        texts_(room_bytes_) {}

  bool is_written(ChunkId id) override { return presence_.has(id); }
  bool unwritten_is_readable() const override { return reads_unwritten(meta_); }

  bool read(const Box& box, std::vector<ElementView>& elements) override {
    const Lock lock;
    const std::string what = "cannot read " + meta_.path;
    elements.clear();
    bool any_without = false;
    if (!lists_.read(lock, dataset_.get(), as_lists_, box, what)) return no_room(box);
    const auto n = static_cast<std::size_t>(product(box.shape));
    const std::size_t item_bytes = as_lists_.form.base->size_bytes;
    elements.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      const hvl_t list = list_at(as_lists_.form, lists_.data(), i);
      elements.emplace_back(ByteView(static_cast<const std::byte*>(list.p), list.len * item_bytes));
      any_without = any_without || list.len == 0;
    }
    // As a list, an empty text looks like none.
    if (meta_.dtype.kind != DType::Kind::string || !any_without) return true;
    if (!texts_.read(lock, dataset_.get(), as_texts_, box, what)) return no_room(box);
    for (std::size_t i = 0; i < n; ++i) {
      const char* text = nullptr;
      std::memcpy(&text, texts_.data() + i * as_texts_.form.size_bytes, sizeof text);
      if (text == nullptr) elements[i] = ElementView();
    }
    return true;
  }

 private:
  bool no_room(const Box& box) const {
    if (product(box.shape) > 1) return false;
    throw Error(Code::budget,
                fmt::format("the element ({}) of {} alone takes more than {}", to_string(box.origin), meta_.path,
                            format_bytes(room_bytes_)),
                "allow more memory with --memory");
  }

  std::shared_ptr<File> file_;
  Hid dataset_;
  Presence presence_;
  MemoryForm as_lists_;
  MemoryForm as_texts_;
  std::uint64_t room_bytes_;
  ElementBuffer lists_;
  ElementBuffer texts_;
};

class Hdf5ElementSink final : public ElementSink {
 public:
  Hdf5ElementSink(const Lock& lock, const ElementPlace& place, std::uint64_t most_bytes)
      : file_(place.file),
        meta_(place.meta),
        grid_(meta_.grid()),
        dataset_(open_with_cache(lock, place)),
        as_lists_(form_of(lock, dataset_.get(), place.meta)),
        as_texts_(form_of(lock, dataset_.get(), place.meta, Texts::as_texts)),
        room_bytes_(room_bytes(meta_, most_bytes)) {}

  void write(ChunkId id, std::span<const ElementView> elements) override {
    try {
      write_part(grid_.box(id), elements);
    } catch (Error& error) {
      throw error.in(meta_.path);
    }
  }
  bool unwritten_is_readable() const override { return reads_unwritten(meta_); }

 private:
  /// As lists texts keep zero bytes, as texts empty ones differ from none.
  void write_part(const Box& box, std::span<const ElementView> elements) {
    const bool is_text = meta_.dtype.kind == DType::Kind::string;
    bool any_empty = false;
    bool any_zero_byte = false;
    std::uint64_t bytes = elements.size() * sizeof(hvl_t);
    for (const ElementView& element : elements) {
      any_empty = any_empty || (element.size_bytes == 0 && !element.is_null());
      any_zero_byte = any_zero_byte || (is_text && element.size_bytes > 0 &&
                                        std::memchr(element.data, 0, element.size_bytes) != nullptr);
      bytes += element.size_bytes + 1;
    }
    if (elements.size() > 1 && ((any_empty && any_zero_byte) || bytes > kPieceBytes)) {
      const std::vector<Box> parts = halves(box);
      const auto n_first = static_cast<std::size_t>(product(parts[0].shape));
      write_part(parts[0], elements.first(n_first));
      write_part(parts[1], elements.subspan(n_first));
      return;
    }
    if (bytes > room_bytes_)
      throw Error(Code::budget,
                  fmt::format("the element ({}) of {} bytes takes more than {}", to_string(box.origin), bytes,
                              format_bytes(room_bytes_)),
                  "allow more memory with --memory");
    is_text&& any_empty ? write_texts(box, elements) : write_lists(box, elements);
  }

  void write_lists(const Box& box, std::span<const ElementView> elements) {
    const std::size_t item_bytes = as_lists_.form.base->size_bytes;
    std::vector<hvl_t> lists(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i)
      lists[i] = {static_cast<std::size_t>(elements[i].size_bytes) / item_bytes,
                  elements[i].size_bytes == 0 ? nullptr : const_cast<std::byte*>(elements[i].data)};
    transfer(box, as_lists_, lists.data());
  }

  void write_texts(const Box& box, std::span<const ElementView> elements) {
    std::size_t bytes = 0;
    for (const ElementView& element : elements) bytes += static_cast<std::size_t>(element.size_bytes) + 1;
    std::vector<char> ended(bytes);  // each with a zero byte behind it
    std::vector<const char*> texts(elements.size());
    char* at = ended.data();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (elements[i].is_null()) continue;
      texts[i] = at;
      at = std::copy_n(reinterpret_cast<const char*>(elements[i].data), elements[i].size_bytes, at);
      *at++ = 0;
    }
    transfer(box, as_texts_, texts.data());
  }

  void transfer(const Box& box, const MemoryForm& form, const void* data) {
    const Lock lock;
    constexpr const char* kWriting = "cannot write elements";
    const BoxSpaces spaces = box_spaces(lock, dataset_.get(), box, kWriting);
    checked(lock, H5Dwrite(dataset_.get(), form.type.get(), spaces.memory.get(), spaces.file.get(), H5P_DEFAULT, data),
            kWriting, Code::io);
  }

  std::shared_ptr<File> file_;
  ArrayMeta meta_;
  ChunkGrid grid_;
  Hid dataset_;
  MemoryForm as_lists_;
  MemoryForm as_texts_;
  std::uint64_t room_bytes_;
};

/// Calls `see` with the fill value of a creation list in a memory form, and frees what it holds.
template <typename See>
void see_fill(const Lock& lock, hid_t dcpl, const MemoryForm& form, const See& see) {
  constexpr const char* kWhat = "cannot read the fill value";
  std::vector<std::byte> fill(form.form.size_bytes);
  checked(lock, H5Pget_fill_value(dcpl, form.type.get(), fill.data()), kWhat);
  see(fill.data());
  const Hid space = owned(lock, H5Screate(H5S_SCALAR), kWhat, Code::internal);
  checked(lock, H5Dvlen_reclaim(form.type.get(), space.get(), H5P_DEFAULT, fill.data()), kWhat);
}

}  // namespace

std::vector<std::byte> read_varying_fill(const Lock& lock, hid_t dcpl, hid_t type) {
  std::vector<std::byte> fill;
  const MemoryForm lists = memory_form(lock, type);
  see_fill(lock, dcpl, lists, [&](const std::byte* at) {
    const hvl_t list = list_at(lists.form, at, 0);
    if (list.len == 0) return;
    fill =
        fill_of(ElementView(ByteView(static_cast<const std::byte*>(list.p), list.len * lists.form.base->size_bytes)));
  });
  if (!fill.empty() || H5Tget_class(type) != H5T_STRING) return fill;
  const MemoryForm texts = memory_form(lock, type, Texts::as_texts);
  see_fill(lock, dcpl, texts, [&](const std::byte* at) {
    const char* text = nullptr;
    std::memcpy(&text, at, sizeof text);
    if (text != nullptr) fill = fill_of(ElementView(ByteView()));
  });
  return fill;
}

void set_varying_fill(const Lock& lock, hid_t dcpl, hid_t type, const ArrayMeta& meta) {
  const ElementView fill = fill_element(meta);
  if (fill.is_null()) return;
  const bool as_text = meta.dtype.kind == DType::Kind::string && fill.size_bytes == 0;
  const MemoryForm form = memory_form(lock, type, as_text ? Texts::as_texts : Texts::as_lists);
  const char* const text = "";
  hvl_t list{};
  if (!as_text)
    list = {static_cast<std::size_t>(fill.size_bytes) / form.form.base->size_bytes, const_cast<std::byte*>(fill.data)};
  checked(lock,
          H5Pset_fill_value(dcpl, form.type.get(),
                            as_text ? static_cast<const void*>(&text) : static_cast<const void*>(&list)),
          "cannot set the fill value of " + meta.path, Code::unsupported);
}

std::unique_ptr<ElementSource> open_element_source(const ElementPlace& place, std::uint64_t most_bytes) {
  const Lock lock;
  return std::make_unique<Hdf5ElementSource>(lock, place, most_bytes);
}

std::unique_ptr<ElementSink> open_element_sink(const ElementPlace& place, std::uint64_t most_bytes) {
  const Lock lock;
  return std::make_unique<Hdf5ElementSink>(lock, place, most_bytes);
}

}  // namespace chunkwise::hdf5
