#pragma once
// The nodes that were selected, in order, for going back and forward among them as a browser does among
// pages. A node is known by its place on the tape, so that the way stays from step to step; places on tapes
// of another structure are passed over. One thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lunagrad {

class SelectionTrail {
 public:
  static constexpr size_t kLongest = 200;

  void visit(uint64_t structure, int node);  // what lay ahead is forgotten
  // The selection before (-1) or behind (1) the one that was visited or returned last; none where the way
  // ends.
  std::optional<int> go(uint64_t structure, int by);

 private:
  struct Stop {
    uint64_t structure;
    int node;
    bool operator==(const Stop&) const = default;
  };
  std::vector<Stop> stops_;
  size_t at_ = 0;
};

}  // namespace lunagrad
