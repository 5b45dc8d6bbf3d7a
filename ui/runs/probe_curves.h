#pragma once
// The curves of the probes of the current run: values that the run itself sent, and before them values that a
// replay computed for earlier steps. Owned by the journal. The shown curve is a metric of the run's curves,
// marked as a probe's. As long as earlier values are missing, the run's own values are also kept here, so
// that a replay's values can be put in front of them. Drawing thread only.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "script/view/run.h"
#include "ui/runs/curves.h"

namespace lunagrad {

class ProbeCurves {
 public:
  static constexpr size_t kMostValues = size_t(1) << 20;  // values kept for one probe

  struct Entry {
    std::string name, problem;        // problem: why there are no more values; "": there are
    int64_t since = 0;                // the first step whose value came from the run itself; 0: not known
    int64_t filled = 0;               // the last step whose value a replay computed
    Metric before{std::string(), 0};  // the replay's values, up to step `filled`
    // The run's own values from step `since` on, kept while values of earlier steps are missing.
    struct Value {
      int64_t step = 0;
      double time = 0, value = 0;
    };
    std::vector<Value> kept;
    bool complete = false;  // no value is missing: no more values are kept
  };

  void clear() { entries_.clear(); }                // call when another run begins
  const Entry* find(uint64_t probe) const;          // null: nothing is known yet of this probe
  void add(const Event&, RunCurves&, double beta);  // the event has kind probe
  void drop_after(int64_t step);  // call when the run and its curves have lost their later rows
  // Sets the step from which the run evaluates the probe, unless that is known.
  void set_since(uint64_t probe, const std::string& name, int64_t step);
  // Puts the replay's values, up to step `last`, in front of the run's values.
  void fill(uint64_t probe, Metric before, int64_t last, RunCurves&, double beta);
  void set_complete(uint64_t probe);  // call when no value is missing
  void remove(uint64_t probe, RunCurves&);

 private:
  std::map<uint64_t, Entry> entries_;
  std::set<uint64_t> removed_;  // removed probes whose values may still arrive
};

}  // namespace lunagrad
