#pragma once
// Profiles the ranks of a run while a viewer watches. Each rank notes its collectives and waits of a step and
// sends them to rank 0 in one message; rank 0 assembles the steps. No rank waits for another because of it. A
// step is left out if a rank's notes are missing. When steps are short only some are measured, the same on
// all ranks: steps whose number is a multiple of a stride, which rank 0 sends. Any thread may call watch(),
// reset() and view(); everything else is for the session's thread.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "script/profile/rank_steps.h"

namespace lunagrad {

class RankWatch {
 public:
  RankWatch();
  ~RankWatch();
  RankWatch(const RankWatch&) = delete;

  void watch(bool on) { watching_.store(on); }
  void reset();
  std::shared_ptr<const RankProfile> view() const;  // on rank 0; null until a step was measured

  void begin_run();
  void begin_step(int64_t step);
  void end_step();
  void end_run();                      // waits a moment for notes that other ranks have sent
  void leave() { disturbed_ = true; }  // a pause: the step is left out

 private:
  void choose_stride(int64_t now);
  void take(int from, RankNotes);

  std::atomic<bool> watching_{false};
  std::atomic<int64_t> received_stride_{0};  // the stride that rank 0 sent to this rank; 0: none
  bool measuring_ = false, disturbed_ = false;
  int64_t step_ = 0, begin_ = 0;
  // Rank 0: the stride, and the step and time from which the length of steps is estimated.
  int64_t stride_ = 0, since_step_ = 0, since_ = 0;

  mutable std::mutex mutex_;
  std::shared_ptr<const RankProfile> view_;
  RankProfile total_;
  int64_t origin_ = 0;
  std::map<int64_t, std::vector<RankNotes>> parts_;  // incomplete steps; empty notes: not received yet
};

}  // namespace lunagrad
