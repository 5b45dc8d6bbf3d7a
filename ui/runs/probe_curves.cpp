#include "ui/runs/probe_curves.h"

#include <algorithm>
#include <utility>

namespace lunagrad {

const ProbeCurves::Entry* ProbeCurves::find(uint64_t probe) const {
  const auto found = entries_.find(probe);
  return found == entries_.end() ? nullptr : &found->second;
}

void ProbeCurves::add(const Event& event, RunCurves& curves, double beta) {
  if (removed_.count(event.probe)) return;
  const auto& [name, value] = event.metrics[0];
  Entry& entry = entries_[event.probe];
  entry.name = name;
  if (!event.text.empty()) {
    entry.problem = "step " + std::to_string(event.step) + ": " + event.text;
    return;
  }
  curves.probe(name, beta).append(event.step, event.time, value);
  if (entry.complete) return;
  if (entry.kept.size() == kMostValues) {  // drops the kept values: a replay has to compute them as well
    entry.kept.clear();
    entry.since = event.step + 1;
  }
  if (entry.since == 0 || event.step >= entry.since) entry.kept.push_back({event.step, event.time, value});
}

void ProbeCurves::drop_after(int64_t step) {
  for (auto& [id, entry] : entries_) {
    entry.before.drop_after(step);
    entry.filled = std::min(entry.filled, step);
    if (entry.since > 0) entry.since = std::min(entry.since, step + 1);
    std::erase_if(entry.kept, [step](const Entry::Value& value) { return value.step > step; });
  }
}

void ProbeCurves::set_since(uint64_t probe, const std::string& name, int64_t step) {
  Entry& entry = entries_[probe];
  entry.name = name;
  if (entry.since == 0) entry.since = step;
}

void ProbeCurves::fill(uint64_t probe, Metric before, int64_t last, RunCurves& curves, double beta) {
  Entry& entry = entries_[probe];
  entry.name = before.name;
  entry.filled = last;
  Metric& shown = curves.probe(entry.name, beta);
  shown = before;
  shown.set_smoothing(beta);
  for (const Entry::Value& value : entry.kept)
    if (value.step > last) shown.append(value.step, value.time, value.value);
  entry.before = std::move(before);
}

void ProbeCurves::set_complete(uint64_t probe) {
  Entry& entry = entries_[probe];
  entry.complete = true;
  entry.before = Metric(entry.name, 0);
  entry.kept = {};
}

void ProbeCurves::remove(uint64_t probe, RunCurves& curves) {
  removed_.insert(probe);
  const auto found = entries_.find(probe);
  if (found == entries_.end()) return;
  std::erase_if(curves.metrics,
                [&](const Metric& metric) { return metric.probe && metric.name == found->second.name; });
  entries_.erase(found);
}

}  // namespace lunagrad
