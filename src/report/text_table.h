// Plain text for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chunkwise {

/// How wide text may be: $COLUMNS where that is a number from 40 to 1000, else as the terminal that stdout is, else 80.
std::size_t text_columns();

struct TextColumn {
  std::string head;
  bool right_aligned = false;
  /// Columns of higher rank are left out first where the table is too wide; 0 stays.
  int dispensable = 0;
  std::vector<std::string> cells;
};

/// Rows of cells under a head, two spaces between columns, or one where it would be too wide otherwise. Widths count
/// UTF-8 characters. A table whose indispensable columns are too wide stays too wide.
std::string format_table(std::vector<TextColumn> columns, std::size_t width = text_columns());

/// Breaks at spaces so that no line is longer than `width` where a word allows; lines after the first are indented.
/// Ends with a line feed.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = text_columns());

/// A word as a POSIX shell takes it: quoted only if it must be.
std::string shell_word(const std::string& word);
/// The same for a path, which is never taken for an option: "./-a.nc".
std::string shell_path(const std::string& path);

}  // namespace chunkwise
