#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "script/view/tape_json.h"
#include "tests/ui/tapes.h"
#include "ui/tape/export.h"
#include "ui/tape/metric.h"
#include "ui/tape/player.h"
#include "ui/tape/search.h"
#include "ui/window/theme.h"

using namespace lunagrad;
using test::residual_tape;
using test::TapeMaker;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("DOT has every node and edge once, and quotes names") {
  const TapeSnapshot tape = residual_tape(2);
  size_t edges = 0;
  for (const NodeInfo& node : tape.nodes) edges += node.inputs.size();
  const std::string dot = tape_as_dot(tape);
  CHECK(count(dot, "[label=") == tape.nodes.size());
  CHECK(count(dot, " -> ") == edges);
  TapeMaker odd;
  odd.leaf("a\"; evil [label=\"x", {1});
  CHECK(tape_as_dot(odd.snapshot()).find("a\\\"; evil") != std::string::npos);
}

TEST_CASE("SVG has every box and frame of the picture, with escaped texts") {
  TapeMaker maker;
  const uint64_t x = maker.leaf("<x>&", {4});
  maker.call("relu", "Net.fc", {maker.call("neg", "Net.fc", {x}, {4})}, {4});
  const TapeSnapshot tape = maker.snapshot();
  const TapeTree tree = tape_tree(tape);
  const TapePicture picture = tape_picture(tape, tree, open_groups(tree, {}), {});
  const ImU32 palette[8] = {};
  const std::string svg = picture_as_svg(picture.canvas, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, palette});
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("&lt;x&gt;&amp;") != std::string::npos);
  CHECK(svg.find("<x>") == std::string::npos);
  CHECK(count(svg, "<rect ") == 1 + picture.boxes.size() + picture.frames.size());
  CHECK(svg.find(">fc<") != std::string::npos);
}

TEST_CASE("JSON has the names of Lua's tape:json(), and accepts invalid UTF-8") {
  TapeMaker maker;
  const uint64_t w = maker.leaf("w\xff", {4});
  maker.call("relu", "Net", {w}, {4}, 17);
  const auto json = nlohmann::json::parse(tape_json(maker.snapshot(7)));
  CHECK(json["step"] == 7);
  REQUIRE(json["nodes"].size() == 2);
  const auto& relu = json["nodes"][0];
  CHECK(relu["op"] == "relu");
  CHECK(relu["module"] == "Net");
  CHECK(relu["line"] == 17);
  CHECK(relu["shape"] == nlohmann::json::array({4}));
  CHECK(relu["inputs"][0]["node"] == json["nodes"][1]["id"]);
  CHECK(relu["attrs"].is_object());
}

TEST_CASE("the playhead follows the execution, and in reverse the backward pass") {
  TapePlayer player;
  player.resize(3);
  CHECK_FALSE(player.on());
  CHECK(player.done(2));
  player.step(1);
  CHECK(player.position() == 0);
  player.step(1);
  CHECK(player.number() == 2);
  CHECK(player.done(1));
  CHECK_FALSE(player.done(2));
  player.step(5);
  CHECK(player.position() == 2);
  player.set_backward(true);
  CHECK(player.number() == 1);
  player.step(1);
  CHECK(player.position() == 1);
  CHECK_FALSE(player.done(0));
  player.stop();
  player.step(1);
  CHECK(player.position() == 2);
  player.resize(0);
  CHECK_FALSE(player.on());
  player.step(1);
  player.play();
  CHECK_FALSE(player.playing());
}

TEST_CASE("playing ends at the end, within half a minute for any tape") {
  for (const size_t nodes : {size_t(5), size_t(100000)}) {
    TapePlayer player;
    player.resize(nodes);
    player.play();
    double seconds = 0;
    while (player.playing() && seconds < 60) player.tick(0.1), seconds += 0.1;
    CHECK(player.position() == int(nodes) - 1);
    CHECK(seconds < 30);
    player.play();
    CHECK(player.position() == 0);
  }
}

TEST_CASE("a search steps through its hits in the order of execution, cyclically") {
  TapeSearch search;
  const std::vector<std::string> texts = {"mean", "relu 2", "linear", "relu 1"};  // newest first
  search.update("relu", texts, 1);
  CHECK(search.hits() == std::vector<int>{3, 1});
  CHECK(search.at() == -1);
  CHECK(search.step(1) == 3);
  CHECK(search.step(1) == 1);
  CHECK(search.step(1) == 3);
  CHECK(search.step(-1) == 1);
  CHECK_FALSE(search.found(0));
  search.update("", texts, 1);
  CHECK(search.found(0));
  CHECK(search.step(1) == -1);
}

TEST_CASE("a closed module has the sum of its nodes' times, and heat is between minimum and maximum") {
  const TapeSnapshot tape = residual_tape(4);
  const TapeTree tree = tape_tree(tape);
  const TapePicture picture =
      tape_picture(tape, tree, open_groups(tree, {CollapseState::Mode::depth, 0, {}}), {});
  const TapeMetric& forward = tape_metrics()[0];
  double sum = 0;
  for (size_t i = 0; i < tape.nodes.size(); ++i)
    if (tape.nodes[i].op != "leaf" && !tape.nodes[i].module.empty()) sum += tape.nodes[i].forward_ns;
  const std::vector<double> values = box_values(forward, tape, picture);
  REQUIRE(values.size() == 2);
  const size_t module = picture.boxes[0].is_group ? 0 : 1;
  CHECK(values[module] == doctest::Approx(sum));
  const HeatScale scale({1, 10, 100, NAN, 0, INFINITY});
  CHECK(scale.of(1) == 0);
  CHECK(scale.of(10) == doctest::Approx(0.5));
  CHECK(scale.of(100) == 1);
  CHECK(scale.of(NAN) == 0);
  CHECK(HeatScale({}).of(5) == 0);
  CHECK(HeatScale({3, 3}).of(3) == 1);
}
