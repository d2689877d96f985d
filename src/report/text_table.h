// Plain text for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chunkwise {

inline constexpr std::size_t kTextColumns = 80;

struct TextColumn {
  std::string head;
  bool right_aligned = false;
  /// Columns of higher rank are left out first where the table is too wide; 0 stays.
  int dispensable = 0;
  std::vector<std::string> cells;
};

/// Rows of cells under a head, two spaces between columns, or one where it would be too wide otherwise. Widths count
/// UTF-8 characters. A table whose indispensable columns are too wide stays too wide.
std::string format_table(std::vector<TextColumn> columns, std::size_t width = kTextColumns);

/// Breaks at spaces so that no line is longer than `width` where a word allows; lines after the first are indented.
/// Ends with a line feed.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = kTextColumns);

/// A word as a POSIX shell takes it: quoted only if it must be.
std::string shell_word(const std::string& word);

}  // namespace chunkwise
