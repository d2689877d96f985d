// The table of formats: a new format is one folder and one row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/dataset.h"

namespace chunkwise {

struct FormatRow {
  std::string_view name;     // "nc4", "h5", "nc3", "zarr2", "zarr3"
  std::string_view summary;  // for --help and the README
  /// Space separated, that choose this format for a target: ".nc .nc4". Of several rows with a suffix the first one is
  /// chosen, but a source of any of them keeps its format.
  std::string_view suffixes;
  bool is_directory;  // the target is a directory, unless makes_directory() says otherwise
  bool has_shards;    // chunks may share objects, ArrayMeta::shards
  /// Where arrays have neither chunks nor codecs: the format that is written in its place when they are asked for.
  std::string_view chunked_kin;

  /// True if `path` looks like this format; never throws for foreign content.
  bool (*probe)(const std::string& path);
  /// Throws Error{corrupt}, Error{unsupported}, Error{io}.
  std::unique_ptr<Reader> (*open)(const std::string& path);
  /// The tree of what open() would open, for who will neither read its elements nor write by it; null where open() is
  /// as quick. Throws as open().
  Hierarchy (*describe)(const std::string& path);
  /// Rewrites a hierarchy read from any format into the one this format would store with "keep": maps codecs and
  /// layouts to ones its ordinary readers understand, invents what must exist, lists notes and losses. What cannot be
  /// stored at all (an array's type) is a loss too. With losses allowed the result leaves them out.
  void (*adapt)(Hierarchy& tree, AdaptReport& report);
  /// Throws Error{unsupported} if an array's chunks or codecs, after the user's request, cannot be stored.
  void (*check)(const Hierarchy& tree);
  /// Creates the dataset at `path`: in the empty directory that stands there, otherwise as a file, which must not
  /// exist. Holds no open references to tree.
  std::unique_ptr<Writer> (*create)(const std::string& path, const Hierarchy& tree);
  /// Goes on with the unfinished dataset at `path`, which create() began for the same tree in a process that has ended
  /// at any moment: chunks written before a checkpoint are kept, all others may be written again. Null if the format's
  /// writers make no checkpoints. Throws Error{unsupported} if what is there cannot be continued, Error{io}.
  std::unique_ptr<Writer> (*resume)(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier);
};

std::span<const FormatRow> format_rows();
/// "HDF5 1.10.8": the libraries that formats are read and written with.
std::vector<std::string> format_libraries();
/// Null if unknown.
const FormatRow* find_format(std::string_view name);
/// Probes all formats. Of the HDF5 family it names the first: Reader::tree() of the open file tells which it is. Throws
/// Error{not_found} "no such file" or "not a dataset" naming what was looked for.
const FormatRow& detect_format(const std::string& path);
/// FormatRow::describe, or open()->tree().
Hierarchy describe(const FormatRow& row, const std::string& path);
/// By suffix; null if it tells nothing.
const FormatRow* format_by_suffix(const std::string& path);
/// True if the suffix of `path` is one of the format's; of zip files also what stands before ".zip".
bool has_suffix_of(const FormatRow& row, const std::string& path);
/// True if a dataset of the format with this name is a directory, false if it is one file.
bool makes_directory(const FormatRow& row, const std::string& path);

}  // namespace chunkwise
