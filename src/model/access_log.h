// Access logs of data servers: which hyperslabs of which variables were read, and how often.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/pattern.h"

namespace chunkwise {

/// One axis of a request: elements and their distance. n = 0: the whole axis.
struct LoggedAxis {
  std::int64_t n = 0;
  std::int64_t step = 1;
  friend auto operator<=>(const LoggedAxis&, const LoggedAxis&) = default;
};

/// Requests of one variable that are alike: equal steps, lengths within a factor of about 1.4.
struct LoggedCluster {
  std::vector<double> sum_log_n;  // per axis; the geometric mean stands for all
  std::vector<LoggedAxis> first;
  std::uint64_t n_requests = 0;
};

/// Lines are added one by one; memory grows with the kinds of requests, not with the lines.
///
/// Understood: the common and combined log formats with OPeNDAP requests (THREDDS, Hyrax, ERDDAP's griddap is not),
/// DAP2
/// (`.dods?T[0:1:9][5][]`) and DAP4 (`.dap?dap4.ce=/g/T[0:9];/S`), with URL escapes, strides, grids (`T.T[..]`), and
/// variables named without brackets, which are whole; and JSON lines: {"variable": "T", "start": [..], "count": [..],
/// "stride": [..]} or {"url": ".."} or {"request": ".."}.
class AccessLog {
 public:
  void add(std::string_view line);

  struct Counts {
    std::uint64_t lines = 0;
    std::uint64_t recognised = 0;  // reads of data; each may name several variables
    std::uint64_t metadata = 0;    // .dds, .das, .dmr, pages: no data
    std::uint64_t failed = 0;      // answered with an error
    std::uint64_t other = 0;       // not understood
  };
  const Counts& counts() const { return counts_; }
  /// The first line that was not understood, cut to 100 characters; empty if there is none.
  const std::string& first_other() const { return first_other_; }
  /// Names as logged, without a leading '/'.
  std::vector<std::string> variables() const;

  /// Patterns of a variable (its path, or the last part of it), heaviest first, at most `most`; requests that do not
  /// fit the axes are counted in `n_unfit`, those beyond `most` in `n_rest`.
  std::vector<AccessPattern> patterns(std::string_view path, const Axes& axes, std::size_t most, std::uint64_t& n_unfit,
                                      std::uint64_t& n_rest) const;

 private:
  bool add_constraint(std::string_view text);
  bool add_json(std::string_view line);
  void add_request(const std::string& variable, const std::vector<LoggedAxis>& axes);
  void add_url(std::string_view target);
  void not_understood(std::string_view line);

  using Key = std::vector<std::pair<int, std::int64_t>>;  // per axis: length class, step
  std::map<std::string, std::map<Key, LoggedCluster>> clusters_;
  Counts counts_;
  std::string first_other_;
};

}  // namespace chunkwise
