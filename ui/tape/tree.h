#pragma once
// The modules of a tape as a tree: nodes are in the modules that ran them, and equal consecutive parts are
// merged into one group. A module that was called twice has two groups: a group is a contiguous range of the
// execution, so the graph of groups has no cycles. Pure; any thread.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "script/view/tape.h"

namespace lunagrad {

struct TapeTree {
  struct Item {
    bool is_group = false;
    uint32_t index = 0;  // index of the node or the group
  };
  struct Group {
    std::string name;   // "fc1", "0 … 3"
    std::string path;   // "Net.fc1"
    std::string line;   // what the box says below the name; "": the number of nodes
    bool part = false;  // a part of a long module, see parts.h
    uint64_t key = 0;   // the same in every step
    int parent = -1;    // -1: the root, which is group 0
    uint32_t depth = 0;
    uint32_t repeats = 0;     // for merged parts: the number of equal parts
    uint32_t node_count = 0;  // nodes inside, at any depth
    std::vector<Item> items;  // in the order of execution
  };
  std::vector<Group> groups;
  std::vector<uint32_t> group_of;   // for each node: the innermost group
  std::vector<uint64_t> node_key;   // the same in every step in which op, module and line are the same
  std::vector<uint32_t> execution;  // nodes that ran, in the order of the forward pass
  std::vector<std::vector<uint32_t>>
      operands;  // for each node: the nodes on the tape that it reads, each once

  bool inside(uint32_t group, uint32_t ancestor) const;
  int first_node(Item) const;  // inside of it, in the order of execution; -1: it is empty
  const std::string& module_of(
      uint32_t group) const;  // the path of the module that the group is or is part of
};

TapeTree tape_tree(const TapeSnapshot&);

// The room for a picture, in units of the sheet at the smallest zoom at which texts are legible.
struct PictureRoom {
  float width = 0, height = 0;  // 0: not limited
  bool operator==(const PictureRoom&) const = default;
};

// Which groups the user has opened and closed, and what the picture is fitted to.
struct CollapseState {
  enum class Mode { automatic, depth, all } mode = Mode::automatic;
  uint32_t depth = 0;                               // in depth mode: groups with a smaller depth are open
  std::unordered_map<uint64_t, bool> exceptions{};  // by key: open or closed, independent of the mode
  bool sideways = false;                            // the picture goes from left to right
  PictureRoom room{};
  uint64_t fits = 0;  // grows when the picture is to be fitted again
  bool operator==(const CollapseState&) const = default;
};

// For each group, whether it and all groups around it are open. The root is always open. In automatic mode a
// small tape is opened completely; in a larger one the outer modules are opened as long as few boxes are
// visible.
std::vector<char> open_groups(const TapeTree&, const CollapseState&);

}  // namespace lunagrad
