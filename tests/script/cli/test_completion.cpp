// `lunagrad completion` and `lunagrad man`: what they print knows every command and flag.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("completions and the manual page know the commands and their flags") {
  const Folder folder;
  folder.write("lunagrad.bash", folder.run({"completion", "bash"}).out);
  const auto complete = [&](const std::string& words, int at) {
    return Program({"bash", "-c",
                    ". ./lunagrad.bash; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                        "; _lunagrad; echo ${COMPREPLY[@]}"},
                   "", {}, folder.path())
        .finish()
        .out;
  };
  CHECK(complete("lunagrad ru", 1) == "run runs\n");
  CHECK(complete("lunagrad runs sh", 2) == "show\n");
  CHECK(complete("lunagrad runs show --js", 3) == "--json\n");
  CHECK(complete("lunagrad run x.lua --se", 3) == "--seed --set\n");
  CHECK(complete("lunagrad run x.l", 2) == "\n");  // then bash completes files
  CHECK(folder.run({"completion", "zsh"}).out.starts_with("#compdef lunagrad\n"));
  CHECK(folder.run({"completion", "fish"}).out.find("from run' -l seed -r -d 'seed of the random") !=
        std::string::npos);
  CHECK(folder.run({"completion", "csh"}).code == 2);
  const std::string page = folder.run({"man"}).out;
  CHECK(page.find(".SS lunagrad runs show\n") != std::string::npos);
  CHECK(page.find("124 time limit") != std::string::npos);
}
