#include "rechunk/progress.h"

#include <catch2/catch.hpp>

using namespace chunkwise;

TEST_CASE("time left begins with what was expected and ends with the pace") {
  Progress progress;
  progress.total_bytes = 1000;
  progress.expected_s = 50;
  CHECK(seconds_left(progress) == Approx(50));
  progress.done_bytes = 500;
  progress.elapsed_s = 10;
  CHECK(seconds_left(progress) == Approx(10));
  progress.done_bytes = 25;  // half trusted: 390 s by the pace, 48.75 s expected
  CHECK(seconds_left(progress) == Approx(0.5 * 390 + 0.5 * 48.75));
  progress.done_bytes = 1000;
  CHECK(seconds_left(progress) == 0);
  progress.expected_s = 0;
  progress.done_bytes = 5;
  CHECK(seconds_left(progress) < 0);
}

TEST_CASE("the stage that limits is the busiest of busy threads, else the device, else the memory") {
  Progress earlier;
  earlier.n_threads = 2;
  earlier.elapsed_s = 10;
  Progress later = earlier;
  later.elapsed_s = 11;
  CHECK(limiting_stage(earlier, earlier).empty());
  CHECK(limiting_stage(earlier, later).empty());
  later.stages.encode_s = 1.2;
  later.stages.decode_s = 0.7;
  CHECK(limiting_stage(earlier, later) == "encode");
  later.stages.encode_s = 0.1;
  later.stages.read_s = 0.9;
  CHECK(limiting_stage(earlier, later) == "read");
  later.stages.read_s = 0.1;
  CHECK(limiting_stage(earlier, later) == "memory");
  later.stages.write_s = 1.5;
  CHECK(limiting_stage(earlier, later) == "write");
}
