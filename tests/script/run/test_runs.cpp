// Reads back the folders of runs: `lunagrad runs` and `lunagrad repro`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/session.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::test;
using nlohmann::json;

namespace {

const char* const kListedTraining = R"(
local lg = require "lunagrad"
local lr = lg.run.live("lr", 0.5)
local w = lg.randn(4)
for step in lg.run.steps(20) do
  w = w - lr() * w + lg.randn(4) * 0.01
  lg.run.log{loss = w:square():sum()}
  if step % 10 == 0 then lg.run.log{accuracy = 0 / 0} end
end
lg.run.text("note", "done")
)";

size_t count_lines(const std::string& text) { return size_t(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_CASE("runs are listed, shown, compared, exported and removed") {
  const Folder folder;
  folder.write("train.lua", kListedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/a"}).code == 0);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/b", "--set", "lr=0.1", "--seed", "7"}).code ==
          0);

  const Finished list = folder.run({"runs", "ls"});
  CHECK(list.code == 0);
  CHECK(count_lines(list.out) == 3);
  CHECK(list.out.find("20/20") != std::string::npos);
  std::istringstream lines(folder.run({"runs", "ls", "--json"}).out);
  std::string line;
  std::getline(lines, line);
  CHECK(json::parse(line)["name"] == "a");
  std::getline(lines, line);
  CHECK(json::parse(line)["params"]["lr"] == "0.1");
  CHECK(json::parse(line)["seed"] == "7");

  folder.write("runs/a/note.txt", "the first one\n");
  folder.write("runs/a/star", "");
  const Finished show = folder.run({"runs", "show", "runs/a"});
  CHECK(show.code == 0);
  for (const char* part : {"train.lua", "param lr", "text note", "the first one", "starred", "loss",
                           "accuracy", "none finite", "█"})
    CHECK(show.out.find(part) != std::string::npos);
  CHECK(folder.run({"runs", "show", "a"}).out == show.out);

  const Finished diff = folder.run({"runs", "diff", "a", "b"});
  CHECK(diff.code == 1);
  for (const char* part : {"seed", "param lr", "0.1", "differs from step 1"})
    CHECK(diff.out.find(part) != std::string::npos);
  CHECK(diff.out.find("outcome") == std::string::npos);

  const Finished csv = folder.run({"runs", "export", "a"});
  CHECK(count_lines(csv.out) == 21);
  CHECK(csv.out.rfind("step,time,accuracy,loss\n1,", 0) == 0);
  REQUIRE(folder.run({"runs", "export", "a", "-o", "a.csv"}).code == 0);
  CHECK(read_file(folder.path() + "/a.csv") == csv.out);

  CHECK(folder.run({"runs", "rm", "a", "nothing"}).code == 6);
  CHECK(is_run(folder.path() + "/runs/a"));
  CHECK(folder.run({"runs", "rm", "a"}).code == 0);
  CHECK(!is_run(folder.path() + "/runs/a"));
  CHECK(is_run(folder.path() + "/runs/b"));
  CHECK(folder.run({"runs", "show", "train.lua"}).code == 6);
  CHECK(folder.run({"runs", "show"}).code == 2);
}

TEST_CASE("an incomplete last line is left out, a broken one is counted, void rows are dropped") {
  const Folder folder;
  const std::string file = folder.write("metrics.jsonl", R"({"step":1,"time":0.1,"metrics":{"loss":3.0}}
{"step":2,"time":0.2,"metrics":{"loss":2.0}}
{"step":3,"time":0.3,"metrics":{"loss":9.0}}
{"step":1,"time":0.1,"resume":"checkpoints/step-00000001.safetensors"}
{"step":2,"time":0.2,"metrics":{"loss":"Infinity"}}
{"step":3,"ti)");
  const RunRecord run = read_run(folder.path());
  REQUIRE(run.metrics.at("loss").size() == 2);
  CHECK(run.metrics.at("loss")[0].value == 3);
  CHECK(run.metrics.at("loss")[1].value > 1e308);
  CHECK(run.steps == 2);
  std::ofstream(file, std::ios::app) << "\n{\"step\":4}\n";
  const RunRecord damaged = read_run(folder.path());
  CHECK(damaged.damaged == 1);
  CHECK(damaged.steps == 4);
}

TEST_CASE("what a run went back behind is left out: texts, edits, checkpoints, what was watched") {
  const Folder folder;
  folder.write("metrics.jsonl", R"({"step":1,"time":0.1,"text":{"note":"one","gone":"x"}}
{"step":2,"time":0.2,"metrics":{"loss":2.0}}
{"step":2,"time":0.2,"param":{"lr":0.5}}
{"step":2,"time":0.2,"watch":{"net":{"norm":1.0}}}
{"step":2,"time":0.3,"checkpoint":"a/checkpoints/step-00000002.safetensors"}
{"step":2,"time":0.3,"metrics":{"loss":9.0,"late":1.0}}
{"step":2,"time":0.3,"text":{"note":"two"}}
{"step":2,"time":0.3,"histogram":{"h":{"count":1}}}
{"step":3,"time":0.4,"text":{"note":"three","later":"y"}}
{"step":3,"time":0.4,"param":{"lr":0.7}}
{"step":3,"time":0.4,"watch":{"net":{"norm":5.0},"other":{"norm":5.0}}}
{"step":4,"time":0.5,"checkpoint":"a/checkpoints/step-00000004.safetensors"}
{"step":4,"time":0.5,"checkpoint":"a/checkpoints/step-00000004.safetensors"}
)");
  const RunRecord before = read_run(folder.path());
  CHECK(before.checkpoints.size() == 2);
  CHECK(latest_text(before, "note") == "three");
  std::ofstream(folder.path() + "/metrics.jsonl", std::ios::app)
      << "{\"step\":2,\"time\":0.2,\"resume\":\"a/checkpoints/step-00000002.safetensors\"}\n";
  RunFollower follower(folder.path());
  follower.more();
  for (const RunRecord& run : {read_run(folder.path()), follower.record()}) {
    CHECK(run.steps == 2);
    REQUIRE(run.metrics.at("loss").size() == 1);
    CHECK(run.metrics.at("loss")[0].value == 2);
    CHECK(run.metrics.at("late").empty());
    CHECK(run.histograms.at("h").empty());
    CHECK(latest_text(run, "note") == "one");
    CHECK(latest_text(run, "later") == "");
    REQUIRE(run.changes.size() == 1);
    CHECK(run.changes[0].value == "0.5");
    REQUIRE(run.checkpoints.size() == 1);
    CHECK(run.checkpoints[0].step == 2);
    CHECK(!run.watched.contains("other"));
  }
}

TEST_CASE("the newest checkpoint is of the newest branch of a run") {
  const Folder folder;
  std::filesystem::create_directory(folder.path() + "/checkpoints");
  for (const char* step : {"02", "03", "05"})
    folder.write("checkpoints/step-000000" + std::string(step) + ".safetensors", "");
  const auto latest = [&](const std::string& rows) {
    folder.write("metrics.jsonl", rows);
    const std::string path = latest_checkpoint(folder.path());
    return path.empty() ? 0 : std::stoi(path.substr(path.find("step-") + 5));
  };
  const std::string back = R"({"step":2,"time":0,"resume":"c/step-00000002.safetensors","abandons":[3,5]})"
                           "\n";
  const auto row = [](int step, const char* key) {
    return "{\"step\":" + std::to_string(step) + ",\"time\":0,\"" + key + "\":\"c\"}\n";
  };
  CHECK(latest("") == 5);
  CHECK(latest(back) == 2);
  CHECK(latest(back + "{\"step\":3,\"ti") == 2);
  CHECK(latest(back + row(3, "checkpoint")) == 3);
  CHECK(latest(back + row(5, "automatic")) == 5);
  CHECK(latest(back + row(5, "automatic") + back) == 2);
  CHECK(latest(back + row(5, "resume")) == 5);  // it was named explicitly
  CHECK(latest(back + row(5, "reload")) == 2);
  // Rows of an earlier version do not list the abandoned checkpoints.
  CHECK(latest(row(5, "checkpoint") + row(2, "resume")) == 3);
  CHECK(latest(row(5, "checkpoint") + row(3, "checkpoint") + row(2, "reload")) == 2);
  folder.write("metrics.jsonl", back);
  const std::string path = folder.path() + "/checkpoints/step-00000005.safetensors";
  REQUIRE(checkpoints_before(path).size() == 1);
  CHECK(checkpoints_before(path)[0].ends_with("step-00000002.safetensors"));
}

TEST_CASE("repro compares every number, with the changes of parameters") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kListedTraining);
  {
    Session* watched = nullptr;
    Session session([&](const Event& event) {
      if (event.kind == Event::Kind::step && event.step == 5) CHECK(watched->set_param("lr", "0.25"));
    });
    watched = &session;
    session.run_file(script, {.seed = 11, .run_directory = folder.path() + "/run"});
    REQUIRE(session.wait() == Outcome::ok);
  }
  const Finished again = folder.run({"repro", "run"});
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(again.out == "reproduced: 22 numbers of 20 steps are the same\n");

  // repro uses the copy in the run's folder.
  folder.write("train.lua", "error('changed since')");
  CHECK(folder.run({"repro", "run"}).code == 0);

  const std::string metrics = folder.path() + "/run/metrics.jsonl";
  std::string rows = read_file(metrics);
  const size_t seventh = rows.find("\"loss\":", rows.find("\"step\":7,\"time\":"));
  rows[seventh + 7] = rows[seventh + 7] == '1' ? '2' : '1';
  std::ofstream(metrics) << rows;
  const Finished other = folder.run({"repro", "run"});
  CHECK(other.code == 7);
  CHECK(other.out.rfind("not reproduced: step 7: loss is ", 0) == 0);
  CHECK(folder.run({"repro", "nowhere"}).code == 6);
}

namespace {

// From step 12 on all units of the ReLU are dead; at step 30 the loss is 1e9 times as large.
const char* const kWatched = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
local sgd = lg.optim.SGD(net:parameters(), {lr = 0.5})
lg.run.watch(net, {every = 1, name = "net"})
for step in lg.run.steps(30) do
  if step == 12 then net[1].bias:detach():fill_(-1000) end
  local before = net[3].bias:detach():clone()
  sgd:zero_grad()
  local loss = F.cross_entropy(net(lg.randn(16, 6)), lg.randint(0, 3, {16})) * (step == 30 and 1e9 or 1)
  loss:backward()
  lg.run.log{wanted = net[3].bias.grad:norm()}
  sgd:step()
  sgd:zero_grad()
  lg.run.log{ratio = (net[3].bias:detach() - before):norm() / net[3].bias:detach():norm()}
end
lg.run.image("first/weights", net[1].weight:detach(), {normalize = true})
lg.run.histogram("own", net[1].weight)
)";

}  // namespace

TEST_CASE("every command that takes a run finds it by its name in runs/, or by a part of it") {
  const Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(6) do w:add_(1); lg.run.log{loss = w} end
)");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/first-try", "--keyframes", "1MiB"}).code == 0);
  for (const char* name : {"runs/first-try", "first-try", "first", "try"}) {
    CAPTURE(name);
    CHECK(folder.run({"repro", name}).code == 0);
    CHECK(folder.run({"probe", name, "w * 2"}).out.find("6     12") != std::string::npos);
    CHECK(folder.run({"fork", name, "--step", "4", "--run-dir", "forks/" + std::string(name)}).code == 0);
    CHECK(folder.run({"bundle", name}).code == 0);
    CHECK(std::filesystem::remove(folder.path() + "/first-try.run"));
  }
  for (const char* command : {"repro", "probe", "fork", "bundle"}) {
    std::vector<std::string> words{command, "second"};
    if (words[0] == "probe") words.push_back("w");
    if (words[0] == "fork") words.insert(words.end(), {"--step", "1"});
    const Finished none = folder.run(words);
    CHECK(none.code == 6);
    CHECK(none.err ==
          "lunagrad " + words[0] + ": second: neither a run's folder nor a part of one's name in runs/\n");
  }
}

TEST_CASE("a layer with a fused relu is watched as a ReLU") {
  const Folder folder;
  folder.write("watch.lua", R"(
local lg = require "lunagrad"
local net = lg.nn.Sequential(lg.nn.Linear(6, 5, {activation = "relu"}), lg.nn.Linear(5, 3))
lg.run.watch(net, {every = 1, name = "net"})
for _ in lg.run.steps(12) do
  net[1].bias:detach():narrow(1, 1, 4):fill_(-1000)
  net(lg.randn(2, 4, 6))
end
)");
  const Finished run = folder.run({"run", "watch.lua", "--run-dir", "w"});
  CHECK(run.code == 0);
  CHECK_MESSAGE(
      run.err.find("watch: step 10: 4 of the 5 units of net.0 (Linear) gave nothing but 0 in the last 10 "
                   "watched steps") != std::string::npos,
      run.err);
}

TEST_CASE("lg.run.watch reports norms, updates, dead units and explosions; images are exported") {
  const Folder folder;
  folder.write("watch.lua", kWatched);
  const Finished run = folder.run({"run", "watch.lua", "--run-dir", "w", "--tensorboard"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.err.find("watch: step 21: 8 of the 8 units of net.1 (ReLU) gave nothing but 0 in the last 10 "
                     "watched steps") != std::string::npos);
  CHECK(run.err.find("watch: step 30: the norm of the gradient of net.2.bias is ") != std::string::npos);
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 4);

  std::vector<double> wanted, norms, ratios, updates, dead;
  size_t histograms = 0;
  std::istringstream in(read_file(folder.path() + "/w/metrics.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const json row = json::parse(line);
    if (row.contains("watch")) {
      const json& bias = row["watch"]["net.2.bias"];
      norms.push_back(bias["gradient_norm"]);
      updates.push_back(bias["update_ratio"]);
      dead.push_back(row["watch"]["net.1"]["dead"]);
    }
    if (row.contains("metrics") && row["metrics"].contains("wanted"))
      wanted.push_back(row["metrics"]["wanted"]);
    if (row.contains("metrics") && row["metrics"].contains("ratio"))
      ratios.push_back(row["metrics"]["ratio"]);
    histograms += row.contains("histogram") && row["histogram"].contains("weight/net.0.weight");
  }
  REQUIRE(norms.size() == 30);
  CHECK(histograms == 30);
  for (size_t i = 0; i < 30; ++i) {
    CHECK(norms[i] == doctest::Approx(wanted[i]).epsilon(1e-4));
    CHECK(updates[i] == doctest::Approx(ratios[i]).epsilon(1e-4));
  }
  CHECK(dead[19] < 1);
  CHECK(dead[20] == 1);

  const Finished shown = folder.run({"runs", "show", "w"});
  for (const char* part : {"image first/weights", "histogram own", "48 values", "watched", "net.2.bias",
                           "watch/net.gradient_norm"})
    CHECK(shown.out.find(part) != std::string::npos);
  CHECK(shown.out.find("histogram weight/") == std::string::npos);
  REQUIRE(folder.run({"runs", "export", "w", "-o", "kept/"}).code == 0);
  CHECK(read_file(folder.path() + "/kept/metrics.csv").rfind("step,time,", 0) == 0);
  const std::string image = "/images/first%2fweights-00000030.png";
  CHECK(read_file(folder.path() + "/kept" + image) == read_file(folder.path() + "/w" + image));
  CHECK(folder.run({"info", "kept" + image}).out.find("[1, 8, 6]") != std::string::npos);
  CHECK(folder.run({"runs", "export", "w"}).err.find("-o FOLDER/ takes them along") != std::string::npos);

  // In the event file: the picture as it is, a histogram, a number.
  std::string events;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/w"))
    if (entry.path().filename().string().starts_with("events.out")) events = read_file(entry.path());
  CHECK(events.find(read_file(folder.path() + "/w" + image)) != std::string::npos);
  CHECK(events.find("gradient/net.0.weight") != std::string::npos);
  CHECK(events.find("net.0.weight/update_ratio") != std::string::npos);
}

TEST_CASE("without a run folder nothing is watched or drawn, but wrong arguments are errors") {
  const Folder folder;
  const Finished fine =
      folder.run({"-e",
                  "local net = lg.nn.Sequential(lg.nn.Linear(2, 2), lg.nn.ReLU()) lg.run.watch(net)"
                  " lg.run.image('a', lg.zeros(2, 2)) lg.run.histogram('h', lg.ones(3)) lg.run.text('t', 'x')"
                  " for i in lg.run.steps(2) do net(lg.ones(1, 2)) end print(net[1]._hooks)"});
  INFO(fine.err);
  CHECK(fine.out == "false\n");
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(folder.run({"-e", "lg.run.image('a', lg.zeros(9, 2, 2))"}).code == 1);
}

TEST_CASE("a million rows are written and read quickly") {
  const Folder folder;
  const int rows = tests::kSanitized ? 20'000 : 1'000'000;
  folder.write("long.lua", "local lg = require 'lunagrad' for i in lg.run.steps(" + std::to_string(rows) +
                               ") do lg.run.log{loss = 1 / i} end");
  // Nanoseconds of processor time for a row.
  double writing = tests::children_seconds();
  REQUIRE(folder.run({"run", "long.lua", "--run-dir", "long", "--progress", "none"}).code == 0);
  writing = (tests::children_seconds() - writing) / rows * 1e9;
  double reading = tests::process_seconds();
  const RunRecord run = read_run(folder.path() + "/long");
  reading = (tests::process_seconds() - reading) / rows * 1e9;
  MESSAGE(writing << " ns to make, log and write a row, " << reading << " ns to read it");
  CHECK(run.steps == rows);
  const auto& loss = run.metrics.at("loss");
  REQUIRE(loss.size() == size_t(rows));
  CHECK(loss[2].value == 1.0 / 3);
  if (tests::kSanitized) return;
  // Twenty times the time on an idle machine.
  CHECK(writing < 80'000);
  CHECK(reading < 10'000);
}
