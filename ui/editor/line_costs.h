#pragma once
// The cost of each line of the scripts in a step, summed over the nodes of its tape: for the live gutter, and
// to find a line's nodes. Pure; any thread.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "script/view/tape.h"

namespace lunagrad {

struct LineCost {
  double forward_ns = 0, backward_ns = 0;
  int64_t bytes = 0;               // bytes of the outputs
  std::string shape;               // shape of the line's last output
  std::optional<double> gradient;  // norm of the gradients of its outputs, if known
  std::vector<int> nodes;          // indices in the snapshot, oldest first
};

class LineCosts {
 public:
  LineCosts() = default;
  explicit LineCosts(const TapeSnapshot&);

  // The costs by line number from 1. `file` is named as on the tape; null if the tape has no node of this
  // file.
  const std::map<int, LineCost>* of(const std::string& file) const;
  const std::map<std::string, std::map<int, LineCost>>& files() const { return files_; }
  double slowest_ns() const { return slowest_; }  // the largest time of a line, forward plus backward
  bool knows_gradients() const { return knows_gradients_; }

 private:
  std::map<std::string, std::map<int, LineCost>> files_;
  double slowest_ = 0;
  bool knows_gradients_ = false;
};

// The norm of the gradients of a node's outputs: the gutter takes its norms only from here.
std::optional<double> gradient_norm(const NodeInfo&);

// For each line i of `now` (from 0) the index of its line in `before`; -1 for a line that is new or was
// changed. Matches the common start and end; between them, equal lines in the same order.
std::vector<int> matching_lines(const std::vector<std::string>& before, const std::vector<std::string>& now);

}  // namespace lunagrad
