#pragma once
// When keyframes are taken, and which are dropped. Taking them costs less than one part in twenty of the
// run's time; when there are too many or too many bytes, those go that lie closest to their neighbours for
// their age, so that the distance grows with age. The first and the latest stay. Pure; no lock.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lunagrad {

class Spacing {
 public:
  explicit Spacing(size_t budget) : budget_(budget) {}

  void set_budget(size_t bytes) { budget_ = bytes; }
  bool due(uint64_t now) const;            // ticks
  void known(int64_t step, size_t bytes);  // one of an earlier part of the run
  // A keyframe of `step` was taken; what it cost, in ticks.
  void taken(int64_t step, size_t bytes, uint64_t now, uint64_t cost);
  // The step of one that must go, until there is none. It is forgotten here.
  std::optional<int64_t> next_to_drop();
  void forget_after(int64_t step);
  size_t bytes() const { return bytes_; }
  double share(uint64_t now) const;  // of the time since the first one that went into taking them

 private:
  struct Frame {
    int64_t step;
    size_t bytes;
  };
  std::vector<Frame> frames_;  // by step
  size_t budget_;
  size_t bytes_ = 0;
  uint64_t began_ = 0, spent_ = 0, cost_ = 0;  // ticks: of the first, of all, of the last
};

}  // namespace lunagrad
