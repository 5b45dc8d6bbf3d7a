#include "script/run_record.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/error.h"

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
  std::ifstream in(path);
  const json config = json::parse(in, nullptr, false);
  // Killed before it was written: the metrics are there all the same.
  if (!config.is_object()) return;
  run.script = text_of(config, "script");
  run.started = text_of(config, "started");
  run.outcome = text_of(config, "outcome");
  run.device = text_of(config, "device");
  run.git_commit = text_of(config, "git_commit");
  run.command_line = text_of(config, "command_line");
  run.seed = text_of(config, "seed");
  if (const auto seconds = config.find("seconds"); seconds != config.end()) run.seconds = number_of(*seconds);
  if (const auto steps = config.find("steps"); steps != config.end() && steps->is_number_integer())
    run.steps_total = steps->get<int64_t>();
  if (const auto arguments = config.find("arguments"); arguments != config.end() && arguments->is_array())
    for (const json& argument : *arguments)
      if (argument.is_string()) run.arguments.push_back(argument.get<std::string>());
  if (const auto set = config.find("set"); set != config.end() && set->is_object())
    for (const auto& [name, value] : set->items()) run.set[name] = text_of(*set, name.c_str());
  run.resumed = config.count("resumed") != 0;
  if (const auto params = config.find("params"); params != config.end() && params->is_object())
    for (const auto& [name, value] : params->items()) run.params[name] = text_of(*params, name.c_str());
}

void drop_after(RunRecord& run, int64_t step) {
  for (auto& [name, points] : run.metrics)
    points.erase(
        std::remove_if(points.begin(), points.end(), [&](const MetricPoint& p) { return p.step > step; }),
        points.end());
}

void read_row(RunRecord& run, const json& row) {
  const auto step_at = row.find("step"), time_at = row.find("time");
  if (step_at == row.end() || !step_at->is_number_integer()) return;
  const int64_t step = step_at->get<int64_t>();
  const double time = time_at == row.end() ? NAN : number_of(*time_at);
  if (row.count("resume")) drop_after(run, step);
  if (const auto metrics = row.find("metrics"); metrics != row.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      run.metrics[name].push_back({step, time, number_of(value)});
  if (const auto param = row.find("param"); param != row.end() && param->is_object())
    for (const auto& [name, value] : param->items())
      run.changes.push_back({step, name, text_of(*param, name.c_str())});
  if (const auto texts = row.find("text"); texts != row.end() && texts->is_object())
    for (const auto& [name, value] : texts->items()) run.texts[name] = text_of(*texts, name.c_str());
  run.steps = row.count("resume") ? step : std::max(run.steps, step);
  if (run.outcome.empty() && !std::isnan(time)) run.seconds = time;
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

RunRecord read_run(const std::string& folder) {
  RunRecord run;
  run.folder = folder;
  run.name = fs::path(folder).lexically_normal().filename().string();
  if (run.name.empty()) run.name = fs::path(folder).lexically_normal().parent_path().filename().string();
  std::ifstream in(folder + "/metrics.jsonl");
  if (!in) fail_as(ErrorKind::file, folder, ": not the folder of a run, it has no metrics.jsonl");
  read_config(run);
  int64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const json row = json::parse(line, nullptr, false);
    if (row.is_object()) {
      read_row(run, row);
    } else if (!in.eof()) {
      fail_as(ErrorKind::file, folder, "/metrics.jsonl:", number, ": not a JSON object");
    }
  }
  return run;
}

}  // namespace lunagrad
