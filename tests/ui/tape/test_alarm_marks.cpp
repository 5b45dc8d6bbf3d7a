// The marks of alarms on a tape: one kind for each rule, in the order of severity.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/ui/tapes.h"
#include "ui/panels/tape/alarm_marks.h"

using namespace lunagrad;

TEST_CASE("each rule of the alarms has its mark, the most severe the greatest weight") {
  const TapeSnapshot tape = test::residual_tape(1);
  CHECK(alarm_marks(tape, Alarms()) == nullptr);
  std::set<std::string> signs;
  for (size_t rule = 0; rule < alarm_rules().size(); ++rule) {
    Alarms alarms;
    Alarm found{};
    found.kind = alarm_rules()[rule].kind;
    found.op = "relu";
    found.place = {"train.lua", 22};
    found.since = 1;
    alarms.set_found({found}, 1);
    const auto marks = alarm_marks(tape, alarms);
    REQUIRE(marks);
    REQUIRE(marks->kinds.size() == alarm_rules().size());
    REQUIRE(marks->of.size() == tape.nodes.size());
    const size_t kind = marks->kinds.size() - 1 - rule;
    CHECK(std::string(marks->kinds[kind].name) == alarm_rules()[rule].name);
    signs.insert(marks->kinds[kind].sign);
    for (size_t i = 0; i < tape.nodes.size(); ++i) {
      const bool marked = tape.nodes[i].op == "relu" && tape.nodes[i].place.line == 22;
      CHECK(marks->of[i] == (marked ? int(kind) : -1));
    }
  }
  CHECK(signs.size() == alarm_rules().size());
}
