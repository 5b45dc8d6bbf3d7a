#pragma once
// Profiles a run: records each op of a step, and at the end of the step turns the records into tables, a
// timeline and a chart of memory (steps.cpp). Measures its own cost and skips steps so that it stays below 4
// % of the time. watch(), reset() and view() may be called from any thread, everything else from the
// session's thread.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/tape/tape.h"
#include "runtime/trace.h"
#include "runtime/work_times.h"
#include "script/view/profile.h"

namespace lunagrad {

// The record of one call. Holds the layout of the first result, not the tensor.
struct ProfileNote {
  const Op* op;
  LayoutRef shape;
  const Storage* made;  // the memory of the first result, if it is new
  SourceLine line;
  uint32_t module;
  ProfilePhase phase;
  bool fell_back;
  bool counted;            // `flops` has a formula
  uint64_t start, length;  // ticks; start is from the step's
  int64_t bytes;
  double flops;
  size_t in_use;  // bytes in use on the device after the call
};

// Memory that the tape took or gave back.
struct MemoryChange {
  uint64_t at;
  MemoryPart part;
  double bytes;
};

// Work of a pool thread or a device.
struct ProfileWork {
  uint64_t asked;  // when the call that it works for was made
  uint64_t start, length;
  uint32_t kernel = 0;  // of a device, interned
};
struct ProfileWorker {
  std::string name;
  Worker kind;
  std::vector<ProfileWork> work;  // by start
};

// Everything recorded in one step.
struct ProfileNotes {
  int64_t step = 0;
  uint64_t begin = 0, end = 0;  // ticks, without pauses; begin since measuring began
  uint64_t passes_ticks = 0;    // in backward passes
  std::vector<ProfileNote> calls;
  std::vector<std::pair<uint64_t, uint64_t>> passes, waits;  // start and length
  std::vector<ProfileWorker> workers;
  std::vector<MemoryChange> changes;
  double weights = 0, optimizer = 0, gradients = 0;  // gradients: when the step began
  size_t in_use = 0;                                 // when it began
};

// Tables and timeline of a step. Pure.
std::shared_ptr<const StepProfile> profile_of(const ProfileNotes&);

class ProfileWatch final : public Capture {
 public:
  // Any thread.
  void watch(bool on) { watching_.store(on); }
  void reset();
  std::shared_ptr<const ProfileView> view() const;

  void begin_run();  // another script
  // Ends the previous step, if measured. True: the coming step is measured. Work outside of steps, as at the
  // start of a script, is shown only until the first step.
  bool begin_step(int64_t step, bool outside, Device&);
  void end_step();
  void end_run();
  bool measuring() const { return measuring_; }
  // Nothing counts between the two: the script is paused, or a task runs.
  void leave();
  void come_back();

  void ran(const Call&, uint64_t ticks);
  void fell_back(const Call&, const char* reason);
  void waited(uint64_t ticks);

  void begin(std::span<Node* const> nodes) override;
  void gradient(const Node&, uint32_t output, const Tensor&) override;
  bool keep(const Node&) override;  // never: it records what the pass releases
  void end() override;

 private:
  uint64_t now() const { return ticks() - begin_ - away_; }
  void watch_workers();
  void take_workers();
  std::optional<uint64_t> from_begin(uint64_t tick) const;  // empty: outside of the step, or in a pause
  void publish(std::shared_ptr<const StepProfile>);
  void show();

  std::atomic<bool> watching_{false}, reset_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const ProfileView> view_;  // under mutex_

  bool measuring_ = false, outside_ = false;
  bool only_outside_ = true;  // no step was measured yet
  int away_depth_ = 0;
  uint64_t origin_ = 0;  // ticks when measuring began
  uint64_t begin_ = 0, away_ = 0, left_ = 0;
  uint64_t cost_ = 0;       // of the step that is measured
  uint64_t resume_at_ = 0;  // steps are skipped until then
  Device* device_ = nullptr;
  WorkTimes* device_times_ = nullptr;  // the device's clock, if it has one
  std::optional<HelperWatch> helpers_;
  std::vector<std::pair<uint64_t, uint64_t>> pauses_;  // left and back
  ProfileNotes notes_;
  const Call* on_cpu_ = nullptr;  // the call that fell back
  uint64_t pass_start_ = 0;
  struct Held {
    double bytes;
    uint64_t last;  // id of the last node that holds it
  };
  std::unordered_map<const Storage*, Held> saved_;  // by the tape of the current pass
  std::unordered_map<uint64_t, double> released_;   // node id -> bytes released with it
  std::vector<Ref<Node>> leaves_;                   // of the latest pass
  double weights_ = 0, optimizer_ = 0;              // as last seen
  bool optimizer_seen_ = false;                     // in this step
  ProfileView total_;
  std::unordered_map<const Op*, std::pair<std::string, int64_t>> fallbacks_;
};

}  // namespace lunagrad
