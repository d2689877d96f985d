#include "app/advise_question.h"

#include <catch2/catch.hpp>

#include "app/advise_rewrite.h"
#include "base/error.h"

using namespace chunkwise;

TEST_CASE("a list of codecs is cut into chains behind each compressor") {
  const auto words = [](const std::string& text) {
    std::vector<std::string> chains;
    for (const auto& chain : parse_codec_candidates(text)) chains.push_back(to_string(chain));
    return chains;
  };
  using Chains = std::vector<std::string>;
  CHECK(words("zstd:3") == Chains{"zstd:3"});
  CHECK(words("shuffle,deflate:1,zstd:3,none") == Chains{"shuffle,deflate:1", "zstd:3", "none"});
  CHECK(words("none,shuffle,deflate:4") == Chains{"none", "shuffle,deflate:4"});
  CHECK(words("deflate:1,fletcher32,zstd:5") == Chains{"deflate:1,fletcher32", "zstd:5"});
  CHECK_THROWS_AS(parse_codec_candidates("shuffle"), Error);
  CHECK_THROWS_AS(parse_codec_candidates("zsdt"), Error);
}

TEST_CASE("a rewrite pays when the reads have gained what it takes") {
  const std::vector<AccessPattern> patterns = {{"series", {1}, 1}, {"map", {1}, 3}};
  // 8 s gained by a series, 2 s lost by three maps together: 6 s a round.
  const auto even = break_even(60, patterns, {10, 1}, {2, 1 + 2.0 / 3});
  CHECK(even.pattern == 0);
  CHECK(even.reads == 10);
  CHECK(break_even(60, patterns, {1, 1}, {2, 1}).reads == 0);
  // Maps gain 3 x 2 s a round, and there are three of them.
  const auto maps = break_even(60, patterns, {1, 3}, {1, 1});
  CHECK(maps.pattern == 1);
  CHECK(maps.reads == 30);
}
