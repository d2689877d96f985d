// What the exit codes mean, at length.
#pragma once

#include <string>

namespace chunkwise {

/// For --explain-error: what happened, what usually causes it, what to do. Throws Error{usage} that lists the codes for
/// a number that is none of them.
std::string explain_exit_code(int code);

/// For --help-all: one line per code that the command `name` can end with.
std::string exit_code_list(const std::string& name);

}  // namespace chunkwise
