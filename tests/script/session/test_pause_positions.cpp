// Where a run stands still: 20 scripts that make a NaN or an Inf, and 20 that fail. The position of the pause
// or of the error, and the tape, name the op, the line and the step; a single step moves the position.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/files.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;
using Reason = PausePosition::Reason;

namespace {

struct Script {
  const char* name;
  const char* op;  // the public name; "": no op failed
  int64_t step;
  const char* body;       // the line with the word HERE makes the NaN or fails
  const char* part = "";  // the text of the module "part", if the script requires it
};

const std::string kHead = R"(local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local w = lg.run.state("w", function() return lg.ones(4, {requires_grad = true}) end)
local opt = lg.optim.SGD({w}, {lr = 0.01})
local zero = lg.zeros(4)
)";

const Script kNotFinite[] = {
    {"0 / 0", "div", 4, R"(for step in lg.run.steps(6) do
  local d = w * (step < 4 and 1 or 0)
  local q = d / (d * 2)  -- HERE
  q:mean():backward()
end)"},
    {"the logarithm of a negative number", "log", 3, R"(for step in lg.run.steps(6) do
  local y = (w * (2.5 - step)):log()  -- HERE
  y:mean():backward()
end)"},
    {"the gradient of a root at 0", "sqrt", 5, R"(for step in lg.run.steps(6) do
  local y = (w * (step < 5 and 1 or 0)):sqrt()  -- HERE
  y:sum():backward()
end)"},
    {"Inf - Inf", "sub", 2, R"(local huge = lg.full({4}, math.huge)
for step in lg.run.steps(6) do
  local y = (w + huge) - (step < 2 and zero or huge)  -- HERE
  y:isnan()
end)"},
    {"exp overflows", "exp", 4, R"(for step in lg.run.steps(6) do
  local e = (w * (25 * step)):exp()  -- HERE
  e:mean():backward()
end)"},
    {"f16 overflows", "square", 3, R"(for step in lg.run.steps(6) do
  local y = (w * (100 * step)):to("f16"):square()  -- HERE
  y:float():mean():backward()
end)"},
    {"division by the deviation of a constant", "div", 4, R"(for step in lg.run.steps(6) do
  local x = step < 4 and w * lg.randn(4) or w
  local z = (x - x:mean()) / x:std()  -- HERE
  z:sum():backward()
end)"},
    {"softmax of a masked row", "softmax", 3, R"(for step in lg.run.steps(6) do
  local masked = w:masked_fill(lg.full({4}, step == 3), -math.huge)
  local p = masked:softmax(-1)  -- HERE
  p:square():sum():backward()
end)"},
    {"NaN in the data", "mul", 2, R"(for step in lg.run.steps(6) do
  local x = lg.tensor{1., 2., step == 2 and 0 / 0 or 3., 4.}
  local y = w * x  -- HERE
  y:sum():backward()
end)"},
    {"an optimizer's step", "sgd_step", 3, R"(for step in lg.run.steps(6) do
  opt:zero_grad()
  w:sum():backward()
  if step == 3 then opt.param_groups[1].lr = 1e39 end
  opt:step()  -- HERE
end)"},
    {"a module's forward", "rsqrt", 2, R"(local Gate = nn.class("Gate")
function Gate:init() self.inner = nn.Linear(4, 4) end
function Gate:forward(x, s)
  return (self.inner(x):abs() * s):rsqrt()  -- HERE
end
local model = Gate()
for step in lg.run.steps(6) do
  model(w:unsqueeze(1), step < 2 and 1 or 0):sum():backward()
end)"},
    {"the third round of a loop", "div", 2, R"(for step in lg.run.steps(6) do
  local x = w
  for round = 1, 4 do
    x = x / (step == 2 and round == 3 and zero or 2)  -- HERE
  end
  x:sum():backward()
end)"},
    {"a required module", "log", 4, R"(local part = require "part"
for step in lg.run.steps(6) do
  part.loss(w * (4 - step)):backward()
end)",
     R"(local part = {}
function part.loss(x)
  local y = x:log()  -- HERE
  return y:mean()
end
return part)"},
    {"the backward of a custom function", "twice", 3, R"(local now = 0
local twice = lg.custom_op {
  name = "twice",
  forward = function(ctx, x) return x * 2 end,
  backward = function(ctx, g)
    return g / (now == 3 and zero or 1)
  end,
}
for step in lg.run.steps(6) do
  now = step
  local y = twice(w)  -- HERE
  y:sum():backward()
end)"},
    {"data that need no gradient", "div", 5, R"(for step in lg.run.steps(6) do
  local x = lg.randn(3, 4)
  local scaled = x / (step == 5 and zero or 2)  -- HERE
  local loss = (w * scaled):sum()
  loss:backward()
end)"},
    {"a fractional power of a negative number", "pow", 3, R"(for step in lg.run.steps(6) do
  local y = (w * (2.5 - step)) ^ 1.5  -- HERE
  y:sum():backward()
end)"},
    {"acos beyond 1", "acos", 3, R"(for step in lg.run.steps(6) do
  local y = (w * (0.4 * step)):acos()  -- HERE
  y:sum():backward()
end)"},
    {"without steps", "log", 0, R"(local y = (w - 1):log()  -- HERE
y:sum():backward())"},
    {"an op in place", "log", 4, R"(for step in lg.run.steps(6) do
  local y = w * (4 - step)
  y:log_()  -- HERE
  y:mean():backward()
end)"},
    {"statistics of one row", "std", 5, R"(for step in lg.run.steps(6) do
  local x = lg.randn(step == 5 and 1 or 8, 4)
  local deviation = x:std(1, true)  -- HERE
  local loss = (w / deviation):sum()
  loss:backward()
end)"},
};

// In step 10, after the optimizer's step.
const Script kFailing[] = {
    {"shapes that do not fit", "matmul", 10,
     R"(    local y = w:reshape(2, 2):matmul(lg.ones(3, 2))  -- HERE)"},
    {"a method that does not exist", "", 10, R"(    local y = w:rellu()  -- HERE)"},
    {"an argument of a wrong type", "matmul", 10, R"(    lg.matmul(w, "three")  -- HERE)"},
    {"a required module", "add", 10, R"(    require("part").go(w))",
     R"(local lg = require "lunagrad"
return {go = function(x)
  return x + lg.ones(3)  -- HERE
end})"},
    {"a coroutine", "", 10, R"(    coroutine.wrap(function()
      error("inside")  -- HERE
    end)())"},
    {"a callback", "", 10, R"(    lg.no_grad(function()
      local y = w .. "text"  -- HERE
    end))"},
    {"a hook of a gradient", "", 10, R"(    local y = w * 2
    y:register_hook(function(g)
      return g.missing.part  -- HERE
    end)
    y:sum():backward())"},
    {"an index out of range", "index_select", 10,
     R"(    w:index_select(1, lg.tensor({7}, {dtype = "i64"}))  -- HERE)"},
    {"assert", "", 10, R"(    assert(step < 10, "too late")  -- HERE)"},
    {"an error that is a table", "", 10, R"(    error({code = 7})  -- HERE)"},
    {"a missing file", "", 10, R"(    lg.data.csv("missing.csv")  -- HERE)"},
    {"an optimizer's step", "sgd_step", 10, R"(    opt.param_groups[1].lr = {}
    opt:step()  -- HERE)"},
    {"arithmetic with nil", "", 10, R"(    local y = w:sum():item() + nothing  -- HERE)"},
    {"a call of nil", "", 10, R"(    undefined_function(w)  -- HERE)"},
    {"a shape with other elements", "reshape", 10, R"(    w:reshape(3, 3)  -- HERE)"},
    {"a label out of range", "cross_entropy", 10,
     R"(    F.cross_entropy(w:reshape(1, 4), lg.tensor({9}, {dtype = "i64"}))  -- HERE)"},
    {"a module's forward", "linear", 10, R"(    local Net = nn.class("Net")
    function Net:init() self.inner = nn.Linear(3, 3) end
    function Net:forward(x)
      local y = self.inner(x)  -- HERE
      return y
    end
    Net()(w))"},
    {"a function called in a loop", "mul", 10, R"(    local function scale(x, n)
      return x * lg.ones(n)  -- HERE
    end
    for n = 4, 3, -1 do scale(w, n) end)"},
    {"error with a level", "", 10, R"(    local function check() error("wrong", 2) end
    check()  -- HERE)"},
    {"tensors that cannot be joined", "cat", 10, R"(    lg.cat({w, lg.ones(2, 2)}, 1)  -- HERE)"},
};

// The script's files in a folder, and the place of the word HERE.
class Files {
 public:
  explicit Files(const Script& script, bool fails) {
    std::string text = kHead;
    if (fails)
      text +=
          "for step in lg.run.steps(12) do\n  opt:zero_grad()\n  local loss = (w * w):sum()\n"
          "  loss:backward()\n  opt:step()\n  if step == 10 then\n" +
          std::string(script.body) + "\n  end\nend\n";
    else
      text += script.body;
    write("main.lua", text);
    if (*script.part) write("part.lua", script.part);
    REQUIRE(place.line > 0);
  }
  std::string main() const { return folder_.file("main.lua"); }

  SourcePlace place;  // its file without a folder

 private:
  void write(const char* name, const std::string& text) {
    folder_.with(name, text);
    if (const size_t at = text.find("HERE"); at != text.npos)
      place = {name, 1 + int(std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n'))};
  }
  const Folder folder_;
};

SourcePlace without_folder(const SourcePlace& place) {
  return {std::filesystem::path(place.file).filename().string(), place.line};
}

RunOptions options() {
  RunOptions options;
  options.write_run = false;
  options.interactive = true;
  options.seed = 1;
  return options;
}

// The position of the latest pause.
PausePosition position(Recorder& recorder) {
  REQUIRE(recorder.saw(Kind::state, 2));  // the run begins, the run pauses
  const std::vector<Event> states = recorder.events(Kind::state);
  REQUIRE(!states.empty());
  REQUIRE(states.back().pause);
  CHECK(states.back().place == states.back().pause->place);
  return *states.back().pause;
}

// The tape's node for the position.
const NodeInfo* node_of(const TapeSnapshot& tape, const PausePosition& at) {
  const auto found = std::find_if(tape.nodes.begin(), tape.nodes.end(),
                                  [&](const NodeInfo& node) { return node.id == at.node; });
  return found == tape.nodes.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("a NaN or an Inf: position, breakpoint and tape name the same op, line and step") {
  for (const Script& script : kNotFinite) {
    CAPTURE(script.name);
    const Files files(script, false);
    Recorder recorder;
    recorder.session.watch_tape(true);
    REQUIRE(recorder.session.add_breakpoint({}));
    recorder.session.run_file(files.main(), options());
    REQUIRE(recorder.saw(Kind::break_hit));
    REQUIRE(recorder.reaches(SessionState::paused));
    const PausePosition at = position(recorder);
    CHECK(at.reason == Reason::not_finite);
    CHECK(at.step == script.step);
    CHECK(without_folder(at.place) == files.place);
    CHECK((at.op == script.op || at.called_as == script.op));
    CHECK(!at.results.empty());
    const BreakHit hit = recorder.session.break_hits().back();
    CHECK(hit.step == at.step);
    CHECK(hit.place == at.place);
    CHECK(hit.node == at.node);
    const auto tape = recorder.session.tape();
    REQUIRE(tape);
    CHECK(tape->step == script.step);
    CHECK(tape->at == at.node);
    const NodeInfo* const node = node_of(*tape, at);
    REQUIRE(node);
    CHECK(without_folder(node->place) == files.place);
    recorder.session.interrupt();
    recorder.session.wait();
  }
}

TEST_CASE(
    "an error: position and tape name the line that failed, and the step behind which the run goes on") {
  for (const Script& script : kFailing) {
    CAPTURE(script.name);
    const Files files(script, true);
    Recorder recorder;
    recorder.session.watch_tape(true);
    recorder.session.run_file(files.main(), options());
    CHECK(recorder.session.wait() != Outcome::ok);
    const std::vector<Event> errors = recorder.events(Kind::error);
    REQUIRE(!errors.empty());
    REQUIRE(errors.back().pause);
    const PausePosition& at = *errors.back().pause;
    CHECK(at.reason == Reason::error);
    CHECK(at.step == script.step);
    CHECK(at.good_step == script.step - 1);
    CHECK(without_folder(at.place) == files.place);
    CHECK(errors.back().place == at.place);
    CHECK(at.op == script.op);
    const auto tape = recorder.session.tape();
    REQUIRE(tape);
    CHECK(tape->step == script.step);
    CHECK(tape->failed);
    const NodeInfo* const node = node_of(*tape, at);
    if (*script.op) REQUIRE(node);
    // Without a call that failed, no other line's node is accused.
    if (node) CHECK(without_folder(node->place) == files.place);
  }
}

TEST_CASE("a position lists its operands, also of a failed call, with -Inf apart from Inf and NaN counted") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  REQUIRE(recorder.session.add_breakpoint({}));
  recorder.run("local lg = require 'lunagrad'\nlocal x = lg.tensor{0., 1., 2.}\nlocal y = x:log()",
               options());
  REQUIRE(recorder.saw(Kind::break_hit));
  REQUIRE(recorder.reaches(SessionState::paused));
  const PausePosition made = position(recorder);
  REQUIRE(made.operands.size() == 1);
  CHECK(made.operands[0].name == "input");
  CHECK(made.operands[0].text == "f32 [3] from 0 to 2, mean 1");
  REQUIRE(made.results.size() == 1);
  CHECK(made.results[0].text.ends_with(", 1 -Inf"));
  recorder.session.stop();
  recorder.session.wait();

  Recorder failing;
  failing.session.watch_tape(true);
  REQUIRE(
      failing.finish("local lg = require 'lunagrad'\nlocal a = lg.full({2, 3}, 2.)\na:matmul(lg.ones(2, 4))",
                     options()) == Outcome::error);
  const PausePtr at = failing.events(Kind::error).back().pause;
  REQUIRE(at);
  REQUIRE(at->operands.size() == 2);
  CHECK(at->operands[0].text == "f32 [2, 3] from 2 to 2, mean 2");
  CHECK(at->operands[1].text == "f32 [2, 4] from 1 to 1, mean 1");
  CHECK(at->results.empty());
}

TEST_CASE("each single step of an op moves the position and the mark on the tape") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(R"(local lg = require "lunagrad"
local w, data = lg.ones(3, {requires_grad = true}), lg.ones(3)
for step in lg.run.steps(3) do
  if step == 2 then lg.run.breakpoint() end
  local x = data * 2
  local y = w - x
  local loss = y:sum()
  loss:backward()
  w.grad = nil
end)",
               options());
  REQUIRE(recorder.reaches(SessionState::paused));
  const PausePosition first = position(recorder);
  CHECK(first.reason == Reason::request);
  CHECK(first.step == 2);
  CHECK(first.place.line == 4);
  CHECK(first.node == 0);
  uint64_t before = 0;
  for (const auto& [op, line] :
       {std::pair{"mul", 5}, std::pair{"sub", 6}, std::pair{"sum", 7}, std::pair{"sum", 8}}) {
    CAPTURE(line);
    recorder.session.step_op();
    REQUIRE(recorder.pauses_again());
    const PausePosition at = position(recorder);
    CHECK(at.reason == Reason::op);
    CHECK(at.step == 2);
    CHECK(at.op == op);
    CHECK(at.place.line == line);
    CHECK(at.backward == (line == 8));
    const auto tape = recorder.session.tape();
    REQUIRE(tape);
    CHECK(tape->step == 2);
    const NodeInfo* const node = node_of(*tape, at);
    REQUIRE(node);
    CHECK(node->op == op);
    if (line == 8) continue;  // the pass begins at the node of the op before it
    CHECK(tape->at == at.node);
    CHECK(at.node != before);
    before = at.node;
  }
  recorder.session.interrupt();
  recorder.session.wait();
}
