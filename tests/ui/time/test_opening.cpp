// A run is opened while the window stays in use: its script is known when its folder has been read.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/embed.h"
#include "ui/workbench/workbench.h"

using namespace lunagrad;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOpenedScript = R"(
local lg = require "lunagrad"
for step in lg.run.steps(3) do lg.run.log {loss = step} end
)";

struct Opened {
  tests::NullHost host;
  PanelHost fonts{{.font = host.font()}};
  tests::Folder folder;
  std::string script = folder.with("train.lua", kOpenedScript), run = folder.file("run");
  const fs::path before = fs::current_path();
  std::unique_ptr<Workbench> bench;

  Opened() {
    setenv("XDG_DATA_HOME", folder.file("data").c_str(), 1);
    fs::current_path(folder.file(""));
    RunOptions options;
    options.run_directory = run;
    Session session([](const Event&) {});
    session.run_file(script, options);
    REQUIRE(session.wait() == Outcome::ok);
    bench = std::make_unique<Workbench>("", RunOptions{}, [] {});
  }
  ~Opened() {
    bench.reset();
    fs::current_path(before);
    unsetenv("XDG_DATA_HOME");
  }
  template <class Condition>
  bool until(Condition&& condition) {
    return tests::eventually([&] {
      bench->update();
      return condition();
    });
  }
};

}  // namespace

TEST_CASE("opening a run does not wait for its folder, and Run starts its script when it is known") {
  Opened opened;
  RunActions& control = opened.bench->control();
  control.open_run(opened.run);
  CHECK(opened.bench->script().empty());  // the folder is read on another thread
  control.run();
  CHECK(opened.until([&] { return opened.bench->journal().ended(); }));
  CHECK(opened.bench->script() == opened.script);
  CHECK(opened.bench->journal().outcome() == Outcome::ok);
}

TEST_CASE("a script that is opened meanwhile runs, and a folder that cannot be read is said") {
  Opened opened;
  RunActions& control = opened.bench->control();
  const std::string other = opened.folder.with("other.lua", "print 'other'");
  control.open_run(opened.run);
  control.open(other);
  bool read = false;  // after the run, on the same thread
  control.trust().open(opened.run, [&](const TrustController::Opened& found, const std::string&) {
    read = true;
    CHECK(found.script == opened.script);
  });
  CHECK(opened.until([&] { return read; }));
  CHECK(opened.bench->script() == other);
}

TEST_CASE("each run of a window has the limits of the window") {
  Opened opened;
  opened.bench.reset();
  opened.bench = std::make_unique<Workbench>(
      opened.script,
      RunOptions{.sandbox = true, .memory = size_t(64) << 20, .disk = size_t(32) << 20, .timeout = 60},
      [] {});
  RunActions& control = opened.bench->control();
  const auto limited = [&] {
    const RunOptions& run = control.options_of_run();
    return run.sandbox && run.memory == size_t(64) << 20 && run.disk == size_t(32) << 20 && run.timeout == 60;
  };
  auto ended = [&, runs = uint64_t(0)]() mutable {
    ++runs;
    return opened.until(
        [&] { return opened.bench->journal().ends() == runs && opened.bench->journal().ended(); });
  };
  control.run();
  CHECK(ended());
  CHECK(limited());
  CHECK(opened.bench->shown().run_now().limits.timeout == 60);
  CHECK(opened.bench->shown().most_to_keep() == size_t(16) << 20);
  control.rerun_with({});
  CHECK(ended());
  CHECK(limited());
  // A run without limits is continued.
  control.resume(opened.run, {});
  CHECK(ended());
  CHECK(limited());
}
