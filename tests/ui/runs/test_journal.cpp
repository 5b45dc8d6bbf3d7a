#include <doctest/doctest.h>

#include <cmath>

#include "ui/runs/journal.h"

using namespace lunagrad;

namespace {

Event event(Event::Kind kind, std::string text = {}) {
  Event made{};
  made.kind = kind;
  made.text = std::move(text);
  return made;
}

Event metrics(int64_t step, const char* name, double value) {
  Event made = event(Event::Kind::metrics);
  made.step = step;
  made.total = 10;
  made.metrics = {{name, value}};
  return made;
}

Event state(SessionState state) {
  Event made = event(Event::Kind::state);
  made.state = state;
  return made;
}

}  // namespace

TEST_CASE("text becomes lines, also when it arrives in parts, and \\r overwrites a line") {
  Journal journal;
  journal.push(event(Event::Kind::output, "one\ntw"));
  journal.push(event(Event::Kind::output, "o\n10 %\r20 %"));
  journal.push(event(Event::Kind::output, "\r30 %\nend\r\n"));
  CHECK(journal.update());
  CHECK_FALSE(journal.update());
  REQUIRE(journal.lines().size() == 4);
  CHECK(journal.lines()[0].text == "one");
  CHECK(journal.lines()[1].text == "two");
  CHECK(journal.lines()[2].text == "30 %");
  CHECK(journal.lines()[3].text == "end");
}

TEST_CASE("invalid bytes become replacement characters, and escape sequences are removed") {
  CHECK(printable("a\x1b[31mb\x1b[0mc") == "abc");
  CHECK(printable(std::string("a\0b", 3)) ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(printable("\xc3\xa4 \xe2\x86\x92") == "\xc3\xa4 \xe2\x86\x92");
  CHECK(printable("\xc3") == "\xef\xbf\xbd");
  CHECK(printable("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(printable("a\tb") == "a   b");
  CHECK(printable("\x1b[") == "");
}

TEST_CASE("the console keeps the latest lines and counts the others") {
  Journal journal;
  for (size_t i = 0; i < Journal::kMostLines + 5; ++i) journal.write(ConsoleLine::Kind::output, "x\n");
  CHECK(journal.lines().size() == Journal::kMostLines);
  CHECK(journal.lines_dropped() == 5);
}

TEST_CASE("metrics become curves and progress") {
  Journal journal;
  journal.push(state(SessionState::running));
  journal.push(metrics(1, "loss", 2));
  journal.push(metrics(2, "loss", std::nan("")));
  journal.push(metrics(2, "accuracy", 0.5));
  journal.update();
  CHECK(journal.active());
  CHECK(journal.step() == 2);
  CHECK(journal.total() == 10);
  REQUIRE(journal.metrics().size() == 2);
  CHECK(journal.metrics()[0].raw.size() == 2);
  CHECK(journal.metrics()[0].raw.nan_count() == 1);
  CHECK(journal.metrics()[0].smooth.y(0) == doctest::Approx(2));
}

TEST_CASE("a probe's values are a curve, and its error is a line of the console") {
  Journal journal;
  journal.push(state(SessionState::running));
  Event value = event(Event::Kind::probe);
  value.step = 3;
  value.metrics = {{"norm", 1.5}};
  journal.push(value);
  Event wrong = value;
  wrong.text = "a string, not a number";
  journal.push(wrong);
  journal.update();
  REQUIRE(journal.metrics().size() == 1);
  CHECK(journal.metrics()[0].name == "norm");
  CHECK(journal.metrics()[0].raw.points() == 1);
  REQUIRE(journal.last_error() == nullptr);  // it has no line of a script
  CHECK(journal.lines().back().text == "probe norm: a string, not a number");
  CHECK(journal.lines().back().kind == ConsoleLine::Kind::error);
}

TEST_CASE("a place on an axis belongs to the step of the nearest point") {
  Journal journal;
  journal.push(state(SessionState::running));
  for (const int64_t step : {1, 5, 9}) {
    Event row = metrics(step, "loss", 1);
    row.time = 0.5 * double(step);
    row.metrics.emplace_back("samples", 64.0 * double(step));
    journal.push(row);
  }
  journal.update();
  const RunCurves& curves = journal.curves();
  CHECK(curves.step_at(XAxis::step, 6.4) == 5);
  CHECK(curves.step_at(XAxis::step, -100) == 1);
  CHECK(curves.step_at(XAxis::time, 4.2) == 9);
  CHECK(curves.step_at(XAxis::samples, 64 * 5 + 1) == 5);
  CHECK(!curves.step_at(XAxis::step, NAN));
  CHECK(!RunCurves().step_at(XAxis::step, 1));
  // And back: the x of a step on each axis.
  for (const XAxis axis : {XAxis::step, XAxis::time, XAxis::samples})
    for (const int64_t step : {1, 5, 9}) CHECK(curves.step_at(axis, curves.x_of(axis, step)) == step);
  CHECK(std::isnan(RunCurves().x_of(XAxis::time, 1)));
}

TEST_CASE("late events of the old run are not mixed into the new one") {
  Journal journal;
  journal.push(state(SessionState::running));
  journal.push(metrics(1, "loss", 2));
  journal.update();
  journal.restart();
  journal.push(metrics(2, "loss", 3));
  Event end = event(Event::Kind::ended);
  end.outcome = Outcome::stopped;
  journal.push(end);
  journal.push(state(SessionState::running));
  journal.push(metrics(1, "loss", 7));
  journal.update();
  REQUIRE(journal.metrics().size() == 1);
  REQUIRE(journal.metrics()[0].raw.size() == 1);
  CHECK(journal.metrics()[0].raw.y(0) == 7);
  CHECK(journal.active());
  CHECK_FALSE(journal.ended());
}

TEST_CASE("wake is called once per batch of events") {
  int wakes = 0;
  Journal journal([&] { ++wakes; });
  journal.push(event(Event::Kind::output, "a\n"));
  journal.push(event(Event::Kind::output, "b\n"));
  CHECK(wakes == 1);
  journal.update();
  journal.push(event(Event::Kind::output, "c\n"));
  CHECK(wakes == 2);
}

TEST_CASE("the message of an error is the first line of the latest one at its place") {
  Journal journal;
  const SourcePlace net{"net.lua", 7}, train{"train.lua", 7};
  CHECK(journal.error_message(net) == "");
  journal.write(ConsoleLine::Kind::error, "net.lua:7: shapes differ\ntraceback\n", net);
  journal.write(ConsoleLine::Kind::error, "net.lua:7: no such field\ntraceback\n", net);
  journal.write(ConsoleLine::Kind::error, "train.lua:7: stopped\ntraceback\n", train);
  journal.write(ConsoleLine::Kind::output, "net.lua:7: printed\n", net);
  CHECK(journal.error_message(net) == "net.lua:7: no such field");
  CHECK(journal.error_message(train) == "train.lua:7: stopped");
  CHECK(journal.error_message({"train.lua", 8}) == "");
}

TEST_CASE("metrics of one kind share a chart") {
  for (const char* name : {"loss", "val_loss", "train/loss", "loss_test", "eval.loss"})
    CHECK(chart_place(std::string_view(name)).chart == "loss");
  const auto chart = [](std::string_view name) { return chart_place(name).chart; };
  CHECK(chart("test_acc") == "accuracy");
  CHECK(chart("lr") == "lr");
  CHECK(chart("test") == "test");
}

TEST_CASE("a change of smoothing applies to the whole curve") {
  Journal journal;
  for (int i = 0; i < 5; ++i) journal.push(metrics(i + 1, "loss", i % 2));
  journal.update();
  journal.set_smoothing(0);
  for (size_t i = 0; i < 5; ++i) CHECK(journal.metrics()[0].smooth.y(i) == doctest::Approx(double(i % 2)));
}

TEST_CASE("the values of one drag are one mark and one line, also those that arrive after its end") {
  Journal journal;
  const auto param = [&](int64_t step, const char* value) {
    Event made = event(Event::Kind::param, value);
    made.step = step;
    made.metrics = {{"lr", 0}};
    journal.push(made);
  };
  journal.push(state(SessionState::running));
  param(1, "0.1");
  journal.begin_drag("lr");
  param(5, "0.2");
  param(6, "0.3");
  journal.update();
  journal.end_drag("lr", "0.4");
  param(7, "0.4");
  param(9, "0.5");
  journal.update();
  const auto& marks = journal.curves().marks;
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].step == 5);
  CHECK(marks[0].text == "lr: 0.1 to 0.4");
  CHECK(marks[1].text == "lr: 0.4 to 0.5");
  REQUIRE(journal.lines().size() == 2);
  CHECK(journal.lines()[0].text == "step 7: lr = 0.4");
  CHECK(journal.lines()[1].text == "step 9: lr = 0.5");
}
