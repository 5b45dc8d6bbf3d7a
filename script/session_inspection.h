#pragma once
// The part of a Session that shows what it has collected (SessionWatches): tapes and the values of their
// tensors, plans, statistics, profiles, leaks and batches. It also recomputes and checks values of kept
// steps.
//
// Threads: every function may be called from any thread and returns at once. `done` and `progress` are called
// on the session's thread, at a safe point, and must not call Session::wait(). Ownership: results are copies
// or shared, immutable values; they stay valid after the session. The functions do not throw.
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "script/view/batch.h"
#include "script/view/history.h"
#include "script/view/leaks.h"
#include "script/view/node_checks.h"
#include "script/view/profile.h"
#include "script/view/rank_profile.h"
#include "script/view/step_comparison.h"
#include "script/view/step_statistics.h"
#include "script/view/tape.h"
#include "script/view/value_slice.h"

namespace lunagrad {

class SessionThread;

class SessionInspection {
 public:
  SessionInspection(const SessionInspection&) = delete;

  // The tape of the latest backward pass, while SessionWatches::watch_tape() is on.
  std::shared_ptr<const TapeSnapshot> tape() const;
  // In steps with several backward passes, tapes show the pass with this key (PassInfo) where there is one;
  // 0: the pass of the outer loss.
  void choose_pass(uint64_t key);
  // The groups of the latest step whose calls were deferred; may be a moment old. null: no calls were
  // deferred while tapes were kept.
  std::shared_ptr<const StepPlan> plan() const;

  // The statistics of this run whose `number` is larger than this, oldest first. Only the latest statistics
  // are kept.
  std::vector<StepStatisticsPtr> statistics(uint64_t number = 0) const;
  // While the script is paused, or has ended: measures the step of the latest tape() from its kept values, if
  // it was passed over. statistics() and tape() then have its figures. `done` gets whether there are new
  // ones.
  void measure_step(std::stop_token stop, std::function<void(bool)> done);

  std::shared_ptr<const ProfileView> profile() const;  // null until a step was measured
  // The profile of a run with several ranks, on rank 0, while watch_profile() is on there; null until a step
  // was measured.
  std::shared_ptr<const RankProfile> rank_profile() const;

  // The graphs and tensors that outlived the steps in which they were made, for a run with RunOptions::leaks,
  // while watch_leaks() is on, and after find_leaks(); null before the first walk.
  std::shared_ptr<const LeakReport> leaks() const;
  // Walks once, at the next safe point, and then calls `done`: leaks() has the result.
  void find_leaks(std::function<void()> done);

  // At most `limit` elements of each tensor of the latest batch of a data loader, while
  // SessionWatches::watch_data() is on.
  void batch(int64_t limit, std::function<void(BatchView)> done);

  // The steps that are kept, and the tape of one of them (null if it was dropped). All values are kept of
  // steps that begin during a single step or with a pause requested, and of the next step after
  // capture_values(). While a script is paused, or has ended, other values of its latest step are recomputed
  // when they are requested. When the budget (bytes) is used up, the oldest steps are dropped first.
  History history() const;
  std::shared_ptr<const TapeSnapshot> tape(int64_t step) const;
  void set_history_budget(size_t bytes);
  void capture_values();
  // Reads a tensor of a kept step at a safe point. `done` gets the values, or the reason why there are none.
  // After `stop` is requested, `done` is not called. If the statistics take long, `done` is called twice: at
  // once without them, and again with them after the requests made in the meantime.
  void inspect(const TensorPlace&, const SliceQuery&, std::stop_token stop,
               std::function<void(SliceView)> done);
  void inspect_tiles(const TensorPlace&, const TileQuery&, std::stop_token stop,
                     std::function<void(TileView)> done);
  // The whole slice as text; an error if it has more than a million elements.
  void print_slice(const TensorPlace&, const SliceQuery&, SliceFormat,
                   std::function<void(std::string text, std::string error)> done);
  // Writes the whole tensor as a .npy file; `error` is empty on success.
  void save_tensor(const TensorPlace&, const std::string& path, std::function<void(std::string error)> done);
  // Runs the call of a captured node again. The run's gradients and random numbers stay unchanged.
  void check_gradient(int64_t step, uint64_t node, std::stop_token stop,
                      std::function<void(GradientCheck)> done);
  void compare_devices(int64_t step, uint64_t node, std::stop_token stop,
                       std::function<void(DeviceComparison)> done);
  // Before a run: captures the values of one step, counted from 1, and stops the run at the end of that step.
  // In a script without lg.run.steps a step ends with an optimizer's step, or without an optimizer with each
  // backward pass.
  void stop_behind(int64_t step);
  bool reached() const;  // the run has come to that step's end
  // Computes each node of a kept step in another way and compares (step_comparison.h); -1: the step of
  // stop_behind(), else the latest. `progress` is called on the session's thread before each computation.
  void compare_step(int64_t step, const ComparisonQuery&, std::stop_token stop,
                    std::function<void(size_t done, size_t all, std::string_view name)> progress,
                    std::function<void(StepComparison)> done);

  // Bytes allocated on the device of the latest script.
  struct Memory {
    size_t in_use = 0, peak = 0;
  };
  Memory memory() const;

 protected:
  explicit SessionInspection(SessionThread& thread) : thread_(thread) {}
  ~SessionInspection() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
