// Curves: the values logged by the current run and by the runs chosen in Runs, one chart per kind of metric,
// over a common axis of steps, seconds or samples.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "runtime/io/atomic_file.h"
#include "ui/base/counted.h"
#include "ui/curves/automatic_scale.h"
#include "ui/curves/chart_export.h"
#include "ui/curves/chart_model.h"
#include "ui/curves/chart_sections.h"
#include "ui/curves/plot.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

// Puts tools next to each other as long as they fit, then starts a new line.
class ToolLine {
 public:
  ToolLine() : right_(ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x) {}
  void place(float width) {
    if (!first_ && ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + width <= right_)
      ImGui::SameLine();
    first_ = false;
  }
  void place(const char* label) {
    place(ImGui::CalcTextSize(label).x + 2 * ImGui::GetStyle().FramePadding.x);
  }

  // The width left for the tool at the cursor, which was just placed.
  float rest() const { return right_ - ImGui::GetCursorScreenPos().x; }

 private:
  float right_;
  bool first_ = true;
};

class CurvesPanel final : public Panel {
 public:
  const char* title() const override { return "Curves"; }
  Region region() const override { return Region::upper_left; }
  // The charts show all steps.
  std::optional<PanelStep> shown_step(const Workbench&) const override { return std::nullopt; }

  void add_commands(Workbench& bench) override {
    bench.actions().add({"export_curves", "path, chart", [this, &bench](const ActionArguments& given) {
                           const std::string& path = given.text(0, "path");
                           if (!path.ends_with(".csv") && !path.ends_with(".svg") && !path.ends_with(".png"))
                             given.refuse("path must end in .csv, .svg or .png, got \"" + path + '"');
                           wanted_ = Export{path, given.has(1) ? given.text(1, "chart") : kAll};
                           bench.shell().show_panel(title());
                         }});
    bench.commands().add(
        {"Curves: show everything", "F", "All steps and all values.", [this] { fit(); }, {}, title()});
    bench.commands().add({"Curves: scale of x",
                          "X",
                          "Switches between linear, logarithmic and symlog.",
                          [this] { set_x_scale(next(axis_.scale.kind)); },
                          {},
                          title()});
    bench.commands().add({"Curves: scale of y",
                          "Y",
                          "Switches between automatic, logarithmic, symlog and linear.",
                          [this] { next_y_scale(); },
                          {},
                          title()});
    bench.commands().add({"Curves: follow",
                          "",
                          "Follows the latest steps.",
                          [this] { axis_.mode = PlotAxis::Mode::follow; },
                          {},
                          title()});
    bench.commands().add({"Curves: unit of x",
                          "",
                          "Switches between steps, seconds and samples.",
                          [this] { next_axis(); },
                          {},
                          title()});
    bench.commands().add({"Curves: collapse or expand all sections",
                          "",
                          "Shows only the titles of the sections, or all of their charts.",
                          [this] { collapse_all(); },
                          {},
                          title()});
    add_own_command(bench, "Smooth more", "Averages over twice as many steps.",
                    [&bench] { smooth(bench, true); });
    add_own_command(bench, "Smooth less", "Averages over half as many steps.",
                    [&bench] { smooth(bench, false); });
    add_own_command(
        bench, "Export", "Writes one chart or all as CSV (raw and smoothed), SVG or PNG.",
        [this] { opens_export_ = true; }, [this] { return !sources_.empty(); });
    bench.commands().add({"Curves: marks",
                          "",
                          "Shows edits, reloads, checkpoints and pauses on the charts.",
                          [this] { model_.marks = !model_.marks; },
                          {},
                          title()});
  }

  // Smoothing over twice or half as many steps.
  static void smooth(Workbench& bench, bool more) {
    constexpr double kLeast = 0.5, kMost = 0.995;
    const double now = bench.curves().smoothing();
    const double next = more ? (now < kLeast ? kLeast : (1 + now) / 2) : (now <= kLeast ? 0 : 2 * now - 1);
    bench.curves().set_smoothing(std::clamp(next, 0.0, kMost));
  }

  void draw(Workbench& bench) override {
    bench.curves().smooth_shown();
    collect(bench);
    const Theme& t = theme();
    const ChartColors colors{{t.series.begin(), t.series.end()}, t.accent, t.warning, t.good, t.muted, t.bad};
    if (model_.x == XAxis::samples && !ChartModel::has_samples(sources_)) model_.x = XAxis::step;
    const std::vector<Chart>& charts = model_.build(sources_, bench.journal().smoothing(), colors);
    if (sources_.empty()) {
      draw_empty(
          "No curves yet",
          "Log values with lg.run.log{loss = …} to see curves. Select earlier runs in Runs to compare.");
      describe_problems(bench);
      return;
    }
    draw_tools_line(bench, charts);
    if (const auto wanted = std::exchange(wanted_, std::nullopt)) save(bench, charts, *wanted);
    draw_exported(bench);
    draw_filter_problems(bench);
    describe_problems(bench);
    if (!model_.any()) {
      draw_empty("No curve matches", "The filters above hide all curves.");
      return;
    }
    axis_.label = model_.axis_label(sources_);
    axis_.update(model_.first(), model_.last(), model_.least_positive());
    axis_.cursor = cursor_of(bench);
    draw_charts(bench, charts);
    take_picture(bench);
  }

 private:
  static constexpr const char* kAll = "all charts";

  void collect(Workbench& bench) {
    sources_.clear();
    RunCurves& live = bench.curves().live();
    const std::string live_folder = live.folder.empty() ? "" : full_path(live.folder);
    if (!live.metrics.empty()) {
      live.name = live.folder.empty() ? "this run" : file_name(live_folder);
      sources_.push_back({&live, "this run", 0});
      // The library reads the run's configuration from its folder.
      if (live.group.empty() || bench.runs().revision() != revision_)
        for (const RunSummary& run : bench.runs().runs())
          if (run.folder == live_folder) live.group = run.group;
      revision_ = bench.runs().revision();
    }
    for (auto& [folder, run] : bench.curves().shown()) {
      if (folder == live_folder && !live.metrics.empty()) continue;
      const size_t index = indices_.try_emplace(folder, indices_.size() + 1).first->second;
      sources_.push_back({&run, short_run_name(run.name), index});
    }
  }

  // The step that the window shows, if its run has one and is drawn.
  std::optional<ChartCursor> cursor_of(const Workbench& bench) const {
    const bool drawn = !sources_.empty() && sources_.front().run == &bench.journal().curves();
    if (!drawn || bench.shown().cursor() == 0) return std::nullopt;
    const double x = bench.journal().curves().x_of(model_.x, bench.shown().cursor());
    if (!std::isfinite(x)) return std::nullopt;
    return ChartCursor{x, cursor_color(bench), !bench.shown().live()};
  }

  void fit() {
    axis_.mode = PlotAxis::Mode::fit;
    for (auto& [title, state] : states_) state.y_fixed = false;
  }
  // From automatic through the scales to automatic.
  void next_y_scale() {
    const AxisScale::Kind kind = next(y_.value_or(AxisScale::Kind::linear));
    y_ = y_ == AxisScale::Kind::linear ? std::nullopt : std::optional(kind);
    for (auto& [title, state] : states_) state.y_fixed = false;
  }
  void set_x_scale(AxisScale::Kind kind) {
    axis_.scale.kind = kind;
    axis_.mode = PlotAxis::Mode::fit;
  }

  void next_axis() {
    const bool samples = ChartModel::has_samples(sources_);
    model_.x = model_.x == XAxis::step              ? XAxis::time
               : model_.x == XAxis::time && samples ? XAxis::samples
                                                    : XAxis::step;
    axis_.mode = PlotAxis::Mode::fit;
  }

  void draw_tools_line(Workbench& bench, const std::vector<Chart>& charts) {
    ToolLine line;
    const auto button = [&](const char* name, const std::string& label, bool on, const std::string& state) {
      line.place(label.c_str());
      const bool pressed = tool_button((label + "###" + name).c_str(), on);
      bench.description().add_last(name, state);
      return pressed;
    };
    draw_smoothing(bench, line);
    const char* axes[] = {"over steps", "over time", "over samples"};
    if (button("curves.x", axes[int(model_.x)], model_.x != XAxis::step, axes[int(model_.x)])) next_axis();
    explain(
        "Unit of the x axis: steps, seconds since the start, or a logged metric called samples or epoch.");
    const std::string x_scale = name_of(axis_.scale.kind), y_scale = y_ ? name_of(*y_) : "automatic";
    if (button("curves.xscale", "x " + x_scale, axis_.scale.kind != AxisScale::Kind::linear, x_scale))
      set_x_scale(next(axis_.scale.kind));
    explain("Linear, logarithmic or symlog x axis. X.");
    if (button("curves.log", y_ ? "y " + y_scale : "y auto", y_.has_value(), y_scale)) next_y_scale();
    explain(
        "Automatic, logarithmic, symlog or linear y axis. Y. Automatic: logarithmic where a loss spans two "
        "decades, else linear. A logarithmic axis skips values of 0 and below; the legend counts them. "
        "Symlog is linear near 0 and shows both signs.");
    if (button("curves.fit", "Fit", axis_.mode == PlotAxis::Mode::fit,
               axis_.mode == PlotAxis::Mode::fit ? "on" : "off"))
      fit();
    explain("Shows everything. F, or double-click a chart.");
    if (button("curves.follow", "Follow", axis_.mode == PlotAxis::Mode::follow,
               axis_.mode == PlotAxis::Mode::follow ? "on" : "off"))
      axis_.mode = PlotAxis::Mode::follow;
    explain(
        "Follows the latest steps; the wheel sets how many. The wheel zooms x, Ctrl+wheel y; drag to pan. A "
        "click goes to the step of the nearest point of this run.");
    if (button("curves.box", "Box", axis_.box, axis_.box ? "on" : "off")) axis_.box = !axis_.box;
    explain("Drag a box in a chart to zoom into it. Shift+drag always does.");
    if (button("curves.marks", "Marks", model_.marks, model_.marks ? "on" : "off"))
      model_.marks = !model_.marks;
    explain(
        "Marks parameter edits, reloads, checkpoints, pauses and breakpoints. Narrow spaces show a letter, "
        "crowded ones a count.");
    if (sources_.size() > 1) {
      if (button("curves.mean", "Mean", model_.mean, model_.mean ? "on" : "off")) model_.mean = !model_.mean;
      explain(
          "Shows runs that differ only in the seed as their mean with a band of one standard deviation (n - "
          "1). Runs are interpolated between their points, at up to 20,000 places.");
    }
    if (button("curves.export", "Export", false, "") || std::exchange(opens_export_, false)) {
      ImGui::OpenPopup("export");
      if (path_[0] == '\0') suggest_path(bench);
    }
    explain("Exports one chart or all as CSV (raw and smoothed), SVG or PNG.");
    draw_export(bench, charts);
    draw_filter("curves.metrics", "filter", metric_filter_, sizeof metric_filter_, model_.metrics, line,
                bench, "Shows metrics whose names match, as in loss|acc or ^val_. Case is ignored.");
    if (sources_.size() > 1)
      draw_filter("curves.runs", "filter runs", run_filter_, sizeof run_filter_, model_.runs, line, bench,
                  "Shows the runs whose names match.");
  }

  void draw_smoothing(Workbench& bench, ToolLine& line) {
    float smoothing = float(bench.journal().smoothing());
    char label[32];
    std::snprintf(label, sizeof label, "smoothing %.3f",
                  double(smoothing));  // the value is next to the slider, whose grab would cover it
    line.place(ImGui::CalcTextSize(label).x + em(5) + ImGui::GetStyle().ItemSpacing.x);
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    ImGui::SameLine();
    ImGui::SetNextItemWidth(em(5));
    if (ImGui::SliderFloat("##smoothing", &smoothing, 0, 0.995f, ""))
      bench.curves().set_smoothing(double(smoothing));
    bench.description().add_last("curves.smoothing", label + sizeof "smoothing");
    explain(
        "Exponential moving average without the bias at the start:\n"
        "m = b^d m + (1 - b^d) y,   smoothed = m / (1 - b^t)\n"
        "with b the number here, d the steps since the value before and t all of them, whatever the x axis "
        "shows. The raw "
        "curve is the thin line, whose values the legend gives; 0 shows it alone.");
  }

  void draw_filter(const char* name, const char* hint, char* text, size_t size, NameFilter& filter,
                   ToolLine& line, Workbench& bench, const char* help) {
    line.place(em(5));
    ImGui::SetNextItemWidth(std::clamp(line.rest(), em(5), em(8)));
    const bool wrong = !filter.problem().empty();
    if (wrong) ImGui::PushStyleColor(ImGuiCol_Text, theme().bad);
    if (ImGui::InputTextWithHint((std::string("##") + name).c_str(), hint, text, size)) filter.set(text);
    if (wrong) ImGui::PopStyleColor();
    bench.description().add_last(name, text);
    explain(help);
  }

  void draw_filter_problems(Workbench& bench) {
    for (const NameFilter* filter : {&model_.metrics, &model_.runs}) {
      if (filter->problem().empty()) continue;
      ImGui::PushTextWrapPos(0);
      text_in(theme().bad, "%s; everything is shown", filter->problem().c_str());
      ImGui::PopTextWrapPos();
      bench.description().add_last("curves.filter_error", filter->problem());
    }
  }

  void describe_problems(Workbench& bench) {
    for (const auto& [folder, problem] : bench.runs().problems()) {
      ImGui::PushTextWrapPos(0);
      text_in(theme().bad, "%s", problem.c_str());
      ImGui::PopTextWrapPos();
      bench.description().add_last("curves.run_error", problem);
    }
  }

  void collapse(const std::string& section) {
    if (!collapsed_.erase(section)) collapsed_.insert(section);
  }

  void collapse_all() {
    const bool any_open = std::any_of(known_sections_.begin(), known_sections_.end(),
                                      [&](const std::string& name) { return !collapsed_.count(name); });
    collapsed_ = any_open ? known_sections_ : std::set<std::string>();
  }

  void draw_section(Workbench& bench, const ChartSection& section) {
    const std::string charts = counted(int64_t(section.end - section.first), "chart");
    const std::string label = (section.collapsed ? "\xe2\x96\xb8 " : "\xe2\x96\xbe ") + section.name;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable((label + "###section " + section.name).c_str())) collapse(section.name);
    bench.description().add_last("curves.section",
                                 section.name + ", " + charts + (section.collapsed ? ", collapsed" : ""));
    ImGui::GetWindowDrawList()->AddText({at.x + ImGui::CalcTextSize(label.c_str()).x + em(0.8f), at.y},
                                        theme().muted, charts.c_str());
    explain(("Collapses or expands the charts of metrics that begin with " + section.name + "/.").c_str());
  }

  void draw_charts(Workbench& bench, const std::vector<Chart>& charts) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const size_t columns = room.x > em(60) && charts.size() > 1 ? 2 : 1;
    const std::vector<ChartSection> sections = sections_of(charts, collapsed_);
    size_t rows = 0, titles = 0, last = 0;  // `last`: the end of the charts that are shown
    known_sections_.clear();
    for (const ChartSection& section : sections) {
      rows += section.rows(columns);
      titles += !section.name.empty();
      if (!section.name.empty()) known_sections_.insert(section.name);
      if (!section.collapsed) last = section.end;
    }
    const float spacing = em(0.5f);
    const float above = float(titles) * (ImGui::GetTextLineHeight() + spacing);
    const float height = std::max(
        em(8), (room.y - above - spacing * (float(rows) - 1)) / float(std::max<size_t>(rows, 1)) - 1);
    // Over a chart the wheel zooms, elsewhere it scrolls.
    ImGui::BeginChild("charts", room, false, axis_.hovering ? ImGuiWindowFlags_NoScrollWithMouse : 0);
    charts_min_ = ImGui::GetWindowPos();
    charts_max_ = {charts_min_.x + room.x, charts_min_.y + room.y};
    const float width = (ImGui::GetContentRegionAvail().x - spacing * float(columns - 1)) / float(columns);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {spacing, spacing});
    rects_.clear();
    for (const ChartSection& section : sections) {
      if (!section.name.empty()) draw_section(bench, section);
      if (section.collapsed) continue;
      for (size_t i = section.first; i < section.end; ++i) {
        if ((i - section.first) % columns) ImGui::SameLine();
        draw_chart(bench, charts[i], {width, height}, height >= em(11) || i + columns >= last);
      }
    }
    ImGui::PopStyleVar();
    ImGui::EndChild();
  }

  void draw_chart(Workbench& bench, const Chart& chart, ImVec2 size, bool labelled) {
    const Theme& t = theme();
    const PlotColors colors{t.canvas, t.grid, t.text, t.muted, t.faint, t.bad, t.raised, t.accent};
    PlotState& state = states_[chart.title];
    choose_scale(chart, y_, state);
    if (!ImGui::IsRectVisible(size)) {  // scrolled away
      const ImVec2 at = ImGui::GetCursorScreenPos();
      describe(bench, chart, {.min = at, .max = {at.x + size.x, at.y + size.y}});
      ImGui::Dummy(size);
      return;
    }
    const PlotShown shown = draw_plot(chart.title.c_str(), chart.title.c_str(), chart.lines,
                                      model_.plot_marks(), labelled, size, axis_, state, colors);
    rects_[chart.title] = {ImGui::GetItemRectMin(), ImGui::GetItemRectMax()};
    describe(bench, chart, shown);
    if (shown.clicked) go_to(bench, *shown.clicked);
  }

  // Goes to the step of this window's run at the clicked x.
  void go_to(Workbench& bench, double x) {
    if (const auto step = bench.journal().curves().step_at(model_.x, x)) bench.shown().go_to(*step);
  }

  static void describe(Workbench& bench, const Chart& chart, const PlotShown& shown) {
    if (!bench.description().enabled()) return;
    bench.description().add("curves.chart", chart.title + ": " + shown.scales, shown.min, shown.max);
    for (const PlotLine& line : chart.lines)
      bench.description().add("curves.curve",
                              line.name + " " + std::to_string(line.raw->points()) + " points", shown.min,
                              shown.max);
    for (const auto& item : shown.legend)
      bench.description().add("curves.legend", item.text, item.min, item.max);
    for (const auto& item : shown.marks)
      bench.description().add("curves.mark", item.text, item.min, item.max);
    if (shown.cursor) describe_cursor(bench, "curves.cursor", *shown.cursor, shown.min.y, shown.max.y);
  }

  // ---- export

  void suggest_path(Workbench& bench) {
    std::string folder = bench.journal().run_folder();
    if (folder.empty() && !bench.runs().curves().empty()) folder = bench.runs().curves().begin()->first;
    std::string path = full_path(folder.empty() ? "curves" : folder + "-curves");
    if (chosen_ != kAll) path += "-" + chosen_;
    std::snprintf(path_, sizeof path_, "%s", path.c_str());
  }

  void draw_export(Workbench& bench, const std::vector<Chart>& charts) {
    ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().panel);  // its buttons contrast with it
    const bool open = ImGui::BeginPopup("export");
    ImGui::PopStyleColor();
    if (!open) return;
    if (std::none_of(charts.begin(), charts.end(), [&](const Chart& c) { return c.title == chosen_; }))
      chosen_ = kAll;
    ImGui::SetNextItemWidth(em(12));
    if (ImGui::BeginCombo("##what", chosen_.c_str())) {
      const auto choose = [&](const std::string& what) {
        if (ImGui::Selectable(what.c_str(), what == chosen_)) {
          chosen_ = what;
          suggest_path(bench);
        }
        bench.description().add_last("curves.export.choice", what);
      };
      choose(kAll);
      for (const Chart& chart : charts) choose(chart.title);
      ImGui::EndCombo();
    }
    bench.description().add_last("curves.export.what", chosen_);
    explain("All charts, or one.");
    ImGui::SetNextItemWidth(em(32));
    ImGui::InputText("##path", path_, sizeof path_);
    bench.description().add_last("curves.export.path", path_);
    explain("File name without .csv, .svg or .png. An existing file is replaced.");
    for (const char* format : {"CSV", "SVG", "PNG"}) {
      if (ImGui::Button(format)) {
        std::string ending = format;
        for (char& c : ending) c = char(std::tolower(c));
        bench.actions().act("export_curves", {std::string(path_) + '.' + ending, chosen_});
        if (ending == "png") ImGui::CloseCurrentPopup();
      }
      bench.description().add_last("curves.export.as", format);
      explain(!std::strcmp(format, "CSV")   ? "Every point, of long runs from their folders: run, metric, "
                                              "step, time, value, smoothed. Numbers are exact."
              : !std::strcmp(format, "SVG") ? "What the charts show, as a drawing."
                                            : "What is visible on the screen.");
      ImGui::SameLine();
    }
    ImGui::NewLine();
    ImGui::EndPopup();
  }

  // Shows where the file was written, or the error, until the user dismisses it.
  void draw_exported(Workbench& bench) {
    if (exported_.empty()) return;
    if (ImGui::SmallButton("\xc3\x97")) exported_.clear();
    explain("Hides this message.");
    ImGui::SameLine();
    ImGui::PushTextWrapPos(0);
    text_in(failed_ ? theme().bad : theme().muted, "%s%s", failed_ ? "not exported: " : "",
            exported_.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("curves.exported", exported_);
  }

  // A requested export: the path, whose extension selects the format, and a chart or all charts.
  struct Export {
    std::string path, chart;
  };

  void save(Workbench& bench, const std::vector<Chart>& charts, const Export& what) {
    const std::string& path = what.path;
    std::vector<const Chart*> wanted;
    for (const Chart& chart : charts)
      if (what.chart == kAll || chart.title == what.chart) wanted.push_back(&chart);
    if (wanted.empty()) return tell(bench, "there is no chart \"" + what.chart + '"', path);
    if (path.ends_with(".png")) {
      // The picture is taken a frame later, when the list of formats no longer covers the charts.
      for (const Chart* chart : wanted) collapsed_.erase(chart->section);
      picture_ = path;
      pictured_ = what.chart;
      picture_in_ = 2;
      return;
    }
    failed_ = false;
    exported_ = "writing " + path;
    const auto done = [this, &bench, path](const std::string& problem) { tell(bench, problem, path); };
    if (path.ends_with(".svg")) {
      bench.shell().background_tasks().add([path, text = as_svg(wanted)] { write_file(path, text); }, done);
      return;
    }
    auto all = std::make_shared<std::vector<CsvSeries>>();
    for (const Chart* chart : wanted)
      for (const auto& [run, metric] : chart->series) all->emplace_back(*run, *metric);
    auto exact = std::make_shared<bool>(true);
    bench.shell().background_tasks().add(
        [path, all, exact] {
          *exact = complete(*all);
          write_file(path, charts_as_csv(*all));
        },
        [done, exact, this](const std::string& problem) {
          done(problem);
          if (!*exact && !failed_)
            exported_ += "; older points are merged, since the run has no folder that holds them";
        });
  }

  std::string as_svg(const std::vector<const Chart*>& charts) {
    std::vector<SvgChart> all;
    for (const Chart* chart : charts) {
      PlotState& state = states_[chart->title];
      choose_scale(*chart, y_, state);  // it may be in a collapsed section
      const std::vector<PlotLine> lines = shown_lines(chart->lines, state);
      all.push_back({chart->title, lines, model_.plot_marks(), y_range(lines, axis_, state)});
    }
    return charts_as_svg(all, axis_, 960, 360, theme().dark);
  }

  void take_picture(Workbench& bench) {
    if (picture_in_ == 0 || --picture_in_ > 0) return;
    ImVec2 min = charts_min_, max = charts_max_;
    if (const auto chart = rects_.find(pictured_); chart != rects_.end()) {
      min = {std::max(min.x, chart->second.first.x), std::max(min.y, chart->second.first.y)};
      max = {std::min(max.x, chart->second.second.x), std::min(max.y, chart->second.second.y)};
    }
    if (!bench.shell().can_take_picture()) return tell(bench, "there is no window to capture", picture_);
    bench.shell().take_picture(
        picture_, min, max,
        [this, &bench, path = picture_](const std::string& problem) { tell(bench, problem, path); });
  }

  void tell(Workbench& bench, const std::string& problem, const std::string& path) {
    failed_ = !problem.empty();
    exported_ = failed_ ? problem : "wrote " + path;
    bench.shell().write(failed_ ? ConsoleLine::Kind::error : ConsoleLine::Kind::note, exported_ + "\n");
  }

  ChartModel model_;
  PlotAxis axis_;
  std::optional<AxisScale::Kind> y_;         // none: automatic
  std::map<std::string, PlotState> states_;  // by title of the chart
  std::set<std::string> collapsed_, known_sections_;
  std::vector<ChartSource> sources_;
  std::map<std::string, size_t> indices_;  // colour indices of shown runs: each run keeps its colour
  uint64_t revision_ = 0;
  char metric_filter_[256] = "", run_filter_[256] = "";
  char path_[1024] = "";
  std::string chosen_ = kAll, exported_, picture_, pictured_;
  std::optional<Export> wanted_;
  bool opens_export_ = false;
  int picture_in_ = 0;
  bool failed_ = false;
  ImVec2 charts_min_{}, charts_max_{};
  std::map<std::string, std::pair<ImVec2, ImVec2>> rects_;
};

}  // namespace

std::unique_ptr<Panel> make_curves_panel() { return std::make_unique<CurvesPanel>(); }

}  // namespace lunagrad
