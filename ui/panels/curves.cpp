// Curves: everything the script logged, one chart for each kind of metric, over a common axis of steps.
#include <algorithm>
#include <cstdio>
#include <map>

#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/widgets/plot.h"

namespace lunagrad {
namespace {

class CurvesPanel final : public Panel {
 public:
  const char* title() const override { return "Curves"; }
  Region region() const override { return Region::upper_left; }

  void draw_tools(Workbench& bench) override {
    float smoothing = float(bench.journal.smoothing());
    ImGui::AlignTextToFramePadding();
    ImGui::Text("smoothing %.3f", double(smoothing));  // beside the slider, whose grab would cover it
    ImGui::SameLine();
    ImGui::SetNextItemWidth(em(5));
    if (ImGui::SliderFloat("##smoothing", &smoothing, 0, 0.995f, ""))
      bench.journal.set_smoothing(double(smoothing));
    bench.description.add_last("curves.smoothing", std::to_string(smoothing));
    explain(
        "Exponential moving average without the bias at the start:\n"
        "m = b^d m + (1 - b^d) y,   smoothed = m / (1 - b^t)\n"
        "with b the number here, d the steps since the value before and t all of them. The raw curve stays "
        "behind it, ghosted, and a legend gives its last value; 0 shows the raw curve alone.");
    ImGui::SameLine();
    if (tool_button("log y", log_y_)) log_y_ = !log_y_;
    bench.description.add_last("curves.log", log_y_ ? "on" : "off");
    explain("Logarithmic y axis. Values of 0 and below interrupt the curve there.");
    ImGui::SameLine();
    if (tool_button("Fit", axis_.mode == PlotAxis::Mode::fit)) axis_.mode = PlotAxis::Mode::fit;
    explain("Shows all steps. Double click in a chart does the same.");
    ImGui::SameLine();
    if (tool_button("Follow", axis_.mode == PlotAxis::Mode::follow)) axis_.mode = PlotAxis::Mode::follow;
    bench.description.add_last("curves.follow", "");
    explain(
        "Keeps to the latest steps; the wheel sets how many. In all modes: the wheel zooms, dragging pans.");
  }

  void draw(Workbench& bench) override {
    const auto& metrics = bench.journal.metrics();
    double first = 0, last = 1;
    bool any = false;
    for (const Metric& metric : metrics)
      if (metric.raw.size() > 0) {
        first = any ? std::min(first, metric.raw.x(0)) : metric.raw.x(0);
        last =
            any ? std::max(last, metric.raw.x(metric.raw.size() - 1)) : metric.raw.x(metric.raw.size() - 1);
        any = true;
      }
    if (!any) {
      draw_empty("No curves yet",
                 "Each value that the script logs with lg.run.log{loss = …} becomes a curve.");
      return;
    }
    axis_.update(first, last);

    std::vector<std::pair<std::string, std::vector<PlotLine>>> charts;
    const bool smoothed = bench.journal.smoothing() > 0;
    for (const Metric& metric : metrics) {
      const std::string stem = metric_stem(metric.name);
      auto chart = std::find_if(charts.begin(), charts.end(), [&](const auto& c) { return c.first == stem; });
      if (chart == charts.end()) chart = charts.insert(charts.end(), {stem, {}});
      const size_t k = chart->second.size();
      const bool few = metric.raw.size() < 3;
      chart->second.push_back({metric.name, &metric.raw, smoothed && !few ? &metric.smooth : nullptr,
                               theme().series[k % theme().series.size()], int(k % 4)});
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float spacing = em(0.5f), least = em(7);
    const float height = std::max(
        least, (room.y - spacing * float(charts.size() - 1)) / float(std::max<size_t>(charts.size(), 1)) - 1);
    const Theme& t = theme();
    const PlotColors colors{t.canvas, t.grid, t.text, t.muted, t.faint, t.bad, t.raised, t.border};
    ImGui::BeginChild("charts", room, false, ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, spacing});
    const float width = ImGui::GetContentRegionAvail().x;
    PlotState state{log_y_};
    for (size_t i = 0; i < charts.size(); ++i) {
      const bool bottom = i + 1 == charts.size();
      draw_plot(charts[i].first.c_str(), charts[i].first.c_str(), charts[i].second, bottom ? "step" : "",
                {width, height}, axis_, state, colors);
      bench.description.add_last("curves.chart", charts[i].first);
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
    if (bench.description.enabled())
      for (const Metric& metric : metrics)
        bench.description.add_last("curves.curve",
                                   metric.name + " " + std::to_string(metric.raw.size()) + " points");
  }

 private:
  PlotAxis axis_;
  bool log_y_ = false;
};

}  // namespace

std::unique_ptr<Panel> make_curves_panel() { return std::make_unique<CurvesPanel>(); }

}  // namespace lunagrad
