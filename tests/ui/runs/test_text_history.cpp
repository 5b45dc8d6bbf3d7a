// Which text of the script and its modules each step of a run ran.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include "ui/runs/journal.h"
#include "ui/runs/text_history.h"

using namespace lunagrad;

namespace {

// The text of a step; "none" for a file that was not loaded, "unknown" for a text that is not kept.
std::string text_at(const TextHistory& texts, const std::string& file, int64_t step) {
  const std::optional<TextHistory::Found> found = texts.at(file, step);
  if (!found) return "none";
  return found->text ? found->text->content() : "unknown";
}

Event event_of(Event::Kind kind, int64_t step) {
  Event event{};
  event.kind = kind;
  event.step = step;
  return event;
}

Event source_of(const std::string& file, int64_t step, const std::string& text) {
  Event event = event_of(Event::Kind::source, step);
  event.place = {file, 1};
  event.text = text;
  return event;
}

}  // namespace

TEST_CASE("a text has lines as an editor has them") {
  const SourceText text("one\r\n\n  three");
  CHECK(text.line_count() == 3);
  CHECK(text.line(1) == "one");
  CHECK(text.line(3) == "  three");
  CHECK(text.line(0).empty());
  CHECK(text.line(4).empty());
  CHECK(text.lines() == std::vector<std::string>{"one", "", "  three"});
  CHECK(SourceText("").lines() == std::vector<std::string>{""});
  CHECK(SourceText("end\n").lines() == std::vector<std::string>{"end", ""});
}

TEST_CASE("each step has the text that was loaded last before it") {
  TextHistory texts;
  CHECK(text_at(texts, "train.lua", 1) == "none");
  texts.load("train.lua", 0, "relu");
  texts.load("net.lua", 0, "net 1");
  texts.reach(1);
  texts.load("train.lua", 10, "gelu");
  texts.load("net.lua", 10, "net 1");  // a reload loads its modules again
  texts.load("train.lua", 25, "tanh");
  texts.load("net.lua", 25, "net 2");
  for (const auto& [step, script, module] : {std::tuple{1, "relu", "net 1"},
                                             {10, "relu", "net 1"},
                                             {11, "gelu", "net 1"},
                                             {25, "gelu", "net 1"},
                                             {26, "tanh", "net 2"},
                                             {1000, "tanh", "net 2"}}) {
    CAPTURE(step);
    CHECK(text_at(texts, "train.lua", step) == script);
    CHECK(text_at(texts, "net.lua", step) == module);
  }
  CHECK(text_at(texts, "other.lua", 5) == "none");
  CHECK(texts.at("train.lua", 5)->until == 10);
  CHECK(texts.at("net.lua", 5)->until == 25);
  CHECK_FALSE(texts.at("train.lua", 26)->until);
  CHECK(texts.files() == std::vector<std::string>{"net.lua", "train.lua"});
}

TEST_CASE("a reload that goes back makes texts of later steps void") {
  TextHistory texts;
  texts.load("train.lua", 0, "first");
  texts.reach(1);
  texts.load("late.lua", 30, "late");
  texts.load("train.lua", 40, "second");
  texts.load("train.lua", 20, "third");
  CHECK(text_at(texts, "train.lua", 20) == "first");
  CHECK(text_at(texts, "train.lua", 41) == "third");
  CHECK(text_at(texts, "late.lua", 41) == "none");
  // A script that failed before it ended a step is replaced at the same step.
  texts.load("train.lua", 20, "fourth");
  CHECK(text_at(texts, "train.lua", 21) == "fourth");
  // A run that starts from its first step has only the new text.
  texts.load("train.lua", 0, "fifth");
  texts.reach(1);
  CHECK(text_at(texts, "train.lua", 1) == "fifth");
  CHECK_FALSE(texts.at("train.lua", 1)->until);
}

TEST_CASE("a fork begins with its text, and says so until it is reloaded") {
  TextHistory texts;
  texts.load("train.lua", 200, "relu");
  CHECK(texts.at("train.lua", INT64_MAX)->first);
  CHECK(text_at(texts, "train.lua", INT64_MAX) == "relu");
  texts.reach(201);
  CHECK(text_at(texts, "train.lua", 201) == "relu");
  CHECK(text_at(texts, "train.lua", 150) == "unknown");  // the parent ran it
  texts.load("train.lua", 200, "gelu");
  CHECK_FALSE(texts.at("train.lua", INT64_MAX)->first);
  CHECK(text_at(texts, "train.lua", 201) == "gelu");
}

TEST_CASE("steps that another process ran have no text here") {
  TextHistory texts;
  texts.load("train.lua", 0, "now");  // the checkpoint's step is known when the script has read it
  texts.reach(51);
  texts.reach(52);
  CHECK(text_at(texts, "train.lua", 50) == "unknown");
  CHECK(text_at(texts, "train.lua", 51) == "now");
}

TEST_CASE("the oldest replaced texts are dropped first, the latest never") {
  TextHistory texts(300);
  const std::string filler(100, '-');
  for (const int64_t step : {0, 10, 20, 30}) texts.load("train.lua", step, filler + std::to_string(step));
  texts.reach(1);
  CHECK(text_at(texts, "train.lua", 5) == "unknown");
  CHECK(texts.at("train.lua", 5)->until == 10);
  CHECK(text_at(texts, "train.lua", 15) == filler + "10");
  CHECK(text_at(texts, "train.lua", 31) == filler + "30");
  texts.load("train.lua", 40, std::string(10000, '-'));
  texts.load("train.lua", 50, "short");
  CHECK(text_at(texts, "train.lua", 41) == "unknown");
  CHECK(text_at(texts, "train.lua", 51) == "short");
}

TEST_CASE("the journal keeps the texts of its run, and of the run before it") {
  Journal journal;
  journal.push(source_of("train.lua", 0, "relu"));
  journal.push(event_of(Event::Kind::step, 1));
  journal.push(source_of("train.lua", 1, "gelu"));
  journal.update();
  CHECK(text_at(journal.texts(), "train.lua", 1) == "relu");
  CHECK(text_at(journal.texts(), "train.lua", 2) == "gelu");
  journal.restart();
  CHECK(text_at(journal.texts(), "train.lua", 1) == "none");
  CHECK(text_at(journal.former_texts(), "train.lua", 1) == "relu");
  journal.push(source_of("train.lua", 0, "tanh"));
  journal.update();
  CHECK(text_at(journal.texts(), "train.lua", 1) == "tanh");
  CHECK(text_at(journal.former_texts(), "train.lua", 2) == "gelu");
}

TEST_CASE("while a run waits for the end of the one before it, the texts are the earlier run's") {
  Journal journal;
  Event state = event_of(Event::Kind::state, 0);
  state.state = SessionState::running;
  journal.push(state);
  journal.push(source_of("train.lua", 0, "relu"));
  journal.update();
  journal.restart();
  CHECK(journal.awaits_end());
  CHECK(text_at(journal.former_texts(), "train.lua", 1) == "relu");
  journal.push(event_of(Event::Kind::ended, 3));
  journal.update();
  CHECK_FALSE(journal.awaits_end());
  CHECK(text_at(journal.texts(), "train.lua", 1) == "none");
  CHECK(text_at(journal.former_texts(), "train.lua", 1) == "relu");
}
