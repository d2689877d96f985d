#include "rechunk/chunk_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::optional<Index> parse_index(const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[noreturn]] void bad_spec(const ChunkSpec& spec, const std::string& why) {
  const bool shards = spec.option == "--shards";
  throw Error(Code::usage, fmt::format("cannot read {} '{}': {}", shards ? "shards" : "chunks", spec.text, why),
              shards ? "write --shards time/920,y/90,x/110 or --shards VAR:time/920 or --shards 64MiB, keep, none"
                     : "write -c time/92,y/9,x/11 or -c VAR:time/92 or -c 4MiB, auto, keep, contiguous");
}

Index parse_length(const ChunkSpec& spec, const std::string& text) {
  if (text == "all") return 0;
  const auto value = parse_index(text);
  if (!value || *value < 1) bad_spec(spec, fmt::format("'{}' is not a length of at least 1", text));
  return *value;
}

struct Word {
  const char* text;
  ChunkSpec::Kind kind;
};

ChunkSpec parse_spec(const char* option, const std::string& text, const std::vector<Word>& words) {
  ChunkSpec spec;
  spec.option = option;
  spec.text = text;
  std::string rest = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    spec.variable = text.substr(0, colon);
    rest = text.substr(colon + 1);
    if (spec.variable.empty()) bad_spec(spec, "nothing stands before ':'");
  }
  if (rest.empty()) bad_spec(spec, "it is empty");
  for (const Word& word : words) {
    if (rest != word.text) continue;
    spec.kind = word.kind;
    return spec;
  }
  const bool named = rest.find('/') != std::string::npos;
  if (!named && !parse_index(rest) && rest.find(',') == std::string::npos) {
    if (std::isdigit(static_cast<unsigned char>(rest[0])) == 0)
      bad_spec(spec, fmt::format("'{}' is neither a size nor a dimension with a length", rest));
    spec.kind = ChunkSpec::Kind::bytes;
    spec.bytes = parse_bytes(rest);
    if (spec.bytes == 0) bad_spec(spec, "a chunk has at least one byte");
    return spec;
  }
  spec.kind = named ? ChunkSpec::Kind::lengths : ChunkSpec::Kind::list;
  for (const std::string& part : split(rest, ',')) {
    if (!named) {
      spec.lengths.push_back({"", parse_length(spec, part)});
      continue;
    }
    const std::size_t slash = part.rfind('/');
    if (slash == std::string::npos || slash == 0)
      bad_spec(spec, fmt::format("'{}' is not a dimension with a length", part));
    const std::string dim = part.substr(0, slash);
    for (const ChunkSpec::Length& other : spec.lengths)
      if (other.dim == dim) bad_spec(spec, fmt::format("'{}' has two lengths", dim));
    spec.lengths.push_back({dim, parse_length(spec, part.substr(slash + 1))});
  }
  return spec;
}

}  // namespace

ChunkSpec parse_chunk_spec(const std::string& text) {
  return parse_spec("-c", text,
                    {{"keep", ChunkSpec::Kind::keep},
                     {"contiguous", ChunkSpec::Kind::contiguous},
                     {"auto", ChunkSpec::Kind::automatic}});
}

ChunkSpec parse_shard_spec(const std::string& text) {
  return parse_spec("--shards", text, {{"keep", ChunkSpec::Kind::keep}, {"none", ChunkSpec::Kind::none}});
}

int axis_of(const ArrayMeta& meta, const std::string& dim) {
  for (std::size_t axis = 0; axis < meta.dims.size(); ++axis)
    if (meta.dims[axis] == dim) return static_cast<int>(axis);
  const auto number = parse_index(dim);
  if (number && *number >= 0 && *number < meta.shape.rank()) return static_cast<int>(*number);
  return -1;
}

std::string axis_name(const ArrayMeta& meta, int axis) {
  const bool has_name = !meta.dims.empty() && !meta.dims[static_cast<std::size_t>(axis)].empty();
  return has_name ? meta.dims[static_cast<std::size_t>(axis)] : fmt::format("axis {}", axis);
}

void check_dims_exist(const ChunkSpec& spec, const Hierarchy& tree, const std::vector<std::size_t>& variables) {
  if (spec.kind == ChunkSpec::Kind::list) {
    for (std::size_t i : variables)
      if (tree.arrays[i].meta.shape.rank() == static_cast<int>(spec.lengths.size())) return;
    throw Error(Code::usage, fmt::format("{} {} names {} axes, but no variable has that many", spec.option, spec.text,
                                         spec.lengths.size()));
  }
  std::set<std::string> known;
  for (std::size_t i : variables)
    for (const std::string& dim : tree.arrays[i].meta.dims)
      if (!dim.empty()) known.insert(dim);
  for (const ChunkSpec::Length& asked : spec.lengths) {
    const std::string& dim = asked.dim;
    const bool found = std::any_of(variables.begin(), variables.end(),
                                   [&](std::size_t i) { return axis_of(tree.arrays[i].meta, dim) >= 0; });
    // A dimension nothing uses is still a real name: asking for it is harmless.
    const bool defined = std::any_of(tree.groups.begin(), tree.groups.end(), [&](const GroupNode& group) {
      return std::any_of(group.dimensions.begin(), group.dimensions.end(),
                         [&](const Dimension& d) { return d.name == dim; });
    });
    if (!found && !defined)
      throw Error(Code::usage, fmt::format("no dimension '{}' in {} {}", dim, spec.option, spec.text),
                  suggest(dim, {known.begin(), known.end()}));
  }
}

Shape proportional_lengths(const Shape& shape, std::uint64_t element_bytes, std::uint64_t bytes) {
  const int rank = shape.rank();
  Shape lengths = Shape::filled(rank, 1);
  const double wanted = static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(element_bytes, 1));
  // Axes shorter than 1/fraction stay at 1, so the others get their share: repeat with those left.
  std::vector<int> open;
  for (int axis = 0; axis < rank; ++axis) open.push_back(axis);
  for (;;) {
    double volume = 1;
    for (int axis : open) volume *= static_cast<double>(std::max<Index>(shape[axis], 1));
    const double fraction =
        open.empty() ? 1 : std::min(1.0, std::pow(wanted / volume, 1.0 / static_cast<double>(open.size())));
    const auto too_short = std::partition(open.begin(), open.end(),
                                          [&](int axis) { return static_cast<double>(shape[axis]) * fraction >= 1; });
    const bool settled = too_short == open.end();
    open.erase(too_short, open.end());
    if (!settled) continue;
    for (int axis : open)
      lengths[axis] = std::max<Index>(1, static_cast<Index>(static_cast<double>(shape[axis]) * fraction));
    return lengths;
  }
}

}  // namespace chunkwise
