#include "codec/libraries.h"

#include <blosc.h>
#include <bzlib.h>
#include <fmt/format.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <zstd.h>

#include <string_view>

namespace chunkwise {

std::vector<std::string> codec_libraries() {
  const std::string_view bzip2 = BZ2_bzlibVersion();  // "1.0.8, 13-Jul-2019"
  return {fmt::format("libdeflate {}", LIBDEFLATE_VERSION_STRING),
          fmt::format("ISA-L {}.{}.{}", ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION),
          fmt::format("zstd {}", ZSTD_versionString()),
          fmt::format("LZ4 {}", LZ4_versionString()),
          fmt::format("c-blosc {}", blosc_get_version_string()),
          fmt::format("bzip2 {}", bzip2.substr(0, bzip2.find(','))),
          fmt::format("liblzma {}", lzma_version_string()),
          "libaec"};  // has no version in its header
}

}  // namespace chunkwise
