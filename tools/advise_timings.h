// The commands `chunkadvise predict` and `chunkadvise calibrate`.
#pragma once

namespace chunkwise {

int run_predict(int argc, char** argv);
int run_calibrate(int argc, char** argv);

}  // namespace chunkwise
