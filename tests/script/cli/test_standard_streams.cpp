// Standard streams that are closed or cannot be written.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

constexpr const char* kPrintingScript =
    "local lg = require 'lunagrad'\n"
    "for step in lg.run.steps(2) do print('printed') lg.run.log{loss = step} end\n";

}  // namespace

TEST_CASE("output to a closed stream does not go into the files of a run") {
  const Folder folder;
  folder.write("a.lua", kPrintingScript);
  const Finished closed =
      Program({"sh", "-c", kProgram + " run a.lua --run-dir run <&- >&- 2>&-"}, "", {}, folder.path())
          .finish();
  CHECK(closed.code == 0);
  const std::string metrics = read_file(folder.path() + "/run/metrics.jsonl");
  CHECK(metrics.starts_with("{\"step\":1,"));
  CHECK(metrics.find("printed") == std::string::npos);
  CHECK(metrics.find("saved") == std::string::npos);
  CHECK(read_file(folder.path() + "/run/config.json").starts_with("{\n"));
}

TEST_CASE("output that fails on a full disk is an error, and the run is complete") {
  const Folder folder;
  folder.write("a.lua", kPrintingScript);
  for (const char* arguments : {"run a.lua --run-dir one", "run a.lua --json --run-dir two", "-e 'print(1)'",
                                "help", "runs --in . ls"}) {
    const Finished full =
        Program({"sh", "-c", kProgram + " " + arguments + " > /dev/full"}, "", {}, folder.path()).finish();
    INFO(arguments);
    CHECK(full.code == 6);
    CHECK(full.err.find("lunagrad: standard output: not all could be written\n") != std::string::npos);
  }
  CHECK(read_file(folder.path() + "/two/metrics.jsonl").find("\"loss\":2") != std::string::npos);
  const Finished failed = Program({"sh", "-c", kProgram + " -e 'print(1) os.exit(9)' > /dev/full"}).finish();
  CHECK(failed.code == 9);
}

TEST_CASE("a script that comes through a pipe is read once, and is checked as a file is") {
  const Folder folder;
  const Finished piped = Program({"sh", "-c",
                                  "printf 'local lg = require [[lunagrad]] local x = lg.ones(2, "
                                  "2)\nprint(#arg)\nprint(x[{{}, nil}])' | " +
                                      kProgram + " run /dev/stdin a b"},
                                 "", {}, folder.path())
                             .finish();
  CHECK_MESSAGE(
      piped.err.find("warning: /dev/stdin:3: the nil at the end of this index is lost") != std::string::npos,
      piped.err);
  CHECK(piped.out.starts_with("2\n"));
}
