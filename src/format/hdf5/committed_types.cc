#include "format/hdf5/committed_types.h"

#include "format/hdf5/scales.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {

Hid CommittedTypes::in_target(const Lock& lock, hid_t type) {
  const bool is_committed = checked(lock, H5Tcommitted(type), "cannot read a datatype") > 0;
  Hid copy = source_shares_ && !is_committed ? fresh_type(lock, type) : transient_copy(lock, type);
  if (!is_committed) return copy;
  const haddr_t address = object_address(lock, type);
  auto found = copies_.find(address);
  if (found == copies_.end()) {
    constexpr const char* kWhat = "cannot store a named datatype";
    const Hid tcpl = owned(lock, H5Tget_create_plist(type), "cannot read the properties of a named datatype");
    checked(lock, H5Tcommit_anon(target_file_, copy.get(), tcpl.get(), H5P_DEFAULT), kWhat, Code::io);
    found = copies_.emplace(address, std::move(copy)).first;
  }
  checked(lock, H5Iinc_ref(found->second.get()), "cannot share a datatype", Code::internal);
  return Hid(found->second.get());
}

}  // namespace chunkwise::hdf5
