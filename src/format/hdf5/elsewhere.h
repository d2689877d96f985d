// Datasets whose elements lie in other files: virtual ones and those with external storage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "array/source.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// The other files a creation list names: raw files, or those that a virtual dataset maps. Each once, as they are
/// spelled; "." (the file itself) is none.
std::vector<std::string> other_files(const Lock& lock, hid_t dcpl);

/// Opens a dataset so that raw files are found beside the file it is in, else in the working directory, as the library
/// does. Throws Error{not_found} naming a raw file, or the mapped file or dataset of a virtual one, that is not there:
/// the library would read fill values instead. Mapped names with numbers in them ("%b") may end anywhere.
/// `access` is a dataset access list; raw files are entered into it.
Hid open_with_others(const Lock& lock, const File& file, const std::string& path, const Hid& access);

/// The elements, as the library reads them. `meta` is cut in runs.
std::unique_ptr<ArraySource> make_elsewhere_source(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta);

/// A creation list equal to that of a dataset with raw files, but without them.
Hid without_raw_files(const Lock& lock, hid_t dcpl, hid_t type);

}  // namespace chunkwise::hdf5
