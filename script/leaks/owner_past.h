#pragma once
// What an owner of tensors held at earlier walks of the heap. A plain value of the session's thread.
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace lunagrad {

class OwnerPast {
 public:
  // After `step` it holds what `count` steps made, the oldest of them `oldest`.
  void add(int64_t step, int64_t count, int64_t oldest);
  // It lost most of what it held at once: a buffer that is used up, or begun anew.
  bool was_emptied() const { return emptied_; }
  // It holds more than before, of all that it ever held, and more than in the middle of its life.
  bool grows() const;
  // The step of the walk since which it has never lost any, and holds more than then; 0: it holds no more.
  int64_t growing_since() const;

  // Whether one of its tensors at the latest walk is among these nodes.
  bool carries(const std::unordered_set<uint64_t>& nodes) const;

  std::vector<uint64_t> ends;  // the nodes of its tensors at the latest walk

 private:
  struct Count {
    int64_t step, count, oldest;
  };
  std::vector<Count> counts_;
  int64_t most_ = 0;
  bool emptied_ = false;
};

}  // namespace lunagrad
