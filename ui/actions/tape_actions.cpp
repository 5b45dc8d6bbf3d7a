#include "ui/actions/tape_actions.h"

namespace lunagrad {

void TapeActions::update(const Journal& journal) {
  const auto& stops = journal.stops();
  if (stops.size() < stops_seen_) stops_seen_ = 0;
  for (; stops_seen_ < stops.size(); ++stops_seen_) select_when_shown(stops[stops_seen_]);
  if (const int node = wanted_node_ ? model_.find_node(wanted_node_) : -1; node >= 0) {
    model_.select(node);
    wanted_node_ = 0;
  }
}

void TapeActions::begin_run() {
  model_.begin_run();
  wanted_node_ = 0;
}

void TapeActions::clear() {
  model_.clear();
  wanted_node_ = 0;
}

}  // namespace lunagrad
