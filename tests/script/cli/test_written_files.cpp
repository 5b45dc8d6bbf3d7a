// Files that commands write as a user names them: links, pipes, devices, streams; and names of runs, images
// and scripts that become file names.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "script/run/record.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

const char* const kWrittenFilesScript = R"(
local lg = require "lunagrad"
lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(3) do
  lg.ones(2):requires_grad_():square():sum():backward()
  lg.run.log{loss = step}
  if step == 2 then lg.run.checkpoint() end
end
)";

Finished in_shell(const Folder& folder, const std::string& line) {
  return Program({"bash", "-c", "lunagrad() { " + kProgram + " \"$@\"; }; " + line}, "", {}, folder.path())
      .finish();
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

std::string only_run(const Folder& folder) {
  const std::vector<std::string> runs = find_runs(folder.path() + "/runs");
  REQUIRE(runs.size() == 1);
  return runs[0];
}

}  // namespace

TEST_CASE("commands write through pipes, devices and streams, and follow links") {
  const Folder folder;
  folder.write("a.lua", kWrittenFilesScript);
  REQUIRE(folder.run({"run", "a.lua", "--run-dir", "r"}).code == 0);
  const std::string csv = folder.run({"runs", "export", "r"}).out;
  REQUIRE(csv.starts_with("step,"));
  for (const char* line :
       {"lunagrad runs export r -o /dev/stdout", "lunagrad runs export r -o /dev/fd/1",
        "lunagrad runs export r -o /dev/stdout | cat", "lunagrad runs export r -o >(cat); wait $!",
        "mkfifo p; lunagrad runs export r -o p & cat p; wait", "lunagrad runs export r -o /dev/stderr 2>&1",
        "(lunagrad runs export r -o /dev/stdout) > out; cat out"}) {
    CAPTURE(line);
    const Finished finished = in_shell(folder, line);
    CHECK_MESSAGE(finished.out == csv, finished.err);
    CHECK(finished.code == 0);
  }
  CHECK(fs::is_fifo(folder.path() + "/p"));
  // The output before and after it is kept, in a file too.
  CHECK(in_shell(folder, "(echo a; lunagrad runs export r -o /dev/stdout; echo b) > all; cat all").out ==
        "a\n" + csv + "b\n");
  CHECK(in_shell(folder, "lunagrad -e 'io.write(1) lg.io.csv.save([[/dev/stdout]], lg.ones(1)) print(2)'")
            .out == "11\n2\n");
  const Finished full = in_shell(folder, "lunagrad runs export r -o /dev/full");
  CHECK(full.code == 6);
  CHECK(full.err == "lunagrad runs: /dev/full: cannot write: No space left on device\n");
  CHECK(in_shell(folder, "lunagrad runs export r -o >(exec <&-; sleep 1)").code == 6);

  folder.write("w.csv", "old");
  fs::permissions(folder.path() + "/w.csv", fs::perms(0600));
  fs::create_symlink("w.csv", folder.path() + "/latest.csv");
  fs::create_hard_link(folder.path() + "/w.csv", folder.path() + "/hard.csv");
  CHECK(folder.run({"runs", "export", "r", "-o", "latest.csv"}).code == 0);
  CHECK(fs::is_symlink(folder.path() + "/latest.csv"));
  CHECK(read_file(folder.path() + "/hard.csv") == csv);
  CHECK(mode_of(folder.path() + "/w.csv") == 0600);
}

TEST_CASE("pages, traces, reports, bundles and arrays of commands go where they are named") {
  const Folder folder;
  folder.write("a.lua", kWrittenFilesScript);
  folder.write("t_test.lua", "it('passes', function() end)");
  REQUIRE(folder.run({"run", "a.lua", "--run-dir", "r"}).code == 0);
  struct Case {
    const char *command, *in_it;
  };
  for (const Case& one : {Case{"lunagrad runs export r -o", "<html"},
                          {"lunagrad tape diff r r --html", "<html"},
                          {"lunagrad test t_test.lua --junit", "<testsuite"},
                          {"lunagrad run a.lua --run-dir again --progress none --profile", "traceEvents"},
                          {"lunagrad bundle r -o", "PK"}}) {
    CAPTURE(one.command);
    fs::remove_all(folder.path() + "/again");
    folder.write("kept.html", "old");
    fs::permissions(folder.path() + "/kept.html", fs::perms(0640));
    fs::remove(folder.path() + "/link.html");
    fs::create_symlink("kept.html", folder.path() + "/link.html");
    const std::string command = one.command;
    const std::string force =
        command.find("export") != command.npos || command.find("tape") != command.npos ? " --force" : "";
    if (command.find("bundle") != command.npos) folder.write("kept.html", "");
    if (command.find("bundle") == command.npos) {
      const Finished linked = in_shell(folder, command + " link.html" + force);
      CHECK_MESSAGE(linked.code == 0, linked.err);
      CHECK(fs::is_symlink(folder.path() + "/link.html"));
      CHECK(read_file(folder.path() + "/kept.html").find(one.in_it) != std::string::npos);
      CHECK(mode_of(folder.path() + "/kept.html") == 0640);
    }
    fs::remove_all(folder.path() + "/again");
    // Nothing is asked about a pipe, since nothing is replaced.
    const Finished piped =
        in_shell(folder, "rm -f p.html; mkfifo p.html; " + command + " p.html >&2 & cat p.html; wait $!");
    CHECK_MESSAGE(piped.code == 0, piped.err);
    CHECK(piped.out.find(one.in_it) != std::string::npos);
  }
}

TEST_CASE("scripts with names of any length and bytes have a run's folder, and what reads it reads it") {
  std::string euros = "x";
  for (int i = 0; i < 83; ++i) euros += "\xe2\x82\xac";
  for (const std::string& name : {std::string(251, 'x'), euros, std::string("with spaces and\nnewline"),
                                  std::string("-rf"), std::string("--run-dir"), std::string("\xff\xfe"),
                                  std::string("a\x01\x7f"), std::string("."), std::string("100%s%n")}) {
    CAPTURE(name);
    const Folder folder;
    folder.write(name + ".lua", kWrittenFilesScript);
    const Finished finished = folder.run({"run", "./" + name + ".lua", "--progress", "none"});
    CHECK_MESSAGE(finished.code == 0, finished.err);
    const std::string run = only_run(folder);
    const std::string own = fs::path(run).filename().string();
    CHECK(own.size() < 200);
    CHECK(nlohmann::json(own).dump().find("\\u") == std::string::npos);  // printable UTF-8
    CHECK(folder.run({"runs", "ls"}).out.find("\n\n") == std::string::npos);
    CHECK(folder.run({"runs", "show", own}).code == 0);
    CHECK(folder.run({"run", "./" + name + ".lua", "--resume", run, "--steps", "4"}).code == 0);
    const Finished bundle = folder.run({"bundle", run});
    CHECK_MESSAGE(bundle.code == 0, bundle.err);
    CHECK(read_run(run).metrics.at("loss").size() == 4);
  }
}

TEST_CASE("images, metrics, texts and modules have names of any length and bytes") {
  const Folder folder;
  folder.write(std::string(250, 'm') + ".lua", "return 1");
  folder.write("a.lua", R"(
local lg = require "lunagrad"
require(("m"):rep(250))
local names = {("x"):rep(1000), ("€"):rep(400), "../../up", "/", ".", "..", "a\nb\0c", "\xff\xfe", "con:*?", "-"}
for step in lg.run.steps(2) do
  for i, name in ipairs(names) do
    lg.run.log{[name] = i}
    lg.run.text(name, "text " .. i)
    lg.run.histogram(name, lg.rand(10))
    lg.run.image(name, lg.zeros(2, 2))
  end
  lg.run.image(("x"):rep(999) .. "y", lg.zeros(2, 2))
end
)");
  const Finished finished =
      folder.run({"run", "a.lua", "--run-dir", "r", "--tensorboard", "--progress", "none"});
  CHECK_MESSAGE(finished.code == 0, finished.err);
  CHECK(finished.err.find("warning") == std::string::npos);
  size_t images = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() + "/r/images"))
    images += entry.is_regular_file();
  CHECK(images == 22);
  CHECK_FALSE(fs::exists(folder.path() + "/up-00000001.png"));
  const RunRecord run = read_run(folder.path() + "/r");
  CHECK(run.images.size() == 11);
  for (const auto& [name, items] : run.images)
    for (const LoggedItem& item : items) CHECK(fs::exists(folder.path() + "/r/" + item.what));
  CHECK(folder.run({"runs", "export", "r", "-o", "page.html"}).code == 0);
  CHECK(folder.run({"runs", "export", "r", "-o", "out/"}).code == 0);
  CHECK(folder.run({"runs", "show", "r"}).code == 0);
}

TEST_CASE("a run's folder may have the longest name") {
  const Folder folder;
  folder.write("a.lua", kWrittenFilesScript);
  const std::string longest(255, 'd');
  const Finished finished = folder.run({"run", "a.lua", "--run-dir", "deep/" + longest, "--tensorboard"});
  CHECK_MESSAGE(finished.code == 0, finished.err);
  CHECK(folder.run({"bundle", "deep/" + longest}).code == 0);
  CHECK(folder.run({"fork", "deep/" + longest, "--step", "2"}).code == 0);
}
