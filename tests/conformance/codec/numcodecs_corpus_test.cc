// The buffers that numcodecs keeps to prove its own compatibility: NAME/array.NN.npy, and encoded by
// NAME/codec.NN/config.json as NAME/codec.NN/encoded.NN.dat.
#include <blosc.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../unit/codec/samples.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"

using namespace chunkwise;
using samples::ByteVector;
namespace fs = std::filesystem;

namespace {

fs::path corpus() {
  const char* from_environment = std::getenv("CHUNKWISE_CORPUS");
  const fs::path root =
      from_environment != nullptr ? fs::path(from_environment) : fs::path(CHUNKWISE_SOURCE_DIR) / "../shared/corpus";
  return root / "numcodecs";
}

ByteVector read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return samples::copy(as_bytes(text));
}

// The elements of a .npy file in the order of memory.
ByteVector npy_elements(const fs::path& path) {
  const ByteVector file = read_file(path);
  REQUIRE(file.size() > 12);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  REQUIRE(as_text(ByteView(file).first(6)) == "\x93NUMPY");
  const std::size_t header = byte(6) == 1 ? 10 + byte(8) + (byte(9) << 8)
                                          : 12 + byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
  return samples::copy(ByteView(file).subspan(header));
}

}  // namespace

TEST_CASE("Buffers encoded by numcodecs decode to the arrays they came from") {
  if (!fs::is_directory(corpus())) {
    WARN("skipped: no numcodecs corpus at " << corpus() << " (CHUNKWISE_CORPUS)");
    return;
  }
  int n_buffers = 0;
  for (const CodecRow& row : codec_rows()) {
    const fs::path folder = corpus() / std::string(row.zarr2_id);
    if (row.zarr2_id.empty() || !fs::is_directory(folder)) continue;
    for (const fs::directory_entry& codec : fs::directory_iterator(folder)) {
      if (!codec.is_directory()) continue;
      const CodecSpec spec = row.from_zarr2(parse_json(as_text(read_file(codec.path() / "config.json"))));
      for (const fs::directory_entry& encoded : fs::directory_iterator(codec.path())) {
        const std::string name = encoded.path().filename().string();
        if (!name.starts_with("encoded.")) continue;
        const std::string number = name.substr(8, 2);
        const ByteVector elements = npy_elements(folder / ("array." + number + ".npy"));
        INFO(encoded.path());
        if (row.name == "blosc" && blosc_compname_to_compcode(spec.text("cname", "").c_str()) < 0) {
          // Blosc was built without this compressor: refused by name.
          CHECK(samples::code_of([&] { CodecChain({spec}, 1); }) == Code::unsupported);
          continue;
        }
        const CodecChain chain({spec}, 1);
        CodecChain::Scratch scratch;
        CHECK(samples::copy(chain.decode(read_file(encoded.path()), elements.size(), 0, scratch)) == elements);
        ++n_buffers;
      }
    }
  }
  WARN("decoded " << n_buffers << " buffers");
  CHECK(n_buffers > 300);
}
