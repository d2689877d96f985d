// Zip files as stores: read from, or made once.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace chunkwise {

/// True if the file begins as zip files do. False for what cannot be read.
bool is_zip_file(const std::string& path);

/// A zip file, to read from: writing is a bug. Objects are stored or deflated; those encrypted or packed otherwise are
/// listed, but opening them throws Error{unsupported}. Whole objects are checked against their checksum. If all lies
/// below one folder, that is the root. Opening throws what ZipIndex does, reading Error{corrupt} for what does not fit.
std::unique_ptr<Store> open_zip_store(const std::string& path);

/// A store that is one file: no process finds anything in it before finish() has written its table of contents.
class Archive : public Store {
 public:
  /// Ends the writing and makes all of it durable.
  virtual void finish() = 0;
};

/// A new zip file, to be written and finished: reading is a bug. Objects are stored as they are and appended, from any
/// thread, one write each or in pieces, which a file beside it keeps until they are closed; a later object replaces an
/// earlier one of its key, whose bytes remain. finish() writes the table of contents: without it the file is none, so
/// nothing unfinished is kept. Throws Error{exists}, Error{io}, Error{unsupported} for keys that zip files cannot have.
std::unique_ptr<Archive> create_zip_store(const std::string& path);

}  // namespace chunkwise
