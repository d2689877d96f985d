// Committed types: those that are objects of a file, with or without a name.
#pragma once

#include <map>
#include <string>

#include "format/hdf5/handle.h"
#include "format/hdf5/shared_messages.h"

namespace chunkwise::hdf5 {

/// The copies of a source's committed types in a target. A copy is made when its first user comes, or its name; which
/// of them comes first differs from file to file.
class CommittedTypes {
 public:
  CommittedTypes(const Lock& lock, hid_t source_file, hid_t target_file)
      : target_file_(target_file), source_shares_(shares_messages(lock, source_file)) {}

  /// What `type` of the source is in the target: the copy of a committed type, else an equal type that is in no file.
  Hid in_target(const Lock& lock, hid_t type);

 private:
  hid_t target_file_;
  bool source_shares_;
  std::map<haddr_t, Hid> copies_;  // by the address in the source; open, as without a user or a name they vanish
};

}  // namespace chunkwise::hdf5
