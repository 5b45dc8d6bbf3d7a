// Gradients: alarms, the norms of parameters over time, the gradient flow through the network, histograms,
// and the size of the weight updates.
#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"
#include "ui/base/counted.h"
#include "ui/curves/dashes.h"
#include "ui/curves/distribution_map.h"
#include "ui/curves/flow_chart.h"
#include "ui/curves/plot.h"
#include "ui/panels/change_menu.h"
#include "ui/panels/time/probe_list.h"
#include "ui/panels/why_strip.h"
#include "ui/widgets/value_view.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

// On a chart whose x is the step.
ChartCursor step_cursor(const Workbench& bench) {
  return {double(bench.shown().cursor()), cursor_color(bench), !bench.shown().live()};
}

constexpr size_t kMostLines = 7;  // lines of parameters in one chart

std::string number_text(double value) { return std::isnan(value) ? "-" : number_figure(value, 3); }

std::string norm_text(const Summary& summary) {
  if (!summary.finite()) return summary.nans > 0 ? "NaN" : "Inf";
  return number_text(summary.norm);
}

class GradientsPanel final : public Panel {
 public:
  const char* title() const override { return "Gradients"; }
  Region region() const override { return Region::lower_right; }
  std::optional<PanelStep> shown_step(const Workbench& bench) const override {
    const StepStatistics* const shown = bench.gradients().at(bench.shown().cursor());
    return shown ? std::optional(PanelStep{shown->step}) : std::nullopt;
  }

  void add_commands(Workbench& bench) override {
    for (const ViewText& text : kViews)
      add_own_command(bench, text.label, text.help, [this, view = text.view] { view_ = view; });
    for (const auto& [steps, name] : kCadences)
      add_own_command(bench, std::string("Measure ") + name, "How often gradients are measured.",
                      [&bench, steps = steps] { bench.shell().settings().statistics_every = steps; });
  }

  void draw_tools(Workbench& bench) override {
    const GradientModel& model = bench.gradients();
    if (!model.latest()) return;
    for (const auto& [view, label, help] : kViews) {
      if (tool_button(label, view_ == view)) view_ = view;
      bench.description().add_last("gradients.view", label);
      explain(help);
      ImGui::SameLine(0, em(0.25f));
    }
    draw_cadence(bench);
  }

  void draw(Workbench& bench) override {
    bench.measurements().want_statistics(cadence(bench));
    const GradientModel& model = bench.gradients();
    if (!model.latest()) {
      draw_empty("No gradients yet",
                 "Norms, histograms and alarms appear after the first step that calls backward().");
      return;
    }
    draw_alarms(bench);
    lines_ = view_ == View::norms || view_ == View::updates ? lines_of(model, view_ == View::updates)
                                                            : std::vector<const ParameterHistory*>();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    // The chart gets a legible size first; the table takes the remaining space, beside or above it.
    const float chart = em(12), row = ImGui::GetTextLineHeightWithSpacing();
    const bool beside = room.x > em(46);
    const float above =
        std::min(room.y - chart, row * float(bench.gradients().parameters().size() + 1) + em(1));
    const float wide = std::min(table_width(bench.gradients().parameters()), room.x - em(22));
    const ImVec2 table =
        beside ? ImVec2{std::floor(wide), room.y} : ImVec2{room.x, std::floor(std::max(above, 0.0f))};
    if (beside || table.y > 3 * row) {
      ImGui::BeginChild("parameters", table);
      draw_table(bench);
      ImGui::EndChild();
      if (beside) ImGui::SameLine(0, em(0.6f));
    } else if (view_ != View::flow) {
      draw_choice(bench);
    }
    ImGui::BeginChild("chart", {0, 0}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    switch (view_) {
      case View::norms:
        draw_curves(bench, false);
        break;
      case View::updates:
        draw_curves(bench, true);
        break;
      case View::flow:
        draw_flow(bench);
        break;
      case View::histograms:
        draw_histograms(bench);
        break;
    }
    ImGui::EndChild();
  }

 private:
  enum class View { norms, flow, histograms, updates };
  struct ViewText {
    View view;
    const char *label, *help;
  };
  static constexpr ViewText kViews[] = {
      {View::norms, "Norms", "Gradient norm of each parameter and of all, by step."},
      {View::flow, "Flow", "Mean and largest |gradient| of each op in the shown step, from input to loss."},
      {View::histograms, "Histograms", "Distribution of the selected parameter's gradient, by step."},
      {View::updates, "Updates",
       "|update| / |weight| of each parameter. About 1e-3 (the line) is usual; much less learns slowly, "
       "much more is unstable."},
  };
  static constexpr std::pair<int, const char*> kCadences[] = {
      {0, "auto"}, {1, "every step"}, {5, "every 5 steps"}, {20, "every 20 steps"}, {100, "every 100 steps"}};

  // The figures of the shown step; only while there are some.
  static const StepStatistics& shown_statistics(const Workbench& bench) {
    return *bench.gradients().at(bench.shown().cursor());
  }

  static void select(Workbench& bench, uint64_t node, const SourcePlace& place, const std::string& op) {
    const TapeSnapshot* const tape = bench.tape().tape();
    if (!tape) return;
    int found = bench.tape().find_node(node);
    if (found < 0 && !op.empty()) found = node_at(*tape, op, place);
    if (found >= 0) bench.tape_actions().select(found);
  }

  // Steps between two measurements; 0: chosen so that they cost 1 %. The first steps of a run are measured
  // more often.
  static int64_t cadence(const Workbench& bench) {
    constexpr int64_t kBegin = 250, kOften = 4;
    if (bench.settings().statistics_every > 0) return bench.settings().statistics_every;
    return bench.journal().step() < kBegin ? kOften : 0;
  }

  static void draw_cadence(Workbench& bench) {
    int& every = bench.shell().settings().statistics_every;
    const char* shown = kCadences[0].second;
    for (const auto& [steps, name] : kCadences)
      if (steps == every) shown = name;
    const double now = std::max(1.0, bench.measured_every());
    const std::string text = now < 1.05 ? "every step"
                             : now < 10 ? "every " + number_figure(now, 2) + " steps"
                                        : "every " + count_figure(std::llround(now)) + " steps";
    const std::string label = every == 0 ? "auto: " + text : shown;
    const float room = ImGui::GetContentRegionAvail().x;
    const bool narrow = room < em(12.5f);
    ImGui::SetNextItemWidth(std::clamp(room, em(3), em(12.5f)));
    const bool open = ImGui::BeginCombo("##cadence", narrow && every == 0 ? shown : label.c_str(),
                                        narrow ? ImGuiComboFlags_NoArrowButton : 0);
    bench.description().add_last("gradients.every", text);
    bench.description().add_last("gradients.cadence", shown);
    if (!open) {
      explain((std::string("How often gradients are measured, now ") + text +
               ". auto: every 4 steps at the start, then as often as costs at most 1 % of the time.")
                  .c_str());
      return;
    }
    for (const auto& [steps, name] : kCadences) {
      if (ImGui::Selectable(name, steps == every)) every = steps;
      bench.description().add_last("gradients.every_choice", name);
    }
    ImGui::EndCombo();
  }

  // Chooses the parameter whose line or histogram is shown, when there is no space for the table.
  void draw_choice(Workbench& bench) {
    ImGui::SetNextItemWidth(std::min(em(16), ImGui::GetContentRegionAvail().x));
    const std::string label =
        chosen_.empty() ? counted(int64_t(bench.gradients().parameters().size()), "parameter") : chosen_;
    const bool open = ImGui::BeginCombo("##parameter", label.c_str());
    bench.description().add_last("gradients.choice", label);
    explain(view_ == View::histograms
                ? "The parameter whose histogram is shown. A larger panel shows the table of all."
                : "A parameter to draw beside the largest ones. A larger panel shows the table of all.");
    if (!open) return;
    for (const ParameterHistory& p : bench.gradients().parameters())
      if (ImGui::Selectable(p.name.c_str(), p.name == chosen_)) chosen_ = p.name;
    ImGui::EndCombo();
  }

  void draw_alarms(Workbench& bench) {
    const std::vector<AlarmGroup> all = bench.gradients().alarms().groups();
    std::vector<AlarmGroup> alarms;
    int over = 0;
    for (const AlarmGroup& group : all) {
      if (group.first->until > 0) over += 1 + int(group.others.size());
      if (group.first->until == 0 || show_over_) alarms.push_back(group);
    }
    if (over > 0) draw_over(bench, over);
    if (alarms.empty()) {
      text_in(theme().good, "No alarms.");
      bench.description().add_last("gradients.no_alarms", "No alarms.");
      if (ImGui::IsItemHovered()) explain(rules_text().c_str());
      return;
    }
    // Each alarm has at least two lines: the problem with its first step, then the fact and what usually
    // helps.
    const float line = ImGui::GetTextLineHeight(), indent = em(0.9f);
    const float asks = em(3.6f);  // room of a button that asks
    const float wrap = std::max(ImGui::GetContentRegionAvail().x - indent - asks - em(1.2f), em(4));
    const auto height_of = [&](const Alarm& alarm) {
      return line + ImGui::CalcTextSize(advice(alarm).c_str(), nullptr, false, wrap).y + em(0.2f);
    };
    float wanted = em(0.3f);
    for (size_t i = 0; i < std::min<size_t>(alarms.size(), 4); ++i)
      wanted += height_of(*alarms[i].first) + ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("alarms",
                      {0, std::min(wanted, std::max(3 * line, ImGui::GetContentRegionAvail().y * 0.4f))});
    const Alarm* wanted_why = nullptr;
    for (size_t i = 0; i < alarms.size(); ++i) {
      const Alarm& alarm = *alarms[i].first;
      const AlarmRule& rule = alarm_rule(alarm.kind);
      const bool over = alarm.until > 0;
      const std::string head = headline(alarms[i]), more = advice(alarm);
      ImGui::PushID(int(i));
      const ImVec2 at = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable("##alarm", false, 0, {wrap + indent, height_of(alarm)})) {
        select(bench, alarm.node, alarm.place, alarm.op);
        if (alarm.op.empty()) chosen_ = alarm.subject;
        if (alarm.since > 0) bench.shown().go_to(alarm.since);
      }
      bench.description().add_last("gradients.alarm", head + ": " + more);
      explain((head + ": " + more + "\n\n" + rule_text(rule) +
               "\n\nClick to select it on the tape and to go to this step.")
                  .c_str());
      ImDrawList* const list = ImGui::GetWindowDrawList();
      const ImU32 color = over                                 ? theme().muted
                          : alarm.kind <= AlarmKind::exploding ? theme().bad
                                                               : theme().warning;
      list->AddText(at, color, head.c_str());
      list->AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + indent, at.y + line},
                    over ? theme().muted : theme().text, more.c_str(), nullptr, wrap);
      ImGui::SameLine(0, em(0.4f));
      if (why_button(bench, "gradients.why", "Follows the causes of this alarm over what was recorded."))
        wanted_why = &alarm;
      ImGui::PopID();
    }
    ImGui::EndChild();
    if (wanted_why) bench.why().ask_alarm(*wanted_why);
  }

  // Alarms that are over take one line until the user opens the list.
  void draw_over(Workbench& bench, int count) {
    const std::string label = std::to_string(count) + (count == 1 ? " alarm is over" : " alarms are over");
    if (tool_button((label + "###over").c_str(), show_over_)) show_over_ = !show_over_;
    bench.description().add_last("gradients.over", label + (show_over_ ? ", shown" : ""));
    explain("Shows them, or hides them again.");
  }

  static std::string rule_text(const AlarmRule& rule) {
    std::string text = std::string("Rule: ") + rule.name + ": ";
    if (rule.threshold > 0) text += number_text(rule.threshold) + " ";
    text += rule.says;
    if (rule.patience > 1) text += ", " + std::to_string(rule.patience) + " looks in a row";
    return text + "; " + rule.reason + ".";
  }

  static std::string rules_text() {
    std::string text;
    for (const AlarmRule& rule : alarm_rules()) text += rule_text(rule) + "\n";
    return text;
  }

  // The width at which no column is clipped: the longest name, and about five digits in each column.
  static float table_width(const std::vector<ParameterHistory>& parameters) {
    const auto longest = std::max_element(
        parameters.begin(), parameters.end(),
        [](const ParameterHistory& a, const ParameterHistory& b) { return a.name.size() < b.name.size(); });
    const float name = longest == parameters.end() ? 0 : ImGui::CalcTextSize(longest->name.c_str()).x;
    return name + em(1.8f) + 4 * em(5.2f) + ImGui::GetStyle().ScrollbarSize;
  }

  void draw_table(Workbench& bench) {
    const auto& parameters = bench.gradients().parameters();
    const auto flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX |
                       ImGuiTableFlags_BordersInnerH;
    if (!ImGui::BeginTable("table", 5, flags)) return;
    constexpr struct {
      const char* name;
      const char* help;
    } kColumns[] = {{"parameter", "Click to select it on the tape and show its histogram."},
                    {"|gradient|", "Norm of its gradient after backward(), before clipping."},
                    {"|weight|", "Norm of its values at the end of the step."},
                    {"update", "|update| / |weight|. About 1e-3 is usual."},
                    {"zeros", "Share of its gradient that is exactly 0."}};
    ImGui::TableSetupScrollFreeze(1, 1);
    for (const auto& column : kColumns) ImGui::TableSetupColumn(column.name);
    ImGui::TableNextRow();
    for (const auto& column : kColumns) {
      ImGui::TableNextColumn();
      text_in(theme().faint, "%s", column.name);
      explain(column.help);
    }
    const NodeInfo* const selected = bench.tape().selected_node();
    const StepStatistics& step = shown_statistics(bench);
    ImGuiListClipper clipper;
    clipper.Begin(int(parameters.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const ParameterHistory& p = parameters[size_t(i)];
        static const ParameterStatistics kUnknown{.update_norm = NAN};
        const ParameterStatistics* const known = GradientModel::of(step, p, size_t(i));
        const ParameterStatistics& now = known ? *known : kUnknown;
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::PushID(i);
        draw_swatch(p);
        const bool lit = p.name == chosen_ || (selected && selected->id == p.node);
        if (ImGui::Selectable(p.name.c_str(), lit, ImGuiSelectableFlags_SpanAllColumns)) {
          chosen_ = p.name;
          select(bench, p.node, p.place, "");
        }
        if (ImGui::BeginPopupContextItem("change parameter")) {
          if (why_entry(bench, "gradients.why", "Follows the causes of its gradient and its updates."))
            bench.why().ask_parameter(p.name);
          draw_probe_item(bench, p.name);
          changes_.draw_items(bench, p.name, true);
          ImGui::EndPopup();
        }
        const std::string norm = now.has_gradient ? norm_text(now.gradient) : "none";
        const std::string weight = known ? norm_text(now.weight) : "-";
        bench.description().add_last("gradients.parameter", p.name + " " + norm + ", weights " + weight);
        const std::string where = file_and_line(p.place);
        const bool drawn = lines_.empty() || std::find(lines_.begin(), lines_.end(), &p) != lines_.end();
        explain((p.name + " " + shape_text(p.shape) + (where.empty() ? "" : ", made at " + where) +
                 (drawn ? ""
                        : "\nThe chart draws the " + std::to_string(kMostLines) +
                              " largest. Click to draw this one."))
                    .c_str());
        ImGui::PopID();
        ImGui::TableNextColumn();
        if (now.has_gradient && !now.gradient.finite())
          text_in(theme().bad, "%s", norm.c_str());
        else
          ImGui::TextUnformatted(norm.c_str());
        ImGui::TableNextColumn();
        text_in(now.weight.finite() ? theme().text : theme().bad, "%s", weight.c_str());
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(number_text(now.update_ratio()).c_str());
        ImGui::TableNextColumn();
        const double zeros = now.has_gradient && now.gradient.count > 0
                                 ? 100 * double(now.gradient.zeros) / double(now.gradient.count)
                                 : NAN;
        ImGui::TextUnformatted(std::isnan(zeros) ? "-" : (number_text(zeros) + " %").c_str());
      }
    ImGui::EndTable();
    changes_.draw_field(bench);
  }

  // The stroke of a parameter's line in the chart: the table is the chart's legend.
  void draw_swatch(const ParameterHistory& p) const {
    const auto line = std::find(lines_.begin(), lines_.end(), &p);
    if (lines_.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float middle = at.y + ImGui::GetTextLineHeight() / 2;
    if (line != lines_.end()) {
      const LineSign sign = sign_of(size_t(line - lines_.begin()));
      draw_dashed(ImGui::GetWindowDrawList(), {{at.x, middle}, {at.x + em(1.4f), middle}}, sign.color, 2,
                  sign.dash);
    } else {
      ImGui::GetWindowDrawList()->AddCircle({at.x + em(0.7f), middle}, em(0.2f), theme().faint);
    }
    ImGui::Dummy({em(1.4f), 1});
    ImGui::SameLine(0, em(0.4f));
  }

  struct LineSign {
    ImU32 color;
    int dash;
  };
  static LineSign sign_of(size_t k) { return {theme().series[k % theme().series.size()], int(1 + k % 3)}; }

  // The chosen parameter, and the parameters with the largest values.
  std::vector<const ParameterHistory*> lines_of(const GradientModel& model, bool updates) const {
    std::vector<const ParameterHistory*> lines;
    for (const ParameterHistory& p : model.parameters())
      if ((updates ? p.ratio : p.norm).size() > 0) lines.push_back(&p);
    const auto rank = [&](const ParameterHistory* p) {
      if (p->name == chosen_) return double(INFINITY);
      const double last = updates ? p->latest.update_ratio() : p->latest.gradient.norm;
      return std::isnan(last) ? 0 : last;
    };
    std::stable_sort(lines.begin(), lines.end(), [&](auto* a, auto* b) { return rank(a) > rank(b); });
    if (lines.size() > kMostLines) lines.resize(kMostLines);
    return lines;
  }

  void draw_curves(Workbench& bench, bool updates) {
    const GradientModel& model = bench.gradients();
    const Theme& t = theme();
    std::vector<PlotLine> lines;
    // Stretches that were not measured are gaps: nothing is known of them.
    if (!updates)
      lines.push_back({.name = "all", .raw = &model.total(), .color = t.text, .most_apart = kSampleReach});
    size_t k = 0;
    for (const ParameterHistory* p : lines_) {
      const LineSign sign = sign_of(k++);
      lines.push_back({.name = p->name,
                       .raw = updates ? &p->ratio : &p->norm,
                       .color = sign.color,
                       .dash = sign.dash,
                       .most_apart = kSampleReach});
    }
    Curve guide;
    const double first = double(model.steps().front()->step);
    const double last = double(std::max(model.latest()->step, bench.shown().latest()));
    if (updates) {
      guide.append(first, 1e-3);
      guide.append(std::max(last, first + 1), 1e-3);
      lines.push_back({.name = "1e-3, usual", .raw = &guide, .color = t.muted});
    }
    axis_.update(first, last, std::max(first, 1.0));
    axis_.cursor = step_cursor(bench);
    state_.y = AxisScale::Kind::log;
    const PlotColors colors{t.canvas, t.grid, t.text, t.muted, t.faint, t.bad, t.raised, t.accent};
    const char* const heading = updates ? "|update| / |weight|" : "norm of the gradient";
    const PlotShown shown =
        draw_plot(heading, heading, lines, {}, true, ImGui::GetContentRegionAvail(), axis_, state_, colors);
    bench.description().add_last("gradients.chart", heading);
    if (shown.cursor) describe_cursor(bench, "gradients.cursor", *shown.cursor, shown.min.y, shown.max.y);
    if (shown.clicked) bench.shown().go_to(std::llround(*shown.clicked));
  }

  void draw_flow(Workbench& bench) {
    const std::vector<NodeStatistics>& nodes = shown_statistics(bench).nodes;
    std::vector<FlowStage> stages;
    std::vector<const NodeStatistics*> of;
    int selected = -1;
    const NodeInfo* const chosen = bench.tape().selected_node();
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (node->op == "leaf" || !node->has_gradient) continue;
      std::string name = public_op_name(node->op);
      if (!node->module.empty()) name += " of " + node->module;
      if (const std::string where = file_and_line(node->place); !where.empty()) name += ", " + where;
      if (chosen && chosen->op == node->op && chosen->place == node->place) selected = int(stages.size());
      stages.push_back(
          {name, node->gradient.mean_magnitude, node->gradient.largest(), !node->gradient.finite()});
      of.push_back(&*node);
    }
    const Theme& t = theme();
    const FlowColors colors{t.canvas, t.grid,
                            t.text,   t.muted,
                            t.text,   with_alpha(t.accent, 0.55f),
                            t.bad,    with_alpha(t.warning, 0.25f)};
    const int clicked = draw_flow_chart("flow", stages, selected, ImGui::GetContentRegionAvail(), colors);
    bench.description().add_last("gradients.flow", std::to_string(stages.size()) + " ops");
    if (clicked >= 0)
      select(bench, of[size_t(clicked)]->node, of[size_t(clicked)]->place, of[size_t(clicked)]->op);
  }

  void draw_histograms(Workbench& bench) {
    const GradientModel& model = bench.gradients();
    if (!model.find(chosen_) && !model.parameters().empty()) chosen_ = model.parameters().front().name;
    const ParameterHistory* const chosen = model.find(chosen_);
    text_in(theme().muted, "gradients of %s", chosen_.c_str());
    if (!chosen || chosen->spreads.empty()) {
      draw_empty("No histogram", "No gradient has reached this parameter in the measured steps.");
      return;
    }
    const auto& columns = chosen->spreads;
    const bool zeros = columns.back().second->gradient.zeros > 0;
    const Theme& t = theme();
    const DistributionColors colors{t.canvas, t.grid, t.text, t.muted, with_alpha(t.accent, 0.12f), t.accent};
    const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
    const std::optional<float> cursor = draw_distributions(
        "histograms", columns.size(),
        [&](size_t i) {
          const ParameterStatistics& of = *columns[i].second;
          // The histogram counts only a sample of the elements.
          int64_t counted = 0;
          for (const int64_t n : of.counts) counted += n;
          const double share = double(of.gradient.zeros) / double(std::max<int64_t>(of.gradient.count, 1));
          return Distribution{columns[i].first, &of.edges, &of.counts,
                              int64_t(share * double(counted) + 0.5)};
        },
        room, colors, step_cursor(bench));
    bench.description().add_last("gradients.histogram", chosen_ + " " + std::to_string(columns.size()) +
                                                            " columns" + (zeros ? ", zeros apart" : ""));
    if (cursor) describe_cursor(bench, "gradients.cursor", *cursor, at.y, at.y + room.y);
  }

  bool show_over_ = false;
  View view_ = View::norms;
  ChangeMenu changes_{"Gradients"};
  std::string chosen_;                          // name of the chosen parameter
  std::vector<const ParameterHistory*> lines_;  // lines of this frame's chart
  PlotAxis axis_;
  PlotState state_;
};

}  // namespace

std::unique_ptr<Panel> make_gradients_panel() { return std::make_unique<GradientsPanel>(); }

}  // namespace lunagrad
