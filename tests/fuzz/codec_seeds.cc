// Writes sound inputs for fuzz_codec_decoders: what each codec makes of some data.
//
//   codec_seeds FOLDER
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "codec/registry.h"
#include "codec_setups.h"

namespace {

using namespace chunkwise;

constexpr std::size_t kSizeBits = 12;

// Zeros and ones, which every codec takes, and numbers that rise slowly.
std::vector<std::byte> sample(bool booleans) {
  std::vector<std::byte> bytes(std::size_t{1} << kSizeBits);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto number = static_cast<std::uint32_t>(i * i / 64);
    for (std::size_t k = 0; k < 4; ++k) {
      bytes[i + k] = static_cast<std::byte>(booleans ? number >> (5 + k) & 1U : number >> (8 * k));
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: codec_seeds FOLDER\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  const std::vector<CodecSpec> setups = fuzz::codec_setups();
  for (std::size_t i = 0; i < setups.size(); ++i) {
    const auto codec = find_codec(setups[i].name)->bind(setups[i], fuzz::kElementBytes);
    for (const bool booleans : {false, true}) {
      Bytes encoded;
      try {
        codec->encode(sample(booleans), encoded);
      } catch (const Error&) {
        // Only decoded, or not of such data: any bytes are a start.
        encoded = Bytes::copy_of(std::vector<std::byte>(64, std::byte{1}));
      }
      const std::string name = setups[i].name + "-" + std::to_string(i) + (booleans ? "-booleans" : "-numbers");
      std::ofstream out(std::string(argv[1]) + "/" + name, std::ios::binary | std::ios::trunc);
      out.put(static_cast<char>(i)).put(static_cast<char>(kSizeBits));
      out.write(reinterpret_cast<const char*>(encoded.data()), static_cast<std::streamsize>(encoded.size()));
    }
  }
}
