#include "runtime/dist/transfer_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace lunagrad::dist {
namespace {

constexpr size_t kMost = 2000;  // collectives, and waits, that are kept until take()
// Clocks of two machines drift apart by some us in this time.
constexpr int64_t kPeriod = 5'000'000'000;

}  // namespace

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void TransferLog::watch(bool on) {
  if (watched_.exchange(on) == on) return;
  const std::lock_guard lock(mutex_);
  noted_ = {};
}

LoggedTransfers TransferLog::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(noted_, {});
}

void TransferLog::add(TransferRecord travel) {
  const std::lock_guard lock(mutex_);
  if (noted_.transfers.size() < kMost)
    noted_.transfers.push_back(std::move(travel));
  else
    ++noted_.left_out;
}

void TransferLog::waited(const Stretch& wait) {
  const std::lock_guard lock(mutex_);
  if (noted_.waits.size() < kMost) noted_.waits.push_back(wait);
}

void TransferLog::heard(int rank, int64_t sent, int64_t received) {
  const std::lock_guard lock(mutex_);
  if (size_t(rank) >= bounds_.size()) bounds_.resize(size_t(rank) + 1);
  Bound& bound = bounds_[size_t(rank)];
  if (received - bound.since > kPeriod) {
    bound.before = std::exchange(bound.now, kUnheard);
    bound.since = received;
  }
  bound.now = std::min(bound.now, received - sent);
}

std::vector<int64_t> TransferLog::nearest() const {
  const std::lock_guard lock(mutex_);
  std::vector<int64_t> all;
  for (const Bound& bound : bounds_) all.push_back(std::min(bound.before, bound.now));
  return all;
}

TransferLog& transfer_log() {
  static auto* const all =
      new TransferLog;  // never destroyed: the transfer thread may outlive static objects
  return *all;
}

}  // namespace lunagrad::dist
