#include "model/cost.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace chunkwise;

namespace {

StoredArray narr(std::optional<Shape> chunk) {
  StoredArray array;
  array.shape = {98128, 277, 349};
  array.element_bytes = 4;
  array.chunk = chunk;
  return array;
}

const Shape kSeries = {98128, 1, 1};
const Shape kMap = {1, 277, 349};

}  // namespace

TEST_CASE("requests of the contiguous array: one for a map, one per step for a series") {
  const auto& device = find_device("ssd");
  const auto map = price(narr({}), kMap, device);
  CHECK(map.requests.requests == 1);
  CHECK(map.requests.chunks == 1);
  CHECK(map.requests.bytes == 277 * 349 * 4);
  CHECK(map.requests.index_reads == 0);
  const auto series = price(narr({}), kSeries, device);
  CHECK(series.requests.requests == 98128);
  CHECK(series.requests.bytes == 98128 * 4);
  CHECK(series.seconds > 100 * map.seconds);
  CHECK(series.dominating() == "98,128 separate reads of 4 B");
}

TEST_CASE("chunks, requests and bytes of chunked arrays") {
  const auto& device = find_device("ssd");
  const auto series = price(narr(Shape{4673, 12, 16}), kSeries, device);
  CHECK(series.requests.chunks == 21);
  CHECK(series.requests.requests == 21);
  CHECK(series.requests.bytes == 21.0 * 4673 * 12 * 16 * 4);
  const auto map = price(narr(Shape{4673, 12, 16}), kMap, device);
  CHECK(map.requests.chunks == 528);
  CHECK(map.requests.requests == 1);  // neighbours in the file
  CHECK(map.requests.decoded_bytes == 528.0 * 4673 * 12 * 16 * 4);

  auto objects = narr(Shape{4673, 12, 16});
  objects.placement = Placement::one_object;
  CHECK(price(objects, kMap, device).requests.requests == 528);
  CHECK(price(objects, kMap, device).requests.index_reads == 0);
}

TEST_CASE("the terms add up and the interval holds the value") {
  for (const auto& device : devices()) {
    for (const auto& chunk : {std::optional<Shape>{}, std::optional<Shape>{{516, 20, 25}}}) {
      auto array = narr(chunk);
      array.decode = decode_cost({{"shuffle", {}}, {"deflate", {{"level", std::int64_t{4}}}}});
      array.stored_ratio = 0.4;
      const auto cost = price(array, kSeries, device);
      CHECK(cost.terms.sum_s() == Approx(cost.seconds));
      CHECK(cost.seconds_low < cost.seconds);
      CHECK(cost.seconds_high > cost.seconds);
      CHECK(cost.terms.decode_s > 0);
      CHECK(cost.terms.largest_s() <= cost.seconds);
    }
  }
}

TEST_CASE("padding counts where it is stored, not where it compresses") {
  StoredArray array;
  array.shape = {721, 1440};
  array.element_bytes = 4;
  array.chunk = Shape{300, 300};
  CHECK(stored_size_bytes(array) == 900.0 * 1500 * 4);
  array.decode = decode_cost({{"deflate", {}}});
  array.stored_ratio = 0.5;
  CHECK(stored_size_bytes(array) == 721.0 * 1440 * 2);
  array.chunk.reset();
  array.decode = {};
  array.stored_ratio = 1;
  CHECK(stored_size_bytes(array) == 721.0 * 1440 * 4);
}

TEST_CASE("the published table within the device's factor, contiguous cells") {
  // 98128 x 277 x 349 float32 on a 7200 rpm disk: 0.012 s and 0.013 s along the storage order, 180 s and 200 s across.
  const auto& hdd = find_device("hdd");
  CHECK(price(narr({}), kSeries, hdd).seconds == Approx(200).epsilon(0.25));
  const auto map = price(narr({}), kMap, hdd).seconds;
  CHECK(map > 0.012 / hdd.error_factor);
  CHECK(map < 0.012 * hdd.error_factor);
  // Default chunks of 4673 x 12 x 16: 34 s for a map, 1.4 s for a series.
  CHECK(price(narr(Shape{4673, 12, 16}), kMap, hdd).seconds_high > 34);
  CHECK(price(narr(Shape{4673, 12, 16}), kSeries, hdd).seconds_high > 1.4);
}

TEST_CASE("more of anything never costs less") {
  for (const auto& device : devices()) {
    const auto small = price(narr(Shape{64, 8, 8}), kSeries, device);
    const auto box = price(narr(Shape{64, 8, 8}), Shape{98128, 10, 10}, device);
    CHECK(box.seconds > small.seconds);
    auto compressed = narr(Shape{64, 8, 8});
    compressed.decode = decode_cost({{"deflate", {}}});
    CHECK(price(compressed, kSeries, device).seconds > small.seconds);
  }
}

TEST_CASE("decode rates go by name, through containers, and guesses are told") {
  const auto blosc_zstd = decode_cost({{"blosc", {{"cname", std::string("zstd")}}}});
  const auto zstd = decode_cost({{"zstd", {}}});
  CHECK(blosc_zstd.s_per_byte == zstd.s_per_byte);
  CHECK(zstd.compresses);
  CHECK_FALSE(zstd.estimated);
  CHECK_FALSE(decode_cost({{"shuffle", {}}}).compresses);
  CHECK(decode_cost({{"hdf5-32013", {}}}).estimated);
  CHECK(decode_cost({}).s_per_byte == 0);
}

TEST_CASE("device names") {
  CHECK(find_device("nvme").name == "nvme");
  CHECK(find_device(kDefaultDevice).name == kDefaultDevice);
  try {
    find_device("floppy");
    FAIL("found");
  } catch (const Error& e) {
    CHECK(e.code() == Code::usage);
    CHECK(e.hint().find("hdd") != std::string::npos);
  }
}
