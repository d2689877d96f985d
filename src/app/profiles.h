// Where device profiles are: built in, in files, and the one of this machine in the user's configuration.
#pragma once

#include <string>

#include "model/device.h"

namespace chunkwise {

/// A device by name or a profile file; empty: the saved profile of this machine, or the default device if there is
/// none. Throws Error{usage} for what is neither, Error{not_found} and Error{io} for the file, what parse_profile()
/// throws.
Device load_device(const std::string& name_or_path);

/// Where the profile of this machine is: $XDG_CONFIG_HOME/chunkwise/profile.json, else under ~/.config. Empty if there
/// is no home.
std::string saved_profile_path();

/// Writes the whole file or nothing, making folders on the way. Throws Error{io}.
void save_profile(const std::string& path, const std::string& json);

/// The whole file. Throws Error{not_found}, Error{io}.
std::string read_text(const std::string& path);

/// "2026-11-30"
std::string today();

}  // namespace chunkwise
