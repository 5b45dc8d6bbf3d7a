#pragma once
// The modules of a tape as a tree: nodes stand in the modules that ran them, and equal parts in a row are
// folded into one. A module that was called twice has two groups, so that a group is a stretch of time and
// the graph of groups has no cycles. Pure; any thread.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "script/session.h"

namespace lunagrad {

struct TapeTree {
  struct Item {
    bool is_group = false;
    uint32_t index = 0;  // of the node or the group
  };
  struct Group {
    std::string name;  // "fc1", "0 … 3"
    std::string path;  // "Net.fc1"
    uint64_t key = 0;  // the same from step to step
    int parent = -1;   // -1: of the root, which is group 0
    uint32_t depth = 0;
    uint32_t repeats = 0;     // of a fold: how many equal parts it holds
    uint32_t node_count = 0;  // inside, at any depth
    std::vector<Item> items;  // in the order of execution
  };
  std::vector<Group> groups;
  std::vector<uint32_t> group_of;   // of each node: the innermost group
  std::vector<uint64_t> node_key;   // the same from step to step where op, module and line are
  std::vector<uint32_t> execution;  // nodes that ran, in the order of the forward pass
  std::vector<std::vector<uint32_t>>
      operands;  // of each node: the nodes on the tape that it reads, each once

  bool inside(uint32_t group, uint32_t ancestor) const;
};

TapeTree tape_tree(const TapeSnapshot&);

// What the user has opened and closed.
struct FoldState {
  enum class Mode { automatic, depth, all } mode = Mode::automatic;
  uint32_t depth = 0;                             // groups above it are open, in that mode
  std::unordered_map<uint64_t, bool> exceptions;  // by key: open or not, whatever the mode says
  bool operator==(const FoldState&) const = default;
};

// Of each group, whether it is open and all that hold it are too. The root always is. In automatic mode a
// tape of few nodes is opened whole, of a larger one the outer modules, as long as few boxes are to be seen.
std::vector<char> open_groups(const TapeTree&, const FoldState&);

}  // namespace lunagrad
