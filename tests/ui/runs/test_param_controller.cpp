#include <doctest/doctest.h>

#include "script/session.h"
#include "tests/support/timing.h"
#include "ui/runs/journal.h"
#include "ui/runs/param_controller.h"

using namespace lunagrad;

namespace {

// A script with a live rate that runs until it is stopped.
struct Loop {
  Journal journal;
  Session session{[this](const Event& event) { journal.push(event); }};
  Loop() {
    RunOptions options;
    options.write_run = false;
    session.run_text(R"(local lg = require "lunagrad"
      local lr = lg.run.live("lr", 0.1, {min = 0.001, max = 1})
      for step in lg.run.steps() do local _ = lr() end)",
                     "test", options);
    until([&] { return session.params().size() == 1 && journal.step() > 0; });
  }
  ~Loop() { session.interrupt(); }
  template <class F>
  void until(F&& reached) {
    REQUIRE(tests::eventually([&] {
      journal.update();
      return reached();
    }));
  }
  ParamInfo lr() { return session.params().at(0); }
};

}  // namespace

TEST_CASE("an edit is pending until the step ends, is marked in the journal, and can be undone") {
  Loop loop;
  ParamController controller;
  REQUIRE(controller.set(loop.session, loop.lr(), "0.25", 3));
  CHECK(controller.value(loop.lr()) == "0.25");
  loop.until([&] { return loop.lr().value == "0.25"; });
  controller.update({loop.lr()});
  CHECK_FALSE(controller.on_its_way("lr"));
  loop.until([&] { return !loop.journal.curves().marks.empty(); });
  CHECK(loop.journal.curves().marks[0].text == "lr: 0.1 to 0.25");
  CHECK(loop.journal.curves().marks[0].step > 0);
  REQUIRE(controller.edits().size() == 1);
  CHECK(controller.edits()[0].before == "0.1");
  CHECK(controller.chosen().at("lr") == "0.25");

  CHECK(controller.undo(loop.session, 9));
  loop.until([&] { return loop.lr().value == "0.1"; });
  CHECK(controller.edits().empty());
  CHECK_FALSE(controller.undo(loop.session, 9));
}

TEST_CASE("a refusal has a reason and does not change the value") {
  Loop loop;
  ParamController controller;
  CHECK_FALSE(controller.set(loop.session, loop.lr(), "7", 1));
  CHECK(controller.refusal("lr") == "7 is outside [0.001, 1]");
  CHECK(controller.value(loop.lr()) == "0.1");
  CHECK(controller.edits().empty());
  CHECK(controller.set(loop.session, loop.lr(), "0.5", 1));
  CHECK(controller.refusal("lr").empty());
}

TEST_CASE("a value that is set while nothing runs applies to the next run, once") {
  Loop loop;
  loop.session.interrupt();
  loop.until([&] { return loop.journal.ended(); });
  ParamController controller;
  REQUIRE(controller.set(loop.session, loop.lr(), "0.5", 9));
  controller.update({loop.lr()});
  CHECK(controller.on_its_way("lr"));
  CHECK(controller.take_waiting() == std::map<std::string, std::string>{{"lr", "0.5"}});
  CHECK_FALSE(controller.on_its_way("lr"));
  CHECK(controller.take_waiting().empty());
}

TEST_CASE("the changes of one drag are one edit") {
  Loop loop;
  ParamController controller;
  for (const char* value : {"0.2", "0.3", "0.4"})
    CHECK(controller.set(loop.session, loop.lr(), value, 1, true));
  CHECK(controller.edits().empty());
  controller.end_drag(2);
  REQUIRE(controller.edits().size() == 1);
  CHECK(controller.edits()[0].before == "0.1");
  CHECK(controller.edits()[0].after == "0.4");
  CHECK(controller.undo(loop.session, 2));
  CHECK(controller.value(loop.lr()) == "0.1");
}
