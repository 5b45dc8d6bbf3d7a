#pragma once
// The listed runs as a tree: a run that was forked from another one stands below it. Pure.
#include <cstddef>
#include <vector>

#include "ui/runs/list.h"

namespace lunagrad {

struct RunTreeRow {
  size_t run = 0;           // its index
  bool last = true;         // no other fork of its parent follows
  std::vector<bool> lines;  // for each level above the parent's: whether a line to a later row passes here
  bool below = false;       // it stands below its parent
  size_t level() const { return lines.size() + (below ? 1 : 0); }
};

// `rows` in their order, with the forks of each run below it, in the same order among themselves. A fork
// whose parent is not among the rows stands where it is.
std::vector<RunTreeRow> tree_of(const std::vector<RunSummary>&, const std::vector<size_t>& rows);

}  // namespace lunagrad
