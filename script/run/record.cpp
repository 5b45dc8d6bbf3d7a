#include "script/run/record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/core/figures.h"
#include "runtime/core/path_text.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/checksum.h"
#include "runtime/io/input_file.h"
#include "runtime/io/json_text.h"
#include "script/run/json.h"
#include "script/trust/inside.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return INFINITY;
  if (value == "-Infinity") return -INFINITY;
  return NAN;
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

void read_config(RunRecord& run) {
  const std::string path = run.folder + "/config.json";
  std::error_code ignored;
  // the run was killed before it wrote config.json: the metrics may exist
  if (!fs::exists(path, ignored)) return;
  std::string text;
  try {
    text = read_regular_file(path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::file) throw;
  }
  const json config = read_json<json>(text);
  run.config_damaged = !config.is_object() || is_damaged(text);
  if (!config.is_object()) return;
  run.script = path_of_text(text_of(config, "script"));
  run.started = text_of(config, "started");
  run.outcome = text_of(config, "outcome");
  run.device = text_of(config, "device");
  run.git_commit = text_of(config, "git_commit");
  run.command_line = path_of_text(text_of(config, "command_line"));
  run.seed = text_of(config, "seed");
  if (const auto seconds = config.find("seconds"); seconds != config.end()) run.seconds = number_of(*seconds);
  if (const auto steps = config.find("steps"); steps != config.end() && steps->is_number_integer())
    run.steps_total = steps->get<int64_t>();
  if (const auto threads = config.find("threads"); threads != config.end() && threads->is_number_integer())
    run.threads = threads->get<int64_t>();
  run.arguments.clear();  // a follower reads the file again and again
  if (const auto arguments = config.find("arguments"); arguments != config.end() && arguments->is_array())
    for (const json& argument : *arguments)
      if (argument.is_string()) run.arguments.push_back(path_of_text(argument.get<std::string>()));
  if (const auto set = config.find("set"); set != config.end() && set->is_object())
    for (const auto& [name, value] : set->items()) run.set[name] = path_of_text(text_of(*set, name.c_str()));
  if (const auto scripts = config.find("scripts");
      !run.config_damaged && scripts != config.end() && scripts->is_object())
    for (const auto& [name, sum] : scripts->items()) run.scripts[name] = text_of(*scripts, name.c_str());
  if (const auto asked = config.find("steps_option"); asked != config.end() && asked->is_number_integer())
    run.steps_option = asked->get<int64_t>();
  if (const auto parent = config.find("parent"); parent != config.end() && parent->is_object()) {
    run.parent = path_of_text(text_of(*parent, "run"));
    if (const auto step = parent->find("step"); step != parent->end() && step->is_number_integer())
      run.parent_step = step->get<int64_t>();
    if (const auto changed = parent->find("changed"); changed != parent->end())
      run.parent_changed = *changed == true;
  }
  run.resumed = config.count("resumed") != 0;
  run.sandbox = config.count("sandbox") != 0;
  if (const auto walls = config.find("unguarded"); walls != config.end() && walls->is_array())
    for (const json& wall : *walls)
      if (wall.is_string()) run.unguarded.push_back(wall.get<std::string>());
  if (const auto params = config.find("params"); params != config.end() && params->is_object())
    for (const auto& [name, value] : params->items()) run.params[name] = text_of(*params, name.c_str());
}

std::string describe_histogram(const json& values) {
  const auto number = [&](const char* key) {
    return number_figure(values.contains(key) ? number_of(values[key]) : NAN, 3);
  };
  std::string out = number("count") + " values, " + number("min") + " to " + number("max") + ", mean " +
                    number("mean") + ", std " + number("std");
  for (const char* key : {"zeros", "nan", "inf", "-inf"})
    if (number(key) != "0") out += ", " + number(key) + " " + key;
  return out;
}

// The row in a line; null when the line is not a row. The parser takes a zero byte as the end.
json row_of(std::string_view line) {
  if (line.find('\0') != line.npos) return {};
  json row = read_json<json>(line);
  const bool is_row = row.is_object() && row.contains("step") && row["step"].is_number_integer();
  return is_row ? row : json();
}

void note_checkpoint(RunRecord& run, const RowPlace& line) {
  RunRecord::Written& written = run.written[line.step] = {.row = line.row};
  for (const auto& [name, points] : run.metrics) {
    const auto earlier = std::find_if(points.rbegin(), points.rend(),
                                      [&](const MetricPoint& point) { return point.step != line.step; });
    if (earlier != points.rbegin()) written.rows[name] = earlier - points.rbegin();
  }
}

// `line`: place of the row in the file; its step is set here.
void read_row(RunRecord& run, const json& row, RowPlace line) {
  const auto step_at = row.find("step"), time_at = row.find("time");
  const int64_t step = line.step = step_at->get<int64_t>();
  const double time = time_at == row.end() ? NAN : number_of(*time_at);
  const bool goes_on = row.count("resume") || row.count("reload");
  if (goes_on) go_back(run, step);
  run.voided += goes_on;
  if (row.count("reload")) run.reloads.push_back(step);
  if (const auto metrics = row.find("metrics"); metrics != row.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      run.metrics[name].push_back({step, time, number_of(value)});
  if (const auto param = row.find("param"); param != row.end() && param->is_object())
    for (const auto& [name, value] : param->items())
      run.changes.push_back({step, name, text_of(*param, name.c_str())});
  if (row.count("checkpoint")) {
    std::erase_if(run.checkpoints, [&](const LoggedItem& item) { return item.step == step; });
    run.checkpoints.push_back({line, path_of_text(text_of(row, "checkpoint"))});
  }
  if (row.count("checkpoint") || row.count("automatic")) note_checkpoint(run, line);
  const auto each = [&](const char* kind, auto visit) {
    if (const auto found = row.find(kind); found != row.end() && found->is_object())
      for (const auto& [name, value] : found->items()) visit(name, value);
  };
  each("image", [&](const std::string& name, const json& file) {
    run.images[name].push_back({line, file.is_string() ? file.get<std::string>() : ""});
  });
  each("histogram", [&](const std::string& name, const json& values) {
    if (values.is_object()) run.histograms[name].push_back({line, describe_histogram(values)});
  });
  each("watch", [&](const std::string& part, const json& numbers) {
    if (numbers.is_object())
      for (const auto& [name, value] : numbers.items())
        run.watched[part][name] = {step, time, number_of(value)};
  });
  if (const auto texts = row.find("text"); texts != row.end() && texts->is_object())
    for (const auto& [name, value] : texts->items()) run.text_rows[name].push_back(line);
  run.steps = goes_on ? step : std::max(run.steps, step);
  if (run.outcome.empty() && !std::isnan(time)) run.seconds = time;
}

// Fast path for the common line {"step":1,"time":0.1,"metrics":{"loss":0.5}} without escapes, several times
// faster than a full JSON parser. For any other line it returns false and changes nothing.
class MetricsLine {
 public:
  explicit MetricsLine(std::string_view line) : at_(line.data()), end_(at_ + line.size()) {}

  bool read() {
    if (!take("{\"step\":") || !take_number(step) || !take(",\"time\":") || !take_number(time) ||
        !take(",\"metrics\":{"))
      return false;
    do {
      std::string_view name;
      double value = 0;
      if (!take_name(name) || !take(":") || !take_number(value)) return false;
      values.emplace_back(name, value);
    } while (take(","));
    return take("}}") && at_ == end_;
  }

  int64_t step = 0;
  double time = 0;
  std::vector<std::pair<std::string_view, double>> values;

 private:
  bool take(std::string_view text) {
    if (size_t(end_ - at_) < text.size() || std::memcmp(at_, text.data(), text.size()) != 0) return false;
    at_ += text.size();
    return true;
  }
  template <class T>
  bool take_number(T& number) {
    // from_chars accepts inf and nan, JSON does not.
    if (at_ == end_ || (*at_ != '-' && (*at_ < '0' || *at_ > '9'))) return false;
    const auto [behind, error] = std::from_chars(at_, end_, number);
    if (error != std::errc() || (behind[-1] < '0' || behind[-1] > '9')) return false;
    at_ = behind;
    return true;
  }
  bool take_name(std::string_view& name) {
    if (!take("\"")) return false;
    const char* const begin = at_;
    const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
    while (at_ != end_ && plain(*at_)) ++at_;
    name = std::string_view(begin, size_t(at_ - begin));
    return take("\"");
  }

  const char *at_, *end_;
};

bool read_metrics(RunRecord& run, std::string_view text) {
  MetricsLine line(text);
  if (!line.read()) return false;
  for (const auto& [name, value] : line.values) {
    auto found = run.metrics.find(name);
    if (found == run.metrics.end()) found = run.metrics.try_emplace(std::string(name)).first;
    found->second.push_back({line.step, line.time, value});
  }
  run.steps = std::max(run.steps, line.step);
  if (run.outcome.empty()) run.seconds = line.time;
  return true;
}

// False if the line is incomplete or not a row.
bool read_metrics_line(RunRecord& run, std::string_view line, int64_t place) {
  if (read_metrics(run, line)) return true;
  const json row = row_of(line);
  if (row.is_object()) read_row(run, row, {.row = place, .length = int64_t(line.size())});
  return row.is_object();
}

void keep_last(RunRecord& run) {
  for (auto& [name, points] : run.metrics)
    if (points.size() > 1) points = std::vector<MetricPoint>(points.end() - 1, points.end());
}

}  // namespace

bool is_run(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / "metrics.jsonl", ignored);
}

std::vector<std::string> find_runs(const std::string& folder) {
  std::vector<std::string> runs;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (is_run(entry.path().string())) runs.push_back(entry.path().string());
  std::sort(runs.begin(), runs.end());
  return runs;
}

// The runs in a folder that match a name: the run with this name, or else the run whose name begins or ends
// with it. Error if there are several.
static std::vector<std::string> runs_called(const std::string& asked, const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& run : find_runs(folder)) {
    const std::string name = fs::path(run).filename().string();
    if (name == asked) return {run};
    if (name.starts_with(asked) || name.ends_with(asked)) found.push_back(run);
  }
  if (found.size() > 1)
    fail_as(ErrorKind::file, asked, ": ", found.size(), " runs are called so, ", found[0], " first");
  return found;
}

std::string find_run(const std::string& asked, const std::string& folder) {
  if (is_run(asked)) return asked;
  const std::vector<std::string> found = runs_called(asked, folder);
  if (found.empty())
    fail_as(ErrorKind::file, asked, ": neither a run's folder nor a part of one's name in ", folder, "/");
  return found[0];
}

std::string find_named(const std::string& asked) {
  std::error_code ignored;
  return fs::exists(asked, ignored) ? asked : find_run(asked, "runs");
}

std::string find_if_named(const std::string& asked) {
  std::error_code ignored;
  if (asked.empty() || fs::exists(asked, ignored)) return asked;
  const std::vector<std::string> found = runs_called(asked, "runs");
  return found.empty() ? asked : found[0];
}

void go_back(RunRecord& run, int64_t step) {
  const auto written = run.written.find(step);
  const bool known = written != run.written.end();
  const int64_t row = known ? written->second.row : INT64_MAX;
  for (auto& [name, points] : run.metrics) {
    int64_t kept = INT64_MAX;  // how many rows of the step to keep
    if (known) {
      const auto found = written->second.rows.find(name);
      kept = found == written->second.rows.end() ? 0 : found->second;
    }
    std::erase_if(points, [&](const MetricPoint& point) {
      return point.step > step || (point.step == step && kept-- <= 0);
    });
  }
  const auto is_void = [&](const RowPlace& place) {
    return place.step > step || (place.step == step && place.row > row);
  };
  for (auto* const items : {&run.images, &run.histograms})
    for (auto& [name, places] : *items) std::erase_if(places, is_void);
  for (auto& [name, places] : run.text_rows) std::erase_if(places, is_void);
  std::erase_if(run.text_rows, [](const auto& text) { return text.second.empty(); });
  std::erase_if(run.checkpoints, [&](const LoggedItem& item) { return item.step > step; });
  std::erase_if(run.changes, [&](const ParamChange& change) { return change.step > step; });
  for (auto& [part, numbers] : run.watched)
    std::erase_if(numbers, [&](const auto& number) { return number.second.step > step; });
  std::erase_if(run.watched, [](const auto& part) { return part.second.empty(); });
  run.written.erase(run.written.upper_bound(step), run.written.end());
}

std::set<int64_t> abandoned_checkpoints(const std::string& folder) {
  std::set<int64_t> written, abandoned;
  std::ifstream in(folder + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    // skip metrics, which most lines are: they abandon nothing
    if (line.find("\"metrics\":") != line.npos) continue;
    const json row = row_of(line);
    if (!row.is_object()) continue;
    const int64_t step = row["step"].get<int64_t>();
    if (row.count("checkpoint") || row.count("automatic")) {
      written.insert(step);
      abandoned.erase(step);
    }
    if (!row.count("resume") && !row.count("reload")) continue;
    abandoned.insert(written.upper_bound(step), written.end());
    if (const auto left = row.find("abandons"); left != row.end() && left->is_array())
      for (const json& one : *left)
        if (one.is_number_integer()) abandoned.insert(one.get<int64_t>());
    if (row.count("resume")) abandoned.erase(step);
  }
  return abandoned;
}

std::string read_script_copy(const RunRecord& run, const std::string& name) {
  const std::string path = file_inside(run.folder, name, run.folder);
  std::string source = read_regular_file(path);
  const auto sum = run.scripts.find(name);
  if (sum != run.scripts.end() && sum->second != checksum_text(hash_of(source.data(), source.size())))
    fail_as(ErrorKind::file, path, ": is damaged, or was changed: its checksum is another one");
  return source;
}

std::string latest_text(const RunRecord& run, const std::string& name) {
  const auto rows = run.text_rows.find(name);
  if (rows == run.text_rows.end() || rows->second.empty()) return {};
  const RowPlace& place = rows->second.back();
  std::ifstream in(run.folder + "/metrics.jsonl", std::ios::binary);
  std::string line(size_t(place.length), '\0');
  if (!in.seekg(place.row) || !in.read(line.data(), place.length)) return {};
  const json row = row_of(line);
  const auto texts = row.find("text");
  return row.is_object() && texts != row.end() && texts->is_object() ? text_of(*texts, name.c_str()) : "";
}

std::string name_of_folder(const std::string& folder) {
  std::error_code ignored;
  const fs::path path = fs::absolute(folder, ignored).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

RunRecord read_run_config(const std::string& folder) {
  RunRecord run;
  run.folder = folder;
  run.name = name_of_folder(folder);
  if (std::error_code ignored; !fs::exists(folder, ignored))
    fail_as(ErrorKind::file, folder, ": no such file or folder");
  if (!is_run(folder)) fail_as(ErrorKind::file, folder, ": not the folder of a run, it has no metrics.jsonl");
  read_config(run);
  return run;
}

RunRecord read_run(const std::string& folder) {
  RunRecord run = read_run_config(folder);
  std::ifstream in(folder + "/metrics.jsonl");
  if (!in) fail_as(ErrorKind::file, folder, "/metrics.jsonl: cannot be read");
  int64_t place = 0;
  for (std::string line; std::getline(in, line); place += int64_t(line.size()) + 1)
    run.damaged += !read_metrics_line(run, line, place) && !in.eof();
  return run;
}

std::string skipped_text(int64_t count, const std::string& path) {
  return text("skipped ", count, count == 1 ? " damaged record of " : " damaged records of ", path);
}

std::string damage_of(const RunRecord& run) {
  std::string sentence;
  if (run.damaged > 0) sentence = skipped_text(run.damaged, run.folder + "/metrics.jsonl");
  if (run.config_damaged) sentence += (sentence.empty() ? "" : "; ") + run.folder + "/config.json is damaged";
  return sentence;
}

bool is_row(std::string_view line) {
  RunRecord none;
  return read_metrics_line(none, line, 0);
}

RunRecord read_run_end(const std::string& folder) {
  constexpr int64_t kEnd = 1 << 16;
  RunRecord run = read_run_config(folder);
  std::ifstream in(folder + "/metrics.jsonl", std::ios::binary | std::ios::ate);
  if (!in) fail_as(ErrorKind::file, folder, "/metrics.jsonl: cannot be read");
  int64_t place = std::max<int64_t>(int64_t(in.tellg()) - kEnd, 0);
  in.seekg(place);
  std::string line;
  // the line's beginning is missing
  if (place > 0 && std::getline(in, line)) place += int64_t(line.size()) + 1;
  for (; std::getline(in, line); place += int64_t(line.size()) + 1)
    run.damaged += !read_metrics_line(run, line, place) && !in.eof();
  keep_last(run);
  return run;
}

RunFollower::RunFollower(std::string folder) { run_.folder = std::move(folder); }

void RunFollower::forget_points() { keep_last(run_); }

bool RunFollower::more() {
  const std::string folder = run_.folder, path = folder + "/metrics.jsonl";
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error || size < offset_ || offset_ == 0) {
    run_ = read_run_config(folder);
    offset_ = 0;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in || !in.seekg(std::streamoff(offset_))) fail_as(ErrorKind::file, path, ": cannot be read");
  const std::string outcome = run_.outcome;
  const uint64_t before = offset_;
  std::string text, block(1 << 20, '\0');
  while (in.read(block.data(), std::streamsize(block.size())), in.gcount() > 0) {
    text.append(block, 0, size_t(in.gcount()));
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      run_.damaged += !read_metrics_line(run_, line, int64_t(offset_ + begin));
    }
    offset_ += begin;
    text.erase(0, begin);
  }
  read_config(run_);
  return offset_ != before || run_.outcome != outcome;
}

}  // namespace lunagrad
