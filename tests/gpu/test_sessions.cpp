// Sessions whose script makes a call that the device finds faulty, or values that are not finite there: the
// script gets the error, regardless of what viewers read, and the session continues.
#include <doctest/doctest.h>

#include <cmath>

#include "gpu/device/device.h"
#include "runtime/ops.h"
#include "script/inspect/finite_sentry.h"
#include "tests/gpu/compare.h"
#include "tests/support/files.h"
#include "tests/support/recorder.h"

namespace lunagrad::tests {
namespace {

const std::string kHead = R"(local lg = require "lunagrad"
local w = lg.randn(10, 4):to("vulkan"):requires_grad_()
local ids = lg.tensor({1, 50}, {dtype = "i64"}):to("vulkan")
)";

// With a folder, so that the tapes of the first steps are recorded.
Outcome run_script(Recorder& recorder, const std::string& code, const std::string& device, bool watched) {
  const Folder folder;
  recorder.session.watch_tape(watched);
  recorder.session.watch_statistics(watched);
  RunOptions options;
  options.device = device;
  options.run_directory = folder.file("run");
  recorder.session.run_text(code, "test", options);
  return recorder.session.wait();
}

TEST_CASE("a fault of a call on the device is the script's error, wherever its result is read") {
  const std::pair<const char*, const char*> scripts[] = {
      {"read in a step", R"(for step in lg.run.steps(3) do
  print(w:index_select(1, ids):sum():item())
end)"},
      {"read after a pass", R"(local loss = w:index_select(1, ids):sum()
loss:backward()
print(loss:item()))"},
      {"read after a pass of a step", R"(for step in lg.run.steps(3) do
  local loss = w:index_select(1, ids):sum()
  loss:backward()
  print(loss:item())
end)"},
      {"never read by a script without steps", R"(w:index_select(1, ids):sum():backward())"},
      {"never read by steps", R"(for step in lg.run.steps(3) do
  w.grad = nil
  w:index_select(1, ids):sum():backward()
end)"},
      {"never read by a script that ends within its steps", R"(for step in lg.run.steps(3) do
  w:index_select(1, ids):sum():backward()
  break
end)"}};
  for (const char* const device : {"vulkan", "cpu"})
    for (const bool watched : {false, true})
      for (const auto& [name, code] : scripts) {
        CAPTURE(name);
        CAPTURE(device);
        CAPTURE(watched);
        Recorder recorder;
        CHECK(run_script(recorder, kHead + code, device, watched) == Outcome::error);
        CHECK(recorder.error().find("index_select: index 50 at position 2 is out of range") !=
              std::string::npos);
        CHECK(run_script(recorder, "print 'next'", device, watched) == Outcome::ok);
        CHECK(recorder.output() == "next\n");
      }
}

TEST_CASE("a script that catches the fault of a call goes on, wherever its result is read") {
  Recorder recorder;
  CHECK(run_script(recorder, kHead + R"(for step in lg.run.steps(3) do
  local loss = w:index_select(1, ids):sum()
  assert(not pcall(loss.item, loss))
  w.grad = nil
  w:sum():backward()
  assert(w.grad:sum():item() == 40)
end)",
                   "vulkan", false) == Outcome::ok);
  CHECK(recorder.error() == "");
}

TEST_CASE("a backward pass may begin at a complex number") {
  Recorder recorder;
  const std::string code = R"(for step in lg.run.steps(3) do
  w.grad = nil
  local y = lg.complex(w:select(2, 1), w:select(2, 2)):sum()
  y:backward(lg.ones_like(y:detach()))
end
print "done")";
  CHECK(run_script(recorder, kHead + code, "vulkan", true) == Outcome::ok);
  CHECK(recorder.output() == "done\n");
}

TEST_CASE("the parameters that an optimizer has changed are read with one wait") {
  auto& device = dynamic_cast<gpu::VulkanDevice&>(gpu());
  Recorder recorder;
  std::vector<uint64_t> copies;
  recorder.also = [&](const Event& event) {
    if (event.kind == Event::Kind::output) copies.push_back(device.copies_out());
  };
  RunOptions options;
  options.device = "vulkan";
  REQUIRE(recorder.finish(R"(local lg = require "lunagrad"
local weights = {}
for i = 1, 12 do weights[i] = lg.ones(3, {requires_grad = true}) end
local opt = lg.optim.SGD(weights, {lr = 0.1})
for step in lg.run.steps(1) do
  lg.stack(weights):sum():backward()
  print "before"
  opt:step()
  print "behind"
end)",
                          options) == Outcome::ok);
  REQUIRE(copies.size() == 2);
  CHECK(copies[1] - copies[0] == 1);
}

TEST_CASE("losses and parameters of several devices are watched, and no more is kept of a loss than it") {
  std::string reason, rejected;
  const std::shared_ptr<gpu::Instance> instance = gpu::Instance::open(reason);
  REQUIRE(instance);
  gpu::VulkanDevice other("vulkan:1", instance, instance->physical_devices(rejected).front());
  const Tensor good = full({}, 1, DType::f32), bad = full({}, NAN, DType::f32);
  std::vector<FiniteSentry::Found> found;
  FiniteSentry sentry([&](const FiniteSentry::Found& it) { found.push_back(it); }, [] { return false; });
  const auto begin = [&] {
    sentry.set_on(true);
    sentry.begin_run(0);
    sentry.begin_step(1);
  };
  for (const bool first : {true, false}) {
    CAPTURE(first);
    begin();
    sentry.root(to(first ? bad : good, gpu()));
    sentry.begin_step(2);
    sentry.root(to(first ? good : bad, other));
    sentry.end_run();
    REQUIRE(found.size() == 1);
    CHECK(found[0].step == (first ? 1 : 2));
    found.clear();
    begin();
    sentry.stepped({to(first ? bad : good, gpu()), to(first ? good : bad, other)});
    CHECK(found.size() == 1);
    found.clear();
  }
  begin();
  const Tensor losses = to(random({1000}, 1), gpu());
  const uint32_t users = losses.storage().use_count();
  sentry.root(narrow(losses, 0, 5, 1));
  CHECK(losses.storage().use_count() == users);
  sentry.end_run();
  CHECK(found.empty());
}

TEST_CASE("a state of the device that is not finite is not kept as the last good one") {
  Recorder recorder;
  RunOptions options;
  options.device = "vulkan";
  options.interactive = true;
  const std::string code = R"(local lg = require "lunagrad"
local kept = lg.run.state("kept", function() return {w = lg.ones(3)} end)
for step in lg.run.steps(4) do
  if step > 1 then kept.w:mul_(FACTOR) end
  if step == 4 then END end
end
print(kept.w:sum():item()))";
  const auto with = [&](const char* factor, const char* end) {
    std::string text = code;
    text.replace(text.find("FACTOR"), 6, factor);
    return text.replace(text.find("END"), 3, end);
  };
  REQUIRE(recorder.finish(with("0 / 0", "error 'broken'"), options) == Outcome::error);
  recorder.session.reload(with("2", ""));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.texts(Event::Kind::warning).find("goes on after step 1,") != std::string::npos);
  CHECK(recorder.output() == "24.0\n");
}

}  // namespace
}  // namespace lunagrad::tests
