#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/core/error.h"
#include "script/lua/drive_script.h"
#include "tests/support/files.h"
#include "ui/record/actions.h"

using namespace lunagrad;

namespace {

std::vector<std::string> texts(const Actions& actions) {
  std::vector<std::string> all;
  for (const Actions::Line& line : actions.lines()) all.push_back(line.text);
  return all;
}

// Actions that do nothing, as a window has them.
void add_some(Actions& actions) {
  actions.add({"set", "name, value", [](const ActionArguments& given) {
                 if (given.text(0, "name") == "bad") given.refuse("it is bad");
               }});
  actions.add({"outer", "", [&actions](const ActionArguments&) { actions.act("set", {"inner", 1.0}); }});
  actions.add({"save", "", [&actions](const ActionArguments&) { actions.note("set", {"text", "a"}); }});
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a recorded line reads back as the same values") {
  const std::string nasty = std::string("a \"b\" \\ \n\r\t\0 1 é ]] --", 24) + "\x7f";
  const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  const ActionFields fields{{"text", nasty}, {"end", 1.0}, {"with space", true}, {"third", 1.0 / 3}};
  const ActionValues values{nasty,
                            0.1,
                            1e-4,
                            most,
                            -least,
                            9007199254740992.0,
                            std::numeric_limits<double>::infinity(),
                            false,
                            std::monostate(),
                            std::vector<std::string>{"x y", nasty},
                            fields};
  std::vector<ActionValues> read;
  const auto play = [&](const std::string& code) {
    const tests::Folder folder;
    DriveScript script(folder.with("line.lua", code), {},
                       {{"take", [&](const ActionValues& given) -> DriveScript::Poll {
                           read.push_back(given);
                           return [] { return std::optional(ActionValues()); };
                         }}});
    while (!script.resume()) {
    }
    CHECK(script.error() == "");
  };
  const std::string line = call_as_lua("take", values);
  CHECK(line.find('\n') == line.npos);
  play(line);
  play(call_as_lua("take", {fields}));
  REQUIRE(read.size() == 2);
  CHECK(read[0] == values);
  CHECK(read[1] == ActionValues{fields});
}

TEST_CASE("an action is one line, without its parts; one that fails is none") {
  Actions actions;
  add_some(actions);
  std::string error;
  actions.on_error = [&](const std::string& text) { error = text; };
  actions.perform("outer", {});
  CHECK_FALSE(actions.act("set", {"bad"}));
  CHECK(error == "ui.set: it is bad");
  CHECK_FALSE(actions.act("set"));
  CHECK(error == "ui.set: name (argument 1) must be a string, got nothing");
  CHECK_FALSE(actions.act("fly"));
  {
    const Actions::Quiet quiet(actions);
    actions.perform("set", {"a", 1.0});
  }
  CHECK(texts(actions) == Lines{"ui.outer()"});
  actions.perform("save", {});  // the lines that it saves come before it
  CHECK(texts(actions) == Lines{"ui.outer()", "ui.set(\"text\", \"a\")", "ui.save()"});
}

TEST_CASE("a drag is one line; another action ends it") {
  Actions actions;
  add_some(actions);
  actions.perform("set", {"a", 1.0});
  actions.perform("set", {"a", 2.0}, true);
  actions.perform("set", {"a", 3.0}, true);
  actions.perform("outer", {});
  actions.perform("set", {"a", 4.0}, true);
  CHECK(texts(actions) == Lines{"ui.set(\"a\", 3)", "ui.outer()", "ui.set(\"a\", 4)"});
}

TEST_CASE("the moment of an action stands before it, once") {
  Actions actions;
  add_some(actions);
  Actions::Moment now;
  actions.moment = [&] { return now; };
  actions.perform("outer", {});
  now = {"running", 7, 0, 0};
  actions.perform("outer", {});
  actions.perform("outer", {});
  now = {"paused", 9, 1, 2};
  actions.perform("outer", {});
  CHECK(texts(actions) == Lines{"ui.outer()", "ui.reach{state = \"running\", step = 7}", "ui.outer()",
                                "ui.outer()", "ui.reach{ended = 2, pauses = 1, state = \"paused\", step = 9}",
                                "ui.outer()"});
  const std::string script = actions.as_script("train\n.lua");
  CHECK(script.find("-- lunagrad-workbench train .lua --drive") != script.npos);
  CHECK(script.find("ui.outer()  -- ") != script.npos);
  actions.clear();
  CHECK(actions.lines().empty());
  CHECK(actions.dropped() == 6);
}
