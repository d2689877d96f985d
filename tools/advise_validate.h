// The command `chunkadvise validate`.
#pragma once

namespace chunkwise {

int run_validate(int argc, char** argv);

}  // namespace chunkwise
