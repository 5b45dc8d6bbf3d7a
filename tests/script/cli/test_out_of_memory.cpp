// Allocations that fail, one or all after some point: a run ends with 0 and whole results, or with 8.
#include <doctest/doctest.h>

#include "folders.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad::test;

TEST_CASE("with failing allocations a run is whole or ends with exit code 8") {
  if (lunagrad::tests::kSanitized) return;  // their allocator takes the place of malloc itself
  const Folder folder;
  std::string module = "local t = {}\n";
  for (int i = 0; i < 2000; ++i) module += "t[#t + 1] = 'line " + std::to_string(i) + "'\n";
  folder.write("lines.lua", module + "return t\n");
  folder.write("long.lua",
               "local lg, t = require 'lunagrad', require 'lines'\nprint(#t, lg.ones(3):sum():item())\n");
  int whole = 0, refused = 0;
  for (const char* kind : {"FAIL_AT", "FAIL_FROM"}) {
    for (double n = 1; n < 60000; n = n * (lunagrad::tests::long_run() ? 1.015 : 1.35) + 1) {
      const std::string point = std::to_string(int64_t(n));
      const Finished run = folder.run({"run", "long.lua", "--timeout", "60"}, "",
                                      {"LD_PRELOAD=" LUNAGRAD_FAILING_MALLOC, kind + ("=" + point)});
      INFO(std::string(kind), "=", point, ": ", run.err.substr(0, 400));
      if (run.code == 0) {
        CHECK(run.out == "2000\t3.0\n");
        ++whole;
      } else {
        CHECK(run.code == 8);
        ++refused;
      }
    }
  }
  CHECK(whole > 0);
  CHECK(refused > 10);
}

TEST_SUITE_END();
