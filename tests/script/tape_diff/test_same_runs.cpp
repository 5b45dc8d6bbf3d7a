// Two runs of one script have no differences, whatever the script does: as the command line compares their
// folders, and as the window compares the tape that it watched with a run's folder.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "folders.h"
#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/read.h"
#include "script/view/tape_json.h"
#include "tests/support/program.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

constexpr int64_t kLast = 4;  // the last step of the script; its tape is kept

class SameRuns {
 public:
  SameRuns()
      : script_(folder_.write("same_runs.lua",
                              read_file(LUNAGRAD_SOURCE_DIR "/tests/script/tape_diff/same_runs.lua"))) {
    const Finished list = folder_.run({"run", "same_runs.lua", "--set", "kind=list"});
    REQUIRE(list.code == 0);
    std::istringstream lines(list.out);
    for (std::string kind; std::getline(lines, kind);) kinds_.push_back(kind);
  }

  const std::vector<std::string>& kinds() const { return kinds_; }

  // Returns the folder of the run.
  std::string train(const std::string& kind, const std::string& name,
                    const std::vector<std::string>& env = {}) const {
    const std::string folder = kind + "-" + name;
    const Finished run = folder_.run(
        {"run", "same_runs.lua", "--set", "kind=" + kind, "--seed", "3", "--run-dir", folder}, "", env);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return folder;
  }

  Finished diff(const std::string& a, const std::string& b) const {
    return folder_.run({"tape", "diff", a, b});
  }

  // The tape that a session writes into a run's folder.
  TapeGraph kept_tape(const std::string& kind) const {
    tests::Recorder session;
    RunOptions options = options_of(kind);
    options.run_directory = folder_.path() + "/" + kind + "-kept";
    session.session.run_file(script_, options);
    REQUIRE(session.session.wait() == Outcome::ok);
    return RunTapes(options.run_directory).tape(kLast);
  }

  // The tape of the last step that a viewer sees, of the pass with this root.
  std::shared_ptr<const TapeSnapshot> watched_tape(const std::string& kind, const TapeNode& root) const {
    tests::Recorder viewer;
    viewer.session.watch_tape(true);
    viewer.session.watch_statistics(true, 1);
    RunOptions options = options_of(kind);
    options.write_run = false;
    viewer.session.run_file(script_, options);
    REQUIRE(viewer.session.wait() == Outcome::ok);
    const auto outer = viewer.session.tape(kLast);
    REQUIRE(outer);
    for (const PassInfo& pass : outer->passes)
      if (pass.op == root.op && pass.place.line == root.line) viewer.session.choose_pass(pass.key);
    return viewer.session.tape(kLast);
  }

 private:
  static RunOptions options_of(const std::string& kind) {
    RunOptions options;
    options.set = {{"kind", kind}};
    options.seed = 3;
    return options;
  }

  Folder folder_;
  std::string script_;
  std::vector<std::string> kinds_;
};

std::string texts_of(const TapeDiff& diff) {
  std::string all;
  for (const TapeFinding& finding : diff.findings) all += finding.name + ": " + finding.text + "\n";
  return all;
}

}  // namespace

TEST_CASE("two runs of one script have equal tapes, in every kind of script") {
  const SameRuns runs;
  REQUIRE(runs.kinds().size() >= 30);
  int different = 0;
  for (const std::string& kind : runs.kinds()) {
    CAPTURE(kind);
    const std::string first = runs.train(kind, "first");
    // Another environment moves addresses, and so everything that is ordered by them.
    const std::string again =
        runs.train(kind, "again", {"LC_ALL=C", "A_LONG_NAME=" + std::string(5000, 'x')});
    const Finished same = runs.diff(first, again);
    INFO(same.out, same.err);
    CHECK(same.code == 0);
    CHECK(same.out.find("all 2 common steps are equal") != std::string::npos);
    different += same.code != 0;
  }
  MESSAGE(runs.kinds().size(), " scripts: ", different, " with differences between two runs");
}

TEST_CASE("the tape that a viewer watched is equal to the tape in the folder of another run") {
  const SameRuns runs;
  for (const std::string& kind : runs.kinds()) {
    CAPTURE(kind);
    const TapeGraph kept = runs.kept_tape(kind);
    const auto root = std::find_if(kept.nodes.rbegin(), kept.nodes.rend(),
                                   [](const TapeNode& node) { return node.kind == TapeNodeKind::op; });
    REQUIRE(root != kept.nodes.rend());
    const auto watched = runs.watched_tape(kind, *root);
    REQUIRE(watched);
    const TapeDiff diff = compare_tapes(kept, read_tape_text(tape_json(*watched), "watched"), {});
    CHECK(texts_of(diff) == "");
    CHECK(diff.a.nodes.size() == diff.b.nodes.size());
    CHECK(std::any_of(diff.pairs.begin(), diff.pairs.end(),
                      [](const TapePair& pair) { return pair.value.known && pair.gradient.known; }));
  }
}
