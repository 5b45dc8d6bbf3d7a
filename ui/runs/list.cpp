#include "ui/runs/list.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "runtime/core/lower_case.h"
#include "ui/runs/journal.h"

namespace lunagrad {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

// The sort key of a column: a number, NaN if it is missing, or a text.
struct Key {
  double number = 0;
  std::string text;
};

Key key_of(const RunSummary& run, const std::string& difference, const RunOrder& order) {
  switch (order.column) {
    case RunColumn::star:
      return {run.starred ? 1.0 : 0.0, {}};
    case RunColumn::name:
      return {0, lower_case(run.name)};
    case RunColumn::started:
      return {run.started.empty() ? NAN : 0, run.started};
    case RunColumn::outcome:
      return {0, run.problem.empty() ? run.outcome : "~"};
    case RunColumn::steps:
      return {run.problem.empty() ? double(run.steps) : NAN, {}};
    case RunColumn::last:
      return {last_of(run, order.metric), {}};
    case RunColumn::best:
      return {best_of(run, order.metric), {}};
    case RunColumn::seconds:
      return {run.problem.empty() ? run.seconds : NAN, {}};
    case RunColumn::differences:
      return {difference.empty() ? NAN : 0, lower_case(difference)};
    case RunColumn::note:
      return {run.note.empty() ? NAN : 0, lower_case(run.note)};
    case RunColumn::setting: {
      const auto found = run.config.find(order.setting);
      if (found == run.config.end() || !run.problem.empty()) return {NAN, {}};
      const double number = setting_number(found->second);
      return {std::isnan(number) ? INFINITY : number, lower_case(found->second)};  // words above numbers
    }
  }
  return {};
}

}  // namespace

RunSummary summarize(const RunRecord& run, bool alive) {
  RunSummary summary;
  summary.folder = run.folder;
  summary.name = run.name;
  summary.damage = damage_of(run);
  summary.script = run.script;
  summary.started = run.started;
  summary.outcome = !run.outcome.empty() ? run.outcome : alive ? "running" : "unfinished";
  summary.seed = run.seed;
  summary.device = run.device;
  if (!run.parent.empty()) summary.parent = full_path(run.parent);
  summary.parent_step = run.parent_step;
  summary.steps = run.steps;
  summary.steps_total = run.steps_total;
  summary.seconds = run.seconds;
  summary.config = run.params;
  for (size_t i = 0; i < run.arguments.size(); ++i)
    summary.config["argument " + std::to_string(i + 1)] = run.arguments[i];
  if (!run.device.empty()) summary.config["device"] = run.device;
  summary.group = run.script;
  for (const auto& [name, value] : summary.config)
    if (name != "seed") summary.group += "\n" + name + "=" + value;
  if (!run.seed.empty()) summary.config["seed"] = run.seed;
  for (const auto& [name, points] : run.metrics) {
    if (points.empty()) continue;
    RunSummary::Values values{points.back().value, NAN, NAN};
    for (const MetricPoint& point : points) {
      if (!std::isfinite(point.value)) continue;
      values.least = std::fmin(values.least, point.value);
      values.largest = std::fmax(values.largest, point.value);
    }
    summary.metrics[name] = values;
  }
  return summary;
}

std::vector<std::string> metric_names(const std::vector<RunSummary>& runs) {
  std::map<std::string, size_t> counted;
  for (const RunSummary& run : runs)
    for (const auto& [name, values] : run.metrics) ++counted[name];
  std::vector<std::string> names;
  for (const auto& [name, count] : counted) names.push_back(name);
  const auto rank = [&](const std::string& name) {
    const std::string plain = lower_case(name);
    return plain == "loss" ? 0 : contains(plain, "loss") ? 1 : 2;
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return names;
}

bool higher_is_better(const std::string& metric) {
  const std::string name = lower_case(metric);
  for (const char* part :
       {"acc", "reward", "score", "f1", "auc", "iou", "bleu", "psnr", "r2", "precision", "recall"})
    if (contains(name, part)) return true;
  return false;
}

bool higher_is_better(const RunSummary& run, const std::string& metric) {
  return !metric.empty() && run.ranked == metric ? run.maximize : higher_is_better(metric);
}

double best_of(const RunSummary& run, const std::string& metric) {
  const auto found = run.metrics.find(metric);
  if (found == run.metrics.end()) return NAN;
  return higher_is_better(run, metric) ? found->second.largest : found->second.least;
}

double last_of(const RunSummary& run, const std::string& metric) {
  const auto found = run.metrics.find(metric);
  return found == run.metrics.end() ? NAN : found->second.last;
}

double setting_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end ? NAN : value;
}

std::vector<std::string> sweep_settings(const std::vector<RunSummary>& runs, const std::string& sweep,
                                        const std::vector<std::string>& before, size_t most) {
  // For each setting its values, and the number of trials that have one.
  std::map<std::string, std::pair<std::set<std::string>, size_t>> seen;
  size_t trials = 0;
  for (const RunSummary& run : runs) {
    if (sweep.empty() || run.sweep != sweep || !run.problem.empty()) continue;
    ++trials;
    for (const auto& [name, value] : run.config) {
      seen[name].first.insert(value);
      ++seen[name].second;
    }
  }
  std::erase_if(seen,
                [&](const auto& one) { return one.second.first.size() < 2 && one.second.second == trials; });
  std::vector<std::string> settings;
  for (const std::string& name : before)
    if (seen.erase(name)) settings.push_back(name);
  for (const auto& [name, values] : seen) settings.push_back(name);
  settings.resize(std::min(settings.size(), most));
  return settings;
}

std::string ranked_metric(const std::vector<RunSummary>& runs, const std::string& sweep) {
  if (sweep.empty()) return "";
  for (const RunSummary& run : runs)
    if (run.sweep == sweep && run.metrics.count(run.ranked)) return run.ranked;
  return "";
}

bool higher_is_better(const std::vector<RunSummary>& runs, const std::string& sweep,
                      const std::string& metric) {
  for (const RunSummary& run : runs)
    if (!sweep.empty() && run.sweep == sweep) return higher_is_better(run, metric);
  return higher_is_better(metric);
}

std::vector<std::string> differences(const std::vector<RunSummary>& runs) {
  // For each script and each setting, its values and the number of runs that have each value.
  struct Seen {
    std::map<std::string, std::map<std::string, size_t>> values;
    size_t runs = 0;
  };
  std::map<std::string, Seen> scripts;
  for (const RunSummary& run : runs) {
    if (!run.problem.empty()) continue;
    Seen& seen = scripts[run.script];
    ++seen.runs;
    for (const auto& [key, value] : run.config) ++seen.values[key][value];
  }
  std::vector<std::string> texts;
  for (const RunSummary& run : runs) {
    std::string& text = texts.emplace_back();
    if (!run.problem.empty()) continue;
    const Seen& seen = scripts[run.script];
    for (const auto& [key, value] : run.config)
      if (seen.values.at(key).at(value) != seen.runs) text += (text.empty() ? "" : ", ") + key + " " + value;
  }
  return texts;
}

std::vector<size_t> arrange(const std::vector<RunSummary>& runs, const std::vector<std::string>& differences,
                            const RunOrder& order) {
  std::vector<std::string> words;
  std::istringstream filter(lower_case(order.filter));
  for (std::string word; filter >> word;) words.push_back(word);
  std::vector<size_t> shown;
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunSummary& run = runs[i];
    if (!order.sweep.empty() && run.sweep != order.sweep) continue;
    std::string line;
    for (const std::string& text :
         {run.name, run.started, run.outcome, run.problem, run.script, differences[i], run.note})
      line += lower_case(text) + "\n";
    if (run.starred) line += "starred";
    if (std::all_of(words.begin(), words.end(),
                    [&](const std::string& word) { return contains(line, word.c_str()); }))
      shown.push_back(i);
  }
  std::vector<Key> keys(runs.size());
  for (const size_t i : shown) keys[i] = key_of(runs[i], differences[i], order);
  std::stable_sort(shown.begin(), shown.end(), [&](size_t a, size_t b) {
    const Key &x = keys[a], &y = keys[b];
    if (std::isnan(x.number) != std::isnan(y.number)) return std::isnan(y.number);
    if (std::isnan(x.number)) return false;
    if (x.number != y.number) return order.descending ? x.number > y.number : x.number < y.number;
    return order.descending ? x.text > y.text : x.text < y.text;
  });
  return shown;
}

std::string full_path(const std::string& folder) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(folder, error).lexically_normal();
  if (!path.has_filename() && path.has_parent_path() && path != path.root_path()) path = path.parent_path();
  return error ? folder : path.string();
}

std::string short_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  if (!home || !*home || !path.starts_with(std::string(home) + "/")) return printable(path);
  return "~" + printable(path.substr(std::string(home).size()));
}

std::string short_run_name(const std::string& name) {
  // 20260131-235959-
  if (name.size() <= 16 || name[8] != '-' || name[15] != '-') return name;
  for (size_t i = 0; i < 15; ++i)
    if (i != 8 && !std::isdigit(static_cast<unsigned char>(name[i]))) return name;
  return name.substr(16);
}

}  // namespace lunagrad
