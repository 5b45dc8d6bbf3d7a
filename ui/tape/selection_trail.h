#pragma once
// The history of selected nodes, for going back and forward as in a browser. A node is identified by its
// position on the tape, so that the history stays valid from step to step; positions on tapes of another
// structure are skipped. One thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lunagrad {

class SelectionTrail {
 public:
  static constexpr size_t kLongest = 200;

  void visit(uint64_t structure, int node);  // adds a node; forgets the forward history
  // Returns the selection before (-1) or after (1) the present one; nothing at the end.
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
