#include "script/time/spacing.h"

namespace lunagrad {
namespace {

constexpr uint64_t kPart = 25;  // leaves room for a keyframe that takes longer than the last
// More keyframes would not make a jump faster, and each is a file in a run's folder.
constexpr size_t kMost = 1000;

}  // namespace

bool Spacing::due(uint64_t now) const { return began_ == 0 || (spent_ + cost_) * kPart <= now - began_; }

void Spacing::known(int64_t step, size_t bytes) {
  frames_.push_back({step, bytes});
  bytes_ += bytes;
}

void Spacing::taken(int64_t step, size_t bytes, uint64_t now, uint64_t cost) {
  if (began_ == 0) began_ = now - cost;
  known(step, bytes);
  spent_ += cost;
  cost_ = cost;
}

std::optional<int64_t> Spacing::next_to_drop() {
  if ((bytes_ <= budget_ && frames_.size() <= kMost) || frames_.size() < 3) return std::nullopt;
  size_t chosen = 1;
  double least = 0;
  for (size_t i = 1; i + 1 < frames_.size(); ++i) {
    const double gap = double(frames_[i + 1].step - frames_[i - 1].step);
    const double age = double(frames_.back().step - frames_[i].step);
    if (i > 1 && gap / age >= least) continue;
    least = gap / age;
    chosen = i;
  }
  const Frame dropped = frames_[chosen];
  frames_.erase(frames_.begin() + std::ptrdiff_t(chosen));
  bytes_ -= dropped.bytes;
  return dropped.step;
}

void Spacing::forget_after(int64_t step) {
  while (!frames_.empty() && frames_.back().step > step) {
    bytes_ -= frames_.back().bytes;
    frames_.pop_back();
  }
  if (frames_.empty()) began_ = spent_ = cost_ = 0;
}

double Spacing::share(uint64_t now) const {
  return now > began_ && began_ > 0 ? double(spent_) / double(now - began_) : 0;
}

}  // namespace lunagrad
