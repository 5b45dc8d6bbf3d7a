#include <doctest/doctest.h>

#include "tests/ui/tapes.h"
#include "ui/tape/groups.h"

using namespace lunagrad;
using test::TapeMaker;

namespace {

// Two modules with a chain each, and a chain across both: mul and add of "Net.a", tanh of "Net.b".
struct Example {
  TapeSnapshot tape;
  TapeTree tree;

  Example() {
    TapeMaker maker;
    const uint64_t x = maker.leaf("x", {4});
    const uint64_t mul = maker.call("mul", "Net.a", {x}, {4}), add = maker.call("add", "Net.a", {mul}, {4});
    const uint64_t tanh = maker.call("tanh", "Net.b", {add}, {4});
    maker.call("matmul", "Net.b", {tanh, x}, {4});
    tape = maker.snapshot();
    auto plan = std::make_shared<StepPlan>();
    plan->step = 7;
    plan->calls = 4;
    plan->passes = 2;
    plan->groups_made = 1;
    plan->grouped = 3;
    plan->bytes_saved = 32;
    PlannedRow group;
    group.members = {{"mul", {}, false, false}, {"add", {}, false, false}, {"_tanh", {}, false, true}};
    plan->groups = {group};
    PlannedRow alone;
    alone.members = {{"matmul", {}}};
    alone.why = "not an elementwise op";
    plan->alone = {alone};
    tape.plan.plan = plan;
    tape.plan.groups = {{0, 32, 1500, {1, 2, 3}}};
    tape.plan.nodes = {{-1, 0, true}, {0, -1, true}, {0, -1, false}, {0, -1, false}, {}};
    tree = tape_tree(tape);
  }
  TapePicture picture(CollapseState::Mode mode) const {
    return tape_picture(tape, tree, open_groups(tree, {mode}), {});
  }
};

}  // namespace

TEST_CASE("a group's band has its boxes, in the order of execution, and the lines between them") {
  const Example example;
  const TapePicture picture = example.picture(CollapseState::Mode::all);
  const std::vector<GraphCanvas::Band> bands = group_bands(example.tape.plan, picture, -1);
  REQUIRE(bands.size() == 1);
  std::string boxes;
  for (const uint32_t box : bands[0].boxes)
    boxes += example.tape.nodes[picture.boxes[box].index].op + (picture.boxes[box].is_group ? "?" : " ");
  CHECK(boxes == "mul add tanh ");
  REQUIRE_FALSE(bands[0].strokes.empty());
  for (const uint32_t s : bands[0].strokes) {
    const Graph::Edge& edge = picture.canvas.graph.edges[picture.canvas.stroke_edge[s]];
    for (const uint32_t box : {edge.from, edge.to})
      CHECK(example.tape.nodes[picture.boxes[box].index].op != "matmul");
  }
  CHECK(bands[0].labels == std::vector<std::string>{"group of 3: 32 B not written, 1.50 µs",
                                                    "group of 3: 32 B not written", "group of 3"});
  CHECK_FALSE(bands[0].lit);
  CHECK(group_bands(example.tape.plan, picture, 2)[0].lit);
  CHECK_FALSE(group_bands(example.tape.plan, picture, 0)[0].lit);
}

TEST_CASE("a group that saves no bytes does not speak of them") {
  Example example;
  example.tape.plan.groups[0].bytes = 0;
  const TapePicture picture = example.picture(CollapseState::Mode::all);
  CHECK(group_bands(example.tape.plan, picture, -1)[0].labels ==
        std::vector<std::string>{"group of 3: 1.50 µs", "group of 3"});
  example.tape.plan.groups[0].ns = 0;
  CHECK(group_bands(example.tape.plan, picture, -1)[0].labels == std::vector<std::string>{"group of 3"});
  StepPlan plan = *example.tape.plan.plan;
  plan.bytes_saved = 0;
  CHECK(plan_summary(plan) == "4 calls in 2 passes over memory: 1 group of 3 calls");
}

TEST_CASE("closed modules show no groups") {
  const Example example;
  const TapePicture picture = example.picture(CollapseState::Mode::depth);
  REQUIRE(picture.boxes.size() < example.tape.nodes.size());
  for (const GraphCanvas::Band& band : group_bands(example.tape.plan, picture, -1)) {
    CHECK(band.boxes.empty());
    CHECK(band.strokes.empty());
  }
}

TEST_CASE("a node says how its call was computed") {
  const Example example;
  const TapePlan& plan = example.tape.plan;
  CHECK(planned_text(plan, 0).brief == "computed alone");
  CHECK(planned_text(plan, 0).detail == "Computed alone: not an elementwise op.");
  CHECK(planned_text(plan, 1).brief == "group of 3 calls");  // short: the Inspector's column is narrow
  CHECK(planned_text(plan, 1).detail ==
        "Computed in a group of 3 calls: mul, add, tanh. Its result was written, since something outside of "
        "the "
        "group reads it. The group took 1.50 µs.");
  CHECK(
      planned_text(plan, 2).detail ==
      "Computed in a group of 3 calls: mul, add, tanh. Its result never left the caches. The group took 1.50 "
      "µs.");
  CHECK(planned_text(plan, 4).brief.empty());
  CHECK(planned_text({}, 0).detail.empty());
  CHECK(plan_summary(*plan.plan) ==
        "4 calls in 2 passes over memory: 1 group of 3 calls keeps 32 B in the caches");
}
