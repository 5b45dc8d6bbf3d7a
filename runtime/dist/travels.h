#pragma once
// What the collectives and transfers of this rank did and how long its script waited for them, for a profile
// of the ranks. Nothing is noted unless somebody watches. Times are ns of this process' steady clock;
// nearest() compares it with those of the other ranks. One object for the process, travels(); any thread.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/trace.h"

namespace lunagrad::dist {

int64_t clock_ns();

// A collective or a transfer, as this rank saw it.
struct Travel {
  uint64_t number = 0;  // of a collective, equal on all ranks; 0: a transfer
  std::string op;       // "all_reduce"
  std::string label;    // what travelled: "bucket 3 of 7, gradients of fc1.weight … fc2.bias", or ""
  SourceLine line;      // of the script, where it was posted
  int64_t bytes = 0;    // of this rank's tensor
  int64_t begun = 0;    // this rank is ready
  int64_t met = 0;      // it knows that all ranks are; of a transfer: its head has passed
  int64_t ended = 0;    // the data has arrived
};

struct Stretch {
  int64_t begin = 0, end = 0;
  int64_t met = 0;  // of the transfer that was waited for; 0: a collective
};

struct Travelled {
  std::vector<Travel> travels;  // ordered by their end
  std::vector<Stretch> waits;   // of the script
  int64_t left_out = 0;         // collectives beyond the limit
};

class Travels {
 public:
  void watch(bool on);  // also forgets what was noted
  bool watched() const { return watched_.load(std::memory_order_relaxed); }
  Travelled take();  // what was noted since the last call

  // The courier and the script's thread.
  void add(Travel);
  void waited(const Stretch&);

  // A stamp that another rank sent by its clock at `sent` was here at `received`. The smallest difference of
  // the last seconds bounds how far this clock is ahead of that one, from above.
  void heard(int rank, int64_t sent, int64_t received);
  // received - sent, the smallest of the last seconds, by rank; kUnheard where none is known.
  std::vector<int64_t> nearest() const;
  static constexpr int64_t kUnheard = INT64_MAX;

 private:
  struct Bound {
    int64_t before = kUnheard, now = kUnheard;  // of the former period, of this one
    int64_t since = 0;
  };
  std::atomic<bool> watched_{false};
  mutable std::mutex mutex_;
  Travelled noted_;
  std::vector<Bound> bounds_;
};

Travels& travels();

}  // namespace lunagrad::dist
