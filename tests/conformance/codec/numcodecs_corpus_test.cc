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

struct CodecFolder {
  fs::path arrays;
  fs::directory_entry codec;
};

// Some codecs have a folder more, for each kind of array.
std::vector<CodecFolder> codec_folders(const fs::path& folder) {
  std::vector<CodecFolder> found;
  if (!fs::is_directory(folder)) return found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (fs::exists(entry.path() / "config.json")) found.push_back({entry.path().parent_path(), entry});
  }
  return found;
}

}  // namespace

TEST_CASE("Buffers encoded by numcodecs decode to the arrays they came from") {
  if (!fs::is_directory(corpus())) {
    WARN("skipped: no numcodecs corpus at " << corpus() << " (CHUNKWISE_CORPUS)");
    return;
  }
  int n_buffers = 0;
  for (const CodecRow& row : codec_rows()) {
    // What rounds decodes to other arrays than it came from: zarr_codecs_test.py compares with numcodecs itself.
    if (row.zarr2_id.empty() || row.name == "fixedscaleoffset" || row.name == "quantize") continue;
    for (const auto& [folder, codec] : codec_folders(corpus() / std::string(row.zarr2_id))) {
      const Json config = parse_json(as_text(read_file(codec.path() / "config.json")));
      if (config.value("dtype", "") == "|O") {
        CHECK(samples::code_of([&, from = row.from_zarr2] { from(config); }) == Code::unsupported);
        continue;
      }
      const CodecSpec spec = row.from_zarr2(config);
      if (row.name == "astype" && folder.filename() == "f") continue;
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
  CHECK(n_buffers > 550);
}
