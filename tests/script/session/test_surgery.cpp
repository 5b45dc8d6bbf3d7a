// lg.surgery in a session: at a pause, on the script's locals and states, from the console; the events for
// the viewer.
#include <doctest/doctest.h>

#include "tests/support/recorder.h"

using namespace lunagrad;
using tests::Recorder;

namespace {

// Trains for ever. `model` is a state, `optimizer` a local, `other` a local that only an active function
// sees.
const char* const kSurgeryTraining = R"lua(
local lg = require "lunagrad"
lg.manual_seed(1)
local model = lg.run.state("net", function()
  return lg.nn.Sequential(lg.nn.Linear(4, 8), lg.nn.ReLU(), lg.nn.Linear(8, 2))
end)
local optimizer = lg.optim.Adam(model:parameters(), {lr = 0.01})
lg.run.watch(model, {every = 1, histograms = false})
local x, target = lg.randn(16, 4), lg.randint(0, 2, {16})
local function train(other)
  for step in lg.run.steps() do
    optimizer:zero_grad()
    local loss = lg.nn.functional.cross_entropy(model(x), target)
    loss:backward()
    optimizer:step()
    lg.run.log{loss = loss}
    if step == 3 then print("three steps") end
  end
end
train(lg.nn.Linear(2, 2))
)lua";

struct Paused : Recorder {
  Paused() {
    RunOptions options;
    options.interactive = true;  // lg.run.watch works for a viewer
    run(kSurgeryTraining, options);
    REQUIRE(pauses_after("three steps"));
    step();  // to the end of a step
  }
  ~Paused() {
    session.interrupt();
    session.wait();
  }
  // What a line of the console prints, once it has been evaluated.
  std::string answer(const std::string& code) {
    const size_t before = output().size();
    std::promise<bool> done;
    session.eval(code, [&](bool ok) { done.set_value(ok); });
    const bool ok = done.get_future().get();
    const std::string text = output().substr(before);
    return ok ? text : "error";
  }
  void step() {
    session.step();
    REQUIRE(pauses_again());
  }
};

}  // namespace

TEST_CASE("surgery at a pause reaches locals and states, and undo takes back the training since") {
  Paused run;
  const std::string before = run.answer("lg.surgery.hash()");
  CHECK(run.answer("lg.surgery.rescale('model.0', 0.5)") == "");
  CHECK(run.answer("lg.surgery.hash()") != before);
  CHECK(run.answer("lg.surgery.insert('model.1', lg.nn.LayerNorm(8))") == "");
  CHECK(run.answer("#model") == "4\n");
  CHECK(run.answer("lg.surgery.freeze('other')") == "");
  CHECK(run.answer("lg.surgery.optimizer('optimizer', nil, 'lr', 0.5)") == "");
  run.step();
  run.step();
  CHECK(run.answer("lg.surgery.go_to(0)").find("2 steps of training are taken back") != std::string::npos);
  CHECK(run.answer("#model") == "3\n");
  CHECK(run.answer("other.weight.requires_grad") == "true\n");
  CHECK(run.answer("optimizer.param_groups[1].lr") == "0.01\n");
  run.step();
  CHECK(run.texts(Event::Kind::error) == "");
}

TEST_CASE("undo at a pause gives the hash from before the change") {
  Paused run;
  const char* const changes[] = {"lg.surgery.replace('model.0', lg.nn.Linear(4, 8))",
                                 "lg.surgery.remove('model.1')", "lg.surgery.reinit('model')",
                                 "lg.surgery.edit('model.0.weight', {1, 2}, 3)",
                                 "lg.surgery.optimizer('optimizer', 'model.2.bias', 'exp_avg', 1)"};
  run.answer("lg.surgery.go_to(0)");
  for (const char* change : changes) {
    // The new module of a replacement draws random numbers before the change.
    run.answer("lg.manual_seed(9)");
    const std::string plain = run.answer("lg.surgery.hash()");
    REQUIRE(run.answer(change) == "");
    const std::string changed = run.answer("lg.surgery.hash()");
    CHECK(changed != plain);
    run.answer("lg.surgery.undo()");
    const std::string undone = run.answer("lg.surgery.hash()");
    run.answer("lg.surgery.redo()");
    CHECK(run.answer("lg.surgery.hash()") == changed);
    run.step();
    run.answer("lg.surgery.undo()");
    CHECK(run.answer("lg.surgery.hash()") == undone);
  }
  CHECK(run.texts(Event::Kind::error) == "");
}

TEST_CASE("a viewer gets the history of surgery with each change") {
  Paused run;
  run.answer("lg.surgery.rescale('model.0', 0.5)");
  run.answer("lg.surgery.freeze('model.2.bias')");
  run.answer("lg.surgery.undo()");
  CHECK(run.texts(Event::Kind::surgery) ==
        "rescale model.0 by 0.5\nfreeze model.2.bias\nundid 'freeze model.2.bias'\n");
  const auto history = run.events(Event::Kind::surgery).back().surgery;
  REQUIRE(history);
  REQUIRE(history->entries.size() == 2);
  CHECK(history->entries[0].title == "rescale model.0 by 0.5");
  CHECK(history->entries[0].line == "lg.surgery.rescale(\"model.0\", 0.5)");
  CHECK(history->entries[0].step >= 3);
  CHECK(history->entries[0].bytes > 0);
  CHECK(!history->entries[0].undone);
  CHECK(history->entries[1].undone);
  CHECK(history->bytes >= history->entries[0].bytes);
  CHECK(history->budget == int64_t(512) << 20);
}

TEST_CASE("lg.run.watch measures layers that surgery put in") {
  Paused run;
  run.answer("lg.surgery.insert('model.1', lg.nn.LayerNorm(8))");
  run.step();
  run.step();
  CHECK(run.answer("#model[2]._hooks.forward, #model[3]._hooks.forward") == "1\n1\n");
  run.answer("lg.surgery.undo()");
  CHECK(run.answer("#model[3]._hooks.forward") == "1\n");
  run.step();
  CHECK(run.texts(Event::Kind::error) == "");
}

TEST_CASE("a change that does not fit is an error of the console, and the run goes on as it was") {
  Paused run;
  const std::string before = run.answer("lg.surgery.hash()");
  run.answer("wrong = lg.nn.Linear(5, 8); lg.manual_seed(1)");
  const std::string plain = run.answer("lg.surgery.hash()");
  CHECK(run.answer("lg.surgery.replace('model.0', wrong)") == "error");
  CHECK(run.texts(Event::Kind::error)
            .find("surgery.replace: 'model.0' gets [16, 4] and gives [16, 8]; Linear(5, 8) does not take "
                  "[16, 4]") != std::string::npos);
  CHECK(run.events(Event::Kind::error).back().place.file == "input");
  CHECK(run.answer("lg.surgery.hash()") == plain);
  CHECK(before != plain);
  run.step();
}
