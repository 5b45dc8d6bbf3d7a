// `lunagrad fork` as a user runs it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "script/run/record.h"
#include "tests/script/time/trainings.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Finished;
using lunagrad::test::Folder;
namespace fs = std::filesystem;

namespace {

// Sessions of this program compute with the kernels that LUNAGRAD_SIMD names, programs with the best ones.
const bool kOtherKernels = std::getenv("LUNAGRAD_SIMD") != nullptr;

// Points of the metric after `step`, bit for bit.
std::vector<std::pair<int64_t, double>> points_behind(const RunRecord& run, const std::string& name,
                                                      int64_t step) {
  std::vector<std::pair<int64_t, double>> points;
  for (const MetricPoint& point : run.metrics.at(name))
    if (point.step > step) points.emplace_back(point.step, point.value);
  return points;
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
}

}  // namespace

TEST_CASE("a fork without a change equals its parent bit for bit") {
  const Folder folder;
  for (const std::string& source : {kCnn, kGpt}) {
    const std::string name = std::to_string(source.size());
    folder.write("train.lua", source);
    const Finished parent = folder.run({"run", "train.lua", "--run-dir", name, "--keyframes", "64MiB"});
    REQUIRE(parent.code == 0);
    const Finished fork = folder.run({"fork", name, "--step", "17", "--run-dir", name + "-fork"});
    CHECK(fork.err.find("lunagrad fork") == std::string::npos);
    REQUIRE(fork.code == 0);
    CHECK(last_line(fork.out) == last_line(parent.out));
    const Finished compared = folder.run({"runs", "diff", name, name + "-fork"});
    CAPTURE(compared.out);
    CHECK(compared.code == 0);
    CHECK(compared.out.find(" rows from step 18") != std::string::npos);
    const RunRecord was = read_run(folder.path() + "/" + name),
                    is = read_run(folder.path() + "/" + name + "-fork");
    CHECK(points_behind(was, "loss", 17) == points_behind(is, "loss", 0));
    CHECK(is.parent == was.folder);
    CHECK(is.parent_step == 17);
    // The fork of a fork, and a replay of one, begin with its keyframe.
    REQUIRE(folder.run({"fork", name + "-fork", "--step", "21", "--run-dir", name + "-second"}).code == 0);
    const RunRecord second = read_run(folder.path() + "/" + name + "-second");
    CHECK(points_behind(was, "loss", 21) == points_behind(second, "loss", 0));
    if (kOtherKernels) continue;
    Scrubber scrubber(is.folder);
    CHECK(scrubber.fingerprint(scrubber.replay.steps()) + "\n" == last_line(parent.out).substr(3) + "\n");
  }
}

TEST_CASE("a fork goes on with other parameters, another text, fewer steps") {
  const Folder folder;
  folder.write("train.lua", kCnn);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  const Finished slower = folder.run({"fork", "a", "--step", "10", "--set", "rate=1e-5", "--run-dir", "b"});
  CHECK(slower.err.find("there is no keyframe up to step") != std::string::npos);
  REQUIRE(slower.code == 0);
  const RunRecord was = read_run(folder.path() + "/a"), is = read_run(folder.path() + "/b");
  const auto before = points_behind(was, "loss", 10), after = points_behind(is, "loss", 0);
  REQUIRE(before.size() == after.size());
  CHECK(before[0] == after[0]);  // step 11 has the weights of step 10
  CHECK(before[1] != after[1]);
  CHECK(is.params.at("rate") == "1e-05");

  const std::string changed = folder.write("changed.lua", replaced(kCnn, "{loss = loss}", "{other = loss}"));
  REQUIRE(
      folder.run({"fork", "a", "--step", "10", "--script", "changed.lua", "--steps", "15", "--run-dir", "c"})
          .code == 0);
  const RunRecord other = read_run(folder.path() + "/c");
  const auto renamed = points_behind(other, "other", 0);
  REQUIRE(renamed.size() == 5);
  CHECK(renamed == std::vector(before.begin(), before.begin() + 5));

  const Finished listed = folder.run({"runs", "--in", ".", "ls"});
  CHECK(listed.out.find("of a, step 10") != std::string::npos);
  CHECK(folder.run({"runs", "show", "b"}).out.find(", step 10") != std::string::npos);
  CHECK(folder.run({"runs", "show", "b", "--json"}).out.find("\"parent_step\": 10") != std::string::npos);
}

TEST_CASE("a fork has the edits of its parent up to its step, and none of the later ones" *
          doctest::skip(kOtherKernels)) {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn);
  const auto make = [&](const std::string& name, int64_t last_edit) {
    RunOptions options;
    for (const ParamEdit& edit : {ParamEdit{7, "rate", "0.03"}, ParamEdit{12, "rate", "0.002"}})
      if (edit.step <= last_edit) options.edits.push_back(edit);
    options.keyframes = size_t(64) << 20;
    REQUIRE(make_run(script, folder.path() + "/" + name, options).outcome == Outcome::ok);
    return read_run(folder.path() + "/" + name);
  };
  const RunRecord both = make("both", 40), early = make("early", 7), none = make("none", 0);
  const auto forked = [&](int64_t step) {
    const std::string name = "fork" + std::to_string(step);
    REQUIRE(folder.run({"fork", "both", "--step", std::to_string(step), "--run-dir", name}).code == 0);
    const RunRecord fork = read_run(folder.path() + "/" + name);
    CHECK(fork.changes.empty());
    return points_behind(fork, "loss", 0);
  };
  CHECK(forked(6) == points_behind(none, "loss", 6));
  CHECK(forked(7) == points_behind(early, "loss", 7));  // an edit at the end of a step belongs to the step
  CHECK(forked(11) == points_behind(early, "loss", 11));
  CHECK(forked(12) == points_behind(both, "loss", 12));
  CHECK(points_behind(both, "loss", 12) != points_behind(early, "loss", 12));
}

TEST_CASE("a fork has the script of its step: later reloads and console lines of its parent are not its own" *
          doctest::skip(kOtherKernels)) {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn);
  const std::string changed =
      replaced(kCnn, "local loss = nn", "if step > 12 then x = x * 1.5 end\n  local loss = nn");
  RunOptions options;
  options.keyframes = size_t(64) << 20;
  bool reloaded = false;
  make_run(script, folder.path() + "/changed", options, [&](Session& session, const Event& event) {
    if (event.kind != Event::Kind::step) return;
    if (event.step == 9 && !std::exchange(reloaded, true)) session.reload(changed);
    if (event.step == 20) session.eval("lg.no_grad(function() model[1].weight:mul_(0.5) end)");
  });
  make_run(script, folder.path() + "/plain", options);
  const RunRecord was = read_run(folder.path() + "/changed"), plain = read_run(folder.path() + "/plain");
  const auto forked = [&](int64_t step, int64_t steps) {
    const std::string name = "fork" + std::to_string(step);
    REQUIRE(folder
                .run({"fork", "changed", "--step", std::to_string(step), "--steps", std::to_string(steps),
                      "--run-dir", name})
                .code == 0);
    return points_behind(read_run(folder.path() + "/" + name), "loss", 0);
  };
  const auto part = [](auto points, int64_t last) {
    std::erase_if(points, [&](const auto& point) { return point.first > last; });
    return points;
  };
  CHECK(forked(8, 40) == points_behind(plain, "loss", 8));
  CHECK(forked(9, 20) == part(points_behind(was, "loss", 9), 20));
  const auto behind = forked(15, 40);
  CHECK(part(behind, 20) == part(points_behind(was, "loss", 15), 20));
  CHECK(behind != points_behind(was, "loss", 15));  // the line at step 20 is not typed again
}

TEST_CASE("a fork that cannot be made says why") {
  const Folder folder;
  folder.write("train.lua", kCnn);
  folder.write("bare.lua", replaced(replaced(kCnn, "lg.run.state(\"model\", function()", "(function()"),
                                    "\nend)\nlocal optimizer", "\nend)()\nlocal optimizer"));
  REQUIRE(folder.run({"run", "train.lua", "--steps", "5", "--run-dir", "a"}).code == 0);
  const auto fails = [&](const std::vector<std::string>& arguments, int code, const std::string& fact) {
    std::vector<std::string> line{"fork"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    const Finished done = folder.run(line);
    CAPTURE(done.err);
    CHECK(done.code == code);
    CHECK(done.err.find(fact) != std::string::npos);
  };
  fails({"none", "--step", "1"}, 6, "none: neither a run's folder nor a part of one's name in runs/");
  REQUIRE(fs::create_directory(folder.path() + "/empty"));
  fails({"empty", "--step", "1"}, 6, "empty: not the folder of a run");
  fails({"a"}, 2, "--step S says");
  fails({"a", "--step", "6"}, 1, "step 6: the run a has the steps 1 to 5");
  fails({"a", "--step", "3", "--steps", "2"}, 1, "--steps 2");
  fails({"a", "--step", "3", "--run-dir", "a"}, 6, "holds a run already");
  fails({"a", "--step", "3", "--set", "rat=1", "--run-dir", "x"}, 2, "rat");
  fails({"a", "--step", "3", "--script", "none.lua", "--run-dir", "y"}, 6, "none.lua");
  fails({"a", "--step", "3", "--keyframes", "12"}, 2, "512MiB");
}
