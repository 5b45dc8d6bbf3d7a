#include "script/time/memory_keyframes.h"

#include "runtime/core/trace.h"

namespace lunagrad {

void MemoryKeyframes::set_budget(size_t bytes) {
  const std::lock_guard lock(mutex_);
  spacing_.set_budget(bytes);
  drop_surplus();
}

void MemoryKeyframes::begin(int64_t step) {
  const std::lock_guard lock(mutex_);
  spacing_.forget_after(step);
  frames_.erase(frames_.upper_bound(step), frames_.end());
}

bool MemoryKeyframes::wants(int64_t) {
  const std::lock_guard lock(mutex_);
  return spacing_.due(ticks());
}

void MemoryKeyframes::take(KeyframePtr keyframe, uint64_t cost) {
  const size_t bytes = bytes_of(keyframe->content);
  const std::lock_guard lock(mutex_);
  const int64_t step = keyframe->step;
  frames_[step] = std::move(keyframe);
  spacing_.taken(step, bytes, ticks(), cost);
  drop_surplus();
}

void MemoryKeyframes::drop_surplus() {
  while (const std::optional<int64_t> dropped = spacing_.next_to_drop()) frames_.erase(*dropped);
}

KeyframePtr MemoryKeyframes::latest(int64_t first, int64_t last) {
  const std::lock_guard lock(mutex_);
  const auto after = frames_.upper_bound(last);
  if (after == frames_.begin() || std::prev(after)->first < first) return nullptr;
  return std::prev(after)->second;
}

std::vector<int64_t> MemoryKeyframes::steps() const {
  const std::lock_guard lock(mutex_);
  std::vector<int64_t> steps;
  for (const auto& [step, keyframe] : frames_) steps.push_back(step);
  return steps;
}

size_t MemoryKeyframes::bytes() const {
  const std::lock_guard lock(mutex_);
  return spacing_.bytes();
}

double MemoryKeyframes::share() const {
  const std::lock_guard lock(mutex_);
  return spacing_.share(ticks());
}

}  // namespace lunagrad
