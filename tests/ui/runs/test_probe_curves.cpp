// Curves of probes: values from the run, and values of a replay that are put in front of them.
#include <doctest/doctest.h>

#include "ui/runs/journal.h"
#include "ui/runs/tree.h"

using namespace lunagrad;

namespace {

Event value_of(uint64_t probe, int64_t step, double value, std::string problem = {}) {
  Event made{};
  made.kind = Event::Kind::probe;
  made.probe = probe;
  made.step = step;
  made.text = std::move(problem);
  made.metrics = {{"norm", value}};
  return made;
}

// A journal that got the values of steps `first` to `last`: ten times the step.
void push(Journal& journal, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) journal.push(value_of(1, step, 10 * double(step)));
  journal.update();
}

Metric filled(int64_t last) {
  Metric before("norm", 0.9);
  before.probe = true;
  for (int64_t step = 1; step <= last; ++step) before.append(step, 0, 10 * double(step));
  return before;
}

// The curve of a probe that was there from the first step on.
void check_whole(const Journal& journal, int64_t last) {
  REQUIRE(journal.metrics().size() == 1);
  const Metric& metric = journal.metrics()[0];
  CHECK(metric.probe);
  REQUIRE(metric.raw.points() == size_t(last));
  Metric expected = filled(last);
  for (size_t i = 0; i < size_t(last); ++i) {
    CHECK(metric.raw.x(i) == double(i + 1));
    CHECK(metric.raw.y(i) == 10 * double(i + 1));
    CHECK(metric.smooth.y(i) == expected.smooth.y(i));
  }
}

}  // namespace

TEST_CASE("values of a replay stand before the run's values, as if all had come with it") {
  Journal journal;
  journal.probes().set_since(1, "norm", 5);
  push(journal, 5, 8);
  CHECK(journal.metrics()[0].raw.points() == 4);
  journal.probes().fill(1, filled(4), 4, journal.curves(), 0.9);
  check_whole(journal, 8);
  journal.probes().set_complete(1);
  CHECK(journal.probes().find(1)->kept.empty());
  push(journal, 9, 12);
  check_whole(journal, 12);
}

TEST_CASE("a gap behind the repeated steps is filled by a second replay") {
  Journal journal;
  journal.probes().fill(1, filled(3), 3, journal.curves(), 0.9);
  CHECK(journal.metrics()[0].raw.points() == 3);
  journal.probes().set_since(1, "norm", 5);
  push(journal, 5, 6);
  const ProbeCurves::Entry* const known = journal.probes().find(1);
  REQUIRE(known);
  CHECK(known->since == 5);
  CHECK(known->filled == 3);
  Metric more = known->before;
  more.append(4, 0, 40);
  journal.probes().fill(1, more, 4, journal.curves(), 0.9);
  check_whole(journal, 6);
}

TEST_CASE("a reload to an earlier step voids the later values, in front and behind") {
  Journal journal;
  journal.probes().set_since(1, "norm", 5);
  push(journal, 5, 8);
  Event reload{};
  reload.kind = Event::Kind::reload;
  reload.step = 3;
  journal.push(reload);
  push(journal, 4, 6);
  CHECK(journal.probes().find(1)->since == 4);
  journal.probes().fill(1, filled(3), 3, journal.curves(), 0.9);
  check_whole(journal, 6);
}

TEST_CASE("a probe beside a metric of the same name has a curve of its own; removed, it is gone for good") {
  Journal journal;
  Event logged{};
  logged.kind = Event::Kind::metrics;
  logged.step = 1;
  logged.metrics = {{"norm", 1}};
  journal.push(logged);
  push(journal, 1, 2);
  REQUIRE(journal.metrics().size() == 2);
  CHECK(line_name(journal.metrics()[1]) == "norm (probe)");
  journal.probes().remove(1, journal.curves());
  push(journal, 3, 3);  // was on its way when the probe was removed
  REQUIRE(journal.metrics().size() == 1);
  CHECK(!journal.metrics()[0].probe);
}

TEST_CASE("the first error of a probe is kept with its step, and written once") {
  Journal journal;
  journal.push(value_of(1, 7, 0, "attempt to call a nil value"));
  journal.push(value_of(1, 7, 0, "attempt to call a nil value"));
  journal.update();
  CHECK(journal.probes().find(1)->problem == "step 7: attempt to call a nil value");
  CHECK(journal.lines().size() == 1);
  CHECK(journal.metrics().empty());
}

TEST_CASE("forks stand below their parents, in the order of the rows") {
  std::vector<RunSummary> runs(6);
  const char* const names[] = {"a", "b", "a-1", "a-2", "a-1-1", "lost"};
  const char* const parents[] = {"", "", "a", "a", "a-1", "deleted"};
  for (size_t i = 0; i < runs.size(); ++i) runs[i].folder = names[i], runs[i].parent = parents[i];
  const auto drawn = [&](const std::vector<size_t>& rows) {
    std::string text;
    for (const RunTreeRow& row : tree_of(runs, rows)) {
      for (const bool line : row.lines) text += line ? "| " : "  ";
      text += row.below ? (row.last ? "L " : "+ ") : "";
      text += runs[row.run].folder + "\n";
    }
    return text;
  };
  CHECK(drawn({5, 4, 3, 2, 1, 0}) == "lost\nb\na\n+ a-2\nL a-1\n  L a-1-1\n");
  CHECK(drawn({0, 1, 2, 3, 4, 5}) == "a\n+ a-1\n| L a-1-1\nL a-2\nb\nlost\n");
  CHECK(drawn({4, 3}) == "a-1-1\na-2\n");  // filtered: the parents are not listed
  runs[0].parent = "a-1-1";                // no tree
  CHECK(drawn({0, 2, 4}) == "a\nL a-1\n  L a-1-1\n");
  runs[1].parent = "b";
  CHECK(drawn({1}) == "b\n");
}
