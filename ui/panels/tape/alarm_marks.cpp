#include "ui/panels/tape/alarm_marks.h"

#include <algorithm>
#include <array>

#include "ui/inspect/node_alarms.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// alarm_rules() in increasing order of severity.
constexpr std::array<MarkKind, 7> kAlarmKinds = {{{"unused", "U", [] { return theme().warning; }, false},
                                                  {"dead", "D", [] { return theme().warning; }, true},
                                                  {"vanishing", "V", [] { return theme().warning; }, true},
                                                  {"large steps", "L", [] { return theme().warning; }, false},
                                                  {"exploding", "E", [] { return theme().bad; }, true},
                                                  {"growing graph", "G", [] { return theme().bad; }, false},
                                                  {"NaN", "N", [] { return theme().bad; }, true}}};

}  // namespace

std::shared_ptr<const NodeMarks> alarm_marks(const TapeSnapshot& tape, const Alarms& alarms) {
  std::vector<int> of = node_alarms(tape, alarms);
  if (std::all_of(of.begin(), of.end(), [](int rule) { return rule < 0; })) return nullptr;
  for (int& kind : of)
    if (kind >= 0) kind = int(kAlarmKinds.size()) - 1 - kind;
  auto marks = std::make_shared<NodeMarks>();
  marks->kinds = kAlarmKinds;
  marks->of = std::move(of);
  marks->number = next_marks_number();
  return marks;
}

}  // namespace lunagrad
