// Canonical "categorize": numcodecs "categorize". Texts of a fixed number of characters, 4 bytes each, as their places
// among the labels, from 1, stored as integers; 0 is the empty text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "codec/endian.h"
#include "codec/numbers.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kCategorize{
    "categorize", "categorize  kept where a dataset has it, not to be asked for", {}, "categorize"};
constexpr const char* kLabels = "labels";  // as JSON
constexpr const char* kText = "dtype";
constexpr const char* kStored = "astype";
constexpr std::size_t kCharacterBytes = 4;
constexpr std::size_t kMostCharacters = std::size_t{1} << 24;
// What a table of the labels as elements may take.
constexpr std::size_t kMostTableBytes = std::size_t{1} << 20;

struct TextType {
  std::size_t n_characters = 0;
  ByteOrder byte_order = ByteOrder::little;
  std::size_t bytes() const { return kCharacterBytes * n_characters; }
};

// Characters of a valid UTF-8 text, cut and filled up with zeros to the length of an element.
std::string to_element(std::string_view text, const TextType& type) {
  std::string element(type.bytes(), '\0');
  auto* to = reinterpret_cast<std::byte*>(element.data());
  std::byte* const end = to + element.size();
  for (std::size_t at = 0; at < text.size() && to != end; to += kCharacterBytes) {
    const auto first = static_cast<unsigned char>(text[at++]);
    const int n_more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    std::uint32_t character = n_more == 0 ? first : first & (0x3FU >> n_more);
    for (int i = 0; i < n_more && at < text.size(); ++i) {
      character = character << 6 | (static_cast<unsigned char>(text[at++]) & 0x3FU);
    }
    type.byte_order == ByteOrder::little ? store_little(character, to) : store_big(character, to);
  }
  return element;
}

class Categorize final : public Codec {
 public:
  Categorize(const TextType& type, const Elements& stored, const std::vector<std::string>& labels)
      : text_bytes_(type.bytes()), stored_(stored) {
    elements_.reserve(labels.size() + 1);
    elements_.push_back(std::string(text_bytes_, '\0'));
    for (const std::string& label : labels) elements_.push_back(to_element(label, type));
    // Of equal labels the last one counts, as in numcodecs; the empty text is 0 all the same.
    for (std::size_t i = elements_.size(); i-- > 0;) places_.emplace(elements_[i], i);
    places_[elements_[0]] = 0;
  }

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    return decoded_bytes / text_bytes_ * stored_.bytes;
  }
  bool fixed_size() const override { return true; }
  std::size_t scratch_bytes(std::size_t) const override { return sizeof(NumberBlock) + kMostTableBytes; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() % text_bytes_ != 0) {
      throw Error(Code::unsupported,
                  fmt::format("categorize cannot take {} bytes as texts of {} bytes", decoded.size(), text_bytes_));
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    NumberBlock block;
    block.kind = ElementKind::int_;
    std::byte* to = encoded.data();
    const std::string_view texts = as_text(decoded);
    const std::size_t n = decoded.size() / text_bytes_;
    for (std::size_t done = 0; done < n; done += block.n) {
      block.n = std::min(NumberBlock::kMost, n - done);
      for (std::size_t i = 0; i < block.n; ++i) {
        block.whole[i] = place_of(texts.substr((done + i) * text_bytes_, text_bytes_));
      }
      write_numbers(block, stored_, to);
      to += block.n * stored_.bytes;
    }
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() % stored_.bytes != 0) {
      throw Error(Code::corrupt,
                  fmt::format("categorize data has {} bytes, no whole numbers of {}", encoded.size(), stored_.bytes));
    }
    const std::size_t n = encoded.size() / stored_.bytes;
    if (n > max_decoded_bytes / text_bytes_) throw_decoded_too_large("categorize", max_decoded_bytes);
    decoded.resize_discard(n * text_bytes_);
    NumberBlock block;
    for (std::size_t done = 0; done < n; done += block.n) {
      block.n = std::min(NumberBlock::kMost, n - done);
      read_numbers(stored_, encoded.data() + done * stored_.bytes, block);
      for (std::size_t i = 0; i < block.n; ++i) {
        // Negative numbers are large ones here.
        const auto place = static_cast<std::uint64_t>(block.whole[i]);
        const std::string& text = elements_[place < elements_.size() ? static_cast<std::size_t>(place) : 0];
        std::memcpy(decoded.data() + (done + i) * text_bytes_, text.data(), text_bytes_);
      }
    }
  }

 private:
  std::int64_t place_of(std::string_view text) const {
    const auto found = places_.find(text);
    if (found != places_.end()) return static_cast<std::int64_t>(found->second);
    throw Error(Code::unsupported, "categorize cannot store a text that is none of its labels",
                "say what to use instead with --codec, such as VARIABLE:zstd:3");
  }

  std::size_t text_bytes_;
  Elements stored_;
  std::vector<std::string> elements_;  // by place
  std::unordered_map<std::string_view, std::size_t> places_;
};

// ---- spellings

TextType text_type_of(const CodecSpec& spec) {
  const std::string name = spec.text(kText, "");
  TextType type;
  const bool is_text = name.size() > 2 && (name[0] == '<' || name[0] == '>') && name[1] == 'U';
  const char* const end = name.data() + name.size();
  if (!is_text || std::from_chars(name.data() + 2, end, type.n_characters).ptr != end) {
    throw Error(Code::unsupported, fmt::format("codec 'categorize' does not take elements of type '{}'", name));
  }
  if (type.n_characters == 0 || type.n_characters > kMostCharacters) {
    throw Error(Code::corrupt, fmt::format("codec 'categorize': texts of {} characters", type.n_characters));
  }
  if (name[0] == '>') type.byte_order = ByteOrder::big;
  return type;
}

Elements stored_type_of(const CodecSpec& spec) {
  const std::string name = spec.text(kStored, "|u1");
  const auto elements = parse_elements(name);
  if (elements && (elements->kind == ElementKind::int_ || elements->kind == ElementKind::uint)) return *elements;
  throw Error(Code::unsupported, fmt::format("codec 'categorize' does not store places as '{}'", name));
}

std::vector<std::string> labels_of(const CodecSpec& spec, const TextType& type, const Elements& stored) {
  const Json list = parse_json(spec.text(kLabels, "[]"));
  std::vector<std::string> labels;
  for (const Json& label : list) labels.push_back(label.get<std::string>());
  const std::size_t n_most =
      std::min(kMostTableBytes / type.bytes(),
               stored.bytes == 1 ? std::size_t{stored.kind == ElementKind::int_ ? 127U : 255U} : kMostTableBytes);
  if (labels.size() > n_most) {
    throw Error(Code::unsupported,
                fmt::format("codec 'categorize' with {} labels of {} characters", labels.size(), type.n_characters));
  }
  return labels;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  const TextType type = text_type_of(spec);
  const Elements stored = stored_type_of(spec);
  return std::make_unique<Categorize>(type, stored, labels_of(spec, type, stored));
}

Elements places_as_elements(const CodecSpec& spec, const Elements&) {
  return stored_type_of(spec);
}

CodecSpec from_numcodecs(const Json& config) {
  CodecSpec spec{std::string(kCategorize.codec),
                 {{kText, config_text(config, kText, "", kCategorize.codec)},
                  {kStored, config_text(config, kStored, "|u1", kCategorize.codec)}}};
  const Json labels = config.is_object() && config.contains(kLabels) ? config.at(kLabels) : Json();
  if (!labels.is_array() || !std::all_of(labels.begin(), labels.end(), [](const Json& l) { return l.is_string(); })) {
    throw Error(Code::corrupt, "codec 'categorize': labels must be a list of texts");
  }
  spec.params[kLabels] = dump_json(labels);
  bind(spec, 1);
  return spec;
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config = to_numcodecs(kCategorize, spec);
  config[kLabels] = parse_json(spec.text(kLabels, "[]"));
  config[kText] = spec.text(kText, "");
  config[kStored] = spec.text(kStored, "|u1");
  return config;
}

}  // namespace

constexpr CodecRow kCategorizeRow{
    .name = kCategorize.codec,
    .summary = "texts as numbers of labels, as in numcodecs",
    .usage = kCategorize.usage,
    .role = CodecRole::packs,
    .bind = bind,
    .encoded_elements = places_as_elements,
    .print = print_by<kCategorize>,
    .zarr2_id = kCategorize.zarr2_id,
    .from_zarr2 = from_numcodecs,
    .to_zarr2 = to_zarr2,
};

}  // namespace chunkwise
