// Damaged files of runs: a run that continues with them gives the same numbers, or an error that names the
// part; damaged records are skipped with a warning; `runs check` finds and repairs them.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/io/png.h"
#include "runtime/ops.h"
#include "script/check/check.h"
#include "script/run/folder.h"
#include "script/run/json.h"
#include "script/run/record.h"
#include "script/session.h"
#include "tests/support/damage.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::test;
using lunagrad::tests::Damaged;
using lunagrad::tests::damaged;
using lunagrad::tests::long_run;
namespace fs = std::filesystem;

namespace {

const char* const kDamagedTraining = R"(
local lg = require "lunagrad"
local model = lg.run.state("model", function() return lg.nn.Linear(4, 2) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = 0.1}) end)
local seen = lg.run.state("seen", function() return {loss = 0.5, name = "x", last = lg.zeros(3)} end)
for step in lg.run.steps(6) do
  optimizer:zero_grad()
  local loss = model(lg.randn(8, 4)):square():mean()
  loss:backward()
  optimizer:step()
  seen.loss = seen.loss + loss:item()
  lg.run.log{loss = loss, seen = seen.loss, name = #seen.name}
  if step % 2 == 0 then lg.run.checkpoint() end
end
)";

// A sharded checkpoint of step 3, as two ranks write it, and a run that continues from it.
const char* const kShards = R"(
local lg = require "lunagrad"
lg.io.save("whole.safetensors", {format = "lunagrad checkpoint", version = 1, step = 3, seconds = 1.5, params = {},
  rng = lg.get_rng_state(), unregistered = 0, kept = {}, shards = {number = 1, ranks = 2, step = 3},
  states = {w = {p = {shard = "states.w.p", shape = {4, 300}}}}})
for rank = 0, 1 do
  lg.io.save(("whole.shards/1-%d-of-2.safetensors"):format(rank), {format = "lunagrad shards", step = 3, number = 1,
    rank = rank, ranks = 2, tensors = {["states.w.p"] = lg.rand(2, 300)}})
end
)";
const char* const kSharded = R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return {p = lg.zeros(4, 300)} end)
for step in lg.run.steps(4) do lg.run.log{sum = (w.p * lg.arange(0, 1200):reshape(4, 300)):sum()} end
)";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string flipped(std::string bytes, size_t at, int bit = 1) {
  bytes[at] = char(bytes[at] ^ bit);
  return bytes;
}

// Continues a script from a checkpoint in this process, and collects its logged values.
class Going {
 public:
  Going(std::string script, std::string checkpoint)
      : script_(std::move(script)), checkpoint_(std::move(checkpoint)) {}

  Outcome go() {
    rows_.str("");
    error_.clear();
    session_.run_file(script_, {.write_run = false, .resume = checkpoint_});
    return session_.wait();
  }
  std::string rows() const { return rows_.str(); }
  const std::string& error() const { return error_; }

 private:
  void take(const Event& event) {
    if (event.kind == Event::Kind::error) error_ += event.text;
    if (event.kind != Event::Kind::metrics) return;
    for (const auto& [name, value] : event.metrics) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%lld %a ", static_cast<long long>(event.step), value);
      rows_ << digits;
    }
  }

  const std::string script_, checkpoint_;
  std::ostringstream rows_;
  std::string error_;
  Session session_{[this](const Event& event) { take(event); }};
};

// Damages `file` again and again; each time `going` gives the same numbers or ends with a file error.
void expect_no_silent_difference(Going& going, const std::string& file, int count, uint64_t seed) {
  const std::string good = read_file(file);
  REQUIRE(going.go() == Outcome::ok);
  const std::string wanted = going.rows();
  REQUIRE(!wanted.empty());
  std::mt19937_64 random(seed);
  int silent = 0, errors = 0;
  for (int i = 0; i < count; ++i) {
    const Damaged bad = damaged(good, random);
    CAPTURE(bad.what);
    std::ofstream(file, std::ios::binary) << bad.content;
    const Outcome outcome = going.go();
    if (outcome == Outcome::ok) {
      silent += going.rows() != wanted;
    } else {
      CAPTURE(going.error());
      CHECK(outcome == Outcome::file);
      ++errors;
    }
  }
  CHECK(silent == 0);
  CHECK(errors > count / 2);
  std::ofstream(file, std::ios::binary) << good;
}

const char* const kRows = R"({"step":1,"time":0.1,"metrics":{"loss":3.0}}
{"step":2,"time":0.2,"metrics":{"loss":2.5}}
{"step":3,"time":0.3,"metrics":{"loss":2.0}}
{"step":4,"time":0.4,"metrics":{"loss":1.5}}
)";

}  // namespace

TEST_CASE("a damaged checkpoint gives the numbers that were, or an error") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kDamagedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "run"}).code == 0);
  fs::copy_file(folder.path() + "/run/checkpoints/step-00000002.safetensors",
                folder.path() + "/x.safetensors");
  Going going(script, folder.path() + "/x.safetensors");
  expect_no_silent_difference(going, folder.path() + "/x.safetensors", long_run() ? 1000 : 100, 11);
}

TEST_CASE("a damaged part of a sharded checkpoint gives the numbers that were, or an error") {
  const Folder folder;
  folder.write("make.lua", kShards);
  const std::string script = folder.write("go.lua", kSharded);
  fs::create_directories(folder.path() + "/whole.shards");
  const Finished made = folder.run({"run", "make.lua"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  Going going(script, folder.path() + "/whole.safetensors");
  const std::string parts[] = {folder.path() + "/whole.shards/1-0-of-2.safetensors",
                               folder.path() + "/whole.shards/1-1-of-2.safetensors"};
  const int count = long_run() ? 300 : 30;
  expect_no_silent_difference(going, parts[1], count, 12);
  expect_no_silent_difference(going, folder.path() + "/whole.safetensors", count, 13);

  // Each part is whole, but their names are exchanged.
  fs::rename(parts[0], folder.path() + "/x");
  fs::rename(parts[1], parts[0]);
  fs::rename(folder.path() + "/x", parts[1]);
  CHECK(going.go() == Outcome::file);
  CAPTURE(going.error());
  CHECK(has(going.error(), "1-0-of-2.safetensors: the part of another checkpoint or rank (rank 1, not 0)"));
}

TEST_CASE("the error of a damaged checkpoint names the tensor, and the command that goes on before it") {
  const Folder folder;
  folder.write("train.lua", kDamagedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "run"}).code == 0);
  const std::string checkpoints = folder.path() + "/run/checkpoints/";
  const auto damage = [&](const char* name) {
    const std::string bytes = read_file(checkpoints + name);
    std::ofstream(checkpoints + name, std::ios::binary) << flipped(bytes, bytes.size() - 3);
  };
  damage("step-00000006.safetensors");
  const Finished refused = folder.run({"run", "train.lua", "--resume", "run"});
  CAPTURE(refused.err);
  CHECK(refused.code == 6);
  CHECK(has(refused.err, "run/checkpoints/step-00000006.safetensors: tensor 'states."));
  CHECK(has(refused.err, "' is damaged: its checksum is another one"));
  CHECK(has(
      refused.err,
      "--resume run/checkpoints/step-00000004.safetensors goes on from the checkpoint before it, of step 4"));
  damage("step-00000004.safetensors");
  const Finished again = folder.run({"run", "train.lua", "--resume", "run"});
  CHECK(has(again.err, "--resume run/checkpoints/step-00000002.safetensors goes on"));
  CHECK(folder.run({"run", "train.lua", "--resume", "run/checkpoints/step-00000002.safetensors"}).code == 0);
  CHECK(folder.run({"runs", "check", "run"}).code == 0);  // both were written again

  for (const char* name :
       {"step-00000002.safetensors", "step-00000004.safetensors", "step-00000006.safetensors"})
    damage(name);
  const Finished none = folder.run({"run", "train.lua", "--resume", "run"});
  CHECK(none.code == 6);
  CHECK(has(none.err, "the checkpoints before it are damaged, too"));
}

TEST_CASE("a checkpoint of an earlier version, without checksums, is resumed with a warning") {
  const Folder folder;
  folder.write("train.lua", kDamagedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "run"}).code == 0);
  const std::string path = folder.path() + "/run/checkpoints/step-00000002.safetensors";
  std::string bytes = read_file(path);
  const size_t begin = bytes.find(" {\"lunagrad.checksums\":"), end = bytes.find("\",\"lunagrad\":");
  REQUIRE(end != std::string::npos);
  const size_t length = end + 2 - begin;
  bytes.replace(begin, length, "{");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  header -= length - 1;
  std::memcpy(bytes.data(), &header, 8);
  std::ofstream(path, std::ios::binary) << bytes;
  const Finished finished = folder.run({"run", "train.lua", "--resume", path});
  CAPTURE(finished.err);
  CHECK(finished.code == 0);
  CHECK(has(finished.err, "has no checksums, since an earlier version wrote it"));
}

TEST_CASE("damaged records of metrics.jsonl are skipped and counted") {
  const Folder folder;
  const std::string good = kRows;
  const size_t third = good.find("{\"step\":3");
  const std::pair<std::string, int64_t> damages[] = {
      {good.substr(0, third) + std::string(4096, '\0') + "\n" + good.substr(third), 1},
      {good.substr(0, third) + std::string(4096, '\0') + good.substr(third), 1},
      {good.substr(0, third) + "{\"step\":3,\"ti\n\n[1]\n" + good.substr(third), 3},
      {good.substr(0, third) + "{\"step\":3,\"time\":1,\"metrics\":{\"\xff\":1}}\n" + good.substr(third), 1},
      {good.substr(0, third) + "{\"step\":\"3\"}\n" + good.substr(third), 1},
      {good + "{\"step\":5,\"ti", 0}};  // being written, or cut by a crash
  for (const auto& [rows, count] : damages) {
    folder.write("metrics.jsonl", rows);
    const RunRecord run = read_run(folder.path());
    CHECK(run.damaged == count);
    CHECK(run.steps == 4);
    CHECK(run.metrics.size() == 1);
    CHECK(run.metrics.at("loss").size() >= 3);
    RunFollower follower(folder.path());
    follower.more();
    CHECK(follower.record().damaged == count);
    CHECK(damage_of(run) == (count == 0 ? ""
                             : count == 1
                                 ? "skipped 1 damaged record of " + folder.path() + "/metrics.jsonl"
                                 : "skipped 3 damaged records of " + folder.path() + "/metrics.jsonl"));
  }
}

TEST_CASE("a run with damaged records is shown, compared, exported and repeated") {
  const Folder folder;
  folder.write("train.lua", kDamagedTraining);
  for (const char* name : {"runs/a", "runs/b"})
    REQUIRE(folder.run({"run", "train.lua", "--run-dir", name}).code == 0);
  const std::string path = folder.path() + "/runs/a/metrics.jsonl", rows = read_file(path);
  const size_t third = rows.find("{\"step\":3");
  std::ofstream(path, std::ios::binary) << rows.substr(0, third) << std::string(4096, '\0') << "\n"
                                        << rows.substr(third);
  const auto told = [&](const std::vector<std::string>& arguments, int code) {
    const Finished finished = folder.run(arguments);
    CAPTURE(arguments[1]);
    CAPTURE(finished.err);
    CHECK(finished.code == code);
    CHECK(has(finished.err, "skipped 1 damaged record of runs/a/metrics.jsonl"));
    return finished;
  };
  CHECK(has(told({"runs", "show", "a"}, 0).out, "loss"));
  told({"runs", "diff", "a", "b"}, 0);
  told({"runs", "export", "a"}, 0);
  CHECK(has(told({"runs", "ls"}, 0).out, "6/6"));
  told({"repro", "runs/a"}, 0);
  REQUIRE(folder.run({"runs", "export", "a", "-o", "a.html"}).code == 0);
  CHECK(has(read_file(folder.path() + "/a.html"), "1 damaged record of metrics.jsonl"));
}

TEST_CASE("runs check names what is damaged, and --repair moves it aside") {
  const Folder folder;
  folder.write("train.lua", kDamagedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/a", "--keyframes", "8MiB"}).code == 0);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/b"}).code == 0);
  const std::string run = folder.path() + "/runs/a/";
  const Finished clean = folder.run({"runs", "check"});
  CAPTURE(clean.out);
  CHECK(clean.code == 0);
  CHECK(clean.out == "checked 2 runs, 0 sweeps: nothing damaged\n");

  // One of each kind.
  save_png(run + "image.png", lunagrad::rand({3, 8, 8}));
  fs::create_directories(run + "images");
  std::string image = read_file(run + "image.png");
  fs::remove(run + "image.png");
  std::ofstream(run + "images/x-00000001.png", std::ios::binary) << flipped(image, image.size() / 2);
  const std::string metrics = read_file(run + "metrics.jsonl");
  std::ofstream(run + "metrics.jsonl", std::ios::binary)
      << "{\"step\":1,\"time\":0.1,\"image\":{\"x\":\"images/x-00000001.png\"}}\n"
      << "{\"step\":1,\"ti\n"
      << metrics << "{\"step\":7,\"ti";
  const auto flip = [&](const std::string& name, size_t from_end) {
    const std::string bytes = read_file(run + name);
    std::ofstream(run + name, std::ios::binary) << flipped(bytes, bytes.size() - from_end);
  };
  flip("config.json", 60);
  flip("checkpoints/step-00000004.safetensors", 5);
  flip("tape.jsonl", 60);
  std::string keyframe;
  for (const fs::directory_entry& entry : fs::directory_iterator(run + "keyframes"))
    keyframe = entry.path().filename().string();
  flip("keyframes/" + keyframe, 30);

  const Finished found = folder.run({"runs", "check", "a"});
  CAPTURE(found.out);
  CHECK(found.code == 6);
  for (const char* part :
       {"runs/a/config.json: its checksum is another one",
        "runs/a/metrics.jsonl: 3 damaged records, lines 1, 2, ",
        "runs/a/images/x-00000001.png: ", "runs/a/tape.jsonl: ", "step-00000004.safetensors: tensor 'states.",
        ": a damaged keyframe: ", "checked 1 run, 0 sweeps: 6 damaged\n"})
    CHECK(has(found.out, part));
  CHECK(read_file(run + "metrics.jsonl").size() > metrics.size());  // nothing was changed

  const Finished repaired = folder.run({"runs", "check", "a", "--repair"});
  CAPTURE(repaired.out);
  CHECK(repaired.code == 0);
  CHECK(has(repaired.out, "6 damaged, 6 repaired"));
  CHECK(read_file(run + "metrics.jsonl") == metrics);
  CHECK(fs::exists(run + "damaged/config.json"));
  CHECK(fs::exists(run + "damaged/checkpoints/step-00000004.safetensors"));
  CHECK(has(read_file(run + "damaged/metrics.jsonl"), "{\"step\":7,\"ti\n"));
  CHECK(folder.run({"runs", "check"}).code == 0);
  CHECK(folder.run({"runs", "show", "a"}).code == 0);
}

TEST_CASE("a copy of a script that is damaged is not repeated, and runs check finds it") {
  const Folder folder;
  folder.write("train.lua", kDamagedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/a", "--keyframes", "8MiB"}).code == 0);
  const std::string copy = folder.path() + "/runs/a/script.lua", text = read_file(copy);
  for (const std::string& changed :
       {flipped(text, text.find("0.1")), text + " ", text.substr(1), std::string()}) {
    std::ofstream(copy, std::ios::binary) << changed;
    for (const std::vector<std::string>& command : {std::vector<std::string>{"repro", "a"},
                                                    {"probe", "a", "seen.loss"},
                                                    {"fork", "a", "--step", "4"}}) {
      CAPTURE(command[0]);
      const Finished finished = folder.run(command);
      CHECK(finished.code == 6);
      CHECK(has(finished.err, "runs/a/script.lua: is damaged, or was changed: its checksum is another one"));
    }
    const Finished found = folder.run({"runs", "check", "a"});
    CHECK(found.code == 6);
    CHECK(has(found.out, "runs/a/script.lua: is damaged, or was changed"));
    CHECK(has(found.out, "1 damaged"));
  }
  CHECK(folder.run({"runs", "check", "a", "--repair"}).code == 0);
  CHECK(fs::exists(folder.path() + "/runs/a/damaged/script.lua"));
  CHECK(folder.run({"runs", "check", "a"}).code == 0);
  CHECK(folder.run({"runs", "show", "a"}).code == 0);
  std::ofstream(copy, std::ios::binary) << text;
  CHECK(folder.run({"repro", "a"}).code == 0);
}

TEST_CASE("a run that is being written is checked, but not repaired") {
  const Folder folder;
  RunFolder run(folder.path() + "/run", false, [](const std::string&) {});
  run.append_metrics(R"({"step":1,"time":0.1,"metrics":{"loss":1}})");
  run.append_metrics("damaged");
  std::ofstream(folder.path() + "/run/metrics.jsonl", std::ios::app) << "{\"step\":2";
  CheckReport report;
  check_run(folder.path() + "/run", true, report);
  REQUIRE(report.damages.size() == 1);
  CHECK(report.damages[0].what == "1 damaged record, line 2");
  CHECK(report.damages[0].repair.empty());
  CHECK(report.has_unrepaired());
  CHECK(has(report.notes[0], "a run is writing to it"));
}

TEST_CASE("the text of a file is read with its checksum, without one, but not with another") {
  nlohmann::ordered_json object{{"steps", 40}, {"loss", 0.25}, {"name", "x"}};
  std::mt19937_64 random(5);
  for (const int indent : {-1, 1, 2}) {
    const std::string good = checked_text(object, indent) + "\n";
    CHECK(!is_damaged(good));
    auto parsed = nlohmann::ordered_json::parse(good);
    erase_checksum(parsed);
    CHECK(parsed == object);
    const int count = long_run() ? 100000 : 500;
    for (int i = 0; i < count; ++i) {
      const Damaged bad = damaged(good, random);
      if (is_damaged(bad.content)) continue;
      auto other = nlohmann::ordered_json::parse(bad.content, nullptr, false);
      if (!other.is_object()) continue;
      CAPTURE(bad.content);
      CHECK(other.value("steps", 0) == 40);
      CHECK(other.value("loss", 0.0) == 0.25);
      CHECK(other.value("name", "") == "x");
    }
    // Any range may be cut out, the last entry, too.
    for (size_t begin = 0; begin < good.size(); ++begin)
      for (size_t count = 1; begin + count <= good.size(); ++count) {
        const std::string bad = good.substr(0, begin) + good.substr(begin + count);
        if (is_damaged(bad)) continue;
        CAPTURE(bad);
        auto other = nlohmann::ordered_json::parse(bad, nullptr, false);
        if (!other.is_object()) continue;
        erase_checksum(other);
        CHECK(other == object);
      }
    CHECK(!is_damaged(json_text(object, indent)));
  }
  CHECK(with_checksum(json_text(object)) == checked_text(object));
  for (const auto& last : {nlohmann::ordered_json::object(), nlohmann::ordered_json{{"a", {{"b", 1}}}}})
    for (const int indent : {-1, 2}) {
      object["params"] = last;
      const std::string text = checked_text(object, indent);
      CHECK(!is_damaged(text));
      CHECK(nlohmann::ordered_json::parse(text)["params"] == last);
    }
}

TEST_CASE("files of a run that never end, or nest without end, stop no command") {
  const Folder folder;
  const std::string run = folder.path() + "/runs/r";
  fs::create_directories(run);
  const auto write = [&](const std::string& name, const std::string& content) {
    fs::remove(run + "/" + name);
    folder.write("runs/r/" + name, content);
  };
  std::string deep(1'000'000, '[');
  deep += std::string(deep.size(), ']');
  const std::string rows = "{\"step\":1,\"time\":0.1,\"metrics\":{\"loss\":0.5}}\n";
  const auto look = [&](const std::string& what) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"runs", "ls"},
                                                    {"runs", "ls", "--json"},
                                                    {"runs", "show", "r"},
                                                    {"runs", "diff", "r", "r"},
                                                    {"runs", "check", "runs/r"},
                                                    {"runs", "export", "r", "-o", "page.html"},
                                                    {"repro", "r"},
                                                    {"tape", "diff", "runs/r", "runs/r"},
                                                    {"bundle", "r", "-o", "x.run"}}) {
      const Finished done = folder.run(command);
      CAPTURE(what);
      CAPTURE(command[0]);
      CAPTURE(done.err);
      CHECK(done.code <= 8);
      fs::remove(folder.path() + "/page.html");
      fs::remove(folder.path() + "/x.run");
    }
  };
  write("script.lua", "return 1\n");
  write("metrics.jsonl", rows + "{\"step\":2,\"time\":0.2,\"param\":{\"a\":" + deep + "}}\n" +
                             "{\"step\":2,\"time\":0.2,\"text\":{\"a\":" + deep + "}}\n");
  for (const char* name : {"config.json", "tape.jsonl", "files.jsonl", "probes.jsonl"})
    write(name, "{\"step\":1,\"script\":\"t.lua\",\"params\":{\"a\":" + deep + "}}\n");
  look("deep texts");
  write("metrics.jsonl", rows);
  for (const bool pipe : {false, true}) {
    for (const char* name :
         {"config.json", "tape.jsonl", "files.jsonl", "probes.jsonl", "note.txt", "script.lua", "log.txt"}) {
      fs::remove(run + "/" + name);
      if (pipe)
        REQUIRE(::mkfifo((run + "/" + name).c_str(), 0600) == 0);
      else
        fs::create_symlink("/dev/zero", run + "/" + name);
    }
    look(pipe ? "pipes" : "devices");
  }
}
