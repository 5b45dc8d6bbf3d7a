#pragma once
// How much an owner of tensors held at earlier walks of the heap. A plain value of the session's thread.
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace lunagrad {

class OwnerPast {
 public:
  // After `step` it holds values of `count` steps or `count` tensors; the oldest comes from step `oldest`.
  void add(int64_t step, int64_t count, int64_t oldest);
  // It once held less than half of what it held before: a buffer that was used up or begun again.
  bool was_emptied() const { return emptied_; }
  // It still holds its oldest value of the first walk, and holds more than in the middle of its life.
  bool grows() const;
  // The step of the walk since which its count has never fallen, and has grown; 0: it has not grown.
  int64_t growing_since() const;

  // Whether a node of one of its tensors at the latest walk is among these nodes.
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
