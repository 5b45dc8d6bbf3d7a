#pragma once
// Profiles a run: records each op of a step. At the end of the step it makes tables, a timeline and a chart
// of memory from the records (steps.cpp). It measures its own cost and skips steps, to keep the cost below 4
// % of the time. Any thread may call watch(), reset() and view(); everything else is for the session's
// thread.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/core/trace.h"
#include "runtime/core/work_times.h"
#include "runtime/tape/tape.h"
#include "script/view/profile.h"

namespace lunagrad {

// The record of one call. Holds the layout of the first result, not the tensor.
struct ProfileNote {
  const Op* op;
  LayoutRef shape;
  const Storage* made;  // memory of the first result; null for a view
  SourceLine line;
  uint32_t module;
  ProfilePhase phase;
  bool fell_back;
  bool counted;            // the op has a formula for its FLOPs
  uint64_t start, length;  // ticks; `start` is relative to the start of the step
  int64_t bytes;
  double flops;
  size_t in_use;  // bytes in use on the device after the call
};

// A change in the memory of saved values or gradients. `bytes` is positive when memory is taken, negative
// when it is freed.
struct MemoryChange {
  uint64_t at;  // ticks from the start of the step
  MemoryPart part;
  double bytes;
};

// Work of a pool thread, of a data loader's worker or of a device. Ticks from the start of the step.
struct ProfileWork {
  uint64_t asked;  // device work: when it was submitted; other work: start
  uint64_t start, length;
  uint32_t kernel = 0;  // device work: the kernel's name, interned
};
struct ProfileWorker {
  std::string name;
  Worker kind;
  std::vector<ProfileWork> work;  // ordered by start
};

// Everything recorded in one step.
struct ProfileNotes {
  int64_t step = 0;
  uint64_t begin = 0, end = 0;  // ticks: `begin` since measuring began; `end` since `begin`, without pauses
  uint64_t passes_ticks = 0;    // time in backward passes
  std::vector<ProfileNote> calls;
  std::vector<std::pair<uint64_t, uint64_t>> passes, waits;  // start and length
  std::vector<ProfileWorker> workers;
  std::vector<MemoryChange> changes;
  double weights = 0, optimizer = 0, gradients = 0;  // bytes; gradients: at the start of the step
  size_t in_use = 0;                                 // on the device at the start of the step
};

// Makes the tables, the timeline and the memory chart of a step. Pure.
std::shared_ptr<const StepProfile> profile_of(const ProfileNotes&);

class ProfileWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on) { watching_.store(on); }
  void reset();
  std::shared_ptr<const ProfileView> view() const;

  void begin_run();  // discards the data of the previous script
  // Ends the previous step, if it was measured. Returns whether the new step is measured. `outside`: work
  // outside of steps, as at the start of a script; it is shown only until a step has been measured.
  bool begin_step(int64_t step, bool outside, Device&);
  void end_step();
  void end_run();
  bool measuring() const { return measuring_; }
  // The time between leave() and come_back() does not count: the script is paused, or a task runs. The calls
  // may be nested.
  void leave();
  void come_back();

  void ran(const Call&, uint64_t ticks);
  void fell_back(const Call&, const char* reason);
  void waited(uint64_t ticks);

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override;  // returns false; records that the pass frees saved values
  void end() override;

 private:
  uint64_t now() const { return ticks() - begin_ - away_; }
  void watch_workers();
  void take_workers();
  // Ticks from the start of the step to `tick`, without pauses; empty before the step and in a pause.
  std::optional<uint64_t> from_begin(uint64_t tick) const;
  void publish(std::shared_ptr<const StepProfile>);
  void show();

  std::atomic<bool> watching_{false}, reset_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const ProfileView> view_;  // under mutex_

  bool measuring_ = false, outside_ = false;
  bool only_outside_ = true;  // no step was measured yet
  int away_depth_ = 0;
  uint64_t origin_ = 0;  // tick at which measuring began
  // Start of the step, length of its pauses, start of the latest pause.
  uint64_t begin_ = 0, away_ = 0, left_ = 0;
  uint64_t cost_ = 0;       // ticks spent on measuring this step
  uint64_t resume_at_ = 0;  // tick until which steps are skipped
  Device* device_ = nullptr;
  WorkTimes* device_times_ = nullptr;  // the device's clock, if it has one
  std::optional<HelperWatch> helpers_;
  std::vector<std::pair<uint64_t, uint64_t>> pauses_;  // begin and end
  ProfileNotes notes_;
  const Call* on_cpu_ = nullptr;  // the latest call that fell back to the CPU
  uint64_t pass_start_ = 0;
  struct Held {
    double bytes;
    uint64_t last;  // smallest id of the nodes that save the storage
  };
  std::unordered_map<const Storage*, Held> saved_;  // memory that the nodes of the current pass save
  std::unordered_map<uint64_t, double> released_;   // node id -> bytes released with it
  std::vector<Ref<Node>> leaves_;                   // leaves of the latest pass
  double weights_ = 0, optimizer_ = 0;              // bytes, as last seen
  bool optimizer_seen_ = false;                     // an optimizer made a step in this step
  ProfileView total_;
  std::unordered_map<const Op*, std::pair<std::string, int64_t>> fallbacks_;
};

}  // namespace lunagrad
