#pragma once
// The part of a Session that says what it collects while a script runs: tapes, statistics, profiles, leaks
// and batches, which SessionInspection has, and the lists of breakpoints and probes.
//
// Threads: every function may be called from any thread and returns at once. Ownership: results are copies.
// The functions do not throw.
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/breakpoints.h"
#include "script/view/probe.h"

namespace lunagrad {

class SessionThread;

class SessionWatches {
 public:
  SessionWatches(const SessionWatches&) = delete;

  // Keeps tapes for a viewer: from the next step on, SessionInspection::tape() is the tape of the latest
  // backward pass.
  void watch_tape(bool on);
  // Collects statistics of training steps: norms, histograms, NaN counts. With `every` > 0: at every
  // `every`-th step, whatever it costs; with 0: at as many steps as cost 2 % of the time.
  void watch_statistics(bool on, int64_t every = 0);
  // Profiles time and memory from the next step on. Skips steps so that profiling costs at most 4 % of the
  // time.
  void watch_profile(bool on);
  void reset_profile();
  // From the next step on, and in later runs: walks the values that the script keeps alive at the ends of
  // steps, which takes up to a fifth of the time.
  void watch_leaks(bool on);
  // Keeps the latest batch of a data loader for SessionInspection::batch().
  void watch_data(bool on);

  // Breakpoints stay across runs and take effect with the next op. A run pauses after the op, or inside the
  // backward pass, that met a breakpoint: an event of kind break_hit names it, and SessionConsole::eval()
  // sees the tensor as `it`. add_breakpoint returns the id, or 0 if problem_of() finds a fault. The others
  // return false for a fault and for an unknown id.
  uint64_t add_breakpoint(Breakpoint);
  bool change_breakpoint(const Breakpoint&);
  bool remove_breakpoint(uint64_t id);
  std::vector<Breakpoint> breakpoints() const;
  std::vector<BreakHit> break_hits() const;  // of the run, at most the latest 1000
  // Probes stay across runs and take effect with the next step. Each value is an event of kind probe. They
  // change nothing: an expression that writes, draws random numbers or calls lg.run is an error, after which
  // the probe is gone. add_probe returns its id, or 0 with the reason in `why` when it does not compile.
  uint64_t add_probe(Probe, std::string* why = nullptr);
  bool remove_probe(uint64_t id);
  std::vector<Probe> probes() const;

 protected:
  explicit SessionWatches(SessionThread& thread) : thread_(thread) {}
  ~SessionWatches() = default;

 private:
  SessionThread& thread_;
};

}  // namespace lunagrad
