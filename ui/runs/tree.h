#pragma once
// The listed runs as a tree: a fork comes below the run that it was forked from. Pure.
#include <cstddef>
#include <vector>

#include "ui/runs/list.h"

namespace lunagrad {

struct RunTreeRow {
  size_t run = 0;           // index of the run
  bool last = true;         // true: no other fork of its parent follows
  std::vector<bool> lines;  // for each level above the parent's: whether a line to a later row passes here
  bool below = false;       // the row is below its parent's row
  size_t level() const { return lines.size() + (below ? 1 : 0); }
};

// Returns `rows` in their order, but each run is followed by its forks, which keep their order among
// themselves. A fork whose parent is not among the rows keeps its place.
std::vector<RunTreeRow> tree_of(const std::vector<RunSummary>&, const std::vector<size_t>& rows);

}  // namespace lunagrad
