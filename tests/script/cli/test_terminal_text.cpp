// Bytes that control a terminal, from file names, runs and scripts of other authors, are shown as text.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/core/terminal_text.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Clears the screen, sets a title, rings, goes back, turns the direction, and CSI of C1 as a character.
const std::string kHostile = "a\x1b[2J\x1b]0;t\x07\r\x7f\u202e\u009bm";
const std::string kShown = R"(a\u001b[2J\u001b]0;t\u0007\u000d\u007f\u202e\u009bm)";

bool is_clean(const std::string& text) { return terminal_text(text) == text; }

#define CHECK_CLEAN(finished)        \
  do {                               \
    const Finished& it = (finished); \
    INFO(it.out << it.err);          \
    CHECK(is_clean(it.out));         \
    CHECK(is_clean(it.err));         \
  } while (false)

}  // namespace

TEST_CASE("what drives a terminal is shown as text, all else as it is") {
  CHECK(terminal_text(kHostile) == kShown);
  CHECK(terminal_text("tab\t, line\n, é ü 漢 🙂 العربية עברית") ==
        "tab\t, line\n, é ü 漢 🙂 العربية עברית");
  CHECK(terminal_line("a\tb\nc") == R"(a\u0009b\u000ac)");
  CHECK(terminal_text("\u200e\u200f\u061c\u2066\u2069\u2028") == R"(\u200e\u200f\u061c\u2066\u2069\u2028)");
  // Invalid UTF-8: a byte of C1, a longer form of "/", half of a surrogate, the start of a character.
  CHECK(terminal_text("\x9b") == R"(\x9b)");
  CHECK(terminal_text("\xc0\xaf") == R"(\xc0\xaf)");
  CHECK(terminal_text("\xed\xa0\x80") == R"(\xed\xa0\x80)");
  CHECK(terminal_text("a\xe2\x82") == R"(a\xe2\x82)");
  CHECK(terminal_text(std::string("\0", 1)) == R"(\u0000)");
  CHECK(begun_character("a\xe2\x82") == 2);
  CHECK(begun_character("\xe2\x82\xac") == 0);
  CHECK(begun_character("\xf0\x9f\x99") == 3);
  CHECK(begun_character("a") == 0);
  CHECK(begun_character("\x80\x80\x80\x80") == 0);
}

TEST_CASE("names of files and the texts of runs drive no terminal") {
  Folder folder;
  const std::string file = folder.write(kHostile + ".lua", "error('" + std::string(R"(\27[31mred)") + "')");
  const Finished missing = folder.run({"run", "no" + kHostile + ".lua"});
  CHECK_CLEAN(missing);
  CHECK(missing.err.find(kShown) != std::string::npos);
  const Finished failed = folder.run({"run", file, "--run-dir", "out" + kHostile});
  CHECK_CLEAN(failed);
  CHECK(failed.err.find(R"(\u001b[31mred)") != std::string::npos);
  for (const char* command : {"check", "info", "convert", "compare", "repro", kHostile.c_str()})
    CHECK_CLEAN(folder.run({command, "no" + kHostile, "no" + kHostile}));

  const std::string run = "runs/" + kHostile;
  fs::create_directories(folder.path() + "/" + run);
  const nlohmann::json config = {{"script", kHostile},       {"started", kHostile},
                                 {"command_line", kHostile}, {"parameters", {{kHostile, kHostile}}},
                                 {"device", kHostile},       {"steps", 3}};
  folder.write(run + "/config.json", config.dump());
  const nlohmann::json row = {{"step", 1}, {"time", 1}, {"metrics", {{kHostile, 1.0}}}};
  const nlohmann::json words = {{"step", 1}, {"time", 1}, {"text", {{kHostile, kHostile}}}};
  folder.write(run + "/metrics.jsonl", row.dump() + "\n" + words.dump() + "\n" + kHostile + "\n");
  folder.write(run + "/log.txt", kHostile + "\n");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"runs"},
                                             {"runs", "show", run},
                                             {"runs", "ls"},
                                             {"runs", "diff", run, run},
                                             {"check", "runs"},
                                             {"doctor"},
                                             {"tape", run},
                                             {"sweep", "ls", run},
                                             {"bundle", run},
                                             {"info", run + "/config.json"}}) {
    CAPTURE(command.size() > 1 ? command[0] + " " + command[1] : command[0]);
    CHECK_CLEAN(folder.run(command));
  }
}

TEST_CASE("a script prints its own colours, a sandboxed one does not") {
  Folder folder;
  const std::string script = folder.write("a.lua", R"(
print("\27[32mgreen\27[0m\tend")
local lg = require "lunagrad"
lg.run.log {["\27[2J"] = 1}
lg.run._warn "\27[2Jwarned"
)");
  const Finished trusted = folder.run({"run", script, "--progress", "plain"});
  CHECK(trusted.out == "\x1b[32mgreen\x1b[0m\tend\n");
  CHECK_CLEAN((Finished{0, "", trusted.err}));
  const Finished sandboxed = folder.run({"run", script, "--sandbox"});
  CHECK(sandboxed.out == R"(\u001b[32mgreen\u001b[0m)"
                         "\tend\n");
  CHECK_CLEAN(sandboxed);
  // As JSON the bytes are exact.
  const Finished json = folder.run({"run", script, "--json"});
  CHECK(is_clean(json.out));
  CHECK(json.out.find(R"("\u001b[2J":1.0)") != std::string::npos);
  // An evaluated value and an error of the prompt.
  const Finished prompt = folder.run({}, "'\\27[2J'\nerror '\\27[2J'\n");
  CHECK_CLEAN(prompt);
  CHECK(prompt.out.find(R"(\u001b[2J)") != std::string::npos);
}

#undef CHECK_CLEAN
