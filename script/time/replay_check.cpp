#include "script/time/replay_check.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

ReplayCheck::ReplayCheck(const RunRecord& record, KeyframeSource& keyframes)
    : record_(record), keyframes_(keyframes), steps_(keyframes.steps()) {}

void ReplayCheck::found(int64_t step, std::string what) {
  const std::lock_guard lock(mutex_);
  if (!first_ || step < first_->step) first_ = Difference{step, std::move(what), ""};
}

std::optional<Difference> ReplayCheck::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

void ReplayCheck::see(const Event& metrics) {
  for (const auto& [name, value] : metrics.metrics) {
    auto& [step, rows] = seen_[name];
    rows = step == metrics.step ? rows + 1 : 0;
    step = metrics.step;
    const auto known = record_.metrics.find(name);
    if (known == record_.metrics.end()) continue;  // the run logged it after the record was read
    const std::vector<MetricPoint>& points = known->second;
    const auto before = [](const MetricPoint& point, int64_t at) { return point.step < at; };
    const auto first = std::lower_bound(points.begin(), points.end(), step, before);
    if (size_t(points.end() - first) <= rows) continue;
    const MetricPoint& was = *(first + std::ptrdiff_t(rows));
    if (was.step != step || same(was.value, value)) continue;
    found(step, text(name, " is ", general_number(value), ", was ", general_number(was.value)));
  }
}

KeyframePtr ReplayCheck::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

bool ReplayCheck::wants(int64_t step) {
  return step == kept_step_ || std::binary_search(steps_.begin(), steps_.end(), step);
}

void ReplayCheck::take(KeyframePtr now, uint64_t) {
  if (now->step == kept_step_) {
    const std::lock_guard lock(mutex_);
    kept_ = now;
  }
  const KeyframePtr was = keyframes_.latest(now->step, now->step);
  if (!was) return;
  for (const auto& [name, hash] : was->hashes) {
    const auto again = now->hashes.find(name);
    if (again != now->hashes.end() && again->second == hash) continue;
    return found(now->step, name);
  }
  for (const auto& [name, hash] : now->hashes)
    if (!was->hashes.contains(name)) return found(now->step, name);
}

}  // namespace lunagrad
