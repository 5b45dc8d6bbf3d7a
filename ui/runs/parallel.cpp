#include "ui/runs/parallel.h"

#include <cmath>
#include <map>
#include <set>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

constexpr double kWideSpan = 100;  // from this ratio of largest to smallest value on, an axis is logarithmic
constexpr size_t kFewValues = 6;   // up to this many values, each has a tick

// An axis of numbers; replaces `values` by their places on it. NaN and infinities have no place.
ParallelAxis number_axis(const std::string& name, std::vector<double>& values, bool logarithmic) {
  ParallelAxis axis;
  axis.name = name;
  std::set<double> distinct;
  for (const double value : values)
    if (std::isfinite(value)) distinct.insert(value);
  if (distinct.empty()) return axis;
  const double least = axis.least = *distinct.begin(), most = axis.most = *distinct.rbegin();
  logarithmic = least > 0 && (logarithmic || most / least >= kWideSpan);
  if (logarithmic) axis.about = "logarithmic";
  const auto place = [&](double value) {
    if (!std::isfinite(value)) return double(NAN);
    if (least == most) return 0.5;
    return logarithmic ? std::log(value / least) / std::log(most / least) : (value - least) / (most - least);
  };
  const auto tick = [&](double value) { axis.ticks.push_back({place(value), number_figure(value)}); };
  tick(most);
  if (most > least) tick(least);
  if (distinct.size() <= kFewValues) {
    for (const double value : distinct)
      if (value != least && value != most) tick(value);
  } else if (logarithmic) {
    for (double power = std::ceil(std::log10(least)); power < std::log10(most); ++power)
      tick(std::pow(10, power));
  } else {
    for (const double part : {0.5, 0.25, 0.75}) tick(least + part * (most - least));
  }
  for (double& value : values) value = place(value);
  return axis;
}

// An axis of words in alphabetical order; "" has no place.
ParallelAxis word_axis(const std::string& name, const std::vector<std::string>& words,
                       std::vector<double>& places) {
  ParallelAxis axis;
  axis.name = name;
  std::set<std::string> distinct(words.begin(), words.end());
  distinct.erase("");
  std::map<std::string, double> place_of;
  for (const std::string& word : distinct) {
    const double place = distinct.size() < 2 ? 0.5 : double(place_of.size()) / double(distinct.size() - 1);
    axis.ticks.push_back({place, word});
    axis.words.push_back(word);
    place_of[word] = place;
  }
  for (size_t i = 0; i < words.size(); ++i) places[i] = words[i].empty() ? NAN : place_of.at(words[i]);
  return axis;
}

}  // namespace

ParallelPlot parallel_plot(const std::vector<RunSummary>& runs, const std::vector<size_t>& rows,
                           const std::string& metric) {
  ParallelPlot plot;
  std::set<std::string> settings, logarithmic;
  for (const size_t row : rows) {
    const RunSummary& run = runs[row];
    if (!run.problem.empty()) continue;
    plot.lines.push_back({row, run.name, {}, NAN});
    for (const auto& [name, value] : run.config) settings.insert(name);
    logarithmic.insert(run.logarithmic.begin(), run.logarithmic.end());
  }
  const auto add = [&](ParallelAxis axis, const std::vector<double>& places) {
    plot.axes.push_back(std::move(axis));
    for (size_t i = 0; i < places.size(); ++i) plot.lines[i].places.push_back(places[i]);
  };
  for (const std::string& name : settings) {
    std::vector<std::string> words;
    std::vector<double> numbers;
    bool all_numbers = true;
    for (const ParallelLine& line : plot.lines) {
      const auto found = runs[line.source].config.find(name);
      const bool given = found != runs[line.source].config.end();
      words.push_back(given ? found->second : "");
      numbers.push_back(given ? setting_number(found->second) : NAN);
      all_numbers &= !given || std::isfinite(numbers.back());
    }
    if (std::set<std::string>(words.begin(), words.end()).size() < 2) continue;
    ParallelAxis axis = all_numbers ? number_axis(name, numbers, logarithmic.count(name) > 0)
                                    : word_axis(name, words, numbers);
    add(std::move(axis), numbers);
  }
  if (metric.empty()) return plot;
  std::vector<double> values;
  for (const ParallelLine& line : plot.lines) values.push_back(best_of(runs[line.source], metric));
  ParallelAxis axis = number_axis(metric, values, false);
  for (size_t i = 0; i < values.size(); ++i)
    plot.lines[i].shade = higher_is_better(runs[plot.lines[i].source], metric) ? 1 - values[i] : values[i];
  add(std::move(axis), values);
  return plot;
}

}  // namespace lunagrad
