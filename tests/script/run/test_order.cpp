// The commands that the window's rank sends to the other ranks.
#include <doctest/doctest.h>

#include "runtime/core/error.h"
#include "script/run/order.h"

using namespace lunagrad;

TEST_CASE("order of a window's rank: script and options arrive as they were, without a run folder") {
  Script script;
  script.path = "train.lua";
  script.name = "@train.lua";
  script.source = "print 'ä\xff'\n";
  script.options.arguments = {"a", "--b"};
  script.options.set = {{"lr", "0.1"}};
  script.options.seed = UINT64_MAX;
  script.options.steps = 12;
  script.options.device = "vulkan";
  script.options.resume = "runs/1";
  script.options.run_directory = "runs/2";
  script.options.guard = GuardLevel::op;
  script.options.edits = {{3, "lr", "0.2"}};
  script.options.sandbox = true;
  script.options.memory = size_t(5) << 30;
  script.options.disk = 1 << 20;
  script.options.folder = "theirs";
  script.options.modules = {{"theirs/m.lua", "return '\xff'"}};
  script.options.stand_ins = {{"data.csv", "/tmp/data.csv"}};
  const Script came = script_of_order(order_text(script));
  CHECK(came.path == script.path);
  CHECK(came.name == script.name);
  CHECK(came.source == script.source);
  CHECK(came.options.source == script.source);
  CHECK(came.options.arguments == script.options.arguments);
  CHECK(came.options.set == script.options.set);
  CHECK(came.options.seed == script.options.seed);
  CHECK(came.options.steps == script.options.steps);
  CHECK(came.options.device == "vulkan");
  CHECK(came.options.resume == "runs/1");
  CHECK(came.options.guard == GuardLevel::op);
  CHECK(came.options.sandbox);
  CHECK(came.options.memory == script.options.memory);
  CHECK(came.options.disk == script.options.disk);
  CHECK(came.options.folder == "theirs");
  CHECK(came.options.modules == script.options.modules);
  CHECK(came.options.stand_ins == script.options.stand_ins);
  REQUIRE(came.options.edits.size() == 1);
  CHECK(came.options.edits[0].value == "0.2");
  CHECK_FALSE(came.options.write_run);
  CHECK(came.options.run_directory.empty());
  Script plain;
  CHECK_FALSE(script_of_order(order_text(plain)).options.seed.has_value());
  CHECK_THROWS_AS(script_of_order("{}"), Error);
}
