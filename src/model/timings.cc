#include "model/timings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

/// Fields of one CSV line; quotes as in RFC 4180.
std::vector<std::string> split_csv(std::string_view line, std::size_t number) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) throw Error(Code::usage, fmt::format("line {} of the table has a quote without an end", number));
  for (auto& field : fields) {
    while (!field.empty() && (field.back() == ' ' || field.back() == '\r')) field.pop_back();
    field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
  }
  return fields;
}

double parse_number(const std::string& text, std::string_view column, std::size_t line) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Error(Code::usage, fmt::format("'{}' in column {} of line {} is not a number", text, column, line));
  }
  return value;
}

Index parse_length(const std::string& text, std::string_view column, std::size_t line) {
  const double value = parse_number(text, column, line);
  if (value < 0 || value > 9e15 || value != std::floor(value)) {
    throw Error(Code::usage, fmt::format("'{}' in column {} of line {} is not a whole number", text, column, line));
  }
  return static_cast<Index>(value);
}

/// Where each column is.
class Header {
 public:
  explicit Header(std::vector<std::string> names) : names_(std::move(names)) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!at_.emplace(names_[i], i).second) {
        throw Error(Code::usage, fmt::format("the table has the column '{}' twice", names_[i]));
      }
    }
  }

  std::optional<std::size_t> find(const std::string& name) const {
    const auto found = at_.find(name);
    return found == at_.end() ? std::nullopt : std::optional(found->second);
  }
  std::size_t require(const std::string& name) const {
    if (const auto at = find(name)) return *at;
    throw Error(Code::usage, fmt::format("the table has no column '{}'", name), suggest(name, names_));
  }
  std::size_t size() const { return names_.size(); }

  /// D of every start_D, in order.
  std::vector<std::string> dims() const {
    std::vector<std::string> dims;
    for (const auto& name : names_) {
      if (name.rfind("start_", 0) == 0) dims.push_back(name.substr(6));
    }
    return dims;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> at_;
};

std::vector<int> parse_order(const std::string& text, const Axes& axes, std::size_t line) {
  std::vector<int> order;
  std::string word;
  for (const char c : text + " ") {
    if (c != ' ' && c != ',' && c != ';') {
      word += c;
      continue;
    }
    if (word.empty()) continue;
    const auto axis = axes.find(word);
    if (!axis || std::find(order.begin(), order.end(), *axis) != order.end()) {
      throw Error(Code::usage,
                  fmt::format("'{}' in the order '{}' of line {} is {}", word, text, line,
                              axis ? "there twice" : "no dimension"),
                  suggest(word, axes.labels()));
    }
    order.push_back(*axis);
    word.clear();
  }
  if (order.empty()) {
    for (int axis = 0; axis < axes.rank(); ++axis) order.push_back(axis);
  }
  if (static_cast<int>(order.size()) != axes.rank()) {
    throw Error(Code::usage, fmt::format("the order '{}' of line {} does not name every dimension", text, line));
  }
  return order;
}

CodecSpecs codecs_named(const std::string& text) {
  CodecSpecs codecs;
  std::string word;
  for (const char c : text + ",") {
    if (c != ',') {
      word += c;
      continue;
    }
    const auto name = word.substr(0, word.find(':'));
    if (!name.empty() && name != "none") codecs.push_back({name, {}});
    word.clear();
  }
  return codecs;
}

struct Columns {
  std::size_t pattern;
  std::size_t wall;
  std::vector<std::size_t> start, count, chunk;
  std::optional<std::size_t> layout, order, codec, device, store, client, stored;
};

Timing parse_row(const std::vector<std::string>& fields, const Columns& columns, const Axes& axes, std::size_t line) {
  Timing row;
  row.pattern = fields[columns.pattern];
  row.wall_s = parse_number(fields[columns.wall], "wall_s", line);
  if (row.wall_s <= 0) throw Error(Code::usage, fmt::format("wall_s of line {} is not above 0", line));
  const std::string layout = columns.layout ? fields[*columns.layout] : "chunked";
  if (layout != "chunked" && layout != "contiguous" && !layout.empty()) {
    throw Error(Code::usage, fmt::format("'{}' in column layout of line {} is no layout", layout, line),
                "it is chunked or contiguous");
  }
  if (layout != "contiguous") row.chunk = Shape::filled(axes.rank(), 1);
  for (int axis = 0; axis < axes.rank(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const auto label = axes.label(axis);
    row.start.push_back(parse_length(fields[columns.start[at]], "start_" + label, line));
    row.count.push_back(parse_length(fields[columns.count[at]], "n_" + label, line));
    const Index extent = axes.shape[axis];
    if (row.count[axis] < 1 || row.start[axis] >= extent || row.count[axis] > extent - row.start[axis]) {
      throw Error(Code::usage,
                  fmt::format("line {} reads {} from {} of dimension '{}', which has {}", line, row.count[axis],
                              row.start[axis], label, extent),
                  "is --shape the table's array?");
    }
    if (!row.chunk) continue;
    const Index chunk = parse_length(fields[columns.chunk[at]], "chunk_" + label, line);
    if (chunk < 1) throw Error(Code::usage, fmt::format("chunk_{} of line {} is 0", label, line));
    (*row.chunk)[axis] = chunk;
  }
  row.order = parse_order(columns.order ? fields[*columns.order] : "", axes, line);
  if (columns.codec) row.codec = fields[*columns.codec];
  if (columns.device) row.device = fields[*columns.device];
  if (columns.store) row.store = fields[*columns.store];
  if (!row.store.empty() && row.store != "file" && row.store != "objects") {
    throw Error(Code::usage, fmt::format("'{}' in column store of line {} is not known", row.store, line),
                "it is file or objects");
  }
  if (columns.client) row.client = fields[*columns.client];
  if (columns.stored && !fields[*columns.stored].empty()) {
    row.stored_bytes = parse_number(fields[*columns.stored], "stored_bytes", line);
  }
  return row;
}

}  // namespace

bool Timings::has_contiguous() const {
  return std::any_of(rows.begin(), rows.end(), [](const Timing& row) { return !row.chunk; });
}

std::vector<std::string> Timings::patterns() const {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (std::find(names.begin(), names.end(), row.pattern) == names.end()) names.push_back(row.pattern);
  }
  return names;
}

Timings parse_timings(std::string_view text, const Shape& shape, const std::vector<std::string>& dims,
                      std::size_t element_bytes) {
  Timings timings;
  timings.element_bytes = element_bytes;
  timings.axes.shape = shape;
  timings.axes.unlimited.resize(static_cast<std::size_t>(shape.rank()));
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::optional<Header> header;
  Columns columns{};
  for (std::size_t line = 1; !text.empty(); ++line) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto fields = split_csv(text.substr(0, end), line);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (fields.size() == 1 && (fields[0].empty() || fields[0][0] == '#')) continue;
    if (!header) {
      header.emplace(fields);
      timings.axes.names = dims.empty() ? header->dims() : dims;
      if (timings.axes.names.size() != static_cast<std::size_t>(shape.rank())) {
        throw Error(Code::usage,
                    fmt::format("the table has the dimensions {}, but --shape {} lengths",
                                fmt::join(timings.axes.names, ", "), shape.rank()),
                    "every dimension D has the columns start_D, n_D and chunk_D");
      }
      columns.pattern = header->require("pattern");
      columns.wall = header->require("wall_s");
      for (const auto& dim : timings.axes.names) {
        columns.start.push_back(header->require("start_" + dim));
        columns.count.push_back(header->require("n_" + dim));
        columns.chunk.push_back(header->require("chunk_" + dim));
      }
      columns.layout = header->find("layout");
      columns.order = header->find("order");
      columns.codec = header->find("codec");
      columns.device = header->find("device");
      columns.store = header->find("store");
      columns.client = header->find("client");
      columns.stored = header->find("stored_bytes");
      continue;
    }
    if (fields.size() != header->size()) {
      throw Error(Code::usage, fmt::format("line {} of the table has {} fields, its header {}", line, fields.size(),
                                           header->size()));
    }
    timings.rows.push_back(parse_row(fields, columns, timings.axes, line));
  }
  if (timings.rows.empty()) {
    throw Error(Code::usage, "the table of timings has no row",
                "its header is pattern,start_D,n_D,...,chunk_D,...,wall_s with every dimension D");
  }
  return timings;
}

TimedRead timed_read(const Timings& timings, const Timing& row, bool many_objects) {
  TimedRead read;
  read.array.element_bytes = timings.element_bytes;
  const bool objects = row.store.empty() ? many_objects : row.store == "objects";
  read.array.placement = objects ? Placement::one_object : Placement::one_file;
  read.array.decode = decode_cost(codecs_named(row.codec));
  if (row.chunk) read.array.chunk = Shape();
  for (const int axis : row.order) {
    const Index length = timings.axes.shape[axis];
    const Index chunk = row.chunk ? (*row.chunk)[axis] : 1;
    read.array.shape.push_back(length);
    read.pattern.extents.push_back(row.count[axis]);
    if (row.chunk) read.array.chunk->push_back(chunk);
    read.axes.push_back(touch_axis_at(length, chunk, row.start[axis], row.count[axis]));
    read.chunk_elements *= static_cast<double>(chunk);
  }
  if (row.stored_bytes > 0) read.array.stored_ratio = row.stored_bytes / stored_size_bytes(read.array);
  return read;
}

std::vector<Cost> predict(const Timings& timings, const Device& device, const Client* client) {
  const bool many_objects = device.in_flight > 1 && !timings.has_contiguous();
  std::map<std::string, Client> known;
  const auto named = [&](const std::string& name) -> const Client* {
    return &known.try_emplace(name, find_client(name)).first->second;
  };
  std::vector<Cost> costs;
  for (const auto& row : timings.rows) {
    auto read = timed_read(timings, row, many_objects);
    read.array.client = client;
    if (client == nullptr) {
      std::string name = row.client;
      if (name.empty()) name = device.client;
      if (name.empty()) name = usual_client(read.array.placement);
      read.array.client = named(name);
    }
    costs.push_back(Pricer(read.array, read.pattern, device).price(read.axes, read.chunk_elements));
  }
  return costs;
}

}  // namespace chunkwise
