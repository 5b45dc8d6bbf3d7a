#pragma once
// Decides when keyframes are taken, and which are dropped. Taking them costs less than a twentieth of the
// run's time. When there are too many keyframes or too many bytes, the keyframes that are closest to their
// neighbours relative to their age are dropped, so that the distances grow with age. The first and the latest
// stay. Pure; no lock.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lunagrad {

class Spacing {
 public:
  explicit Spacing(size_t budget) : budget_(budget) {}

  void set_budget(size_t bytes) { budget_ = bytes; }
  bool due(uint64_t now) const;            // `now` in ticks
  void known(int64_t step, size_t bytes);  // adds a keyframe from an earlier part of the run
  // Adds a new keyframe of `step`; `cost` is the ticks that it took.
  void taken(int64_t step, size_t bytes, uint64_t now, uint64_t cost);
  // Removes a keyframe from the list and returns its step; the caller deletes it. Empty when all may stay.
  std::optional<int64_t> next_to_drop();
  void forget_after(int64_t step);
  size_t bytes() const { return bytes_; }
  // fraction of the time since the first keyframe that was spent on taking them
  double share(uint64_t now) const;

 private:
  struct Frame {
    int64_t step;
    size_t bytes;
  };
  std::vector<Frame> frames_;  // by step
  size_t budget_;
  size_t bytes_ = 0;
  // ticks: start of the first keyframe, cost of all, cost of the last
  uint64_t began_ = 0, spent_ = 0, cost_ = 0;
};

}  // namespace lunagrad
