#pragma once
// What each line of the scripts did in a step, summed from the nodes of its tape: the live gutter beside the
// text, and the way from a line to its nodes. Pure; any thread.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "script/session.h"

namespace lunagrad {

struct LineCost {
  double forward_ns = 0, backward_ns = 0;
  int64_t bytes = 0;               // of the outputs
  std::string shape;               // of the last output that the line made
  std::optional<double> gradient;  // norm of the gradients that reached its outputs, where known
  std::vector<int> nodes;          // indices in the snapshot, oldest first
};

class LineCosts {
 public:
  LineCosts() = default;
  explicit LineCosts(const TapeSnapshot&);

  // By line from 1, of one file as the tape names it; null when the tape has none of it.
  const std::map<int, LineCost>* of(const std::string& file) const;
  const std::map<std::string, std::map<int, LineCost>>& files() const { return files_; }
  double slowest_ns() const { return slowest_; }  // forward and backward of one line
  bool knows_gradients() const { return knows_gradients_; }

 private:
  std::map<std::string, std::map<int, LineCost>> files_;
  double slowest_ = 0;
  bool knows_gradients_ = false;
};

// The norm of the gradients that reached a node's outputs: the one place where the gutter takes it from.
std::optional<double> gradient_norm(const NodeInfo&);

// Where line i of `now` (from 0) was in `before`, -1 for a line that is new or was changed. What both begin
// and end with is matched; between, equal lines in the same order.
std::vector<int> matching_lines(const std::vector<std::string>& before, const std::vector<std::string>& now);

}  // namespace lunagrad
