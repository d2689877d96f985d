#include "report/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace chunkwise {
namespace {

constexpr std::size_t kDefaultColumns = 80;
constexpr std::size_t kMinColumns = 40;
constexpr std::size_t kMaxColumns = 1000;

std::optional<std::size_t> columns_from_environment() {
  const char* const set = std::getenv("COLUMNS");
  if (set == nullptr) return std::nullopt;
  const std::string_view text = set;
  std::size_t columns = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (columns < kMinColumns || columns > kMaxColumns) return std::nullopt;
  return columns;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::size_t column_width(const TextColumn& column) {
  std::size_t width = display_width(column.head);
  for (const auto& cell : column.cells) width = std::max(width, display_width(cell));
  return width;
}

std::size_t table_width(const std::vector<TextColumn>& columns, std::size_t gap) {
  std::size_t width = 0;
  for (const auto& column : columns) width += column_width(column) + (width > 0 ? gap : 0);
  return width;
}

}  // namespace

std::size_t text_columns() {
  if (const auto set = columns_from_environment()) return *set;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= kMinColumns && window.ws_col <= kMaxColumns)
    return window.ws_col;
  return kDefaultColumns;
}

std::string format_table(std::vector<TextColumn> columns, std::size_t width) {
  while (table_width(columns, 1) > width) {
    const auto least = std::max_element(columns.begin(), columns.end(), [](const TextColumn& a, const TextColumn& b) {
      return a.dispensable < b.dispensable;
    });
    if (least == columns.end() || least->dispensable == 0) break;
    columns.erase(least);
  }
  const std::string gap(table_width(columns, 2) <= width ? 2 : 1, ' ');
  std::size_t n_rows = 0;
  for (const auto& column : columns) n_rows = std::max(n_rows, column.cells.size());

  std::string text;
  const auto add_row = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string& cell = cell_of(columns[c]);
      const std::string padding(column_width(columns[c]) - display_width(cell), ' ');
      if (c > 0) line += gap;
      line += columns[c].right_aligned ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_row([](const TextColumn& column) -> const std::string& { return column.head; });
  const std::string empty;
  for (std::size_t row = 0; row < n_rows; ++row) {
    add_row([&](const TextColumn& column) -> const std::string& {
      return row < column.cells.size() ? column.cells[row] : empty;
    });
  }
  return text;
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  bool first_word = true;
  for (std::size_t at = 0; at < text.size();) {
    // Spaces inside a line are kept as they are, those at a break are dropped.
    const std::size_t word_begin = std::min(text.find_first_not_of(' ', at), text.size());
    const std::size_t word_end = std::min(text.find(' ', word_begin), text.size());
    const auto spaces = text.substr(at, word_begin - at);
    const auto word = text.substr(word_begin, word_end - word_begin);
    if (!first_word && column + spaces.size() + display_width(word) > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      result += spaces;
      column += spaces.size();
    }
    result += word;
    column += display_width(word);
    first_word = false;
    at = word_end;
  }
  return result + '\n';
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_path(const std::string& path) {
  return shell_word(path.rfind('-', 0) == 0 ? "./" + path : path);
}

}  // namespace chunkwise
