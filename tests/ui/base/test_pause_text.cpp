// What the window says about the position at which a run stands still.
#include <doctest/doctest.h>

#include "ui/base/pause_text.h"

using namespace lunagrad;
using Reason = PausePosition::Reason;

TEST_CASE("a position in words, with the action that makes sense next") {
  PausePosition at;
  at.step = 1234;
  at.place = {"folder/train.lua", 12};
  at.op = "div";
  at.operands = {{"input", "f32 [2], 2 -Inf"}, {"other", "f32 scalar, 0"}};
  at.results = {{"result", "f32 [2], 2 NaN"}};
  struct Case {
    Reason reason;
    const char *text, *action;
  };
  for (const Case& one : {Case{Reason::request, "Paused in step 1,234", "Continue (F5)"},
                          Case{Reason::op, "One operation in step 1,234", "Step op (F11)"},
                          Case{Reason::line, "One line in step 1,234", "Step line (F10)"},
                          Case{Reason::step, "Paused after step 1,234", "Step (F8)"},
                          Case{Reason::not_finite, "NaN in step 1,234", "Continue (F5)"},
                          Case{Reason::error, "Error in step 1,234", "Go on"}}) {
    at.reason = one.reason;
    const PauseText text = pause_text(at);
    CHECK(text.reason == one.text);
    CHECK(text.action == one.action);
    CHECK(text.place == "train.lua:12");
    CHECK(text.op == "div");
    CHECK(text.values == "input: f32 [2], 2 -Inf; other: f32 scalar, 0; result: f32 [2], 2 NaN");
  }
  at.good_step = 1233;
  CHECK(pause_text(at).action == "Go on from step 1,233");
  at.reason = Reason::breakpoint;
  at.summary = "norm above 10";
  CHECK(pause_text(at).reason == "Breakpoint on norm above 10 in step 1,234");
  at.summary = "step 1234";
  CHECK(pause_text(at).reason == "Breakpoint on step 1234");
  at.reason = Reason::not_finite;
  at.results = {{"result", "f32 [3] from 0 to 1, mean 0.5, 1 -Inf"}};
  CHECK(pause_text(at).reason == "-Inf in step 1,234");
  at.results = {{"gradient", "f32 [3], 1 Inf and 2 -Inf"}};
  at.op = "sqrt";
  at.backward = true;
  CHECK(pause_text(at).reason == "Inf in step 1,234");
  CHECK(pause_text(at).op == "backward of sqrt");
  at = {};
  CHECK(pause_text(at).reason == "Paused");
  CHECK(pause_text(at).place == "");
}

TEST_CASE("a text without its middle keeps both ends, and whole characters") {
  CHECK(without_middle("short", 5) == "short");
  CHECK(without_middle("abcdefghij", 6) == "abcd…ij");
  CHECK(without_middle("äöüäöüäöü", 7).find("\xc3\xe2") == std::string::npos);
  CHECK(without_middle("äöüäöüäöü", 7).starts_with("äö"));
  CHECK(without_middle("abc", 0) == "…");
}
