// At a pause every node has its value, its gradient and its operands without an earlier request: they are
// recomputed with the bits that the step computed, and the run continues undisturbed.
#include <doctest/doctest.h>

#include <bit>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "folders.h"
#include "tests/support/files.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

const std::string kSource = LUNAGRAD_SOURCE_DIR;

// With every element, so that equal cells are equal tensors.
SliceView inspected_whole(Session& session, const TensorPlace& place) {
  SliceQuery query;
  query.statistics = false;
  query.most_rows = query.most_columns = 1 << 20;
  return ask<SliceView>([&](auto done) { session.inspect(place, query, {}, done); });
}

uint64_t hash(const SliceView& view) {
  uint64_t hash = 1469598103934665603u;
  for (const double cell : view.cells) hash = (hash ^ std::bit_cast<uint64_t>(cell)) * 1099511628211u;
  return hash ^ uint64_t(view.count);
}

struct Seen {
  int64_t step = 0;
  size_t nodes = 0;
  std::map<std::string, uint64_t> hashes;  // by position in the tape, which is the same in each run
  std::string missing;                     // places without a value
};

// Everything that the window shows of the latest tape.
Seen everything(Session& session) {
  Seen seen;
  const auto tape = session.tape();
  if (!tape) return seen;
  seen.step = tape->step;
  seen.nodes = tape->nodes.size();
  for (size_t i = 0; i < tape->nodes.size(); ++i) {
    const NodeInfo& node = tape->nodes[i];
    for (const bool input : {false, true}) {
      const auto& side = input ? node.inputs : node.outputs;
      for (size_t k = 0; k < side.size(); ++k) {
        if (side[k].dtype.empty()) continue;
        const std::string name =
            std::to_string(i) + " " + node.op + (input ? " input " : " output ") + std::to_string(k);
        const TensorPlace place{tape->step, node.id, input, int(k)};
        const SliceView value = inspected_whole(session, place);
        if (!value.available || !value.note.empty())
          seen.missing += name + ": " + value.reason + value.note + "\n";
        seen.hashes[name] = hash(value);
        TensorPlace of_gradient = place;
        of_gradient.which = Which::gradient;
        const SliceView gradient = inspected_whole(session, of_gradient);
        const bool has_none =
            gradient.reason == "it needs no gradient" || gradient.reason == "no gradient reached it";
        if (!has_none && (!gradient.available || !gradient.note.empty()))
          seen.missing += name + " gradient: " + gradient.reason + gradient.note + "\n";
        if (!has_none) seen.hashes[name + " gradient"] = hash(gradient);
      }
    }
  }
  return seen;
}

// Files in the format of MNIST.
void write_images(const std::string& folder) {
  for (const auto& [part, count] : {std::pair("train", 256), std::pair("t10k", 16)}) {
    std::ofstream images(folder + "/" + part + "-images-idx3-ubyte", std::ios::binary);
    std::ofstream labels(folder + "/" + part + "-labels-idx1-ubyte", std::ios::binary);
    const auto number = [](std::ofstream& out, int value) {
      for (int shift = 24; shift >= 0; shift -= 8) out.put(char(value >> shift));
    };
    for (const int value : {0x803, count, 28, 28}) number(images, value);
    for (const int value : {0x801, count}) number(labels, value);
    for (int i = 0; i < count; ++i) {
      labels.put(char(i % 10));
      for (int k = 0; k < 28 * 28; ++k) images.put(char((i * 131 + k * (i % 10 + 3)) % 251));
    }
  }
}

// Two tasks, each with one step of gradient descent through which the outer loss is differentiated.
constexpr const char* kMaml = R"(
local lg = require "lunagrad"
local F = lg.nn.functional
lg.manual_seed(1)
local w1, w2 = lg.randn(8, 1):requires_grad_(), lg.randn(1, 8):requires_grad_()
local optimizer = lg.optim.Adam({w1, w2}, {lr = 0.01})
local function net(x, a, b) return F.linear(F.tanh(F.linear(x, a)), b) end
for step in lg.run.steps() do
  local total
  optimizer:zero_grad()
  for task = 1, 2 do
    local x = lg.rand(10, 1)
    local y = lg.sin(x * task)
    local inner = F.mse_loss(net(x, w1, w2), y)
    local g = lg.grad(inner, {w1, w2}, {create_graph = true})
    local outer = F.mse_loss(net(x, w1 - g[1] * 0.1, w2 - g[2] * 0.1), y)
    total = total and total + outer or outer
  end
  total:backward()
  optimizer:step()
  lg.run.log {loss = total:item()}
end
)";

// A critic with a gradient penalty, and a generator that learns from it.
constexpr const char* kPenalty = R"(
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(1)
local critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
local generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
local of_critic = lg.optim.Adam(critic:parameters(), {lr = 1e-3})
local of_generator = lg.optim.Adam(generator:parameters(), {lr = 1e-3})
for step in lg.run.steps() do
  local real = lg.randn(12, 2) + 3
  local fake = generator(lg.randn(12, 3)):detach()
  local mix = lg.rand(12, 1)
  local between = (real * mix + fake * (1 - mix)):requires_grad_()
  local g = lg.grad(critic(between):sum(), {between}, {create_graph = true})[1]
  local penalty = (g:pow(2):sum(2):add(1e-8):sqrt() - 1):pow(2):mean()
  of_critic:zero_grad()
  local loss = critic(fake):mean() - critic(real):mean() + penalty * 10
  loss:backward()
  of_critic:step()
  of_generator:zero_grad()
  local cheat = -critic(generator(lg.randn(12, 3))):mean()
  cheat:backward()
  of_generator:step()
  lg.run.log {loss = loss:item(), cheat = cheat:item()}
end
)";

// Running statistics, writes in place on the tape, views, a hook, autocast, a checkpoint, gradient clipping.
constexpr const char* kBlocks = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.manual_seed(1)
local conv, norm = nn.Conv2d(1, 4, 3, {padding = 1}), nn.BatchNorm2d(4)
local fc, out = nn.Linear(4 * 36, 8), nn.Linear(8, 3)
local all = {}
for _, module in ipairs {conv, norm, fc, out} do
  for _, p in ipairs(module:parameters()) do all[#all + 1] = p end
end
local optimizer = lg.optim.SGD(all, {lr = 0.05, momentum = 0.9})
for step in lg.run.steps() do
  local x = lg.randn(6, 1, 6, 6)
  local y = lg.randint(0, 3, {6})
  optimizer:zero_grad()
  local h = F.relu(norm(conv(x))) * 3
  h:mul_(0.5)
  local flat = h:view(6, -1)
  local z = lg.checkpoint(function(t) return F.dropout(F.gelu(fc(t)), 0.3) end, flat)
  z:register_hook(function(g) return g * 2 end)
  local scaled = z * lg.rand(6, 8) + 1
  local loss = F.cross_entropy(out(scaled), y)
  loss:backward()
  nn.utils.clip_grad_norm_(all, 0.5)
  optimizer:step()
  lg.run.log {loss = loss:item()}
end
)";

// Gradients of leaves are requested as soon as they are complete, so that these leaves are visited before
// older nodes.
constexpr const char* kRanks = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.manual_seed(1)
local net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
lg.distributed.data_parallel(net)
local optimizer = lg.optim.Adam(net:parameters(), {lr = 0.01})
for step in lg.run.steps() do
  local loss = F.cross_entropy(net(lg.randn(4, 6)), lg.randint(0, 3, {4}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss:item()}
end
)";

struct Example {
  std::string file;
  std::map<std::string, std::string> set = {};
  std::string argument = "";
  std::string code = "";  // instead of a file
};

std::vector<Example> examples(const Folder& images) {
  write_images(images.file("."));
  const std::string text = kSource + "/README.md";
  return {
      {"04_digits_mlp.lua"},
      {"05_mnist_cnn.lua", {{"batch_size", "16"}}, images.file(".")},
      {"07_transformer.lua",
       {{"width", "32"}, {"length", "24"}, {"batch_size", "4"}, {"layers", "2"}, {"written", "0"}},
       text},
      {"06_char_lm.lua", {{"width", "24"}, {"length", "12"}, {"batch_size", "4"}, {"written", "0"}}, text},
      {"09_vae.lua"},
      {"10_custom_op.lua"},
      {"11_higher_order.lua"},
      {"maml", {}, "", kMaml},
      {"penalty", {}, "", kPenalty},
      {"blocks", {}, "", kBlocks},
      {"ranks", {}, "", kRanks}};
}

void start(Recorder& recorder, const Example& example, RunOptions options) {
  if (example.code.empty())
    recorder.session.run_file(kSource + "/examples/" + example.file, options);
  else
    recorder.session.run_text(example.code, example.file, options);
}

RunOptions options_of(const Example& example, int64_t steps) {
  RunOptions options;
  options.write_run = false;
  options.interactive = true;
  options.set = example.set;
  options.steps = steps;
  options.seed = 3;
  if (!example.argument.empty()) options.arguments = {example.argument};
  return options;
}

Breakpoint at_step(int64_t step) {
  Breakpoint breakpoint;
  breakpoint.condition = Breakpoint::Condition::step;
  breakpoint.step = step;
  return breakpoint;
}

constexpr int64_t kPauseAt = 4;

}  // namespace

TEST_CASE("every node has its values at the end of a run, bit for bit those that were captured") {
  const Folder images;
  int with_plan = 0;
  for (const Example& example : examples(images)) {
    CAPTURE(example.file);
    const auto run = [&](bool deferred) {
      Recorder recorder;
      recorder.session.watch_tape(true);
      RunOptions options = options_of(example, kPauseAt);
      options.eager = !deferred;
      options.plan = deferred;
      std::ostringstream plan;
      std::streambuf* const own = std::cerr.rdbuf(plan.rdbuf());
      start(recorder, example, options);
      recorder.session.wait();
      std::cerr.rdbuf(own);
      CHECK(recorder.error() == "");
      // In a script without lg.run.steps no call is deferred.
      if (deferred && recorder.session.plan()) CHECK(recorder.session.plan()->calls > 5);
      with_plan += deferred && recorder.session.plan();
      return everything(recorder.session);
    };
    const Seen again = run(false), deferred = run(true);
    CHECK(again.nodes > 5);
    CHECK(again.missing == "");
    CHECK(deferred.missing == "");

    // The same step, captured as it ran.
    Recorder captured;
    captured.session.watch_tape(true);
    captured.session.add_breakpoint(at_step(kPauseAt - 1));
    start(captured, example, options_of(example, kPauseAt));
    REQUIRE(captured.reaches(SessionState::paused));
    while (true) {
      const auto tape = captured.session.tape();
      if (tape && tape->step == again.step && captured.session.history().steps.back().complete) break;
      captured.session.step();
      REQUIRE((captured.pauses_again() || captured.session.state() == SessionState::idle));
    }
    const Seen then = everything(captured.session);
    CHECK(then.missing == "");
    CHECK(then.step == again.step);
    CHECK(then.nodes == again.nodes);
    int different = 0;
    std::string which;
    CHECK(deferred.step == then.step);
    REQUIRE(deferred.nodes == then.nodes);
    for (const auto& [name, value] : then.hashes) {
      if (again.hashes.at(name) != value && different++ < 5) which += name + "\n";
      if (deferred.hashes.at(name) != value && different++ < 5)
        which += name + ", of a step that was deferred\n";
    }
    CAPTURE(which);
    CHECK(different == 0);
  }
  CHECK(with_plan > 5);
}

TEST_CASE("a viewer's pause ends with a step whose large weights were copied") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(R"(
local lg = require "lunagrad"
local w, v = lg.randn(288, 256):requires_grad_(), lg.randn(1, 288):requires_grad_()  -- w has over 256 KiB
local optimizer = lg.optim.SGD({w, v}, {lr = 1e-6})
for step in lg.run.steps() do
  optimizer:zero_grad()
  lg.nn.functional.linear(lg.nn.functional.linear(lg.randn(1, 256), w), v):sum():backward()
  optimizer:step()
  if step == 300 then print("far") end
end
)");
  REQUIRE(recorder.printed("far"));
  for (int i = 0; i < 5; ++i) {
    recorder.session.pause();
    REQUIRE(recorder.reaches(SessionState::paused));
    CHECK(everything(recorder.session).missing == "");
    recorder.session.resume();
    REQUIRE(recorder.reaches(SessionState::running));
  }
  recorder.session.interrupt();
  recorder.session.wait();
}

// The first copy also touches new memory: 33 MB here, beside a step that reads them a few times.
TEST_CASE("the cost of the first copy of large weights does not end the copies") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(R"(
local lg = require "lunagrad"
local w = lg.randn(2048, 4096):requires_grad_()
local optimizer = lg.optim.SGD({w}, {lr = 1e-6})
for step in lg.run.steps() do
  optimizer:zero_grad()
  w:sum():backward()
  optimizer:step()
  if step == 2 then
    print("second")
    while true do lg.ones(1) end
  end
end
)");
  REQUIRE(recorder.printed("second"));
  recorder.session.pause();
  REQUIRE(recorder.reaches(SessionState::paused));
  const Seen seen = everything(recorder.session);
  CHECK(seen.step == 2);
  CHECK(seen.missing == "");
  recorder.session.resume();
  REQUIRE(recorder.reaches(SessionState::running));
  recorder.session.interrupt();
  recorder.session.wait();
}

TEST_CASE("the tape belongs to the outer loss; inner passes can be chosen and have values, too") {
  for (const char* code : {kMaml, kPenalty}) {
    Recorder recorder;
    recorder.session.watch_tape(true);
    recorder.session.run_text(code, "test", options_of({}, kPauseAt));
    REQUIRE(recorder.session.wait() == Outcome::ok);
    const auto outer = recorder.session.tape();
    REQUIRE(outer);
    const bool maml = code == kMaml;
    // MAML: two inner losses and the outer one; the penalty: an inner one, the critic's loss, the
    // generator's.
    REQUIRE(outer->passes.size() == 3);
    CHECK(outer->pass == 2);
    CHECK(outer->passes[0].inner);
    CHECK(outer->passes[1].inner == maml);
    CHECK_FALSE(outer->passes[2].inner);
    CHECK(outer->nodes.size() == outer->passes[2].nodes);
    recorder.session.choose_pass(outer->passes[0].key);
    recorder.eval("");  // waits until the choice has been carried out
    CHECK(everything(recorder.session).missing == "");
    const auto inner = recorder.session.tape();
    CHECK(inner->step == outer->step);
    CHECK(inner->passes[size_t(inner->pass)].key == outer->passes[0].key);
    recorder.session.choose_pass(0);
    recorder.eval("");
    CHECK(everything(recorder.session).nodes == outer->nodes.size());
  }
}

TEST_CASE("looking at everything during pauses leaves a run as it is") {
  const Folder images;
  for (const Example& example : examples(images)) {
    CAPTURE(example.file);
    const auto trained = [&](bool pauses) {
      Recorder recorder;
      std::string metrics;
      recorder.also = [&](const Event& event) {
        for (const auto& [name, value] : event.metrics)
          if (event.kind == Event::Kind::metrics)
            metrics += name + std::to_string(std::bit_cast<uint64_t>(value)) + "\n";
      };
      if (pauses) {
        recorder.session.watch_tape(true);
        recorder.session.watch_statistics(true);
        for (const int64_t step : {2, 5}) recorder.session.add_breakpoint(at_step(step));
      }
      start(recorder, example, options_of(example, 8));
      for (int i = 0; pauses && i < 2; ++i) {
        REQUIRE(recorder.reaches(SessionState::paused));
        CHECK(everything(recorder.session).missing == "");
        recorder.session.resume();
        if (i == 0) REQUIRE(recorder.pauses_again());
      }
      recorder.session.wait();
      // the generator has the state of an undisturbed run
      recorder.eval("print(require('lunagrad').rand(4))");
      return metrics + recorder.output();
    };
    const auto plain = trained(false), looked = trained(true);
    CHECK(plain == looked);
  }
}
