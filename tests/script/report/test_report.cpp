// Runs as a page: `lunagrad runs export -o NAME.html`, and the JSON that it holds.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "script/report/curve_buckets.h"
#include "script/report/run_report.h"
#include "script/run/record.h"
#include "script/view/smoother.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Content of a run that could break a page.
const char* const kHostile = R"(
local lg = require "lunagrad"
local w = lg.randn(4, 3):requires_grad_()
local opt = lg.optim.SGD({w}, {lr = 0.1})
for step in lg.run.steps(12) do
  local loss = (lg.randn(2, 4):matmul(w)):square():mean()
  opt:zero_grad() loss:backward() opt:step()
  lg.run.log{loss = loss, ["</script><script>alert(1)</script>"] = step, ["\xff\"'<!--"] = step == 7 and 0 / 0 or 1 / 0}
  lg.run.text("note", "</script><b>\0\xfe</b> & <!-- " .. step)
  lg.run.histogram("w", w)
  lg.run.image("img/../<x>", lg.rand(1, 6, 5))
  print("line </script> \xff", step)
end
)";

// The JSON of a page; also checks that nothing else in the page can end or begin a script.
json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">", close = "</script>";
  const size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const size_t end = page.find(close, begin);
  REQUIRE(end != std::string::npos);
  const std::string text = page.substr(begin + open.size(), end - begin - open.size());
  CHECK(text.find('<') == std::string::npos);
  size_t scripts = 0;
  for (size_t at = 0; (at = page.find(close, at)) != std::string::npos; ++at) ++scripts;
  CHECK(scripts == 2);
  json data = json::parse(text, nullptr, false);
  REQUIRE(data.is_object());
  return data;
}

const json& named(const json& list, const std::string& name) {
  for (const json& entry : list)
    if (entry["name"] == name) return entry;
  FAIL("no entry is called ", name);
  return list;
}

}  // namespace

TEST_CASE("a page holds everything of a run, escaped, and needs no network") {
  const Folder folder;
  folder.write("train.lua", kHostile);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/a", "--seed", "5", "--", "x", "<y>"}).code == 0);
  folder.write("runs/a/note.txt", "a note </script>\n");
  const Finished done = folder.run({"runs", "export", "a", "-o", "a.html"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const std::string page = read_file(folder.path() + "/a.html");
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(page.ends_with("</html>\n"));
  // No address but the name of SVG, which is never fetched; and the browser is told to refuse any.
  for (size_t at = 0; (at = page.find("://", at)) != std::string::npos; ++at)
    CHECK(page.substr(at, 17) == "://www.w3.org/200");
  CHECK(page.find("default-src 'none'") != std::string::npos);
  CHECK(page.find("connect-src 'none'") != std::string::npos);

  const json data = data_of(page);
  REQUIRE(data["runs"].size() == 1);
  const json& run = data["runs"][0];
  CHECK(run["name"] == "a");
  CHECK(run["seed"] == "5");
  CHECK(run["outcome"] == "ok");
  CHECK(run["arguments"] == json({"x", "<y>"}));
  CHECK(run["config"]["versions"]["lua"].is_string());
  CHECK(run["note"] == "a note </script>");
  CHECK(named(run["curves"], "loss")["count"] == 12);
  CHECK(named(run["curves"], "</script><script>alert(1)</script>")["value"].size() == 12);
  const json& bad = named(run["curves"], "\xef\xbf\xbd\"'<!--");
  CHECK(bad["bad"] == json({{"count", 12}, {"first", 1}, {"value", "Infinity"}}));
  CHECK(bad["value"][6] == "NaN");
  CHECK(run["texts"]["note"].size() == 12);
  CHECK(run["texts"]["note"][11]["step"] == 12);
  CHECK(run["histograms"]["w"].size() == 12);
  CHECK(run["histograms"]["w"][0]["edges"].size() == run["histograms"]["w"][0]["counts"].size() + 1);
  REQUIRE(run["images"]["img/../<x>"].size() == 12);
  CHECK(run["images"]["img/../<x>"][3]["data"].get<std::string>().starts_with(
      "data:image/png;base64,iVBORw0KGgo"));
  CHECK(run["log"]["begin"].get<std::string>().find("line </script> \xef\xbf\xbd\t12") != std::string::npos);
  CHECK(run["scripts"][0]["text"].get<std::string>().find("lg.run.steps(12)") != std::string::npos);
  CHECK(run["left_out"].empty());
}

TEST_CASE("an existing page is replaced only with --force, several runs are compared, wrong uses say so") {
  const Folder folder;
  folder.write("train.lua", kHostile);
  for (const char* name : {"runs/a", "runs/b"})
    REQUIRE(folder.run({"run", "train.lua", "--run-dir", name}).code == 0);
  REQUIRE(folder.run({"runs", "export", "a", "b", "-o", "both.html"}).code == 0);
  CHECK(data_of(read_file(folder.path() + "/both.html"))["runs"][1]["name"] == "b");

  folder.write("mine.html", "my own page");
  const Finished refused = folder.run({"runs", "export", "a", "-o", "mine.html"});
  CHECK(refused.code == 6);
  CHECK(refused.err == "lunagrad runs: mine.html: exists; --force replaces it\n");
  CHECK(read_file(folder.path() + "/mine.html") == "my own page");
  CHECK(folder.run({"runs", "export", "a", "-o", "mine.html", "--force"}).code == 0);
  CHECK(data_of(read_file(folder.path() + "/mine.html"))["runs"].size() == 1);

  CHECK(folder.run({"runs", "export", "nothing", "-o", "x.html"}).code == 6);
  CHECK(folder.run({"runs", "export", "a", "-o", "no/such/folder/x.html"}).code == 6);
  CHECK(folder.run({"runs", "export", "a", "b"}).code == 2);
  CHECK(folder.run({"runs", "export", "a", "b", "-o", "x.csv"}).code == 2);
  CHECK(!fs::exists(folder.path() + "/x.html"));
}

TEST_CASE("a curve of any length has its true extremes, and the smoothing of every row") {
  CurveBuckets curve(64);
  Smoother smoother(kSmoothings[1]);
  double smooth = 0;
  constexpr int64_t kRows = 100000;
  for (int64_t step = 1; step <= kRows; ++step) {
    double value = std::sin(double(step) / 50);
    if (step == 33333) value = -70;
    if (step == 77777) value = 900;
    if (step == 5000) value = INFINITY;
    if (const double next = smoother.next(double(step), value); std::isfinite(next)) smooth = next;
    curve.append(step, double(step) / 10, value, 1);
  }
  const json whole = curve.json();
  CHECK(whole["count"] == kRows);
  CHECK(whole["step"].size() <= 64);
  CHECK(whole["step"].back() == kRows);
  CHECK(whole["min"] == json({{"step", 33333}, {"value", -70.0}}));
  CHECK(whole["max"] == json({{"step", 77777}, {"value", 900.0}}));
  CHECK(whole["bad"]["first"] == 5000);
  double low = 0, high = 0;
  int64_t bad = 0;
  for (const json& value : whole["low"]) low = std::min(low, value.get<double>());
  for (const json& value : whole["high"]) high = std::max(high, value.get<double>());
  for (const json& value : whole["bads"]) bad += value.get<int64_t>();
  CHECK(low == -70);
  CHECK(high == 900);
  CHECK(bad == 1);
  CHECK(whole["smooth"][1].back().get<double>() == doctest::Approx(smooth).epsilon(1e-5));

  // Later additions replace the end of a reader's data.
  const size_t size = whole["step"].size();
  curve.append(kRows + 1, 0, 3, 2);
  const json news = curve.json(1);
  CHECK(news["each"] == whole["each"]);
  CHECK(news["step"].size() == 1);
  CHECK(news["from"].get<size_t>() + 1 >= size);
  CHECK(news["step"].back() == kRows + 1);
  CHECK(curve.json(2)["step"].empty());
  while (curve.json()["each"] == whole["each"]) curve.append(kRows + 2, 0, 3, 3);
  CHECK(curve.json(2)["from"] == 0);
  CHECK(curve.json(3)["step"].empty());
}

TEST_CASE("a page says what it leaves out") {
  const Folder folder;
  std::string rows;
  for (int step = 1; step <= 3000; ++step) {
    const std::string at = std::to_string(step);
    rows += R"({"step":)" + at + R"(,"time":1,"metrics":{"m)" + at + R"(":1}})" + "\n";
    rows += R"({"step":)" + at + R"(,"time":1,"text":{"t":"x"}})" + "\n";
  }
  folder.write("metrics.jsonl", rows);
  folder.write("log.txt", "first line\n" + std::string(3 << 20, 'x') + "\nlast line\n");
  RunReport report(folder.path(), {}, true);
  report.more();
  const json run = report.json();
  CHECK(run["curves"].size() == ReportLimits().curves);
  CHECK(run["texts"]["t"].size() == ReportLimits().texts_per_name);
  CHECK(run["texts"]["t"].back()["step"] == 3000);
  CHECK(run["log"]["begin"] == "first line\n");
  CHECK(run["log"]["end"].get<std::string>().ends_with("\nlast line\n"));
  CHECK(run["left_out"].size() == 3);
  CHECK(run["left_out"].dump().find("2,600 curves of 3,000 metrics") != std::string::npos);
  CHECK(run.dump().size() < (4u << 20));
}

TEST_CASE("a row of any length is shown, in a page and to who follows the run") {
  const Folder folder;
  const std::string first = R"({"step":1,"time":0,"text":{"t":"short"}})";
  const std::string long_text(3 << 20, 'x');
  folder.write("metrics.jsonl", first + "\n");
  RunReport report(folder.path(), {}, false);
  report.more();
  const uint64_t before = report.offset();
  folder.write("metrics.jsonl",
               first + "\n" + R"({"step":2,"time":0,"text":{"t":")" + long_text + R"(","u":"v"}})" + "\n");
  report.more();
  const json news = report.json({.rows = before});
  REQUIRE(news["texts"]["t"].size() == 1);
  CHECK(news["texts"]["t"][0]["bytes"] == long_text.size());
  CHECK(news["texts"]["u"][0]["text"] == "v");
  const json whole = report.json();
  CHECK(whole["texts"]["t"].size() == 2);
  CHECK(whole["texts"]["t"][0]["text"] == "short");
}

TEST_CASE("a page that follows a run gets whole lines and characters of its console") {
  const Folder folder;
  folder.write("metrics.jsonl", "{\"step\":1,\"time\":0}\n");
  RunReport live(folder.path(), {}, false), page(folder.path(), {}, true);
  live.more();
  page.more();
  std::string shown;
  int64_t read = 0;
  const auto look = [&](const std::string& written) {
    folder.write("log.txt", written);
    const json log = live.json({.rows = 1, .log = read});
    shown += log["log"]["begin"].get<std::string>();
    read = log["cursor"]["log"];
    return shown;
  };
  CHECK(look("whole\nhalf \xc3") == "whole\n");
  CHECK(look("whole\nhalf \xc3\xa9\xe2\x82") == "whole\nhalf \xc3\xa9");
  CHECK(look("whole\nhalf \xc3\xa9\xe2\x82\xac") == "whole\nhalf \xc3\xa9\xe2\x82\xac");
  CHECK(page.json()["log"]["begin"] == "whole\nhalf \xc3\xa9\xe2\x82\xac");
}

TEST_CASE("a console that grows while it is read is shown without gaps or doubles") {
  const Folder folder;
  folder.write("metrics.jsonl", "{\"step\":1,\"time\":0}\n");
  folder.write("log.txt", "");
  ReportLimits limits;
  limits.log_begin = limits.log_end = 256;
  RunReport report(folder.path(), limits, false);
  report.more();
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    std::ofstream log(folder.path() + "/log.txt", std::ios::binary);
    for (int line = 0; !ends && line < 4000000;) {
      std::string block;
      for (const int end = line + 32; line < end; ++line) block += std::to_string(1000000 + line) + "\n";
      log << block << std::flush;
    }
  });
  int64_t read = 0;
  size_t gaps = 0;
  for (int look = 0; look < 20000 && gaps < 100; ++look) {
    const json now = report.json({.rows = 1, .log = read});
    const int64_t before = std::exchange(read, now["cursor"]["log"].get<int64_t>());
    const json& log = now["log"];
    const std::string begin = log["begin"], end = log.value("end", "");
    const int64_t missing = log.value("missing", 0);
    CHECK(int64_t(begin.size() + end.size()) + missing == read - before);
    // Line n begins at byte 8 n.
    if (!begin.empty()) CHECK(begin.substr(0, 7) == std::to_string(1000000 + before / 8));
    if (end.size() >= 16) CHECK(end.substr(end.size() - 8, 7) == std::to_string(1000000 + read / 8 - 1));
    gaps += missing > 0;
  }
  ends = true;
  writer.join();
  CHECK(gaps > 0);
}

TEST_CASE("a report reads no file outside of its run") {
  const Folder folder;
  folder.write("secret", "\x89PNG\r\n\x1a\nsecret");
  fs::create_directories(folder.path() + "/run/images");
  folder.write("run/metrics.jsonl", R"({"step":1,"time":0,"image":{"a":"../secret"}}
{"step":2,"time":0,"image":{"b":"images/link.png"}}
{"step":3,"time":0,"image":{"c":".."}}
)");
  const std::string run = folder.path() + "/run";
  fs::create_symlink(folder.path() + "/secret", run + "/images/link.png");
  fs::create_symlink(folder.path() + "/secret", run + "/images/secret");
  fs::create_symlink(folder.path() + "/secret", run + "/log.txt");
  fs::create_symlink(folder.path() + "/secret", run + "/script.lua");
  RunReport report(run, {}, true);
  report.more();
  const json page = report.json();
  CHECK(page["images"].empty());
  CHECK(page["log"].is_null());
  CHECK(page["scripts"].empty());
  fs::create_symlink(folder.path() + "/secret", run + "/config.json");
  CHECK_THROWS_WITH(report.more(), doctest::Contains("config.json: not a regular file"));
}

TEST_CASE("a run that is followed has each argument once") {
  const Folder folder;
  folder.write("metrics.jsonl", "{\"step\":1,\"time\":0}\n");
  folder.write("config.json", R"({"arguments":["x"]})");
  RunFollower follower(folder.path());
  for (int look = 0; look < 3; ++look) follower.more();
  CHECK(follower.record().arguments == std::vector<std::string>{"x"});
}

TEST_CASE("the end of a long run has its latest values") {
  const Folder folder;
  std::string rows;
  for (int step = 1; step <= 20000; ++step)
    rows += R"({"step":)" + std::to_string(step) + R"(,"time":1.5,"metrics":{"loss":)" +
            std::to_string(step) + "}}\n";
  folder.write("metrics.jsonl", rows + R"({"step":20001,"time)");
  const RunRecord run = read_run_end(folder.path());
  CHECK(run.steps == 20000);
  REQUIRE(run.metrics.at("loss").size() == 1);
  CHECK(run.metrics.at("loss")[0].value == 20000);
}
