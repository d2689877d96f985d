#include "rechunk/checkpoint.h"

#include <chrono>

#include "base/clock.h"

namespace chunkwise {
namespace {

constexpr std::chrono::milliseconds kLook{20};

}  // namespace

Checkpointer::Checkpointer(const CheckpointPolicy& policy, Writer& writer, DoneChunks& done, Journal& journal,
                           std::function<double()> fraction_done, std::function<void()> fail)
    : policy_(policy),
      writer_(writer),
      done_(done),
      journal_(journal),
      fraction_done_(std::move(fraction_done)),
      fail_(std::move(fail)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Checkpointer::~Checkpointer() = default;  // the thread is asked to stop, and joined

bool Checkpointer::is_due(double since_last_s, double fraction_since_last) const {
  if (!supported_ || done_.n_pending() == 0) return false;
  if (done_.n_pending() >= policy_.n_pending) return true;
  if (since_last_s < policy_.rest * last_cost_s_) return false;
  if (!journal_.has_checkpoint() && since_last_s < policy_.first_s) return false;
  return since_last_s >= policy_.interval_s || fraction_since_last >= policy_.share;
}

void Checkpointer::run(const std::stop_token& stop) {
  Clock::time_point last = Clock::now();
  double last_fraction = fraction_done_();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kLook, [] { return false; });
    const double fraction = fraction_done_();
    if (stop.stop_requested() || !is_due(seconds_since(last), fraction - last_fraction)) continue;
    try {
      const Clock::time_point begin = Clock::now();
      make_checkpoint();
      last_cost_s_ = seconds_since(begin);
    } catch (...) {
      error_ = std::current_exception();
      fail_();
      return;
    }
    last = Clock::now();
    last_fraction = fraction;
  }
}

void Checkpointer::make_checkpoint() {
  const double fraction = fraction_done_();
  Packer done;
  done_.take(done);
  const std::optional<std::string> state = writer_.checkpoint();
  supported_ = state.has_value();
  if (state) journal_.append(fraction, done, as_bytes(*state));
}

void Checkpointer::finish(bool always) {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
  if (supported_ && (always || journal_.has_checkpoint()) && done_.n_pending() > 0) make_checkpoint();
}

}  // namespace chunkwise
