#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "runtime/system/processes.h"
#include "tests/support/timing.h"
#include "tests/ui/tapes.h"
#include "ui/tape/model.h"

using namespace lunagrad;
using test::residual_tape;

namespace {

// A program that replaces Graphviz's, in a folder that is removed at the end.
class FakeDot {
 public:
  explicit FakeDot(const std::string& script) {
    std::string pattern = (std::filesystem::temp_directory_path() / "dot-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path()) << "#!/bin/sh\n" << script << '\n';
    chmod(path().c_str(), 0755);
  }
  ~FakeDot() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/dot"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

TapePtr shared_residual_tape(int blocks, uint64_t first = 1) {
  return std::make_shared<TapeSnapshot>(residual_tape(blocks, first));
}

bool wait_until(TapeModel& model, const std::function<bool()>& condition) {
  return tests::eventually([&] {
    model.update();
    return condition();
  });
}

double now() { return tests::seconds_of(CLOCK_MONOTONIC); }

// Puts the boxes in one column, in the order of the input, an inch apart.
const char* const kColumn = R"(awk '
  /^n[0-9]+ \[/ { id[++n] = $1 }
  /->/ { sub(/;/, "", $3); from[++e] = $1; to[e] = $3 }
  END {
    print "graph 1 3 " n
    for (i = 1; i <= n; ++i) print "node " id[i] " 1.5 " n - i " 1 0.5 x solid box black white"
    for (i = 1; i <= e; ++i) print "edge " from[i] " " to[i] " 4 1 4 1 3 1 2 1 1 solid black"
    print "stop"
  }')";

}  // namespace

TEST_CASE("Graphviz's positions are used") {
  const FakeDot dot(kColumn);
  TapeModel model(
      {}, [] {}, dot.path());
  model.offer(shared_residual_tape(2));
  REQUIRE(wait_until(model, [&] { return model.by_dot(); }));
  const CanvasGraph& canvas = model.picture()->canvas;
  CHECK_FALSE(canvas.layout.curved);
  for (size_t b = 1; b < canvas.layout.centers.size(); ++b)
    CHECK(canvas.layout.centers[b].x == doctest::Approx(canvas.layout.centers[0].x));
  CHECK(canvas.layout.height >= 72 * float(canvas.nodes.size() - 1));
  CHECK(canvas.layout.first.size() == canvas.graph.edges.size() + 1);
}

TEST_CASE("without Graphviz our own layout is used, and that is reported once") {
  TapeModel model(
      {}, [] {}, "/nonexistent/dot");
  model.offer(shared_residual_tape(2));
  REQUIRE(wait_until(model, [&] { return model.picture() != nullptr; }));
  CHECK_FALSE(model.by_dot());
  CHECK(model.dot_trouble().find("package graphviz") != std::string::npos);
}

TEST_CASE("invalid output or a failure of Graphviz keeps our own layout") {
  for (const char* script : {"echo graph 1 1 1; echo node n999 0 0 1 1; echo stop", "exit 3", "echo nonsense",
                             "echo graph 1 1 1; echo edge n0 n1 99999999999; echo stop"}) {
    const FakeDot dot(script);
    TapeModel model(
        {}, [] {}, dot.path());
    model.offer(shared_residual_tape(2));
    REQUIRE(wait_until(model, [&] { return model.picture() != nullptr; }));
    CHECK_FALSE(model.by_dot());
    CHECK_FALSE(model.dot_trouble().empty());
  }
}

TEST_CASE("while Graphviz hangs our own layout is shown, and the next tape kills it") {
  const FakeDot dot("exec sleep 600");
  TapeModel model(
      {}, [] {}, dot.path());
  const double start = now();
  model.offer(shared_residual_tape(2));
  REQUIRE(wait_until(model, [&] { return model.picture() != nullptr; }));
  CHECK(now() - start < tests::kHangSeconds);
  CHECK_FALSE(model.by_dot());
  // Another step of the same structure is shown meanwhile.
  const TapePtr same = shared_residual_tape(2, 9000), other = shared_residual_tape(3);
  model.offer(same);
  CHECK(wait_until(model, [&] { return model.tape() == same.get(); }));
  model.offer(other);
  CHECK(wait_until(model, [&] { return model.tape() == other.get(); }));
}

TEST_CASE("destroying the model kills a hanging Graphviz") {
  const FakeDot dot("touch ${0%/*}/begun; exec sleep 600");
  double start = 0;
  {
    TapeModel model(
        {}, [] {}, dot.path());
    model.offer(shared_residual_tape(2));
    REQUIRE(tests::eventually([&] { return std::filesystem::exists(dot.folder() + "/begun"); }));
    start = now();
  }
  CHECK(now() - start < tests::kHangSeconds);
}

TEST_CASE("run_filter reports how the program ended") {
  CHECK(run_filter("/nonexistent/dot", {}, "x").end == FilterRun::End::missing);
  const FakeDot echo("cat"), bad("exit 1"), slow("exec sleep 600");
  const std::string large(300000, 'x');
  const FilterRun run = run_filter(echo.path(), {}, large);
  CHECK(run.end == FilterRun::End::done);
  CHECK(run.output == large);
  CHECK(run_filter(bad.path(), {}, "x").end == FilterRun::End::failed);
  int asked = 0;
  const double start = now();
  CHECK(run_filter(slow.path(), {}, "x", [&] { return ++asked > 3; }).end == FilterRun::End::stopped);
  CHECK(now() - start < tests::kHangSeconds);
}

TEST_CASE("Graphviz, if installed, lays out modules as frames that do not overlap") {
  if (run_filter("dot", {"-Tplain"}, "digraph g {}").end == FilterRun::End::missing) return;
  TapeModel model({}, [] {});
  model.set_collapse({CollapseState::Mode::all, 0, {}});
  model.offer(shared_residual_tape(4));
  REQUIRE(wait_until(model, [&] { return model.by_dot(); }));
  const auto& frames = model.picture()->canvas.frames;
  REQUIRE(frames.size() > 4);
  const TapeTree& tree = *model.tree();
  for (size_t a = 0; a < frames.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      if (tree.inside(model.picture()->frames[a], model.picture()->frames[b])) continue;
      const bool apart = frames[a].low.x >= frames[b].high.x || frames[b].low.x >= frames[a].high.x ||
                         frames[a].low.y >= frames[b].high.y || frames[b].low.y >= frames[a].high.y;
      CHECK(apart);
    }
}
