// The prompt of `lunagrad repl` on a terminal: hints for new users.
#include <doctest/doctest.h>

#include "folders.h"
#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("help explains the prompt, exit leaves it, and a lost local is reported") {
  const Folder folder;
  // As in test_cli.cpp: libedit never frees its arguments.
  const std::vector<std::string> env{"TERM=xterm", "XDG_STATE_HOME=" + folder.path(),
                                     "ASAN_OPTIONS=fast_unwind_on_malloc=0",
                                     "LSAN_OPTIONS=suppressions=" LUNAGRAD_SOURCE_DIR "/tests/lsan.supp"};
  for (const char* way_out : {"exit", "quit", " exit() "}) {
    TerminalProgram prompt({kProgram, "repl"}, env);
    const auto says = [&](const char* line, const char* answer) {
      CHECK(prompt.wrote("> "));
      prompt.type(std::string(line) + "\n");
      CHECK_MESSAGE(prompt.wrote(answer), prompt.screen());
    };
    says("help", "?nn.Linear, ");
    says("?", "?nn, ?optim");
    says("local y = 3", "a local lasts for its line here");
    says("y", "\nnil\r\n");
    CHECK(prompt.wrote("> "));
    prompt.type(std::string(way_out) + "\n");
    CHECK(prompt.finish() == 0);
  }
}

TEST_CASE("in a pipe help and exit are ordinary names") {
  const Folder folder;
  CHECK(folder.run({"repl"}, "exit = 4\nhelp\nexit\nlocal x = 1\n").out == "nil\n4\n");
}
