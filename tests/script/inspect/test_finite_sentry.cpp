// The first NaN or Inf of a run is found without a request, and named with its op and line; run again with a
// breakpoint, the run pauses at the op that made it.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "runtime/ops.h"
#include "script/inspect/finite_sentry.h"
#include "tests/support/recorder.h"
#include "tests/support/same_bits.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;

namespace {

const std::string kHead =
    "local lg = require 'lunagrad'\n"
    "local nn, F = lg.nn, lg.nn.functional\n";

struct Planted {
  const char* name;
  const char* body;      // begins with line 3 of the chunk "test"
  const char* headline;  // of the event; its place is the line with the word HERE
  const char* again;     // the op at which the run pauses when it is run again
};

const Planted kPlanted[] = {
    {"log of 0", R"(local w = lg.ones(3, {requires_grad = true})
for step in lg.run.steps(30) do
  w.grad = nil
  local x = (w - lg.tensor{0., 0.1, 0.25} * (step / 2)):clamp(0)
  local loss = x:log():mean()  -- HERE
  loss:backward()
end)",
     "-Inf since step 8: log at ", "log"},
    {"root of a negative number", R"(local w = lg.tensor({1., 2.}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.2})
for step in lg.run.steps(30) do
  opt:zero_grad()
  local y = w:sqrt()  -- HERE
  y:sum():backward()
  opt:step()
end)",
     "NaN since step 9: sqrt at ", "sqrt"},
    {"0 / 0", R"(local w = lg.ones(4, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local d = w * (step < 12 and 1 or 0)
  local q = d / (d * 2)  -- HERE
  q:mean():backward()
end)",
     "NaN since step 12: div at ", "div"},
    {"Inf - Inf, of a product that overflows", R"(local w = lg.ones(4, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local big = w * (step < 7 and 1. or 1e30)
  local a = big * big  -- HERE
  local loss = (a - a * 2):mean()
  loss:backward()
end)",
     "NaN since step 7: mul at ", "mul"},
    {"exp overflows", R"(local w = lg.ones(4, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local e = (w * (10 * step)):exp()  -- HERE
  local loss = (e / e:sum()):mean()
  loss:backward()
end)",
     "NaN since step 9: exp at ", "exp"},
    {"the gradient of a norm at 0", R"(local w = lg.tensor({3., 4.}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.1})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local d = w - (step < 5 and lg.zeros(2) or w:detach())
  local loss = (d * d):sum():sqrt()  -- HERE
  loss:backward()
  opt:step()
end)",
     "Inf since step 5: backward of sqrt at ", "sqrt"},
    {"NaN in the data", R"(local model = nn.Linear(3, 1)
local opt = lg.optim.SGD(model:parameters(), {lr = 0.01})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local x = lg.randn(8, 3)
  if step == 9 then x[2][1] = 0 / 0 end
  F.mse_loss(model(x), lg.ones(8, 1)):backward()  -- HERE
  opt:step()
end)",
     "NaN since step 9: operand 1 of linear at ", ""},
    {"a learning rate that is too high",
     R"(local model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
local opt = lg.optim.SGD(model:parameters(), {lr = 50})
local x, y = lg.randn(32, 4), lg.randn(32, 1)
for step in lg.run.steps(60) do
  opt:zero_grad()
  F.mse_loss(model(x), y):backward()  -- HERE
  opt:step()
end)",
     "Inf since step 4: mse_loss at ", "mse_loss"},
    {"division by the deviation of a constant", R"(local w = lg.ones(6, {requires_grad = true})
local opt = lg.optim.Adam({w}, {lr = 0.01})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local x = step < 6 and w * lg.randn(6) or w:mean() * lg.ones(6)
  local z = (x - x:mean()) / x:std()  -- HERE
  z:square():sum():backward()
  opt:step()
end)",
     "NaN since step 6: div at ", "div"},
    {"softmax of a masked row", R"(local w = lg.randn(2, 3, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local hidden = lg.zeros(2, 3, {dtype = "bool"})
  if step >= 4 then hidden[2] = true end
  local p = w:masked_fill(hidden, -math.huge):softmax(-1)  -- HERE
  p:square():sum():backward()
end)",
     "NaN since step 4: softmax at ", "softmax"},
    {"a fractional power of a negative number", R"(local w = lg.tensor({0.5, 1.}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.1})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local y = w ^ 1.5  -- HERE
  y:sum():backward()
  opt:step()
end)",
     "NaN since step 9: pow at ", "pow"},
    {"acos beyond 1", R"(local w = lg.tensor({0.5, 0.2}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.1})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local y = w:acos()  -- HERE
  y:sum():backward()
  opt:step()
end)",
     "NaN since step 5: acos at ", "acos"},
    {"f16 overflows", R"(local w = lg.tensor({10., 20.}, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local y = (w * step):to("f16"):square()  -- HERE
  y:float():mean():backward()
end)",
     "Inf since step 13: square at ", "square"},
    {"statistics of a batch of one row",
     R"(local first, last = nn.Linear(3, 4), nn.Linear(4, 1)
local opt = lg.optim.SGD(first:parameters(), {lr = 0.01})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local h = first(lg.randn(step < 5 and 8 or 1, 3))
  local deviation = h:std(1, true)  -- HERE
  last((h - h:mean(1, true)) / deviation):mean():backward()
  opt:step()
end)",
     "NaN since step 5: std at ", "std"},
    {"a custom function", R"(local reciprocal = lg.custom_op {
  name = "reciprocal",
  forward = function(ctx, x) ctx:save(x) return 1 / x end,
  backward = function(ctx, g) return -g / ctx:saved():square() end,
}
local w = lg.tensor({1., 2.}, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local y = reciprocal(w * (step < 6 and 1 or 0))  -- HERE
  y:sum():backward()
end)",
     "Inf since step 6: reciprocal at ", ""},
    {"an in-place op", R"(local w = lg.tensor({1., 2.}, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local y = w * (5 - step)
  y:log_()  -- HERE
  y:mean():backward()
end)",
     "-Inf since step 5: log at ", "log"},
    {"inside a module", R"(local Gate = nn.class("Gate")
function Gate:init() self.inner = nn.Linear(2, 2) end
function Gate:forward(x, s)
  return (self.inner(x):abs() * s):rsqrt()  -- HERE
end
local model = Gate()
for step in lg.run.steps(20) do
  model(lg.ones(1, 2), step < 8 and 1 or 0):sum():backward()
  model:zero_grad()
end)",
     "Inf since step 8: rsqrt at ", "rsqrt"},
    {"in the second order", R"(local w = lg.tensor({1., 2.}, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local x = w * (step < 6 and 1 or 0)
  local g = lg.grad((x:abs() ^ 1.5):sum(), {x}, {create_graph = true})[1]  -- HERE
  local h = lg.grad(g:sum(), {x}, {create_graph = true})[1]
  h:sum():backward()
end)",
     "NaN since step 6: pow at ", ""},
    {"the state of an optimizer", R"(local w = lg.tensor({1., 2.}, {requires_grad = true})
local opt = lg.optim.Adam({w}, {lr = 0.1, eps = 0})
for step in lg.run.steps(20) do
  opt:zero_grad()
  local loss = (w * lg.tensor{1., 0.}):sum()
  loss:backward()
  opt:step()  -- HERE
end)",
     "NaN since step 1: the optimizer's step at ", ""},
    {"an optimizer without a fused step beside one that has it",
     R"(local a, b = lg.ones(2, 2, {requires_grad = true}), lg.ones(2, {requires_grad = true})
local sgd, muon = lg.optim.SGD({b}, {lr = 0.1}), lg.optim.Muon({a}, {lr = 0.1})
for step in lg.run.steps(20) do
  a.grad, b.grad = nil, nil
  (a:sum() + b:sum()):backward()
  if step == 6 then muon.param_groups[1].lr = 1e39 end
  muon:step()  -- HERE
  sgd:step()
end)",
     "-Inf since step 6: the optimizer's step at ", ""},
    {"LBFGS", R"(local w = lg.ones(3, {requires_grad = true})
local opt = lg.optim.LBFGS({w}, {lr = 0.1, max_iter = 1})
for step in lg.run.steps(20) do
  if step == 4 then opt.param_groups[1].lr = 1e39 end
  opt:step(function()  -- HERE
    w.grad = nil
    local loss = (w * step):square():sum()
    loss:backward()
    return loss
  end)
end)",
     "-Inf since step 4: the optimizer's step at ", ""},
};

int line_of(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  return at == text.npos ? 0 : 1 + int(std::count(text.begin(), text.begin() + long(at), '\n'));
}

std::string headline(Recorder& recorder) {
  const std::vector<Event> found = recorder.events(Kind::not_finite);
  REQUIRE(found.size() <= 1);
  return found.empty() ? "" : found[0].text.substr(0, found[0].text.find('\n'));
}

}  // namespace

TEST_CASE("the first NaN or Inf is found without being asked, once, and its op and line are named") {
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.name);
    const std::string code = kHead + planted.body;
    const int line = line_of(code, "HERE");
    Recorder recorder;
    RunOptions options;
    options.seed = 1;
    REQUIRE(recorder.finish(code, options) == Outcome::ok);
    CHECK(headline(recorder).starts_with(planted.headline + ("test:" + std::to_string(line))));
    REQUIRE(recorder.events(Kind::not_finite).size() == 1);
    CHECK(recorder.events(Kind::not_finite)[0].place.line == line);
  }
}

TEST_CASE("run again from the step that a finding names, a run pauses at the op that made it") {
  for (const Planted& planted : kPlanted) {
    if (!*planted.again) continue;
    CAPTURE(planted.name);
    const std::string code = kHead + planted.body;
    Recorder first;
    RunOptions options;
    options.seed = 1;
    REQUIRE(first.finish(code, options) == Outcome::ok);
    REQUIRE(first.events(Kind::not_finite).size() == 1);
    const Event found = first.events(Kind::not_finite)[0];
    Recorder recorder;
    recorder.session.watch_tape(true);
    Breakpoint breakpoint;
    breakpoint.condition = Breakpoint::Condition::not_finite;
    breakpoint.step = found.since;
    REQUIRE(recorder.session.add_breakpoint(breakpoint));
    options.interactive = true;
    recorder.run(code, options);
    REQUIRE(recorder.saw(Kind::break_hit));
    REQUIRE(recorder.reaches(SessionState::paused));
    const BreakHit hit = recorder.session.break_hits().back();
    CHECK(hit.op == planted.again);
    CHECK(hit.place.line == line_of(code, "HERE"));
    // Not each step is examined: the op may have run in a step before the value was found.
    CHECK(hit.step >= found.since);
    CHECK(hit.step <= found.step);
    recorder.session.stop();
    recorder.session.wait();
  }
}

TEST_CASE("what is finite, or meant to be infinite, is no finding") {
  for (const char* const body : {// A mask, and the scale of a gradient scaler that is too large at first.
                                 R"(local w = lg.randn(3, 3, {requires_grad = true})
local opt, scaler = lg.optim.SGD({w}, {lr = 0.1}), lg.optim.GradScaler {init_scale = 1e38}
for step in lg.run.steps(20) do
  opt:zero_grad()
  local loss = w:masked_fill(lg.eye(3):bool(), -math.huge):softmax(-1):square():sum()
  scaler:scale(loss * 10):backward()
  scaler:step(opt)
  scaler:update()
end)",
                                 // Finite losses of a graph with an Inf that a comparison hides.
                                 R"(local w = lg.tensor({0., 2.}, {requires_grad = true})
for step in lg.run.steps(5) do
  local x = lg.where(w:gt(0), w, lg.ones(2))
  x:log():sum():backward()
end)",
                                 // Gradients that the script replaces.
                                 R"(local w = lg.tensor({0., 4.}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.1})
for step in lg.run.steps(5) do
  opt:zero_grad()
  w:sqrt():sum():backward()
  w.grad = w.grad:nan_to_num(0, 0, 0)
  opt:step()
end)"}) {
    CAPTURE(body);
    Recorder recorder;
    REQUIRE(recorder.finish(kHead + body) == Outcome::ok);
    CHECK(headline(recorder) == "");
  }
}

TEST_CASE("evaluations at a pause are no part of the run") {
  Recorder recorder;
  RunOptions options;
  options.interactive = true;
  recorder.run(kHead + R"(w = lg.ones(2, {requires_grad = true})
for step in lg.run.steps(3) do w:sum():backward() if step == 2 then lg.run.breakpoint() end end)",
               options);
  REQUIRE(recorder.reaches(SessionState::paused));
  REQUIRE(recorder.eval("(w * 0):log():sum():backward()"));
  recorder.session.resume();
  REQUIRE(recorder.session.wait() == Outcome::ok);
  CHECK(headline(recorder) == "");
}

TEST_CASE("in a script without steps, reading takes a small part of the time too") {
  FiniteSentry sentry([](const FiniteSentry::Found&) {}, [] { return false; });
  sentry.set_on(true);
  sentry.begin_run(0);
  sentry.begin_step(1);
  const uint64_t began = ticks();
  const Tensor x = ones({1 << 20});
  double longest = 0;
  for (int pass = 0; pass < 200; ++pass) {
    const double before = sentry.spent();
    sentry.root(x);
    longest = std::max(longest, sentry.spent() - before);
  }
  CHECK(longest > 0);
  CHECK(sentry.spent() <= 4e6 + 0.006 * ticks_to_ns(ticks() - began) + longest);
}

TEST_CASE("the sentry computes no gradient that was deferred, and reads no loss of a step that is recorded") {
  FiniteSentry sentry([](const FiniteSentry::Found&) {}, [] { return false; });
  sentry.set_on(true);
  sentry.begin_run(0);
  struct Watched {  // as the session does
    Capture* const capture;
    RootWatch* const root;
    ~Watched() {
      context().capture = capture;
      set_root_watch(root);
      context().capturing = false;
    }
  };
  struct Roots : RootWatch {
    FiniteSentry* sentry;
    void root(const Tensor& x) override { sentry->root(x); }
  } roots;
  roots.sentry = &sentry;
  const Watched watched{std::exchange(context().capture, &sentry), set_root_watch(&roots)};
  Tensor w = to(randn({8}, DType::f64), DType::f32);
  w.requires_grad_();
  for (const bool recorded : {false, true}) {
    CAPTURE(recorded);
    CallQueue queue;
    const DeferCalls defer(&queue);
    context().capturing = recorded;
    w.set_grad({});
    const Tensor loss = sum(exp(w));
    const bool waited = loss.storage().writer != nullptr;
    REQUIRE(waited);
    backward(loss);
    CHECK((loss.storage().writer != nullptr) == recorded);
    CHECK(w.grad().storage().writer != nullptr);
    context().capturing = false;
    CHECK(same_bits(w.grad(), exp(w.detach())));
  }
}
