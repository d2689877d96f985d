#include "codec/registry.h"

#include <catch2/catch.hpp>

#include "codec/chain.h"
#include "samples.h"

using namespace chunkwise;
using samples::code_of;
using samples::message_of;

TEST_CASE("Codec lists are read and printed") {
  CHECK(parse_codecs("none").empty());
  CHECK(to_string(CodecSpecs{}) == "none");
  for (const char* text : {"shuffle,deflate:1",
                           "deflate:9",
                           "gzip:6",
                           "zstd:3",
                           "zstd:-5",
                           "zstd:19:checksum",
                           "lz4:1",
                           "hdf5-lz4",
                           "hdf5-lz4:65536",
                           "blosc:zstd:5:shuffle",
                           "blosc:lz4:9:bitshuffle",
                           "shuffle,zstd:1,crc32c",
                           "fletcher32",
                           "bz2:9",
                           "lzf",
                           "bitshuffle:none",
                           "bitshuffle:lz4",
                           "bitshuffle:zstd:7",
                           "szip:nn:16",
                           "szip:ec:8"}) {
    CHECK(to_string(parse_codecs(text)) == text);
  }
  CHECK(to_string(parse_codecs("zlib")) == "deflate:1");
  CHECK(to_string(parse_codecs("gzip,zstd,lz4,blosc,blosc:lz4,bzip2,bitshuffle,bitshuffle:zstd,szip")) ==
        "gzip:1,zstd:3,lz4:1,blosc:zstd:5:shuffle,blosc:lz4:5:shuffle,bz2:9,bitshuffle:lz4,bitshuffle:zstd:3,"
        "szip:nn:8");
}

TEST_CASE("Mistakes in codec lists are usage errors that help") {
  for (const char* text : {"",
                           ",",
                           "deflate,",
                           "deflate:",
                           "deflate:x",
                           "deflate:10",
                           "deflate:-1",
                           "deflate:1:2",
                           "gzip:10",
                           "zstd:23",
                           "zstd:3:sum",
                           "zstd:99999999999999999999",
                           "lz4:0",
                           "hdf5-lz4:0",
                           "shuffle:4",
                           "blosc:nothing",
                           "blosc:zstd:10",
                           "blosc:zstd:5:shuffled",
                           "blosc:zstd:5:shuffle:1",
                           "bz2:0",
                           "bz2:1:2",
                           "lzf:1",
                           "bitshuffle:gzip",
                           "bitshuffle:lz4:1",
                           "bitshuffle:zstd:23",
                           "szip:xx",
                           "szip:nn:7",
                           "szip:nn:34",
                           "szip:ec:0",
                           "nbit",
                           "scaleoffset",
                           "crc32c:1",
                           "fletcher32:1",
                           "none,deflate",
                           "defalte",
                           "DEFLATE"}) {
    INFO(text);
    CHECK(code_of([&] { parse_codecs(text); }) == Code::usage);
  }
  CHECK_THAT(message_of([] { parse_codecs("shuffle,defalte:1"); }),
             Catch::Contains("defalte") && Catch::Contains("did you mean 'deflate'?"));
  CHECK_THAT(message_of([] { parse_codecs("deflate:10"); }),
             Catch::Contains("from 0 to 9") && Catch::Contains("deflate:10"));
  CHECK_THAT(message_of([] { parse_codecs("nbit"); }), Catch::Contains("can be kept"));
  CHECK_THAT(message_of([] { parse_codecs("blosc:zsdt"); }), Catch::Contains("did you mean 'zstd'?"));
}

TEST_CASE("A codec nobody knows is named, an HDF5 filter with number and name") {
  const auto bind = [](const CodecSpec& spec) { return message_of([&] { CodecChain({spec}, 4); }); };
  CHECK_THAT(bind({"pcodec", {}}), Catch::Contains("codec 'pcodec' is not supported"));
  CHECK_THAT(bind({"hdf5-32013", {{"label", std::string()}}}), Catch::Contains("filter 32013 (zfp) is not supported"));
  CHECK_THAT(bind({"hdf5-400", {{"label", std::string("house filter")}}}),
             Catch::Contains("filter 400 (house filter) is not supported"));
  CHECK_THAT(bind({"hdf5-400", {}}), Catch::Contains("filter 400 is not supported"));
  CHECK(code_of([] { CodecChain({{"hdf5-32013", {}}}, 4); }) == Code::unsupported);
  CHECK(to_string({{"shuffle", {}}, {"hdf5-32013", {}}}) == "shuffle,hdf5-32013");
}

TEST_CASE("Rows are found by every spelling") {
  CHECK(find_codec_by_hdf5(1)->name == "deflate");
  CHECK(find_codec_by_hdf5(32004)->name == "hdf5-lz4");
  CHECK(find_codec_by_hdf5(4)->name == "szip");
  CHECK(find_codec_by_hdf5(5)->name == "nbit");
  CHECK(find_codec_by_hdf5(6)->name == "scaleoffset");
  CHECK(find_codec_by_hdf5(0) == nullptr);
  CHECK(find_codec_by_zarr2("zlib")->name == "deflate");
  CHECK(find_codec_by_zarr2("") == nullptr);
  CHECK(find_codec_by_zarr3("gzip")->name == "gzip");
  CHECK(find_codec_by_zarr3("numcodecs.zlib")->name == "deflate");
  CHECK(find_codec_by_zarr3("numcodecs.blosc")->name == "blosc");
  CHECK(find_codec_by_zarr3("") == nullptr);
  CHECK(find_codec("zlib") == nullptr);
}

TEST_CASE("Parameters of a wrong type are corrupt, not a crash") {
  const CodecSpec spec{"deflate", {{"level", std::string("high")}}};
  CHECK(code_of([&] { spec.integer("level", 1); }) == Code::corrupt);
  CHECK(code_of([&] { CodecChain({spec}, 4); }) == Code::corrupt);
  CHECK(code_of([] { CodecChain({{"deflate", {{"level", std::int64_t{12}}}}}, 4); }) == Code::corrupt);
  CHECK(code_of([] { CodecChain({{"blosc", {{"cname", std::string("lzo")}}}}, 4); }) == Code::corrupt);
}
