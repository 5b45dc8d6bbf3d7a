#include "ui/editor/line_costs.h"

#include <algorithm>
#include <cmath>

#include "ui/widgets/value_view.h"

namespace lunagrad {

std::optional<double> gradient_norm(const NodeInfo& node) {
  if (!node.gradient_summary) return std::nullopt;
  return node.gradient_summary->norm;
}

LineCosts::LineCosts(const TapeSnapshot& tape) {
  std::map<int, LineCost>* lines = nullptr;
  const std::string* file = nullptr;
  for (size_t i = tape.nodes.size(); i-- > 0;) {  // oldest first
    const NodeInfo& node = tape.nodes[i];
    if (node.place.line < 1) continue;
    if (!file || *file != node.place.file) {  // nodes of one file are consecutive
      file = &node.place.file;
      lines = &files_[*file];
    }
    LineCost& cost = (*lines)[node.place.line];
    cost.nodes.push_back(int(i));
    cost.bytes += node.bytes;
    cost.forward_ns += node.forward_ns;
    cost.backward_ns += node.backward_ns;
    if (!node.outputs.empty() && (node.op != "leaf" || cost.shape.empty()))
      cost.shape = shape_text(node.outputs[0].shape);
    if (const std::optional<double> norm = gradient_norm(node)) {
      cost.gradient = std::hypot(cost.gradient.value_or(0), *norm);
      knows_gradients_ = true;
    }
    slowest_ = std::max(slowest_, cost.forward_ns + cost.backward_ns);
  }
}

const std::map<int, LineCost>* LineCosts::of(const std::string& file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : &found->second;
}

std::vector<int> matching_lines(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  std::vector<int> matches(now.size(), -1);
  const size_t shorter = std::min(before.size(), now.size());
  size_t head = 0, tail = 0;
  while (head < shorter && before[head] == now[head]) {
    matches[head] = int(head);
    ++head;
  }
  while (tail < shorter - head && before[before.size() - 1 - tail] == now[now.size() - 1 - tail]) {
    matches[now.size() - 1 - tail] = int(before.size() - 1 - tail);
    ++tail;
  }
  // Finds the longest common subsequence of the middle, unless that would take too long.
  constexpr size_t kMostCells = 1000000;
  const size_t rows = before.size() - head - tail, columns = now.size() - head - tail;
  if (rows == 0 || columns == 0 || rows > kMostCells / columns) return matches;
  std::vector<int> length((rows + 1) * (columns + 1), 0);
  const auto at = [&](size_t r, size_t c) -> int& { return length[r * (columns + 1) + c]; };
  for (size_t r = rows; r-- > 0;)
    for (size_t c = columns; c-- > 0;)
      at(r, c) =
          before[head + r] == now[head + c] ? at(r + 1, c + 1) + 1 : std::max(at(r + 1, c), at(r, c + 1));
  for (size_t r = 0, c = 0; r < rows && c < columns;) {
    if (before[head + r] == now[head + c])
      matches[head + c++] = int(head + r++);
    else if (at(r + 1, c) >= at(r, c + 1))
      ++r;
    else
      ++c;
  }
  return matches;
}

}  // namespace lunagrad
