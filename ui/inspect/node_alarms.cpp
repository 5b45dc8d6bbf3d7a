#include "ui/inspect/node_alarms.h"

#include <unordered_map>

namespace lunagrad {
namespace {

int rule_index(AlarmKind kind) {
  const auto rules = alarm_rules();
  for (size_t i = 0; i < rules.size(); ++i)
    if (rules[i].kind == kind) return int(i);
  return -1;
}

bool held_in(const Alarm& alarm, int64_t step) {
  return alarm.since <= step && (alarm.until == 0 || step < alarm.until);
}

}  // namespace

// Rules are listed by severity, so a smaller index is more severe.
std::vector<int> node_alarms(const TapeSnapshot& tape, const Alarms& alarms) {
  std::vector<int> of(tape.nodes.size(), -1);
  const auto mark = [&of](size_t node, int rule) {
    if (of[node] < 0 || rule < of[node]) of[node] = rule;
  };
  const int nan = rule_index(AlarmKind::nan);
  std::unordered_map<uint64_t, size_t> index;
  for (size_t i = 0; i < tape.nodes.size(); ++i) {
    const NodeInfo& node = tape.nodes[i];
    index.emplace(node.id, i);
    if ((node.output_summary && !node.output_summary->finite()) ||
        (node.gradient_summary && !node.gradient_summary->finite()))
      mark(i, nan);
  }
  for (const Alarm& alarm : alarms.list()) {
    if (!held_in(alarm, tape.step)) continue;
    const int rule = rule_index(alarm.kind);
    // An op is another node in each step: its place names it.
    if (alarm.op.empty()) {
      if (const auto found = index.find(alarm.node); alarm.node != 0 && found != index.end())
        mark(found->second, rule);
      continue;
    }
    for (size_t i = 0; i < tape.nodes.size(); ++i)
      if (tape.nodes[i].op == alarm.op && tape.nodes[i].place == alarm.place) mark(i, rule);
  }
  return of;
}

}  // namespace lunagrad
