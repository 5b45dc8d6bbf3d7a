#include "ui/tape/player.h"

#include <algorithm>

namespace lunagrad {
namespace {

constexpr double kLeastRate = 4;     // nodes per second
constexpr double kLongestPlay = 20;  // seconds, for a tape of any size

}  // namespace

void TapePlayer::resize(size_t count) {
  count_ = count;
  position_ = std::min(position_, int(count) - 1);
  if (count == 0) stop();
}

int TapePlayer::number() const {
  return position_ < 0 ? 0 : backward_ ? int(count_) - position_ : position_ + 1;
}

void TapePlayer::set_backward(bool backward) { backward_ = backward; }

void TapePlayer::step(int by) {
  if (count_ == 0) return;
  const int last = int(count_) - 1;
  if (position_ < 0)
    position_ = (by > 0) != backward_ ? 0 : last;
  else
    position_ = std::clamp(position_ + (backward_ ? -by : by), 0, last);
}

void TapePlayer::play() {
  if (count_ == 0) return;
  const int end = backward_ ? 0 : int(count_) - 1;
  if (position_ < 0 || position_ == end) position_ = backward_ ? int(count_) - 1 : 0;
  playing_ = true;
  due_ = 0;
}

void TapePlayer::stop() {
  position_ = -1;
  playing_ = false;
}

bool TapePlayer::tick(double seconds) {
  if (!playing_) return false;
  due_ += std::min(seconds, 0.5) * std::max(kLeastRate, double(count_) / kLongestPlay);
  const int by = int(due_);
  if (by == 0) return false;
  due_ -= by;
  const int before = position_;
  step(by);
  if (position_ == (backward_ ? 0 : int(count_) - 1)) playing_ = false;
  return position_ != before;
}

bool TapePlayer::done(int position) const {
  return position_ < 0 || (backward_ ? position >= position_ : position <= position_);
}

}  // namespace lunagrad
