#pragma once
// Has the session measure the step of a pause, if sampling passed it over: its gradients then stand beside
// its values. Asks once per pause, and stops when the script goes on. Drawing thread only; the session's
// thread measures.
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "script/session_inspection.h"
#include "ui/base/awaited.h"

namespace lunagrad {

class PauseMeasuring {
 public:
  // `wake` is called on the session's thread when the answer arrives.
  explicit PauseMeasuring(std::function<void()> wake) : answer_(std::move(wake)) {}

  // Where the run stands still.
  struct Pause {
    uint64_t pauses = 0, ends = 0;  // numbers of pauses and of ended runs so far
    int64_t step = 0;               // the step that the latest tape shows
    bool operator==(const Pause&) const = default;
  };
  // Once a frame. `measured`: the figures of the step are there.
  void stand(SessionInspection&, const Pause&, bool measured);
  void go_on();  // the script runs
  bool waiting() const { return answer_.waiting(); }

 private:
  std::optional<Pause> asked_;
  int64_t measured_ = -1;  // the step that was measured at a pause, perhaps before its end
  Awaited<bool> answer_;
};

}  // namespace lunagrad
