// The profile of a session's runs: time and memory. Also the batches and media that viewers get.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <nlohmann/json.hpp>

#include "runtime/core/op.h"
#include "runtime/core/trace.h"
#include "runtime/cpu/parallel.h"
#include "script/profile/watch.h"
#include "tests/support/recorder.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using nlohmann::json;

namespace {

// One hidden layer: 32 samples of 16 features, 64 units, 4 outputs.
const std::string kNetwork = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
local adam = lg.optim.Adam(net:parameters(), {lr = 1e-3})
local x, y = lg.randn(32, 16), lg.randint(0, 4, {32})
for step in lg.run.steps(tonumber(arg[1])) do
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad()
  loss:backward()
  adam:step()
end
)";

constexpr double kParameters = (16 * 64 + 64 + 64 * 4 + 4) * 4;  // bytes

std::shared_ptr<const ProfileView> profile_of_run(const std::string& code, int steps) {
  Recorder recorder;
  recorder.session.watch_profile(true);
  RunOptions options;
  options.arguments = {std::to_string(steps)};
  REQUIRE(recorder.finish(code, options) == Outcome::ok);
  return recorder.session.profile();
}

const ProfileRow* find(const std::vector<ProfileRow>& rows, const std::string& name) {
  for (const ProfileRow& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

double self_of(const std::vector<ProfileRow>& rows) {
  double sum = 0;
  for (const ProfileRow& row : rows) sum += row.self();
  return sum;
}

ProfileNote note(const char* op, uint64_t start, uint64_t length,
                 ProfilePhase phase = ProfilePhase::forward) {
  ProfileNote made{};
  made.op = find_op(op);
  made.start = start;
  made.length = length;
  made.phase = phase;
  return made;
}

}  // namespace

TEST_CASE("the parts of a step add up, and so do the tables") {
  const auto view = profile_of_run(kNetwork, 3000);
  REQUIRE(view);
  REQUIRE(view->measured >= 1);
  CHECK(view->device == "cpu");
  for (const auto& step : view->steps) {
    const double parts =
        step->forward_ns + step->backward_ns + step->optimizer_ns + step->waiting_ns + step->script_ns;
    CHECK(parts == doctest::Approx(step->length_ns).epsilon(1e-6));
    const double inside = step->forward_ns + step->backward_ns - step->walk_ns + step->optimizer_ns;
    CHECK(self_of(step->ops) == doctest::Approx(inside).epsilon(1e-6));
    CHECK(self_of(step->lines) == doctest::Approx(inside).epsilon(1e-6));
    CHECK(self_of(step->modules) == doctest::Approx(inside).epsilon(1e-6));
    double longest = 0;
    for (const ProfileSpan& span : step->spans) longest = std::max(longest, span.start_ns + span.length_ns);
    CHECK(longest <= step->length_ns * 1.001);
  }
  double steps = 0;
  for (const auto& step : view->steps) steps += step->length_ns;
  if (view->measured == int64_t(view->steps.size())) CHECK(view->all.length_ns == doctest::Approx(steps));
  CHECK(merge_profiles(view->steps).length_ns == doctest::Approx(steps));
}

TEST_CASE("rows list calls, floating point operations, lines and modules") {
  const auto view = profile_of_run(kNetwork, 3000);
  REQUIRE(view);
  const StepProfile& step = *view->steps.back();
  const ProfileRow* linear = find(step.ops, "linear");
  REQUIRE(linear);
  CHECK(linear->calls == 2);
  CHECK(linear->flops == 2.0 * 32 * 16 * 64 + 2.0 * 32 * 64 * 4);
  CHECK(linear->flops_per_second() > 0);
  CHECK_FALSE(linear->formula.empty());
  CHECK(linear->bytes == (32 * 16 + 64 * 16 + 64 + 32 * 64 + 32 * 64 + 4 * 64 + 4 + 32 * 4) * 4);
  const ProfileRow* adam = find(step.ops, "_adam_step");
  REQUIRE(adam);
  CHECK(adam->self_ns[size_t(ProfilePhase::optimizer)] > 0);
  CHECK(adam->formula.empty());
  CHECK(adam->flops_per_second() == 0);
  const ProfileRow* loss = find(step.lines, "test:8");
  REQUIRE(loss);
  CHECK(loss->place.line == 8);
  CHECK(loss->self_ns[size_t(ProfilePhase::backward)] > 0);
  // A layer by its path, and ops outside of modules.
  const ProfileRow* outside = find(step.modules, "");
  REQUIRE(outside);
  double inside = 0;
  for (const ProfileRow& row : step.modules)
    if (!row.name.empty()) inside += row.self();
  CHECK(inside > 0);
}

TEST_CASE("memory is split into weights, gradients, saved values and the optimizer's states") {
  const auto view = profile_of_run(kNetwork, 3000);
  REQUIRE(view);
  REQUIRE(view->steps.size() >= 2);
  const StepProfile& step = *view->steps.back();
  REQUIRE_FALSE(step.memory.empty());
  const auto part = [](const MemorySample& sample, MemoryPart which) { return sample.bytes[size_t(which)]; };
  double most_gradients = 0, most_saved = 0;
  for (const MemorySample& sample : step.memory) {
    CHECK(part(sample, MemoryPart::weights) == kParameters);
    CHECK(part(sample, MemoryPart::optimizer) == 2 * kParameters);
    most_gradients = std::max(most_gradients, part(sample, MemoryPart::gradients));
    most_saved = std::max(most_saved, part(sample, MemoryPart::saved));
    CHECK(sample.sum() <= step.memory[step.peak].sum());
  }
  CHECK(most_gradients == kParameters);
  CHECK(most_saved > 32 * 64 * 4);  // at least the output of relu
  CHECK(part(step.memory.back(), MemoryPart::saved) == 0);
  CHECK(part(step.memory.back(), MemoryPart::gradients) == kParameters);
}

TEST_CASE("ops called by ops are counted once") {
  ProfileNotes notes;
  notes.end = 1000;
  // exp and sum inside the first softmax, which itself is inside add; then one alone, in backward.
  notes.calls = {note("exp", 110, 20), note("sum", 140, 30), note("softmax", 100, 100), note("add", 50, 200),
                 note("mul", 500, 50, ProfilePhase::backward)};
  notes.passes_ticks = 80;
  const auto step = profile_of(notes);
  const auto ns = [](uint64_t ticks) { return doctest::Approx(ticks_to_ns(ticks)); };
  CHECK(find(step->ops, "exp")->self() == ns(20));
  CHECK(find(step->ops, "softmax")->self() == ns(50));
  CHECK(find(step->ops, "softmax")->total_ns == ns(100));
  CHECK(find(step->ops, "add")->self() == ns(100));
  CHECK(step->spans[0].depth == 2);
  CHECK(step->spans[2].depth == 1);
  CHECK(step->spans[3].depth == 0);
  CHECK(step->spans[4].depth == 0);
  CHECK(step->forward_ns == ns(200));
  CHECK(step->backward_ns == ns(80));
  CHECK(step->walk_ns == ns(30));
  CHECK(step->script_ns == ns(720));
}

TEST_CASE("waiting for the device counts only outside of calls and passes") {
  ProfileNotes notes;
  notes.end = 1000;
  notes.calls = {note("exp", 0, 100)};
  notes.passes = {{200, 100}};
  notes.passes_ticks = 100;
  notes.waits = {{50, 20}, {120, 30}, {250, 10}, {600, 300}};  // within a call, alone, within a pass, alone
  const auto step = profile_of(notes);
  const auto ns = [](uint64_t ticks) { return doctest::Approx(ticks_to_ns(ticks)); };
  REQUIRE(step->waits.size() == 2);
  CHECK(step->waits[1].start_ns == ns(600));
  CHECK(step->waiting_ns == ns(330));
  CHECK(step->script_ns == ns(470));
  CHECK(merge_profiles(std::vector{step, step}).waiting_ns == ns(660));
  ProfileView view;
  view.steps = {step};
  CHECK(trace_json(view).find(kWaiting) != std::string::npos);
}

TEST_CASE("a module's time includes its submodules") {
  ProfileNotes notes;
  notes.end = 1000;
  notes.calls = {note("exp", 0, 100), note("exp", 200, 50), note("exp", 300, 25)};
  notes.calls[0].module = intern("net.body.1");
  notes.calls[1].module = intern("net.body");
  notes.calls[2].module = intern("network");
  const auto step = profile_of(notes);
  const auto ns = [](uint64_t ticks) { return doctest::Approx(ticks_to_ns(ticks)); };
  REQUIRE(find(step->modules, "net"));
  CHECK(find(step->modules, "net")->total_ns == ns(150));
  CHECK(find(step->modules, "net")->self() == 0);
  CHECK(find(step->modules, "net.body")->total_ns == ns(150));
  CHECK(find(step->modules, "net.body")->self() == ns(50));
  CHECK(find(step->modules, "net.body.1")->total_ns == ns(100));
  CHECK(find(step->modules, "network")->total_ns == ns(25));
}

TEST_CASE("work of pool threads and devices is linked to the calls that it was for") {
  ProfileNotes notes;
  notes.end = 1000;
  notes.calls = {note("mul", 110, 40), note("silu", 100, 100), note("add", 300, 50)};
  notes.workers = {
      {"pool 1", Worker::pool, {{120, 120, 20}, {310, 310, 30}}},
      {"loader 1", Worker::loader, {{120, 120, 400}}},
      {"vulkan", Worker::device, {{130, 400, 60, intern("matmul f32")}, {160, 460, 10}, {250, 470, 5}}}};
  const auto step = profile_of(notes);
  REQUIRE(step->lanes.size() == 3);
  const auto ns = [](uint64_t ticks) { return doctest::Approx(ticks_to_ns(ticks)); };
  const auto& [pool, loader, device] = std::tie(step->lanes[0], step->lanes[1], step->lanes[2]);
  CHECK(pool.busy_ns == ns(50));
  CHECK(pool.blocks[0].span == 0);  // the innermost call
  CHECK(pool.blocks[1].span == 2);
  CHECK(pool.blocks[1].start_ns == ns(310));
  CHECK(loader.blocks[0].span == -1);
  CHECK(device.blocks[1].span == 1);
  CHECK(device.blocks[2].span == -1);  // between two calls: a copy
  ProfileView view;
  view.steps = {step};
  const json trace = json::parse(trace_json(view));
  std::vector<std::string> kernels;
  for (const json& event : trace["traceEvents"])
    if (event.value("cat", "") == "device" && event.contains("args"))
      kernels.push_back(event["args"]["kernel"]);
  CHECK(kernels == std::vector<std::string>{"matmul f32"});
  CHECK(find(step->ops, "mul")->device_ns == ns(60));
  CHECK(find(step->ops, "silu")->device_ns == ns(10));
  CHECK(find(step->ops, "add")->device_ns == 0);
}

TEST_CASE("the threads of the pool and of a data loader have lanes, named in the trace") {
  const int threads = thread_count();
  set_thread_count(2);
  const auto view = profile_of_run(R"(
local lg = require "lunagrad"
local set = lg.data.TensorDataset(lg.randn(512, 64))
local next_batch = lg.data.DataLoader(set, {batch_size = 64, workers = 2}):cycle()
local w = lg.randn(1 << 20)
for step in lg.run.steps(tonumber(arg[1])) do
  local x = next_batch()
  for _ = 1, 20 do w:exp() end
end)",
                                   12);
  set_thread_count(threads);
  REQUIRE(view);
  double pool = 0;
  bool loader = false, nested = true;
  for (const auto& step : view->steps)
    for (const ProfileLane& lane : step->lanes) {
      loader |= lane.kind == Worker::loader && !lane.blocks.empty();
      if (lane.kind == Worker::pool) pool += lane.busy_ns;
      double end = 0;
      for (const ProfileLane::Block& block : lane.blocks) {
        nested &= block.start_ns >= end - 1 && block.start_ns + block.length_ns <= step->length_ns + 1;
        end = block.start_ns + block.length_ns;
      }
    }
  CHECK(pool > 0);
  CHECK(loader);
  CHECK(nested);
  CHECK(trace_json(*view).find("\"pool 1\"") != std::string::npos);
}

TEST_CASE("measuring costs a run little") {
  // Processor time of the session's thread, alternating, so that other load does not count.
  const auto cost = [](bool watched) {
    Recorder recorder;
    recorder.session.watch_profile(watched);
    REQUIRE(recorder.finish(R"(
      local lg = require "lunagrad"
      local nn, F = lg.nn, lg.nn.functional
      local net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
      local x, y = lg.randn(64, 64), lg.randint(0, 10, {64})
      local begin = os.clock()
      for step in lg.run.steps(600) do
        F.cross_entropy(net(x), y):backward()
        net:zero_grad()
      end
      print(os.clock() - begin)
    )") == Outcome::ok);
    return std::stod(recorder.output());
  };
  std::vector<double> ratios;
  for (int i = 0; i < 7; ++i) {
    const double plain = cost(false);
    ratios.push_back(cost(true) / plain);
  }
  std::sort(ratios.begin(), ratios.end());
  MESSAGE("processor time with the profiler, beside that without: " << ratios[3] << " (median of 7)");
  CHECK_TIME(ratios[3] < 1.15);
}

TEST_CASE("steps are skipped so that measuring costs little, and all are counted") {
  const auto view = profile_of_run(R"(
    local lg = require "lunagrad.core"
    local w = lg.ones(3, {requires_grad = true})
    for step in lg.run.steps(2000) do local loss = (w * w):sum() loss:backward() w.grad = nil end)",
                                   0);
  REQUIRE(view);
  CHECK(view->measured > 0);
  CHECK(view->passed_over > view->measured);
  CHECK(view->measured + view->passed_over == 2000);
  CHECK(view->steps.size() <= 16);
}

TEST_CASE("without a viewer nothing is measured; a reset clears the profile") {
  Recorder recorder;
  RunOptions options;
  options.arguments = {"3"};
  REQUIRE(recorder.finish(kNetwork, options) == Outcome::ok);
  CHECK_FALSE(recorder.session.profile());
  recorder.session.watch_profile(true);
  REQUIRE(recorder.finish(kNetwork, options) == Outcome::ok);
  REQUIRE(recorder.session.profile());
  recorder.session.reset_profile();
  CHECK_FALSE(recorder.session.profile());
  REQUIRE(recorder.finish(kNetwork, options) == Outcome::ok);
  REQUIRE(recorder.session.profile());
  CHECK(recorder.session.profile()->measured <= 5);
}

TEST_CASE("time in a pause does not count") {
  Recorder recorder;
  recorder.session.watch_profile(true);
  recorder.also = [&](const Event& event) {
    if (event.kind == Event::Kind::step && event.step == 4) recorder.session.pause();
  };
  const double begun = seconds_of(CLOCK_MONOTONIC);
  // Steps so long that every second is measured: the next one makes up for its cost.
  recorder.run(R"(
    local lg = require "lunagrad.core"
    for step in lg.run.steps(6) do
      local start = os.clock()
      lg.ones(4)
      while os.clock() - start < 0.03 do end
    end)");
  REQUIRE(recorder.reaches(SessionState::paused));
  const double paused = seconds_of(CLOCK_MONOTONIC);
  CHECK(recorder.eval("local start = os.clock() while os.clock() - start < 0.3 do end"));
  const double pause = seconds_of(CLOCK_MONOTONIC) - paused;
  recorder.session.resume();
  REQUIRE(recorder.session.wait() == Outcome::ok);
  const double whole = seconds_of(CLOCK_MONOTONIC) - begun;
  REQUIRE(recorder.session.profile());
  bool found = false;
  double steps = 0;  // seconds
  for (const auto& step : recorder.session.profile()->steps) {
    found |= step->step == 5;  // the step with the pause
    CHECK(step->length_ns >= 5e6);
    steps += 1e-9 * double(step->length_ns);
  }
  CHECK(steps <= whole - pause);
  CHECK(found);
}

TEST_CASE("the trace is Chrome's JSON format, with blocks inside their steps") {
  const auto view = profile_of_run(kNetwork, 3000);
  REQUIRE(view);
  const json trace = json::parse(trace_json(*view));
  size_t blocks = 0, counters = 0;
  double begin = 0, end = 0;
  for (const json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "C") {
      ++counters;
      CHECK(event.at("args").contains("weights"));
    }
    if (phase != "X") continue;
    ++blocks;
    const double start = event.at("ts"), length = event.at("dur");
    CHECK(length >= 0);
    if (event.at("cat") == "step") {
      begin = start;
      end = start + length;
    } else {
      CHECK(start >= begin - 1);
      CHECK(start + length <= end + 1);
    }
  }
  CHECK(blocks > 20);
  CHECK(counters > 10);
}

TEST_CASE("pictures, histograms and texts are sent as events") {
  Recorder recorder;
  RunOptions options;
  options.interactive = true;
  REQUIRE(recorder.finish(R"(
    local lg = require "lunagrad"
    for step in lg.run.steps(2) do
      lg.run.image("grey", lg.tensor{{0, 0.5}, {1, 2}})
      lg.run.image("colour", lg.tensor{{{255}}, {{128}}, {{0}}}:to("u8"))
      lg.run.histogram("values", lg.tensor{1, 2, 3, 0 / 0})
      lg.run.text("note", "step " .. step)
    end)",
                          options) == Outcome::ok);
  const auto images = recorder.events(Event::Kind::image);
  REQUIRE(images.size() == 4);
  CHECK(images[0].text == "grey");
  CHECK(images[0].step == 1);
  CHECK(images[2].step == 2);
  const Media& grey = *images[0].media;
  CHECK(grey.width == 2);
  CHECK(grey.height == 2);
  CHECK(grey.pixels == std::vector<uint32_t>{0xff000000, 0xff808080, 0xffffffff, 0xffffffff});
  CHECK(images[1].media->pixels == std::vector<uint32_t>{0xff0080ff});
  const auto histograms = recorder.events(Event::Kind::histogram);
  REQUIRE(histograms.size() == 2);
  CHECK(histograms[0].media->count == 4);
  CHECK(histograms[0].media->nans == 1);
  CHECK(histograms[0].media->mean == doctest::Approx(2));
  CHECK(histograms[0].media->edges.size() == histograms[0].media->counts.size() + 1);
  const auto texts = recorder.events(Event::Kind::text);
  REQUIRE(texts.size() == 2);
  CHECK(texts[1].media->text == "step 2");
}

TEST_CASE("the latest batch of a data loader can be viewed, and is released without a viewer") {
  Recorder recorder;
  const auto batch = [&] {
    std::promise<BatchView> answer;
    recorder.session.batch(6, [&](BatchView view) { answer.set_value(std::move(view)); });
    return answer.get_future().get();
  };
  const std::string code = R"(
    local lg = require "lunagrad"
    local set = lg.data.TensorDataset(lg.arange(40):reshape(10, 4):float(), lg.arange(10))
    for x, y in lg.data.DataLoader(set, {batch_size = 4}) do last = x end
    last:add_(1))";
  REQUIRE(recorder.finish(code) == Outcome::ok);
  CHECK_FALSE(batch().available);
  recorder.session.watch_data(true);
  REQUIRE(recorder.finish(code) == Outcome::ok);
  const BatchView view = batch();
  REQUIRE(view.available);
  CHECK(view.batch == 3);
  CHECK(view.batches == 3);
  CHECK(view.loader.find("10 samples") != std::string::npos);
  REQUIRE(view.columns.size() == 2);
  CHECK(view.columns[0].shape == std::vector<int64_t>{2, 4});
  CHECK(view.columns[0].values == std::vector<float>{33, 34, 35, 36, 37, 38});
  CHECK(view.columns[0].note.find("written to since") != std::string::npos);
  CHECK(view.columns[1].values == std::vector<float>{8, 9});
  CHECK(view.columns[1].note.empty());
}
