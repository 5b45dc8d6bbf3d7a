// The owner of a run: the user's own runs work as before, wherever they lie; other runs ask, and run in the
// sandbox unless they are trusted.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "script/trust/marks.h"
#include "tests/script/trust/folders.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Runs `program` in a folder with these variables in place of the user's home.
Finished with_home(const std::string& folder, const std::vector<std::string>& unset_and_set,
                   const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{"env", "-u", "XDG_DATA_HOME"};
  argv.insert(argv.end(), unset_and_set.begin(), unset_and_set.end());
  argv.push_back(kProgram);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Program(argv, "", {}, folder).finish();
}

}  // namespace

TEST_CASE("a user's own runs and bundles ask nothing, moved, copied or resumed") {
  const TwoUsers users;
  users.own_run("r", {"--set", "rate=2"});
  REQUIRE(users.run({"bundle", "r", "-o", "x.run"}).code == 0);
  fs::copy(users.at("r"), users.at("copy"), fs::copy_options::recursive);
  fs::rename(users.at("r"), users.at("moved"));
  for (const char* name : {"copy", "moved", "x.run"}) {
    CAPTURE(name);
    const Finished again = users.run({"repro", name});
    CAPTURE(again.err);
    CHECK(again.code == 0);
    CHECK(again.out.find("reproduced: 4 numbers") != std::string::npos);
  }
  CHECK(users.run({"probe", "moved", "w:sum()"}).code == 0);
  const Finished forked = users.run({"fork", "moved", "--step", "2", "--run-dir", "f"});
  CAPTURE(forked.err);
  REQUIRE(forked.code == 0);
  CHECK(users.run({"probe", "f", "w:sum()"}).code == 0);
  CHECK(users.run({"tape", "diff", "moved:2", "copy:2"}).code != 2);  // no backward pass, but no question
  // Numbers, tapes and logs may be cut or damaged: they are no code.
  users.append("moved/metrics.jsonl", "{\"step\":5,\"metr");
  CHECK(users.run({"probe", "moved", "w:sum()"}).code == 0);
}

TEST_CASE("edits, reloads and lines of a resumed run have marks that follow each other") {
  const Folder folder;
  folder.write(
      "train.lua",
      "local lg = require 'lunagrad'\nlocal w = lg.run.state('w', function() return lg.zeros(1) end)\n"
      "for step in lg.run.steps(6) do w:add_(1) lg.run.log{y = w:sum()} lg.run.checkpoint() end\n");
  CHECK(folder.run({"run", "train.lua", "--run-dir", "r", "--stop-at", "3"}).code == 130);
  CHECK(folder.run({"run", "train.lua", "--resume", "r"}).code == 0);
  CHECK(folder.run({"run", "train.lua", "--resume", "r/checkpoints/step-00000002.safetensors"}).code == 0);
  const RunOrigin origin = origin_of_run(folder.path() + "/r");
  CAPTURE(origin.why);
  CHECK(origin.own);
  CHECK(origin.last_mark != origin.run_id);
  CHECK(folder.run({"probe", "r", "w:sum()", "--from", "5"}).code == 0);
}

TEST_CASE("the key is a file that the user alone can read, the same for programs that start at once") {
  const Folder folder;
  folder.write("a.lua", "local lg = require 'lunagrad' for s in lg.run.steps(1) do lg.run.log{y = s} end");
  std::vector<std::unique_ptr<Program>> programs;
  const std::string home = "XDG_DATA_HOME=" + folder.path() + "/home";
  for (int i = 0; i < 4; ++i)
    programs.push_back(std::make_unique<Program>(
        std::vector<std::string>{kProgram, "run", "a.lua", "--run-dir", "r" + std::to_string(i)}, "",
        std::vector<std::string>{home}, folder.path()));
  for (auto& program : programs) CHECK(program->finish().code == 0);
  const std::string key = folder.path() + "/home/lunagrad/trust/key";
  struct stat status {};
  REQUIRE(stat(key.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
  CHECK(fs::file_size(key) == 32);
  for (int i = 0; i < 4; ++i) CHECK(folder.run({"repro", "r" + std::to_string(i)}, "", {home}).code == 0);
  // A key that others can read, or a link to one, marks nothing.
  fs::permissions(key, fs::perms::owner_read | fs::perms::others_read);
  const Finished open = folder.run({"repro", "r0"}, "", {home});
  CHECK(open.code == 2);
  CHECK(open.err.find("is not a file that this user alone can read") != std::string::npos);
  fs::permissions(key, fs::perms::owner_read);
  fs::rename(key, key + "-other");
  fs::create_symlink(key + "-other", key);
  CHECK(folder.run({"repro", "r0"}, "", {home}).code == 2);
}

TEST_CASE("without a home a run works as ever, and is foreign later") {
  const Folder folder;
  folder.write("a.lua", "local lg = require 'lunagrad' for s in lg.run.steps(2) do lg.run.log{y = s} end");
  const std::vector<std::vector<std::string>> homes{
      {"-u", "HOME"}, {"HOME=/proc"}, {"HOME=/nonexistent"}, {"HOME=relative"}};
  for (size_t i = 0; i < homes.size(); ++i) {
    CAPTURE(i);
    const std::string run = "r" + std::to_string(i);
    const Finished made = with_home(folder.path(), homes[i], {"run", "a.lua", "--run-dir", run});
    CHECK(made.code == 0);
    CHECK(made.err == "run saved in " + run + "\n");
    CHECK(read_file(folder.path() + "/" + run + "/config.json").find("\"mark\"") == std::string::npos);
    const Finished asked = with_home(folder.path(), homes[i], {"repro", run});
    CHECK(asked.code == 2);
    CHECK(asked.err.find("key") != std::string::npos);
    CHECK(asked.err.find("--trust") != std::string::npos);
    CHECK(asked.err.find("--sandbox") != std::string::npos);
    CHECK(with_home(folder.path(), homes[i], {"repro", run, "--trust"}).code == 0);
    CHECK(with_home(folder.path(), homes[i], {"repro", run}).code == 2);  // nowhere to remember it
  }
}

TEST_CASE("trust is remembered for what was trusted, and for nothing else") {
  const TwoUsers users;
  const std::string run = users.evil_run("r", {users.secret});
  CHECK(users.run({"repro", run}).code == 2);
  CHECK(!fs::exists(users.pwned));
  CHECK(users.run({"repro", run, "--trust"}).code != 2);
  CHECK(fs::exists(users.pwned));  // it had the user's rights
  CHECK(users.run({"repro", run}).code != 2);
  CHECK(users.run({"probe", run, "STOLEN"}).code == 0);
  // Bundling a run does not change its owner.
  REQUIRE(users.run({"bundle", run, "-o", "x.run", "--trust"}).code == 0);
  CHECK(users.run({"repro", "x.run"}).code == 2);
  CHECK(users.run({"repro", run, "--trust", "--sandbox"}).code == 2);
  users.change_text(run + "/script.lua", "stolen", "taken ");
  users.change_config(run, [](auto& config) { config.erase("scripts"); });
  CHECK(users.run({"repro", run}).code == 2);
}

TEST_CASE("on a terminal a question shows what would run, and has three answers") {
  const TwoUsers users;
  const std::string run = users.evil_run("r", {users.secret});
  users.change_config(run, [](auto& config) { config["script"] = "ev\x1b[2Jil.lua"; });
  const std::string home = "XDG_DATA_HOME=" + users.at("home");
  const auto asked = [&](const std::string& answer) {
    TerminalProgram program({kProgram, "repro", users.at(run)}, {home, "TERM=xterm"});
    REQUIRE(program.wrote("n: do not run it"));
    CHECK(!fs::exists(users.pwned));
    program.type(answer);
    const int code = program.finish();
    CHECK(program.screen().find("was not made by you here") != std::string::npos);
    CHECK(program.screen().find("ev\\x1b[2Jil.lua") != std::string::npos);
    CHECK(program.screen().find("| local lg = require") != std::string::npos);
    return std::pair(code, program.screen());
  };
  CHECK(asked("\n").first == 2);
  CHECK(asked("yes\n").first == 2);
  CHECK(!fs::exists(users.pwned));
  const auto [boxed, screen] = asked("s\n");
  CHECK(boxed == 0);
  CHECK(screen.find("stolen 0") != std::string::npos);
  CHECK(!fs::exists(users.pwned));
  CHECK(asked("t\n").first == 0);
  CHECK(fs::exists(users.pwned));
}

TEST_CASE("a run of somebody else is repeated in the sandbox with its own modules") {
  const TwoUsers users;
  fs::create_directories(users.at("theirs/lib"));
  users.folder.write("theirs/lib/scale.lua", "return 3\n");
  users.folder.write("theirs/train.lua",
                     "local lg = require 'lunagrad'\nlocal scale = require 'lib.scale'\n"
                     "local w = lg.run.state('w', function() return lg.zeros(1) end)\n"
                     "for step in lg.run.steps(4) do w:add_(scale) lg.run.log{y = w:sum()} end\n");
  REQUIRE(users.as_attacker({"run", "train.lua", "--run-dir", "r"}).code == 0);
  REQUIRE(users.as_attacker({"bundle", "r", "-o", "x.run"}).code == 0);
  for (const char* name : {"theirs/r", "theirs/x.run"}) {
    const Finished again = users.run({"repro", name, "--sandbox"});
    CAPTURE(again.err);
    CHECK(again.code == 0);
  }
  const Finished forked = users.run({"fork", "theirs/r", "--step", "2", "--run-dir", "f", "--sandbox"});
  CAPTURE(forked.err);
  CHECK(forked.code == 0);
  const Finished probed = users.run({"probe", "f", "w:sum()"});  // the user's own, in the sandbox
  CAPTURE(probed.err);
  CHECK(probed.code == 0);
}

TEST_CASE("limits of time and memory hold for runs of others") {
  const TwoUsers users;
  users.folder.write("theirs/loop.lua",
                     "local lg = require 'lunagrad'\n"
                     "for step in lg.run.steps(2) do lg.run.log{y = step} if arg[1] then "
                     "local t = lg.zeros(1 << 24) end end\n");
  REQUIRE(users.as_attacker({"run", "loop.lua", "--run-dir", "r", "--", "more"}).code == 0);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"repro", "theirs/r"}, {"probe", "theirs/r", "1"}}) {
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--sandbox", "--memory", "16"});
    const Finished finished = users.run(limited);
    CAPTURE(finished.err);
    CHECK(finished.code != 0);
    CHECK(finished.err.find("memory") != std::string::npos);
    CHECK(users.run({command[0], command[1], "--sandbox", "--timeout", "0"}).code == 2);
  }
  users.change_text("theirs/r/script.lua", "for step", "while true do string.rep('x', 10) end for step");
  users.change_config("theirs/r", [](auto& config) { config.erase("scripts"); });
  const Folder temporary;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"repro", "theirs/r"}, {"probe", "theirs/r", "1"}, {"fork", "theirs/r", "--step", "1"}}) {
    std::vector<std::string> limited = command;
    limited.insert(limited.end(), {"--sandbox", "--timeout", "0.5"});
    CHECK(users.folder.run(limited, "", {"TMPDIR=" + temporary.path()}).code == 124);
    CHECK(fs::is_empty(temporary.path()));
  }
}
