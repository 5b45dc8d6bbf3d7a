#include "ui/curves/chart_model.h"

#include <algorithm>
#include <limits>
#include <set>

#include "ui/runs/journal.h"

namespace lunagrad {
namespace {

constexpr size_t kSettled = 3;        // points of a metric from which on charts keep their order
constexpr size_t kMostPlaces = 4096;  // names whose charts are remembered

int rank_of(const ChartPlace& place) {
  if (!place.section.empty()) return 2;
  return place.chart == "loss" ? 0 : is_loss(place.chart) ? 1 : 2;
}

}  // namespace

const std::vector<Chart>& ChartModel::build(const std::vector<ChartSource>& all, double smoothing,
                                            const ChartColors& colors) {
  charts_.clear();
  plot_marks_.clear();
  std::vector<ChartSource> sources;
  for (const ChartSource& source : all)
    if (all.size() == 1 || runs.matches(source.run->name)) sources.push_back(source);
  const bool several = all.size() > 1;
  if (mean && several) {
    std::map<std::string, std::vector<ChartSource>> groups;
    std::vector<ChartSource> alone;
    for (const ChartSource& source : sources)
      (source.run->group.empty() ? alone : groups[source.run->group]).push_back(source);
    for (const auto& [group, members] : groups) {
      if (members.size() == 1)
        alone.push_back(members[0]);
      else
        add_means(members, group, smoothing, colors);
    }
    std::erase_if(means_, [&](const auto& entry) { return !groups.count(entry.first.first); });
    add_runs(alone, several, smoothing > 0, colors);
  } else {
    means_.clear();
    add_runs(sources, several, smoothing > 0, colors);
  }
  std::erase_if(charts_, [](const Chart& chart) { return chart.lines.empty(); });
  keep_order(all);
  sort_charts();
  if (marks) add_marks(sources, colors);

  first_ = least_positive_ = std::numeric_limits<double>::infinity();
  last_ = -first_;
  for (const Chart& chart : charts_)
    for (const PlotLine& line : chart.lines) {
      if (line.raw->size() == 0) continue;
      first_ = std::min(first_, line.raw->first_x(0));
      last_ = std::max(last_, line.raw->x(line.raw->size() - 1));
      least_positive_ = std::min(least_positive_, line.raw->least_positive_x());
    }
  return charts_;
}

const ChartPlace& ChartModel::place_of(const Metric& metric) {
  if (places_.size() >= kMostPlaces) places_.clear();
  const auto [found, added] = places_.try_emplace(line_name(metric));
  if (added) {
    const ChartPlace place = chart_place(metric);
    found->second = {printable(place.section), printable(place.chart)};
  }
  return found->second;
}

Chart& ChartModel::chart_of(const Metric& metric) {
  const ChartPlace& place = place_of(metric);
  const auto found =
      std::find_if(charts_.begin(), charts_.end(), [&](const Chart& c) { return c.title == place.chart; });
  if (found != charts_.end()) return *found;
  charts_.push_back({place.chart, place.section, {}, {}});
  return charts_.back();
}

// The first values of a run may arrive in several pieces: the order is free until a metric has some points.
// Later charts go to the end.
void ChartModel::keep_order(const std::vector<ChartSource>& all) {
  std::vector<ChartPlace> known;
  std::set<std::string> titles;
  size_t longest = 0;
  for (const ChartSource& source : all)
    for (const Metric& metric : source.run->metrics) {
      if (metric.raw.size() == 0) continue;
      longest = std::max(longest, metric.raw.points());
      const ChartPlace& place = place_of(metric);
      if (titles.insert(place.chart).second) known.push_back(place);
    }
  std::erase_if(order_, [&](const ChartPlace& place) { return !titles.count(place.chart); });
  for (const ChartPlace& place : order_) titles.erase(place.chart);
  settled_ &= !order_.empty();
  for (const ChartPlace& place : known)
    if (titles.count(place.chart)) order_.push_back(place);
  if (!settled_)
    std::stable_sort(order_.begin(), order_.end(),
                     [](const ChartPlace& a, const ChartPlace& b) { return rank_of(a) < rank_of(b); });
  settled_ = longest >= kSettled;
}

void ChartModel::sort_charts() {
  std::map<std::string, size_t> charts, sections;
  for (size_t i = 0; i < order_.size(); ++i) {
    charts[order_[i].chart] = i;
    sections.try_emplace(order_[i].section, i + 1);
  }
  sections[""] = 0;
  std::sort(charts_.begin(), charts_.end(), [&](const Chart& a, const Chart& b) {
    return std::pair(sections[a.section], charts[a.title]) < std::pair(sections[b.section], charts[b.title]);
  });
}

void ChartModel::add_runs(const std::vector<ChartSource>& sources, bool several, bool smoothed,
                          const ChartColors& colors) {
  for (const ChartSource& source : sources) {
    const Metric* samples = source.run->samples();
    std::map<std::string, size_t> in_chart;  // lines of this run in each chart
    for (Metric& metric : source.run->metrics) {
      if (!metrics.matches(metric.name) || metric.raw.size() == 0) continue;
      Chart& chart = chart_of(metric);
      const size_t k = in_chart[chart.title]++;
      const Metric::Pair over = metric.over(x, samples ? &samples->raw : nullptr);
      PlotLine line;
      line.name = printable(line_name(metric)) + (several ? " \xc2\xb7 " + source.label : "");
      line.raw = over.raw;
      line.smooth = smoothed && over.raw->size() > 2 ? over.smooth : nullptr;
      // One run: a colour and a dash per line. Several runs: a colour per run, and dashes that differ both
      // between the lines of a run and between runs of neighbouring colours.
      line.color = colors.series[(several ? source.index : k) % colors.series.size()];
      line.dash = int((several ? source.index + k : k) % 4);
      chart.lines.push_back(std::move(line));
      chart.series.push_back({source.run, &metric});
    }
  }
}

void ChartModel::add_means(const std::vector<ChartSource>& members, const std::string& group,
                           double smoothing, const ChartColors& colors) {
  std::vector<const Metric*> kinds;  // the first metric of each name
  for (const ChartSource& source : members)
    for (const Metric& metric : source.run->metrics)
      if (metrics.matches(metric.name) && std::none_of(kinds.begin(), kinds.end(), [&](const Metric* kind) {
            return line_name(*kind) == line_name(metric);
          }))
        kinds.push_back(&metric);
  std::map<std::string, size_t> in_chart;
  for (const Metric* const kind : kinds) {
    const std::string name = line_name(*kind);
    std::vector<const Curve*> curves;
    Mean now{0, smoothing, x, {}, {}};
    Chart& chart = chart_of(*kind);
    for (const ChartSource& source : members) {
      const Metric* samples = source.run->samples();
      for (Metric& metric : source.run->metrics) {
        if (line_name(metric) != name) continue;
        const Metric::Pair over = metric.over(x, samples ? &samples->raw : nullptr);
        curves.push_back(smoothing > 0 ? over.smooth : over.raw);
        now.points += curves.back()->points();
        now.runs.push_back(source.run);
        chart.series.push_back({source.run, &metric});
      }
    }
    Mean& mean = means_[{group, name}];
    if (mean.points != now.points || mean.smoothing != smoothing || mean.x != x || mean.runs != now.runs) {
      now.curves = mean_of(curves);
      mean = std::move(now);
    }
    const size_t k = in_chart[chart.title]++;
    PlotLine line;
    line.name =
        printable(name) + " \xc2\xb7 mean of " + std::to_string(curves.size()) + " like " + members[0].label;
    line.raw = &mean.curves.mean;
    line.band_low = &mean.curves.low;
    line.band_high = &mean.curves.high;
    line.color = colors.series[members[0].index % colors.series.size()];
    line.dash = int((members[0].index + k) % 4);
    if (line.raw->size() > 0) chart.lines.push_back(std::move(line));
  }
}

void ChartModel::add_marks(const std::vector<ChartSource>& sources, const ChartColors& colors) {
  for (const ChartSource& source : sources)
    for (const RunMark& mark : source.run->marks) {
      PlotMark made;
      made.x = source.run->place(x, mark);
      made.text = "step " + std::to_string(mark.step) + ": " + mark.text;
      if (mark.place.line > 0)
        made.text += ", at " + printable(mark.place.file) + ":" + std::to_string(mark.place.line);
      if (sources.size() > 1) made.text = source.label + ", " + made.text;
      switch (mark.kind) {
        case RunMark::Kind::edit:
          made.kind = "edit", made.brief = mark.brief, made.color = colors.edit;
          break;
        case RunMark::Kind::reload:
          made.kind = "reload", made.color = colors.reload;
          break;
        case RunMark::Kind::checkpoint:
          made.kind = "checkpoint", made.color = colors.checkpoint;
          break;
        case RunMark::Kind::not_finite:
          made.kind = mark.brief, made.color = colors.not_finite;
          break;
        case RunMark::Kind::pause:
          made.kind = "pause", made.color = colors.pause;
          break;
      }
      plot_marks_.push_back(std::move(made));
    }
}

const char* ChartModel::axis_label(const std::vector<ChartSource>& sources) const {
  if (x == XAxis::time) return "seconds";
  if (x == XAxis::step || !has_samples(sources)) return "step";
  for (const ChartSource& source : sources)
    if (const Metric* samples = source.run->samples(); samples && samples->name == "epoch") return "epoch";
  return "samples";
}

bool ChartModel::has_samples(const std::vector<ChartSource>& sources) {
  return std::any_of(sources.begin(), sources.end(),
                     [](const ChartSource& source) { return source.run->samples(); });
}

}  // namespace lunagrad
