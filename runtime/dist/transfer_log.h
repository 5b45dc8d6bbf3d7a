#pragma once
// A record of the collectives and transfers of this rank and of the times its script waited for them, for a
// profile of the ranks. Nothing is recorded unless watch() is on. Times are ns of this process's steady
// clock; nearest() compares it with the other ranks' clocks. One object for the process, transfer_log(); any
// thread.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/trace.h"

namespace lunagrad::dist {

int64_t clock_ns();

// A collective or a transfer as this rank saw it.
struct TransferRecord {
  uint64_t number = 0;  // of a collective, the same on all ranks; 0: a transfer
  std::string op;       // "all_reduce"
  std::string label;    // the data: "bucket 3 of 7, gradients of fc1.weight … fc2.bias", or ""
  SourceLine line;      // script line that posted it
  int64_t bytes = 0;    // of this rank's tensor
  int64_t begun = 0;    // when this rank was ready
  int64_t met = 0;      // when it knew that all ranks were ready; for a transfer: when its head had passed
  int64_t ended = 0;    // when the data had arrived
};

struct Stretch {
  int64_t begin = 0, end = 0;
  int64_t met = 0;  // `met` of the transfer that the script waited for; 0: a collective
};

struct LoggedTransfers {
  std::vector<TransferRecord> transfers;  // in the order of their ends
  std::vector<Stretch> waits;             // waits of the script
  int64_t left_out = 0;                   // collectives beyond the limit
};

class TransferLog {
 public:
  void watch(bool on);  // also clears the record
  bool watched() const { return watched_.load(std::memory_order_relaxed); }
  LoggedTransfers take();  // the record since the last call

  // Called by the transfer thread and by the script's thread.
  void add(TransferRecord);
  void waited(const Stretch&);

  // A stamp of another rank, `sent` by its clock, was received at `received` by this clock. The smallest
  // difference of the last seconds is an upper bound of how far this clock is ahead.
  void heard(int rank, int64_t sent, int64_t received);
  // For each rank the smallest received - sent of the last seconds; kUnheard when none is known.
  std::vector<int64_t> nearest() const;
  static constexpr int64_t kUnheard = INT64_MAX;

 private:
  struct Bound {
    int64_t before = kUnheard, now = kUnheard;  // smallest differences of the previous period and of this one
    int64_t since = 0;
  };
  std::atomic<bool> watched_{false};
  mutable std::mutex mutex_;
  LoggedTransfers noted_;
  std::vector<Bound> bounds_;
};

TransferLog& transfer_log();

}  // namespace lunagrad::dist
