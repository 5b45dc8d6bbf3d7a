// Sessions whose script makes a call that the device finds faulty, or values that are not finite there: the
// script gets the error, whatever viewers read, and the session goes on.
#include <doctest/doctest.h>

#include "tests/support/files.h"
#include "tests/support/recorder.h"

namespace lunagrad::tests {
namespace {

const std::string kHead = R"(local lg = require "lunagrad"
local w = lg.randn(10, 4):to("vulkan"):requires_grad_()
local ids = lg.tensor({1, 50}, {dtype = "i64"}):to("vulkan")
)";

// With a folder, so that the tapes of the first steps are taken down.
Outcome run(Recorder& recorder, const std::string& code, const std::string& device, bool watched) {
  const Folder folder;
  recorder.session.watch_tape(watched);
  recorder.session.watch_statistics(watched);
  RunOptions options;
  options.device = device;
  options.run_directory = folder.file("run");
  recorder.session.run_text(code, "test", options);
  return recorder.session.wait();
}

TEST_CASE("a fault of a call on the device is the script's error, whoever reads what came of it") {
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
        CHECK(run(recorder, kHead + code, device, watched) == Outcome::error);
        CHECK(recorder.error().find("index_select: index 50 at position 2 is out of range") !=
              std::string::npos);
        CHECK(run(recorder, "print 'next'", device, watched) == Outcome::ok);
        CHECK(recorder.output() == "next\n");
      }
}

TEST_CASE("a script that catches the fault of a call goes on, whoever reads what came of it") {
  Recorder recorder;
  CHECK(run(recorder, kHead + R"(for step in lg.run.steps(3) do
  local loss = w:index_select(1, ids):sum()
  assert(not pcall(loss.item, loss))
  w.grad = nil
  w:sum():backward()
  assert(w.grad:sum():item() == 40)
end)",
            "vulkan", false) == Outcome::ok);
  CHECK(recorder.error() == "");
}

}  // namespace
}  // namespace lunagrad::tests
