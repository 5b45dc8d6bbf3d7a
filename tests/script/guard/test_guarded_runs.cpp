// Sandboxed runs under the kernel's limits: where they are applied, what the run says when one is missing,
// the limit of the disk, and what works as without a sandbox.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "folders.h"
#include "runtime/core/tensor.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/disk_limit.h"
#include "script/guard/guard.h"
#include "script/session.h"
#include "tests/support/message_of.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

const std::string kBroken = "LD_PRELOAD=" LUNAGRAD_BROKEN_WALLS;

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

nlohmann::json config_of(const Folder& folder, const std::string& run) {
  return nlohmann::json::parse(test::read_file(folder.path() + "/" + run + "/config.json"));
}

int error_of_reading(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  close(file);
  return 0;
}

}  // namespace

TEST_CASE("guard: the process of a sandboxed run is limited, and no other") {
  if (tests::kSanitized) return;
  const Folder folder;
  folder.write("wanted.csv", "1\n");
  const std::string code = "pcall(lg.io.csv.load, 'wanted.csv')";
  const Finished limited = folder.run({"--sandbox", "-e", code}, "", {kBroken, "TRY_CALLS=1"});
  INFO(limited.err);
  CHECK(limited.code == 0);
  CHECK(says(limited.err, "socket: Operation not permitted\nfork: Operation not permitted\n"));
}

TEST_CASE("guard: a run says which limit the kernel lacks") {
  if (tests::kSanitized) return;
  const Folder folder;
  folder.write("steps.lua", "for i in require 'lunagrad'.run.steps(2) do end print 'done'");
  const std::string fact = "files: this kernel has no Landlock (Function not implemented)";
  const Finished lacking =
      folder.run({"run", "steps.lua", "--sandbox", "--run-dir", "out"}, "", {kBroken, "NO_LANDLOCK=1"});
  CHECK(lacking.code == 0);
  CHECK(lacking.out == "done\n");
  CHECK(says(lacking.err, "lunagrad: in this sandbox the kernel does not limit " + fact + "\n"));
  CHECK(config_of(folder, "out")["unguarded"] == nlohmann::json{fact});
  CHECK(says(folder.run({"runs", "show", "out"}).out, fact));
  CHECK(says(folder.run({"doctor"}, "", {kBroken, "NO_LANDLOCK=1"}).out, "note     sandbox: no Landlock"));

  const Finished whole = folder.run({"run", "steps.lua", "--sandbox", "--run-dir", "whole"});
  bool all = true;
  for (const GuardSupport& wall : guard_support()) all &= wall.why.empty();
  if (!all) return;
  CHECK(!says(whole.err, "the kernel does not limit"));
  CHECK(!config_of(folder, "whole").contains("unguarded"));
  CHECK(says(folder.run({"doctor"}).out, "ok       sandbox: Landlock"));
}

TEST_CASE("guard: a sandboxed run has a folder from its start, a line of code has none") {
  const Folder folder;
  folder.write("quiet.lua", "print 'quiet'");
  CHECK(folder.run({"run", "quiet.lua", "--sandbox", "--run-dir", "out"}).code == 0);
  CHECK(config_of(folder, "out")["sandbox"] == true);
  CHECK(test::read_file(folder.path() + "/out/log.txt") == "quiet\n");
  CHECK(folder.run({"--sandbox", "-e", "print(1)"}).code == 0);
  CHECK(!fs::exists(folder.path() + "/runs"));
  CHECK(folder.run({"run", "quiet.lua", "--sandbox", "--run-dir", "out"}).code == 6);
}

TEST_CASE("guard: a sandboxed run writes a profile and keeps nothing aside") {
  const Folder folder;
  fs::create_directory(folder.path() + "/temporary");
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.ones(2, {requires_grad = true})
for step in lg.run.steps(4) do
  (w * w):sum():backward()
  lg.run.log{loss = step}
end
)");
  const Finished measured =
      folder.run({"run", "train.lua", "--sandbox", "--profile", "trace.json", "--tensorboard",
                  "--checkpoint-every", "0.01", "--keyframes", "1MiB", "--run-dir", "out"});
  INFO(measured.err);
  CHECK(measured.code == 0);
  CHECK(says(measured.err, "steps saved in trace.json"));
  CHECK(nlohmann::json::parse(test::read_file(folder.path() + "/trace.json")).is_object());
  const std::vector<std::string> temporary{"TMPDIR=" + folder.path() + "/temporary"};
  const Finished compared =
      folder.run({"compare-devices", "train.lua", "--sandbox", "--with", "f64"}, "", temporary);
  INFO(compared.err);
  CHECK(compared.code == 0);
  REQUIRE(folder.run({"bundle", "out", "-o", "out.run"}).code == 0);
  for (const char* run : {"out", "out.run"}) {
    const Finished repeated = folder.run({"repro", run, "--sandbox"}, "", temporary);
    INFO(repeated.err);
    CHECK(repeated.code == 0);
  }
  CHECK(fs::is_empty(folder.path() + "/temporary"));
}

TEST_CASE("guard: a watched run in a sandbox runs again, in a folder beside the first") {
  const Folder folder;
  folder.write("watched.lua", "print 'first'");
  Program program({kProgram, "run", "watched.lua", "--sandbox", "--watch", "--run-dir", "out"}, "", {},
                  folder.path());
  REQUIRE(program.wrote("waiting for a change"));
  folder.write("watched.lua", "print 'second'");
  REQUIRE(program.wrote("second\n"));
  REQUIRE(program.wrote("out/run-2"));
  program.signal(SIGINT);
  program.finish();
  CHECK(test::read_file(folder.path() + "/out/run/log.txt") == "first\n");
  CHECK(test::read_file(folder.path() + "/out/run-2/log.txt") == "second\n");
}

TEST_CASE("guard: the limit of the disk names itself and is exit code 6") {
  const Folder folder;
  const auto run = [&](const std::string& code, const std::vector<std::string>& flags) {
    folder.write("fill.lua", "local lg = require 'lunagrad' " + code);
    fs::remove_all(folder.path() + "/out");
    std::vector<std::string> arguments{"run", "fill.lua", "--run-dir", "out", "--disk", "8"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return folder.run(arguments);
  };
  const std::string sentence = "the run's files reach their limit of 8 MiB (--disk)";
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--sandbox"}, {}}) {
    for (const char* code :
         {"lg.run.log{a = 1} for i = 1, 9 do lg.io.npy.save('out/' .. i .. '.npy', lg.ones(1 << 18)) end",
          "lg.run.log{a = 1} lg.io.npz.save('out/a.npz', {a = lg.rand(1 << 22)})",
          "local w = lg.run.state('w', function() return lg.zeros(1 << 20) end) for _ in lg.run.steps(9) do "
          "lg.run.checkpoint() end",
          "lg.run.log{a = 1} local s = ('x'):rep(1 << 20) for i = 1, 9 do lg.run.text('a', s) end",
          "lg.run.log{a = 1} local s = ('x'):rep(1 << 20) for i = 1, 9 do print(s) end"}) {
      const Finished finished = run(code, flags);
      CAPTURE(code);
      CAPTURE(finished.err);
      CHECK(finished.code == 6);
      CHECK(says(finished.err, sentence));
      CHECK(config_of(folder, "out")["outcome"] == "file");  // the outcome is still written
    }
    // Files that were replaced or removed do not count.
    const Finished replaced =
        run("lg.run.log{a = 1} for i = 1, 20 do lg.io.npy.save('out/a.npy', lg.ones(1 << 19)) end "
            "local w = lg.run.state('w', function() return lg.zeros(1 << 18) end) "
            "for _ in lg.run.steps(20) do lg.run.checkpoint{keep_last = 1} end",
            flags);
    INFO(replaced.err);
    CHECK(replaced.code == 0);
  }
}

TEST_CASE("guard: the disk's limit counts what is written less what is replaced") {
  const Folder folder;
  const std::string a = folder.path() + "/a", b = folder.path() + "/b", text(1000, 'x');
  set_disk_limit(2500);
  write_file(a, text);
  write_file(a, text);  // 2000 while both are there
  write_file(b, text);
  CHECK(says(tests::message_of([&] { write_file(a, text); }),
             "/a: cannot write: the run's files reach their limit"));
  CHECK(test::read_file(a) == text);
  frees_on_disk(b);
  fs::remove(b);
  write_file(a, text);
  {
    const NoDiskLimit none;
    write_file(b, std::string(5000, 'x'));
  }
  CHECK_FALSE(may_write(2000));
  set_disk_limit(0);
  CHECK(may_write(size_t(1) << 40));
}

TEST_CASE("guard: a session limits the thread of a sandboxed script, and of no other script") {
  for (const GuardSupport& wall : guard_support())
    if (!wall.why.empty()) return;
  Session session([](const Event&) {});
  int found = -1;
  session.add_function("look", [&](const TensorList&) {
    found = error_of_reading("/etc/passwd");
    return TensorList{};
  });
  RunOptions options;
  options.write_run = false;
  for (const bool sandbox : {false, true, true, false, true}) {
    options.sandbox = sandbox;
    found = -1;
    session.run_text("require('lunagrad').host.look()", "look", options);
    CHECK(session.wait() == Outcome::ok);
    CHECK(found == (sandbox ? EACCES : 0));
  }
  CHECK(error_of_reading("/etc/passwd") == 0);
  // Wherever the script claims to be.
  for (const char* path : {"/etc/claimed.lua", "/claimed.lua", "/proc/self/claimed.lua"}) {
    options.sandbox = true;
    options.source = "require('lunagrad').host.look()";
    session.run_file(path, options);
    CHECK(session.wait() == Outcome::ok);
    CHECK(found == EACCES);
  }
}
