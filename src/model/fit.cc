// Constants of a device from measured reads: Levenberg-Marquardt on the logarithms of the constants, so that none turns
// negative, with a soft L1 loss on the logarithms of predicted over measured, so that few odd rows decide little.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/timings.h"

namespace chunkwise {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kLossScale = 0.3;  // residuals beyond a factor of 1.35 count linearly
constexpr double kInterval_sigmas = 1.645;

/// A constant to be fitted: where it is, where to begin, and how far it may go.
struct Parameter {
  Constant Device::*member;
  double begin;
  double low;
  double high;
  const char* source;
};

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// Solves a x = b for a symmetric positive definite a; false if it is none.
bool solve(Matrix a, Vector b, Vector& x) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 0)) return false;
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  x = std::move(b);
  return true;
}

class Fit {
 public:
  Fit(const Timings& timings, Device device, std::vector<Parameter> parameters)
      : parameters_(std::move(parameters)), device_(std::move(device)) {
    const bool many_objects = !timings.has_contiguous();
    for (const auto& row : timings.rows) {
      reads_.push_back(timed_read(timings, row, many_objects));
      log_wall_.push_back(std::log(row.wall_s));
    }
    for (const auto& read : reads_) pricers_.emplace_back(read.array, read.pattern, device_);
  }
  Fit(const Fit&) = delete;  // the pricers point at device_

  /// From several beginnings; keeps what `keep` says is set besides. Returns the loss.
  double run() {
    double best = kNone;
    Vector best_logs;
    for (const double shift : {0.0, 2.0, -2.0}) {
      Vector logs;
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const double sign = i % 2 == 0 ? 1 : -1;
        logs.push_back(std::log(parameters_[i].begin) + shift * sign);
      }
      const double loss = descend(logs);
      if (loss < best) {
        best = loss;
        best_logs = logs;
      }
    }
    set(best_logs);
    logs_ = best_logs;
    return best;
  }

  Device& device() { return device_; }

  Vector residuals() {
    Vector residuals(reads_.size());
    for (std::size_t i = 0; i < reads_.size(); ++i) {
      residuals[i] = std::log(pricers_[i].seconds(reads_[i].axes, reads_[i].chunk_elements)) - log_wall_[i];
    }
    return residuals;
  }

  /// Values with intervals, after run().
  void finish() {
    set(logs_);
    const Vector r = residuals();
    Matrix normal;
    Vector gradient;
    derive(r, logs_, normal, gradient);
    double sum = 0;
    for (const double one : r) sum += one * one;
    const double n_free = std::max(1.0, static_cast<double>(r.size()) - static_cast<double>(parameters_.size()));
    const double variance = sum / n_free;
    for (std::size_t i = 0; i < parameters_.size(); ++i) normal[i][i] += 1e-9;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Vector unit(parameters_.size());
      unit[i] = 1;
      Vector column;
      const bool known = solve(normal, unit, column);
      const double sigma = known ? std::sqrt(std::max(0.0, column[i] * variance)) : 20;
      const double spread = std::exp(std::min(20.0, kInterval_sigmas * sigma));
      const double value = std::exp(logs_[i]);
      device_.*parameters_[i].member = {value, value / spread, value * spread, parameters_[i].source};
    }
  }

 private:
  void set(const Vector& logs) {
    for (std::size_t i = 0; i < logs.size(); ++i) (device_.*parameters_[i].member).value = std::exp(logs[i]);
  }

  double loss_at(const Vector& logs) {
    set(logs);
    double sum = 0;
    for (const double r : residuals()) {
      sum += 2 * kLossScale * kLossScale * (std::sqrt(1 + r * r / (kLossScale * kLossScale)) - 1);
    }
    return sum;
  }

  void derive(const Vector& r, const Vector& logs, Matrix& normal, Vector& gradient) {
    constexpr double kStep = 1e-5;
    const std::size_t n = logs.size();
    Matrix slopes;
    for (std::size_t k = 0; k < n; ++k) {
      Vector moved = logs;
      moved[k] += kStep;
      set(moved);
      slopes.push_back(residuals());
      for (std::size_t i = 0; i < r.size(); ++i) slopes[k][i] = (slopes[k][i] - r[i]) / kStep;
    }
    set(logs);
    normal.assign(n, Vector(n));
    gradient.assign(n, 0);
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double weight = 1 / std::sqrt(1 + r[i] * r[i] / (kLossScale * kLossScale));
      for (std::size_t k = 0; k < n; ++k) {
        gradient[k] += weight * slopes[k][i] * r[i];
        for (std::size_t l = 0; l < n; ++l) normal[k][l] += weight * slopes[k][i] * slopes[l][i];
      }
    }
  }

  double descend(Vector& logs) {
    clamp(logs);
    double loss = loss_at(logs);
    double damping = 1e-2;
    for (int round = 0; round < 200 && damping < 1e9; ++round) {
      set(logs);
      Matrix normal;
      Vector gradient;
      derive(residuals(), logs, normal, gradient);
      for (std::size_t k = 0; k < logs.size(); ++k) {
        normal[k][k] += damping * normal[k][k] + 1e-9;
        gradient[k] = -gradient[k];
      }
      Vector step;
      if (!solve(normal, gradient, step)) {
        damping *= 10;
        continue;
      }
      Vector next = logs;
      for (std::size_t k = 0; k < logs.size(); ++k) next[k] += std::clamp(step[k], -2.0, 2.0);
      clamp(next);
      const double next_loss = loss_at(next);
      if (next_loss < loss) {
        const bool done = loss - next_loss < 1e-10 * loss;
        logs = next;
        loss = next_loss;
        damping = std::max(1e-9, damping / 5);
        if (done) break;
      } else {
        damping *= 5;
      }
    }
    return loss;
  }

  void clamp(Vector& logs) const {
    for (std::size_t i = 0; i < logs.size(); ++i) {
      logs[i] = std::clamp(logs[i], std::log(parameters_[i].low), std::log(parameters_[i].high));
    }
  }

  std::vector<Parameter> parameters_;
  Device device_;
  std::vector<TimedRead> reads_;
  std::vector<Pricer> pricers_;
  Vector log_wall_;
  Vector logs_;
};

Constant given(double value, const char* source) {
  return {value, value, value, source};
}

/// Nothing counts but what is fitted.
Device blank(std::string name) {
  constexpr const char* kNotFitted = "not fitted: counted in the other terms";
  Device device;
  device.name = std::move(name);
  for (const auto& row : constant_rows()) {
    const bool is_rate = row.unit == "B/s" && row.name != "decode_Bps";
    device.*row.member = given(is_rate ? kNone : 0, kNotFitted);
  }
  device.in_flight = given(1, "fitted among 1, 2, 4, ... 64");
  device.codec_speed = given(1, "not fitted: decode_Bps says it all");
  device.deflate_speed = device.client_speed = device.codec_speed;
  device.readahead_bytes = given(kNone, "not fitted: all bytes come at stream_Bps");
  device.client = "plain";
  device.error_factor = given(1, "");
  return device;
}

}  // namespace

Device fit_device(const Timings& timings, std::string name) {
  constexpr const char* kFitted = "fitted to the table of timings; 90 % interval";
  constexpr double kKiB = 1024;
  std::vector<Parameter> parameters = {
      {&Device::open_s, 0.03, 1e-7, 1e4, kFitted},
      {&Device::chunk_s, 1e-3, 1e-9, 1e4, kFitted},
      {&Device::stream_Bps, 200e6, 1e3, 1e15, kFitted},
      {&Device::decode_Bps, 500e6, 1e3, 1e15, kFitted},
  };
  const bool contiguous = timings.has_contiguous();
  const bool chunked = std::any_of(timings.rows.begin(), timings.rows.end(), [](const Timing& r) { return r.chunk; });
  if (contiguous) {
    parameters.push_back({&Device::access_s, 5e-3, 1e-7, 1e3, kFitted});
    parameters.push_back({&Device::pass_Bps, 200e6, 1e3, 1e15, kFitted});
  }
  if (!chunked) parameters.erase(parameters.begin() + 3);
  if (timings.rows.size() < parameters.size() + 1) {
    throw Error(Code::usage,
                fmt::format("{} timings are too few for {} constants", timings.rows.size(), parameters.size()),
                "give a table of more rows, with several chunk shapes and patterns");
  }
  // What is not continuous is tried out: how many requests are in flight, and the window that small chunks share.
  std::vector<double> in_flight = {1, 2, 4, 8, 16, 32, 64};
  std::vector<double> windows = {kNone};
  if (contiguous) {
    in_flight = {1};
    if (chunked) windows = {kNone, 64 * kKiB, 128 * kKiB, 256 * kKiB, 512 * kKiB};
  }
  std::optional<Device> best;
  double best_loss = kNone;
  std::vector<double> errors;
  for (const double window : windows) {
    for (const double n : in_flight) {
      Device device = blank(name);
      device.in_flight.value = device.in_flight.low = device.in_flight.high = n;
      device.window_bytes = given(window, "fitted among 64 to 512 KiB and none (null)");
      Fit fit(timings, std::move(device), parameters);
      const double loss = fit.run();
      // An equally good fit with more in flight says nothing more.
      if (loss >= best_loss * (1 - 1e-6)) continue;
      best_loss = loss;
      fit.finish();
      best = fit.device();
      errors = fit.residuals();
    }
  }
  Device& device = *best;
  if (!contiguous) {
    constexpr const char* kTaken = "as for a chunk: the table has no contiguous row";
    device.access_s = device.chunk_s;
    device.access_s.source = kTaken;
    device.pass_Bps = device.stream_Bps;
    device.pass_Bps.source = kTaken;
  }
  for (double& error : errors) error = std::abs(error);
  const double factor = std::max(1.1, std::exp(quantile(errors, 0.9)));
  device.error_factor = given(factor, "nine of ten rows of the table are within this factor");
  device.summary = fmt::format("fitted to {} timings", timings.rows.size());
  return device;
}

}  // namespace chunkwise
