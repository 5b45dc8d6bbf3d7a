#include "ui/tape/selection_trail.h"

namespace lunagrad {

void SelectionTrail::visit(uint64_t structure, int node) {
  const Stop stop{structure, node};
  if (!stops_.empty() && stops_[at_] == stop) return;
  if (!stops_.empty()) stops_.resize(at_ + 1);
  stops_.push_back(stop);
  if (stops_.size() > kLongest) stops_.erase(stops_.begin());
  at_ = stops_.size() - 1;
}

std::optional<int> SelectionTrail::go(uint64_t structure, int by) {
  for (size_t at = at_; by < 0 ? at > 0 : at + 1 < stops_.size();) {
    at = by < 0 ? at - 1 : at + 1;
    if (stops_[at].structure != structure) continue;
    at_ = at;
    return stops_[at].node;
  }
  return {};
}

}  // namespace lunagrad
