#pragma once
// The curves of the probes of the current run: values that came while the run went on, and before them those
// that a replay filled in. Owned by the journal. What is shown is a metric of the run's curves, marked as a
// probe's. Until nothing is missing, the values as they came are kept here, so that those of a replay can be
// put in front of them. Drawing thread only.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ui/runs/curves.h"

namespace lunagrad {

class ProbeCurves {
 public:
  static constexpr size_t kMostValues = size_t(1) << 20;  // that are kept of one probe

  struct Entry {
    std::string name, problem;        // why it has no more values; "": it has
    int64_t since = 0;                // the first step whose value came from the run itself; 0: not known
    int64_t filled = 0;               // the last step that a replay filled in
    Metric before{std::string(), 0};  // up to `filled`
    // The values from `since` on, while steps before it are missing.
    struct Value {
      int64_t step = 0;
      double time = 0, value = 0;
    };
    std::vector<Value> kept;
    bool joined = false;  // nothing is missing: no more values are kept
  };

  void clear() { entries_.clear(); }                // another run begins
  const Entry* find(uint64_t probe) const;          // null: nothing is known yet
  void add(const Event&, RunCurves&, double beta);  // of kind probe
  void drop_after(int64_t step);                    // rows of the run became void, and its curves lost them
  // From which step on the run evaluates it, unless that is known.
  void set_since(uint64_t probe, const std::string& name, int64_t step);
  // Puts the values up to `last` in front of those of the run.
  void fill(uint64_t probe, Metric before, int64_t last, RunCurves&, double beta);
  void join(uint64_t probe);  // nothing is missing
  void remove(uint64_t probe, RunCurves&);

 private:
  std::map<uint64_t, Entry> entries_;
  std::set<uint64_t> removed_;  // of which values may still arrive
};

}  // namespace lunagrad
