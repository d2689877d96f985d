// Keeps the table of what is supported in the README equal to the registries.
//
//   support_table README.md            exit 1 if it differs; prints what it should be
//   support_table --write README.md    puts it right
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "codec/registry.h"
#include "format/registry.h"

namespace {

constexpr std::string_view kBegin = "<!-- support table: made by tools/support_table -->\n";
constexpr std::string_view kEnd = "<!-- end of the support table -->\n";

std::string code_or_dash(std::string_view text) {
  return text.empty() ? "-" : fmt::format("`{}`", text);
}

std::string support_table() {
  std::string out = "\n| Format | `--to` | Chosen by suffix | Reads | Writes |\n|---|---|---|---|---|\n";
  for (const chunkwise::FormatRow& row : chunkwise::format_rows()) {
    out += fmt::format("| {} | `{}` | {} | {} | {} |\n", row.summary, row.name, code_or_dash(row.suffixes),
                       row.open != nullptr ? "yes" : "no", row.create != nullptr ? "yes" : "no");
  }
  out += "\n| Codec | `--codec` | In HDF5 | In Zarr 2 | In Zarr 3 |\n|---|---|---|---|---|\n";
  for (const chunkwise::CodecRow& row : chunkwise::codec_rows()) {
    const std::string filter = row.hdf5_filter == 0 ? "-" : fmt::format("filter {}", row.hdf5_filter);
    // Without a way to ask for it, a codec is only kept.
    out += fmt::format("| {} | {} | {} | {} | {} |\n", row.summary,
                       row.parse != nullptr ? code_or_dash(row.name) : "kept only", filter, code_or_dash(row.zarr2_id),
                       code_or_dash(row.zarr3_name));
  }
  return out + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const bool write = argc == 3 && std::string_view(argv[1]) == "--write";
  if (argc != 2 && !write) {
    std::fprintf(stderr, "usage: support_table [--write] README.md\n");
    return 2;
  }
  const std::string path = argv[argc - 1];
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto begin = text.find(kBegin);
  const auto end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "support_table: %s has no support table between its two marks\n", path.c_str());
    return 1;
  }
  const auto from = begin + kBegin.size();
  const std::string expected = support_table();
  if (text.compare(from, end - from, expected) == 0) return 0;
  if (!write) {
    std::fprintf(stderr,
                 "support_table: %s differs from the registries; run tools/support_table --write. Expected:\n%s",
                 path.c_str(), expected.c_str());
    return 1;
  }
  text.replace(from, end - from, expected);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  return out ? 0 : 1;
}
