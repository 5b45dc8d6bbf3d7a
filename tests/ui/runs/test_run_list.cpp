// The table of runs and the library that reads them.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "script/run/diff.h"
#include "script/run/notes.h"
#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "ui/runs/comparison.h"
#include "ui/runs/library.h"
#include "ui/runs/list.h"

using namespace lunagrad;
namespace fs = std::filesystem;

namespace {

void write_run(const std::string& folder, const std::string& config, const std::string& metrics) {
  fs::create_directories(folder);
  std::ofstream(folder + "/config.json") << config;
  std::ofstream(folder + "/metrics.jsonl") << metrics;
}

std::string row(int step, double loss) {
  return "{\"step\":" + std::to_string(step) + ",\"time\":" + std::to_string(step * 0.1) +
         ",\"metrics\":{\"loss\":" + std::to_string(loss) + "}}\n";
}

std::string config(const char* lr, const char* seed, const char* outcome = "ok") {
  return std::string(
             "{\"script\":\"train.lua\",\"started\":\"2026-01-02T03:04:05Z\",\"device\":\"cpu\",\"seed\":") +
         seed + ",\"params\":{\"lr\":" + lr + ",\"batch\":32},\"steps\":3,\"outcome\":\"" + outcome +
         "\",\"seconds\":1.5}";
}

template <class Done>
bool wait_for(RunLibrary& library, Done done) {
  return tests::eventually([&] {
    library.update();
    return done();
  });
}

RunSummary summary(const char* name, double last, double least, const char* outcome = "ok") {
  RunSummary run;
  run.name = run.folder = name;
  run.outcome = outcome;
  run.metrics["loss"] = {last, least, last};
  return run;
}

}  // namespace

TEST_CASE("runs are sorted by any column, those without a value last, and filtered by words") {
  std::vector<RunSummary> runs{summary("b", 3, 1), summary("a", 2, 2, "error"), summary("c", 1, 0.5)};
  runs.push_back({});
  runs[3].name = "half";
  runs[3].problem = "not a JSON object";
  runs[2].starred = true;
  const std::vector<std::string> none(4);
  const auto order = [&](RunColumn column, bool descending, const char* filter = "") {
    std::string names;
    for (const size_t i : arrange(runs, none, {column, descending, "loss", filter})) names += runs[i].name;
    return names;
  };
  CHECK(order(RunColumn::last, false) == "cabhalf");
  CHECK(order(RunColumn::last, true) == "bachalf");
  CHECK(order(RunColumn::best, false) == "cbahalf");
  CHECK(order(RunColumn::name, false) == "abchalf");
  CHECK(order(RunColumn::star, true) == "cbahalf");
  CHECK(order(RunColumn::name, false, "ERR") == "a");
  CHECK(order(RunColumn::name, false, "json") == "half");
  CHECK(order(RunColumn::name, false, "starred") == "c");
  CHECK(order(RunColumn::name, false, "error json") == "");
  CHECK(higher_is_better("val_accuracy"));
  CHECK_FALSE(higher_is_better("loss"));
}

TEST_CASE("differences list only settings that the runs of a script do not share") {
  std::vector<RunSummary> runs(3);
  for (RunSummary& run : runs)
    run.script = "train.lua", run.config = {{"lr", "0.1"}, {"batch", "32"}, {"seed", "1"}};
  runs[1].config["lr"] = "0.2";
  runs[2].config["seed"] = "2";
  runs.push_back({});
  runs[3].script = "other.lua";
  runs[3].config = {{"batch", "64"}};
  const auto texts = differences(runs);
  CHECK(texts[0] == "lr 0.1, seed 1");
  CHECK(texts[1] == "lr 0.2, seed 1");
  CHECK(texts[2] == "lr 0.1, seed 2");
  CHECK(texts[3] == "");
}

TEST_CASE("short names and paths") {
  CHECK(short_run_name("20260131-235959-digits-a1b2c3") == "digits-a1b2c3");
  CHECK(short_run_name("2026013x-235959-digits") == "2026013x-235959-digits");
  CHECK(short_run_name("a") == "a");
  CHECK(full_path("/a/b/../c/") == "/a/c");
  CHECK(full_path("/") == "/");
}

TEST_CASE("the library lists good, truncated and foreign folders, with the reason") {
  const tests::Folder folder;
  const std::string runs = folder.file("runs");
  write_run(runs + "/good", config("0.1", "1"), row(1, 3) + row(2, 1) + row(3, 2));
  write_run(runs + "/seed", config("0.1", "2"), row(1, 4));
  write_run(runs + "/half", config("0.2", "1"), row(1, 5) + "{\"step\":2,\"time\":0.2,\"met");
  write_run(runs + "/broken", config("0.2", "1"), "{\"step\":1,\nhello\n");
  write_run(runs + "/bare", "not json", row(1, 5));
  fs::create_directories(runs + "/foreign");
  std::ofstream(runs + "/file") << "x";
  RunLibrary library;
  library.look_in({runs, folder.file("not there")});
  REQUIRE(wait_for(library, [&] { return library.runs().size() == 6; }));
  std::map<std::string, RunSummary> by_name;
  for (const RunSummary& run : library.runs()) by_name[run.name] = run;
  const RunSummary& good = by_name["good"];
  CHECK(good.outcome == "ok");
  CHECK(good.steps == 3);
  CHECK(good.seconds == 1.5);
  CHECK(last_of(good, "loss") == 2);
  CHECK(best_of(good, "loss") == 1);
  CHECK(good.group == by_name["seed"].group);
  CHECK(good.group != by_name["half"].group);
  CHECK(by_name["half"].problem == "");
  CHECK(by_name["half"].steps == 1);
  CHECK(by_name["broken"].problem == "");
  CHECK(by_name["broken"].damage == "skipped 2 damaged records of " + runs + "/broken/metrics.jsonl");
  CHECK(by_name["bare"].problem == "");
  CHECK(by_name["bare"].outcome == "running");
  CHECK(by_name["foreign"].problem.find("it has no metrics.jsonl") != std::string::npos);

  // A new folder, a note and a star are noticed.
  set_note(runs + "/good", "the one");
  set_star(runs + "/good", true);
  write_run(runs + "/new", config("0.3", "1"), row(1, 9));
  library.look_again();
  REQUIRE(wait_for(library, [&] { return library.runs().size() == 7; }));
  for (const RunSummary& run : library.runs())
    if (run.name == "good") {
      CHECK(run.starred);
      CHECK(run.note == "the one");
    }
  set_star(runs + "/good", false);
  set_note(runs + "/good", "");
  CHECK_FALSE(read_notes(runs + "/good").starred);
  CHECK(read_notes(runs + "/good").note == "");
  remove_run(runs + "/good");
  CHECK_FALSE(fs::exists(runs + "/good"));
  CHECK(tests::refusal([&] { remove_run(runs + "/foreign"); }).find("nothing is removed") !=
        std::string::npos);
  CHECK(fs::exists(runs + "/foreign"));
}

TEST_CASE("a run that is being written is followed, across a truncated line and a resumption") {
  const tests::Folder folder;
  const std::string run = folder.file("run");
  write_run(run, "{\"script\":\"train.lua\",\"params\":{\"lr\":0.1}}",
            row(1, 3) + row(2, 2) + "{\"step\":3,\"time\"");
  RunLibrary library;
  library.show(run, true);
  const auto points = [&] {
    const auto found = library.curves().find(run);
    return found == library.curves().end() || found->second.metrics.empty()
               ? size_t(0)
               : found->second.metrics[0].raw.size();
  };
  REQUIRE(wait_for(library, [&] { return points() == 2; }));
  std::ofstream(run + "/metrics.jsonl", std::ios::app)
      << ":0.3,\"metrics\":{\"loss\":1.5}}\n"
      << "{\"step\":3,\"time\":0.3,\"param\":{\"lr\":0.05}}\n";
  REQUIRE(wait_for(library, [&] { return points() == 3; }));
  CHECK(library.curves()[run].metrics[0].raw.y(2) == 1.5);
  REQUIRE(library.curves()[run].marks.size() == 1);
  CHECK(library.curves()[run].marks[0].text == "lr to 0.05");
  std::ofstream(run + "/metrics.jsonl", std::ios::app) << "{\"step\":1,\"time\":0.4,\"resume\":\"x\"}\n"
                                                       << row(2, 7);
  REQUIRE(wait_for(library, [&] { return points() == 2; }));
  CHECK(library.curves()[run].metrics[0].raw.y(1) == 7);
  std::ofstream(run + "/metrics.jsonl", std::ios::app) << "no row\n" << row(3, 8);  // the first is skipped
  REQUIRE(wait_for(library, [&] { return points() == 3; }));
  CHECK(library.curves()[run].metrics[0].raw.y(2) == 8);
  library.show(run, false);
  CHECK(library.curves().empty());
  CHECK(library.problems().empty());
}

TEST_CASE("a shown run whose folder is removed disappears, and is reported once") {
  const tests::Folder folder;
  const std::string run = folder.file("run");
  write_run(run, config("0.1", "1"), row(1, 3));
  RunLibrary library;
  library.show(run, true);
  REQUIRE(wait_for(library, [&] { return library.curves().count(run) == 1; }));
  fs::remove_all(run);
  library.look_again();
  std::vector<std::string> gone;
  REQUIRE(wait_for(library, [&] {
    for (const std::string& one : library.take_gone()) gone.push_back(one);
    return !gone.empty();
  }));
  CHECK(gone == std::vector<std::string>{run});
  CHECK_FALSE(library.shows(run));
  CHECK(library.curves().empty());
  CHECK(library.problems().empty());
}

TEST_CASE("a unified diff applied to the first text gives the second") {
  uint64_t state = 7;
  const auto below = [&](uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> a, b;
    for (uint64_t i = below(20); i > 0; --i) a.push_back(std::string(1, char('a' + below(4))));
    b = a;
    for (uint64_t i = below(6); i > 0; --i) {
      if (!b.empty() && below(2))
        b.erase(b.begin() + long(below(b.size())));
      else
        b.insert(b.begin() + long(below(b.size() + 1)), std::string(1, char('a' + below(4))));
    }
    const auto joined = [](const std::vector<std::string>& lines) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      return text;
    };
    // With full context, '-' and ' ' lines give the first text and '+' and ' ' lines the second.
    const auto diff = unified_diff(joined(a), joined(b), 1000);
    if (diff.empty()) {
      CHECK(a == b);
      continue;
    }
    std::vector<std::string> left, right;
    size_t changes = 0;
    for (const DiffLine& line : diff) {
      if (line.sign == ' ' || line.sign == '-') left.push_back(line.text);
      if (line.sign == ' ' || line.sign == '+') right.push_back(line.text);
      changes += line.sign == '-' || line.sign == '+';
    }
    CHECK(left == a);
    CHECK(right == b);
    CHECK(changes <= 6);  // the shortest diff is no longer than the edits that were made
  }
}

TEST_CASE("a diff shows the context and the position of a change") {
  std::string a, b;
  for (int i = 1; i <= 40; ++i) {
    a += "line " + std::to_string(i) + "\n";
    b += i == 20 ? "changed\n" : "line " + std::to_string(i) + "\n";
  }
  const auto diff = unified_diff(a, b, 2);
  REQUIRE(diff.size() == 7);
  CHECK(diff[0].sign == '@');
  CHECK(diff[0].left == 18);
  CHECK(diff[3].sign == '-');
  CHECK(diff[3].left == 20);
  CHECK(diff[3].text == "line 20");
  CHECK(diff[4].sign == '+');
  CHECK(diff[4].text == "changed");
  CHECK(unified_diff(a, a).empty());
  CHECK(unified_diff("", "x\n").size() == 2);
}

TEST_CASE("two runs are compared by configuration and script") {
  const tests::Folder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  write_run(a, config("0.1", "1"), "");
  write_run(b, config("0.2", "1"), "");
  std::ofstream(a + "/script.lua") << "print(1)\nprint(2)\n";
  CHECK(compare_runs(a, b).problem.find("b/script.lua") != std::string::npos);
  std::ofstream(b + "/script.lua") << "print(1)\nprint(3)\n";
  const RunComparison found = compare_runs(a, b);
  CHECK(found.problem == "");
  REQUIRE(found.config.size() == 1);
  CHECK(found.config[0].what == "param lr");
  CHECK(found.config[0].left == "0.1");
  CHECK(found.added == 1);
  CHECK(found.removed == 1);
}
