// Wrong numbers of options: exit code 2, and which numbers the option takes.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("an option says which numbers it takes") {
  const Folder folder;
  folder.write("steps.lua", "for _ in require('lunagrad').run.steps(3) do end");
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{"run", "steps.lua", "--steps", "3.5"}, "--steps: a whole number from 0 on expected (got '3.5')"},
      {{"run", "steps.lua", "--steps", "99999999999999999999"}, "--steps: a whole number from 0 on"},
      {{"fork", "none", "--step", "x"}, "--step: a whole number from 0 on expected (got 'x'); see"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.message);
    const Finished finished = folder.run(one.arguments);
    CAPTURE(finished.err);
    CHECK(finished.code == 2);
    CHECK(finished.err.find(one.message) != std::string::npos);
  }
}
