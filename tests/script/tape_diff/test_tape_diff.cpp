// `lunagrad tape diff` as a user runs it: files and runs, exit codes, tolerances, damaged input.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/ops.h"
#include "runtime/statistics/sketch.h"
#include "script/tape_diff/read.h"
#include "tests/support/damage.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::test;
using nlohmann::json;

namespace {

const char* const kTraining = R"(
local lg = require "lunagrad"
local nn = lg.nn
local net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
local opt = lg.optim.SGD(net:parameters(), {lr = lg.run.param("lr", 0.1)})
local scale = lg.run.param("scale", 1.0)
for step in lg.run.steps(lg.run.param("steps", 12)) do
  local x = lg.randn(8, 3) * scale
  local loss = net(x):square():mean()
  opt:zero_grad() loss:backward() opt:step()
  lg.run.log{loss = loss}
end
)";

// Writes the tape of a small graph; `between` is a statement before its last line.
std::string saved_tape(const std::string& between) {
  return "local lg = require 'lunagrad'\nlocal w, b = lg.ones(3, 4, {requires_grad = true}), lg.ones(4, "
         "{requires_grad = true})\nlocal h = lg.ones(2, 3):matmul(w) + b\n" +
         between +
         "\nlocal file = io.open(arg[1], 'w')\nfile:write(lg.tape(h:square():sum(1):mean()):json())\n"
         "file:close()\n";
}

void save_tape(const Folder& folder, const std::string& name, const std::string& between) {
  folder.write("save.lua", saved_tape(between));
  const Finished run = folder.run({"run", "save.lua", "--", name});
  INFO(run.err);
  REQUIRE(run.code == 0);
}

Finished diff(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"tape", "diff"});
  return folder.run(arguments);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What a tape holds, without times.
std::string text_of(const TapeGraph& graph) {
  std::ostringstream out;
  const auto put = [&](const std::optional<TapeValue>& value) {
    if (!value) return;
    const Summary& s = value->summary;
    out << s.count << " " << s.zeros << " " << s.nans << " " << s.infs << " " << std::hexfloat << s.min << " "
        << s.max << " " << s.mean << " " << s.norm << std::defaultfloat << " ";
  };
  for (const TapeNode& node : graph.nodes) {
    out << node.op << " " << node.name << " " << node.module << " " << node.line << " ";
    for (const int input : node.inputs) out << input << ",";
    put(node.value);
    put(node.gradient);
    out << "\n";
  }
  return out.str();
}

}  // namespace

TEST_CASE("tape diff: files of lg.tape, equal and edited") {
  const Folder folder;
  save_tape(folder, "a.json", "");
  save_tape(folder, "same.json", "-- two lines\n-- of comments");
  save_tape(folder, "tanh.json", "h = h:tanh()");
  const Finished same = diff(folder, {"a.json", "same.json"});
  INFO(same.err);
  CHECK(same.code == 0);
  CHECK(has(same.out, "equal"));
  CHECK(has(same.out, "neither tape holds values"));
  CHECK(!has(diff(folder, {"a.json", "same.json", "--structure"}).out, "holds values"));
  const Finished edited = diff(folder, {"a.json", "tanh.json", "--json"});
  CHECK(edited.code == 1);
  const json ranked = json::parse(edited.out)["ranked"];
  CHECK(ranked[0]["kind"] == "added");
  CHECK(ranked[0]["name"] == "tanh");
  CHECK(ranked[1]["kind"] == "changed");  // what reads it
  CHECK(ranked[1]["cause"] == false);
  CHECK(ranked.size() == 2);
  const Finished back = diff(folder, {"tanh.json", "a.json"});
  CHECK(back.code == 1);
  CHECK(has(back.out, "removed"));
  CHECK(!has(back.out, "\x1b["));  // no colours outside of a terminal
}

TEST_CASE("tape diff --time lists nodes by the change of their time") {
  const Folder folder;
  save_tape(folder, "tape.json", "");
  json tape = json::parse(test::read_file(folder.path() + "/tape.json"));
  json& nodes = tape.is_array() ? tape : tape["nodes"];
  const auto save = [&](const char* name, std::vector<double> backward_ns) {
    REQUIRE(nodes.size() >= backward_ns.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes[i]["forward_ns"] = 1000;
      nodes[i]["backward_ns"] = i < backward_ns.size() ? backward_ns[i] : 0;
    }
    folder.write(name, tape.dump());
  };
  save("a.json", {5000, 5000, 5000, 5000});
  save("b.json", {5000, 6000, 95000, 8000});
  const Finished times = diff(folder, {"a.json", "b.json", "--time", "--json"});
  CHECK(times.code == 0);  // times make no difference
  const json listed = json::parse(times.out)["time"]["nodes"];
  REQUIRE(listed.size() == 3);  // the others took as long as before
  CHECK(listed[0]["backward_ns"] == json{5000, 95000});
  CHECK(listed[1]["backward_ns"] == json{5000, 8000});
  CHECK(listed[2]["backward_ns"] == json{5000, 6000});
  const std::string table = diff(folder, {"a.json", "b.json", "--time"}).out;
  CHECK(has(table, "backward"));
  CHECK(table.find(std::string(listed[0]["name"]) + " ") < table.find(std::string(listed[1]["name"]) + " "));
}

TEST_CASE("tape diff: runs, their steps, and tolerances") {
  const Folder folder;
  folder.write("train.lua", kTraining);
  const auto train = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "train.lua", "--run-dir", "runs/" + name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished run = folder.run(arguments);
    INFO(run.err);
    REQUIRE(run.code == 0);
  };
  train("first", {});
  train("again", {});
  train("faster", {"--set", "lr=0.10001"});
  train("few", {"--set", "steps=3"});
  const Finished again = diff(folder, {"first", "again"});
  CHECK(again.code == 0);
  CHECK(has(again.out, "all 3 common steps are equal"));
  // The first step is made with the same weights.
  const Finished faster = diff(folder, {"first", "runs/faster"});
  CHECK(faster.code == 1);
  CHECK(has(faster.out, "step 10 is the first kept step that differs"));
  CHECK(diff(folder, {"first", "faster", "--rtol", "0.01"}).code == 0);
  CHECK(diff(folder, {"first", "faster", "--atol", "0.1"}).code == 0);
  CHECK(diff(folder, {"first", "faster", "--structure"}).code == 0);
  CHECK(diff(folder, {"first:1", "faster:1"}).code == 0);
  const Finished steps = diff(folder, {"first:1", "first:12", "--json"});
  CHECK(steps.code == 1);
  const json difference = json::parse(steps.out);
  CHECK(difference["a"]["step"] == 1);
  CHECK(difference["b"]["step"] == 12);
  CHECK(difference["ranked"][0]["cause"] == true);
  const Finished one = diff(folder, {"first:10", "again"});
  CHECK(one.code == 0);
  CHECK(has(one.out, "step 10"));
  CHECK(!has(one.out, "linear"));
  const Finished times = diff(folder, {"first:10", "again", "--time"});  // which make no difference
  CHECK(times.code == 0);
  CHECK(has(times.out, "backward"));

  // Steps whose tapes were not kept are repeated.
  const Finished repeated = diff(folder, {"first:7", "again"});
  CHECK(repeated.code == 0);
  CHECK(has(repeated.out, "step 7"));
  const Finished moved = diff(folder, {"first:7", "faster:7", "--json"});
  CHECK(moved.code == 1);
  CHECK(json::parse(moved.out)["a"]["step"] == 7);
  CHECK(json::parse(moved.out)["counts"]["values"] > 0);
  const Finished missing = diff(folder, {"first:13", "again"});
  CHECK(missing.code == 6);
  CHECK(has(missing.err, "step 13: the run runs/first has the steps 1 to 12"));
  const Finished fewer = diff(folder, {"first:7", "few"});
  CHECK(fewer.code == 6);
  CHECK(has(fewer.err, "step 7: the run runs/few has the steps 1 to 3"));
  const Finished word = diff(folder, {"first:last", "again"});
  CHECK(word.code == 6);
  CHECK(has(word.err, "'last' is no step"));
  const Finished nameless = diff(folder, {":3", "again"});
  CHECK(nameless.code == 6);
  CHECK(has(nameless.err, "':3': names no run"));
  CHECK(diff(folder, {"nobody", "again"}).code == 6);
  CHECK(diff(folder, {"nobody.json", "again"}).code == 6);
  CHECK(diff(folder, {"first"}).code == 2);
  CHECK(diff(folder, {"first", "again", "--rtol", "-1"}).code == 2);
  CHECK(diff(folder, {"first", "again", "--frobnicate"}).code == 2);
}

TEST_CASE("tape diff: a page, which is not written over") {
  const Folder folder;
  folder.write("train.lua", kTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "b", "--set", "scale=30"}).code == 0);
  REQUIRE(diff(folder, {"a", "b", "--html", "page.html"}).code == 1);
  const std::string page = read_file(folder.path() + "/page.html");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(has(page, "default-src 'none'"));
  for (size_t at = 0; (at = page.find("://", at)) != std::string::npos; ++at)
    CHECK(page.substr(at, 17) == "://www.w3.org/200");
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  CHECK(data["ranked"][0]["name"] == "input of net.0");
  CHECK(data["pairs"].size() == data["a"]["tape"].size());
  CHECK(data["a"]["script"] == kTraining);
  CHECK(data["b"]["tape"].back()["code"] == "local loss = net(x):square():mean()");
  // A reload after step 5 put another text in place.
  folder.write("b/script-00000005.lua", "\n\n\n\n\n\n\n\n  the later text\n");
  folder.write("b/script-00000011.lua", "\n");
  for (const auto& [step, code] :
       {std::pair("b:1", "local loss = net(x):square():mean()"), std::pair("b:10", "the later text")}) {
    REQUIRE(diff(folder, {"a", step, "--html", "reloaded.html", "--force"}).code == 1);
    CHECK(has(read_file(folder.path() + "/reloaded.html"), text("\"code\":\"", code, "\"")));
  }
  const Finished twice = diff(folder, {"a", "b", "--html", "page.html"});
  CHECK(twice.code == 6);
  CHECK(has(twice.err, "page.html: exists; --force replaces it"));
  CHECK(diff(folder, {"a", "b", "--html", "page.html", "--force"}).code == 1);
  CHECK(diff(folder, {"a", "b", "--html", "nowhere/page.html"}).code == 6);
}

TEST_CASE("tape diff: damaged and empty tapes, and tapes of other versions") {
  const Folder folder;
  save_tape(folder, "a.json", "");
  const std::string whole = read_file(folder.path() + "/a.json");
  const auto refused = [&](const std::string& content, const std::string& fact) {
    CAPTURE(content.substr(0, 80));
    folder.write("bad.json", content);
    for (const auto& [left, right] : {std::pair("a.json", "bad.json"), std::pair("bad.json", "a.json")}) {
      const Finished run = diff(folder, {left, right});
      CHECK(run.code == 6);
      CAPTURE(run.err);
      CHECK(has(run.err, "bad.json"));
      CHECK(has(run.err, fact));
      CHECK(run.out.empty());
    }
  };
  refused("", "the file is empty");
  for (const size_t part : {size_t(1), whole.size() / 3, whole.size() / 2, whole.size() - 1})
    refused(whole.substr(0, part), "cut off");
  refused(
      "\x7f"
      "ELF",
      "not JSON");
  refused("[]", "the tape has no nodes");
  refused("{\"step\":1,\"nodes\":[]}", "the tape has no nodes");
  refused("3", "not a tape");
  refused("{\"a\":1}", "not a tape");
  refused("[1]", "a node is not an object");
  refused("[{\"id\":1}]", "a node has no op");
  refused("[{\"op\":\"x\"}]", "it has no id");
  refused("[{\"op\":\"x\",\"id\":1},{\"op\":\"y\",\"id\":1}]", "the id of another node");
  refused("[{\"op\":\"x\",\"id\":1,\"inputs\":[{\"node\":9}]}]", "it reads node 9");
  refused("[{\"op\":\"x\",\"id\":1,\"inputs\":[{\"node\":1}]}]", "depends on itself");
  refused("[{\"op\":\"x\",\"id\":1,\"inputs\":5}]", "is not a list");
  refused("[{\"op\":\"x\",\"id\":1,\"shape\":[-3]}]", "a shape has -3");
  refused("{\"nodes\":[{\"op\":\"x\",\"in\":[[7]]}]}", "it reads node 8, but the tape has 1");
  refused("{\"nodes\":[{\"op\":\"x\",\"in\":[[1]]},{\"op\":\"y\",\"in\":[[0]]}]}", "depends on itself");
  folder.write("deep.json", std::string(100000, '['));
  CHECK(diff(folder, {"a.json", "deep.json"}).code == 6);

  // Without figures, sources and devices, as an older version wrote it; with unknown fields.
  std::filesystem::create_directory(folder.path() + "/old");
  folder.write("old/metrics.jsonl", "");
  const std::string nodes =
      R"("nodes":[{"op":"mul","shape":[2],"dtype":"f32","later":[{}],"in":[[1,"a",[2],"f32"],[-1,"b",[2],"f32"]]},
      {"op":"leaf","name":"w","shape":[2],"dtype":"f32","in":[]}])";
  const auto line = [&](int step, const std::string& norm) {
    std::string text = "{\"step\":" + std::to_string(step) + "," + nodes + R"(,"values":[[[2,0,0,0,1,1,1,)" +
                       norm + R"(],null],[[2,0,0,0,1,1,1,)" + norm + R"(],[2,0,0,0,1,1,1,"NaN"]]],"new":1})";
    text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
    return text + "\n";
  };
  folder.write("old/tape.jsonl", line(1, "1.4") + line(10, "1.5"));
  const Finished old = diff(folder, {"old:1", "old:10"});
  INFO(old.err);
  CHECK(old.code == 1);
  CHECK(has(old.out, "only norm, mean and range of each value"));
  CHECK(has(old.out, "1  value moved  w "));
  CHECK(diff(folder, {"old:1", "old:1"}).code == 0);
  // A crash left the last line half-written; the tapes that a later line voids are gone; a line in the middle
  // is damaged.
  folder.write("old/tape.jsonl", line(1, "1.4") + line(10, "1.5") + line(4, "1.4") + "{\"step\":9,\"no");
  CHECK(diff(folder, {"old:1", "old:4"}).code == 0);
  const Finished voided = diff(folder, {"old:1", "old:10"});  // nor can it be repeated: there is no script
  CHECK(voided.code == 6);
  CHECK(has(voided.err, "old"));
  folder.write("old/tape.jsonl", line(1, "1.4") + "{\"step\":9,\"no\n");
  const Finished finished = diff(folder, {"old:1", "old:1"});
  CHECK(finished.code == 0);
  CHECK(has(finished.out, "skipped 1 damaged record of old/tape.jsonl"));
  folder.write("old/tape.jsonl", "{\"step\":1,\"like\":7}\n");
  CHECK(has(diff(folder, {"old", "old"}).err, "no complete tape, and 1 damaged"));
  folder.write("old/tape.jsonl", "{\"step\":1,\"left_out\":5000}\n");
  CHECK(has(diff(folder, {"old", "old"}).err, "has 5000 nodes"));
  folder.write("old/tape.jsonl", "");
  CHECK(has(diff(folder, {"old", "old"}).err, "no complete tape"));
  std::filesystem::remove(folder.path() + "/old/tape.jsonl");
  CHECK(has(diff(folder, {"old", "old"}).err, "no tape.jsonl"));
}

TEST_CASE("tape diff: a sketch tells values that changed places, and by how much others moved") {
  const Tensor labels = arange(0, 64, 1, DType::i64), moved = roll(labels, {1});
  Sketches sketches;
  for (const Tensor& x : {labels, labels, moved}) sketches.add(x);
  const std::vector<Sketch> small = sketches.read();
  CHECK(sketch_distance(small[0], small[1], 64) == 0);
  CHECK(sketch_distance(small[0], small[2], 64) > 1);
  // Of random values the estimate is right within a factor of about two, for samples and for whole tensors.
  for (const int64_t count : {1000, 300000}) {
    double low = 1e30, high = 0;
    for (int round = 0; round < 20; ++round) {
      const Tensor x = randn({count}), step = randn({count}) * 0.1;
      sketches.add(x);
      sketches.add(x + step);
      const std::vector<Sketch> both = sketches.read();
      const double ratio = sketch_distance(both[0], both[1], count) / (0.1 * std::sqrt(double(count)));
      low = std::min(low, ratio);
      high = std::max(high, ratio);
    }
    CAPTURE(count);
    CHECK(low > 0.25);
    CHECK(high < 2.5);
  }
}

TEST_CASE("tape diff: a damaged tape of a run is read as it was written, or skipped") {
  const Folder folder;
  folder.write("train.lua", kTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  const std::string run = folder.path() + "/a", file = run + "/tape.jsonl", good = read_file(file);
  const RunTapes whole(run);
  REQUIRE(whole.steps().size() == 3);
  CHECK(whole.damage().empty());
  std::map<int64_t, std::string> wanted;
  for (const int64_t step : whole.steps()) wanted[step] = text_of(whole.tape(step));
  std::mt19937_64 random(9);
  const int count = tests::long_run() ? 1000 : 60;
  int skipped = 0;
  for (int i = 0; i < count; ++i) {
    const tests::Damaged bad = tests::damaged(good, random);
    CAPTURE(bad.what);
    std::ofstream(file, std::ios::binary) << bad.content;
    try {
      const RunTapes tapes(run);
      for (const int64_t step : tapes.steps()) CHECK(text_of(tapes.tape(step)) == wanted[step]);
      skipped += !tapes.damage().empty();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::file);
      ++skipped;
    }
  }
  CHECK(skipped > count / 2);
}
