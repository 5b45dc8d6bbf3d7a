// The classic ways to keep graphs alive: each is found, with its owner and its line; and scripts that release
// their graphs are not suspected.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>

#include "script/leaks/owner_past.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// `before` is line 5 of the script, `in_step` line 12.
std::vector<Leak> leaks_of(const std::string& before, const std::string& in_step, int steps = 12,
                           const std::string& backward = "loss:backward()") {
  Recorder recorder;
  RunOptions options;
  options.leaks = size_t(1) << 20;
  const Outcome outcome = recorder.finish(
      "local lg = require 'lunagrad'\nlocal nn, F = lg.nn, lg.nn.functional\n"
      "local model = nn.Linear(4, 4)\nlocal opt = lg.optim.SGD(model:parameters(), {lr = 0.01, momentum = "
      "0.9})\n" +
          before + "\nfor step in lg.run.steps(" + std::to_string(steps) +
          ") do\nopt:zero_grad()\nlocal out = model(lg.randn(8, 4))\nlocal loss = (out * out):mean()\n" +
          backward + "\nopt:step()\n" + in_step + "\nend",
      options);
  CHECK(recorder.error() == "");
  CHECK(outcome == Outcome::ok);
  const std::shared_ptr<const LeakReport> report = recorder.session.leaks();
  REQUIRE(report);
  CHECK(report->steps == steps);
  return report->leaks;
}

}  // namespace

TEST_CASE("each classic leak is found, with its owner and line") {
  struct Case {
    const char *before, *in_step, *owner;
    int line;
    const char* backward = "loss:backward()";
  };
  const char* const kRetain = "loss:backward {retain_graph = true}";
  const Case cases[] = {
      {"local total = lg.tensor(0.)", "total = total + loss", "local total", 5},
      {"local outputs = {}", "outputs[#outputs + 1] = out", "local outputs[*]", 5},
      {"losses = {}", "losses[#losses + 1] = loss", "global losses[*]", 5},
      {"", "model.weight:register_hook(function() local _ = out end)",
       "upvalue out of test:12, in the hook of test:12", 12},
      {"local cache = {by_step = {}}", "cache.by_step[step] = out", "local cache.by_step[*]", 5},
      {"local keeper = coroutine.wrap(function() local held = {} while true do held[#held + 1] = "
       "coroutine.yield() end end) keeper()",
       "keeper(out)", "local held[*] of a coroutine, in upvalue (of a C function), in local keeper", 5},
      {"local function new() local history = {} return function(x) history[#history + 1] = x end end local "
       "record = new()",
       "record(loss)", "upvalue history[*] of test:5, in local record", 5},
      {"local object = setmetatable({}, {__index = {}})", "getmetatable(object).__index[step] = out",
       "local object.<metatable>.__index[*]", 5},
      {"local net = {last_hidden = lg.zeros(8, 4)}",
       "net.last_hidden = (model(lg.ones(8, 4)) + net.last_hidden):tanh() net.last_hidden:sum():backward "
       "{retain_graph = true}",
       "local net.last_hidden", 5},
      {"local buffer = {}",
       "buffer[#buffer + 1] = {state = lg.ones(4), value = model(lg.ones(4)):mean()} if #buffer > 8 then "
       "table.remove(buffer, 1) end",
       "local buffer[*].value", 12},
      {"local kept = {}", "kept[step] = loss", "local kept[*]", 5, kRetain},
      {"", "opt:add_param_group {params = {nn.Parameter(lg.ones(4))}}", "local opt.param_groups[*].params[*]",
       4},
      {"local memo = {}", "memo['step ' .. step] = out", "local memo[*]", 5},
      {"local seen = {} model:register_forward_hook(function(_, _, y) seen[#seen + 1] = y end)", "",
       "local seen[*]", 5},
      {"local weak, keys = setmetatable({}, {__mode = 'k'}), {}", "keys[step] = {} weak[keys[step]] = out",
       "local weak[*]", 5},
      {"local results = {}", "results[step] = {pcall(function() return out end)}", "local results[*][*]", 5},
      {"local last local function handler() return last end",
       "local before = handler last = out handler = function() return before, out end",
       "upvalue out of test:12, in upvalue before of test:12, in local handler", 12},
      {"local newest", "newest = {older = newest, out = out}", "local newest.older.out", 12},
      {"", "_G['loss ' .. step] = loss", "global *", 0},
      {"package.loaded.statistics = {all = {}}", "require('statistics').all[step] = loss",
       "module statistics.all[*]", 0},
      {"do local all = lg.run.state('all', function() return {} end) function add(x) all[#all + 1] = x end "
       "end",
       "add(loss)", "lg.run.state all[*]", 0},
      {"local big = {}", "big[step] = lg.ones(512, 1024)", "local big[*]", 5},
      // Each tensor is small, but together they are not.
      {"local history = {}", "history[step] = lg.ones(64, 1024)", "local history[*]", 5},
      {"local history = {}", "history[#history + 1] = {step, lg.ones(64, 1024)}", "local history[*][*]", 5},
      {"local function new() local kept = {} return function(x) kept[#kept + 1] = x end end local keep = "
       "new()",
       "keep(lg.ones(64, 1024))", "upvalue kept[*] of test:5, in local keep", 5},
      {"local keeper = coroutine.wrap(function() local held = {} while true do held[#held + 1] = "
       "coroutine.yield() end end) keeper()",
       "keeper(lg.ones(64, 1024))",
       "local held[*] of a coroutine, in upvalue (of a C function), in local keeper", 5},
      {"package.loaded.samples = {all = {}}", "require('samples').all[step] = lg.ones(64, 1024)",
       "module samples.all[*]", 0},
      // Not in each step.
      {"local some = {}", "if step % 3 == 0 then some[#some + 1] = lg.ones(512, 1024) end", "local some[*]",
       5},
  };
  for (const Case& one : cases) {
    CAPTURE(one.before);
    CAPTURE(one.in_step);
    const std::vector<Leak> found = leaks_of(one.before, one.in_step, 12, one.backward);
    std::string owners;
    for (const Leak& leak : found) owners += leak.owner + "\n";
    CAPTURE(owners);
    const auto named =
        std::find_if(found.begin(), found.end(), [&](const Leak& leak) { return leak.owner == one.owner; });
    REQUIRE(named != found.end());
    CHECK(named->place.line == one.line);
    CHECK(named->since <= 5);  // a buffer of eight
    CHECK(named->count >= 3);
    CHECK(named->advice != "");
  }
}

TEST_CASE("what is replaced, emptied or used up is no leak") {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"local last", "last = loss"},
      {"local total = 0", "total = total + loss:item()"},
      {"local total = lg.tensor(0.)", "total = total + loss:detach()"},
      {"local history = {}", "history[step] = loss:detach()"},
      {"local average = model.weight:detach():clone()",
       "average:mul_(0.9):add_(model.weight:detach() * 0.1)"},
      {"local fixed = (model.weight * 2):sum()", ""},
      {"local best", "if not best or loss:item() < best:item() then best = loss end"},
      // A window of steps whose losses wait for their backward pass.
      {"local waiting = {}",
       "waiting[#waiting + 1] = model(lg.ones(4)):mean() if #waiting == 5 then local sum = 0 for _, x in "
       "ipairs(waiting) do sum = sum + x end sum:backward() waiting = {} end"},
      {"local sum = lg.tensor(0.)",
       "sum = sum + model(lg.ones(8, 4)):mean() if step % 6 == 0 then sum = lg.tensor(0.) end"},
      {"local state = lg.zeros(8, 4)",
       "state = (state.requires_grad and state:detach() or state) + out:detach() state = state * "
       "model.weight:sum()"},
      // Kept by nothing but weak references.
      {"local seen = setmetatable({}, {__mode = 'v'})", "seen[step] = out"},
      {"local seen = setmetatable({}, {__mode = 'k'})", "seen[out] = step seen[{}] = out"},
      // A cache that fills up, and one tensor that is made late.
      {"local cache = {}", "cache[step % 4] = lg.ones(512, 1024)"},
      {"local mask", "mask = mask or lg.ones(512, 1024)"},
      {"local small = {}", "small[step] = lg.ones(16)"},
      {"local handle", "handle = model.weight:register_hook(function() local _ = out end) handle:remove()"},
  };
  for (const auto& [before, in_step] : cases) {
    CAPTURE(before);
    CAPTURE(in_step);
    std::string owners;
    for (const Leak& leak : leaks_of(before, in_step, 25)) owners += leak.owner + "\n";
    CHECK(owners == "");
  }
}

TEST_CASE("a leak is described: how many, since when, where it was made, and what to write") {
  const std::vector<Leak> found = leaks_of("local losses = {}", "losses[#losses + 1] = loss", 20);
  REQUIRE(found.size() == 1);
  const Leak& leak = found[0];
  CHECK(leak.what == Leak::What::tapes);
  CHECK(leak.path == "local losses[1]");
  CHECK(leak.count == 20);
  CHECK(leak.since == 1);
  CHECK(leak.step == 20);
  CHECK(leak.per_step == doctest::Approx(1));
  CHECK(leak.nodes >= 20 * 3);
  CHECK(leak.made.line == 9);
  CHECK(leak.advice.find("x:item()") != std::string::npos);
}

TEST_CASE("a backward pass after the last step takes what was kept for it") {
  CHECK(leaks_of("local kept = {}", "kept[step] = model(lg.ones(4)):mean()").size() == 1);
  CHECK(
      leaks_of(
          "local kept = {}",
          "kept[step] = model(lg.ones(4)):mean() end do local sum = 0 for _, x in ipairs(kept) do sum = sum "
          "+ x end sum:backward()")
          .empty());
}

TEST_CASE("a coroutine that runs the steps is walked from its stack, and a value of the host is named") {
  Recorder recorder;
  RunOptions options;
  options.leaks = 1;
  recorder.finish(
      "local lg = require 'lunagrad'\nlocal w = lg.ones(2):requires_grad_()\nlocal go = "
      "coroutine.wrap(function()\n"
      "local kept = {}\nfor step in lg.run.steps(12) do\nlocal y = (w * "
      "step):sum()\ny:backward()\nkept[step] = y\n"
      "lg.host['sum' .. step] = y\nend\nend)\ngo()",
      options);
  CHECK(recorder.error() == "");
  const std::shared_ptr<const LeakReport> report = recorder.session.leaks();
  REQUIRE(report);
  std::string owners;
  for (const Leak& leak : report->leaks) owners += leak.owner + "\n";
  CAPTURE(owners);
  CHECK(owners.find("lg.host[*]\n") != std::string::npos);
  CHECK(owners.find("local kept[*]\n") != std::string::npos);
  CHECK(report->leaks.size() == 2);
}

TEST_CASE("without the option nothing is walked, and a run without steps has no report") {
  Recorder recorder;
  recorder.finish("local lg = require 'lunagrad' for step in lg.run.steps(3) do end");
  CHECK(!recorder.session.leaks());
  RunOptions options;
  options.leaks = 1;
  recorder.finish("local lg = require 'lunagrad' local kept = {lg.ones(2)}", options);
  CHECK(!recorder.session.leaks());
}

namespace {

// The report of a walk that a viewer asks for at the end of a run without --leaks.
std::shared_ptr<const LeakReport> found_after(Recorder& recorder, const std::string& script) {
  CHECK(recorder.finish(script) == Outcome::ok);
  CHECK_FALSE(recorder.session.leaks());
  std::promise<void> walked;
  recorder.session.find_leaks([&] { walked.set_value(); });
  walked.get_future().get();
  return recorder.session.leaks();
}

constexpr const char* kKeeps = R"(
local lg = require 'lunagrad'
local w = lg.ones(64, {requires_grad = true})
losses, buffer, small = {}, {}, lg.ones(8)
for step in lg.run.steps(20) do
  local loss = (w * step):sum()
  loss:backward()
  losses[#losses + 1] = loss
  if step <= 2 then buffer[step] = lg.zeros(1024, 512) end
end
)";

}  // namespace

TEST_CASE("one walk at the end of a run without the watch finds the leak and lists what is merely held") {
  Recorder recorder;
  const auto report = found_after(recorder, kKeeps);
  REQUIRE(report);
  CHECK(report->looks == 1);
  CHECK(report->step == 20);
  CHECK(report->seconds > 0);
  CHECK(report->complete);
  CHECK_FALSE(report->locals);  // the script has ended
  REQUIRE(report->leaks.size() == 1);
  const Leak& leak = report->leaks[0];
  CHECK(leak.owner == "global losses[*]");
  CHECK(leak.count == 20);
  CHECK(leak.since == 1);
  CHECK(leak.advice.find("no backward pass") == std::string::npos);
  REQUIRE(report->held.size() == 1);
  CHECK(report->held[0].owner == "global buffer[*]");
  CHECK(report->held[0].count == 2);
  CHECK(report->held[0].bytes == 2 * 1024 * 512 * 4);
  CHECK(report->held[0].since == 1);
  CHECK(report->held[0].advice.empty());
}

TEST_CASE(
    "a viewer's watch begins in the middle of a run, knows what is older, and says since when it grows") {
  Recorder recorder;
  recorder.session.watch_leaks(true);
  CHECK(recorder.finish(kKeeps) == Outcome::ok);
  const auto report = recorder.session.leaks();
  REQUIRE(report);
  CHECK(report->looks > 5);
  CHECK(report->locals);
  REQUIRE(report->leaks.size() == 1);
  CHECK(report->leaks[0].growing_since > 0);
  CHECK(report->leaks[0].growing_since < 5);
  REQUIRE(report->held.size() == 1);
  CHECK(report->held[0].growing_since <= 2);
  // It stays on for the next run, until it is switched off.
  recorder.session.watch_leaks(false);
  CHECK(recorder.finish(kKeeps) == Outcome::ok);
  CHECK_FALSE(recorder.session.leaks());
}

TEST_CASE("growth is seen although the walks are few, and a buffer that filled up does not grow") {
  OwnerPast list, buffer, early;
  for (int64_t step = 1; step <= 12; ++step) {
    list.add(step, step, 1);
    buffer.add(step, std::min<int64_t>(step, 5), 1);
    early.add(step, step, 1);
  }
  list.add(1000, 1000, 1);  // no other walk in the second half of the run
  CHECK(list.grows());
  buffer.add(1000, 5, 1);
  CHECK_FALSE(buffer.grows());
  early.add(750, 400, 1);  // it filled up between the walks
  early.add(1000, 400, 1);
  CHECK_FALSE(early.grows());
}

TEST_CASE("a short run is walked in its second half, too") {
  Recorder recorder;
  RunOptions options;
  options.leaks = 1;
  // The walks take longer than the steps.
  CHECK(recorder.finish(
            "local lg = require 'lunagrad' local heap, kept = {}, {} for i = 1, 50000 do heap[i] = {} end "
            "for step in lg.run.steps(400) do if step <= 200 then kept[step] = lg.ones(8) end end",
            options) == Outcome::ok);
  const auto report = recorder.session.leaks();
  REQUIRE(report);
  CHECK(report->looks >= 3);
  CHECK(report->leaks.empty());  // it grew only in the first half
  CHECK(report->held.size() == 1);
}

TEST_CASE("without a run a walk finds nothing") {
  Recorder recorder;
  std::promise<void> walked;
  recorder.session.find_leaks([&] { walked.set_value(); });
  walked.get_future().get();
  CHECK_FALSE(recorder.session.leaks());
}
