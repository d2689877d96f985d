// Tables of timings: read, predicted, fitted.
#include "model/timings.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.h"

using namespace chunkwise;

namespace {

std::string read_file(const std::string& name) {
  std::ifstream file(std::string(CHUNKWISE_SOURCE_DIR) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::string kHead = "pattern,start_t,n_t,start_x,n_x,chunk_t,chunk_x,wall_s\n";

std::string why(const std::string& text, const Shape& shape = {100, 50}) {
  try {
    parse_timings(text, shape, {}, 4);
  } catch (const Error& e) {
    CHECK(e.code() == Code::usage);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("the ten cells of the published table are within 1.3 with one set of constants") {
  const auto timings = parse_timings(read_file("data/unidata_narr.csv"), {98128, 277, 349}, {"time", "y", "x"}, 4);
  REQUIRE(timings.rows.size() == 10);
  const auto device = parse_profile(read_file("data/unidata-hdd.profile.json"), "unidata");
  const auto costs = predict(timings, device);
  for (std::size_t i = 0; i < 10; ++i) {
    const double ratio = costs[i].seconds / timings.rows[i].wall_s;
    INFO(i << ": " << costs[i].seconds << " s, measured " << timings.rows[i].wall_s);
    CHECK(std::max(ratio, 1 / ratio) < 1.3);
    CHECK(costs[i].seconds_low <= timings.rows[i].wall_s);
    CHECK(costs[i].seconds_high >= timings.rows[i].wall_s);
  }
  CHECK(costs[4].requests.chunks == 21);
  CHECK(costs[5].requests.chunks == 528);
  CHECK(costs[6].requests.chunks == 1067);
  CHECK(costs[7].requests.chunks == 992);
  CHECK(costs[0].requests.requests == 1);
  CHECK(costs[1].requests.requests == 277 * 349);
  CHECK(costs[2].requests.requests == 98128);
}

TEST_CASE("a fit finds the constants that made a table") {
  // open 20 ms, 2 ms a chunk, 8 in flight at 100 MB/s each, 400 MB/s decoded.
  std::string text = "pattern,start_t,n_t,start_y,n_y,start_x,n_x,chunk_t,chunk_y,chunk_x,wall_s\n";
  const Shape shape = {4000, 500, 500};
  for (const Index t : {1, 7, 30, 110, 900, 4000}) {
    for (const Index s : {9, 35, 120, 500}) {
      for (const bool series : {false, true}) {
        const double n = series ? std::ceil(4000.0 / double(t)) : std::pow(std::ceil(500.0 / double(s)), 2);
        const double bytes = double(t * s * s) * 4;
        const double wall = 0.02 + 2e-3 * n + std::ceil(n / 8) * bytes / 100e6 + n * bytes / 400e6;
        std::ostringstream row;
        row.precision(17);
        if (series) {
          row << "series,0,4000,5,1,7,1,";
        } else {
          row << "map,17,1,0,500,0,500,";
        }
        row << t << ',' << s << ',' << s << ',' << wall << '\n';
        text += row.str();
      }
    }
  }
  const auto timings = parse_timings(text, shape, {}, 4);
  const auto device = fit_device(timings, "made");
  CHECK(device.in_flight == 8);
  CHECK(device.open_s.value == Approx(0.02).epsilon(1e-3));
  CHECK(device.chunk_s.value == Approx(2e-3).epsilon(1e-3));
  CHECK(device.stream_Bps.value == Approx(100e6).epsilon(1e-3));
  CHECK(device.decode_Bps.value == Approx(400e6).epsilon(1e-3));
  CHECK(device.chunk_s.low <= device.chunk_s.value);
  const auto costs = predict(timings, device);
  const auto all = accuracy_of_all(timings, costs);
  CHECK(all.n == 48);
  CHECK(all.median_ape < 1e-4);
  CHECK(all.kendall_tau == 1);
  CHECK(all.regret == 1);
  // Written and read back it predicts the same.
  const auto again = predict(timings, parse_profile(profile_json(device), "again"));
  for (std::size_t i = 0; i < costs.size(); ++i) CHECK(again[i].seconds == Approx(costs[i].seconds).epsilon(1e-12));
}

TEST_CASE("a table with contiguous rows gives access, gap and window") {
  const auto timings = parse_timings(read_file("data/unidata_narr.csv"), {98128, 277, 349}, {}, 4);
  const auto device = fit_device(timings, "disk");
  const auto all = accuracy_of_all(timings, predict(timings, device));
  CHECK(all.within_1_5x == 1);
  CHECK(all.median_ape < 0.15);
  CHECK(device.window_bytes.value <= 128 * 1024);
  CHECK(device.pass_Bps.value == Approx(205e6).epsilon(0.15));
}

TEST_CASE("tables that make no sense are refused with the line and the right names") {
  CHECK(why("") == "the table of timings has no row");
  CHECK(why(kHead) == "the table of timings has no row");
  CHECK(why(kHead + "a,0,1,0,1,1,1,0.5\n") == "accepted");
  CHECK(why(kHead + "a,0,1,0,1,1,1\n") == "line 2 of the table has 7 fields, its header 8");
  CHECK(why(kHead + "a,0,1,0,1,1,1,fast\n") == "'fast' in column wall_s of line 2 is not a number");
  CHECK(why(kHead + "a,0,1,0,1,1,1,0\n") == "wall_s of line 2 is not above 0");
  CHECK(why(kHead + "a,0,1,40,11,1,1,1\n") == "line 2 reads 11 from 40 of dimension 'x', which has 50");
  CHECK(why(kHead + "a,0,1,0,1,0,1,1\n") == "chunk_t of line 2 is 0");
  CHECK(why(kHead + "a,0,1,0,0,1,1,1\n") == "line 2 reads 0 from 0 of dimension 'x', which has 50");
  CHECK(why("pattern,start_t,n_t,wall_s\na,0,1,2\n") == "the table has the dimensions t, but --shape 2 lengths");
  CHECK(why("pattern,start_t,n_t,start_x,n_x,chunk_t,wall_s\na,0,1,2\n") == "the table has no column 'chunk_x'");
  CHECK(why(kHead + "\"a,0,1,0,1,1,1,1\n") == "line 2 of the table has a quote without an end");
}

TEST_CASE("quantiles and tau by hand") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({1, 2, 3, 4, 5}, 0.95) == Approx(4.8));
  CHECK(quantile({}, 0.5) == 0);
  CHECK(kendall_tau({1, 2, 3, 4}, {1, 2, 3, 4}) == 1);
  CHECK(kendall_tau({1, 2, 3, 4}, {4, 3, 2, 1}) == -1);
  CHECK(kendall_tau({1, 2, 3, 4}, {1, 3, 2, 4}) == Approx(4.0 / 6));
  CHECK(kendall_tau({1, 1, 2, 3}, {1, 2, 3, 4}) == Approx(5 / std::sqrt(30.0)));
}

TEST_CASE("profiles: kept exactly, newer and broken ones refused") {
  const auto& hdd = find_device("hdd");
  const auto text = profile_json(hdd);
  const auto again = parse_profile(text, "hdd.json");
  for (const auto& row : constant_rows()) {
    INFO(row.name);
    CHECK((again.*row.member).value == (hdd.*row.member).value);
    CHECK((again.*row.member).low == (hdd.*row.member).low);
    CHECK((again.*row.member).source == (hdd.*row.member).source);
    CHECK_FALSE((hdd.*row.member).source.empty());
  }
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    try {
      parse_profile(changed, "p.json");
    } catch (const Error& e) {
      CHECK(e.code() == Code::usage);
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(refused("chunkwise-profile/1", "chunkwise-profile/2") ==
        "the profile p.json has the schema 'chunkwise-profile/2'; this version knows 'chunkwise-profile/1'");
  CHECK(refused("chunkwise-profile/1", "other") ==
        "the profile p.json is none: its schema is not 'chunkwise-profile/1'");
  CHECK(refused("\"access_s\"", "\"acces_s\"") == "the profile p.json has an unknown constant 'acces_s'");
  CHECK_THROWS_AS(parse_profile("{", "p.json"), Error);
}
