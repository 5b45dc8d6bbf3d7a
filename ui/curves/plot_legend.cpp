#include "ui/curves/plot_legend.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/curves/dashes.h"
#include "ui/window/outlined.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {
namespace {

std::string short_value(double value) {
  const bool long_number = std::abs(value) >= 1e4 && std::abs(value) < 1e7;  // such as a count of samples
  return number_figure(long_number ? std::round(value) : value, long_number ? 7 : 4);
}

std::string alarm_of(const PlotLine& line, const PlotState& state) {
  std::string alarm;
  const auto say = [&](size_t count, const char* what) {
    if (count) alarm += (alarm.empty() ? "" : " ") + std::to_string(count) + " " + what;
  };
  say(line.raw->nan_count(), "NaN");
  say(line.raw->inf_count(), "Inf");
  if (state.y == AxisScale::Kind::log) say(line.raw->not_positive_count(), "\xe2\x89\xa4 0");
  return alarm;
}

void explain_line(const PlotLine& line, bool hidden) {
  if (!ImGui::IsItemHovered()) return;
  const Curve& curve = *line.raw;
  TipSubject subject = last_item_subject();
  subject.key = ImGui::GetID(line.name.c_str());
  begin_tip(subject, line.name);
  text_in(line.color, "%s", line.name.c_str());
  ImGui::Text("%s, last %s at %s", counted(int64_t(curve.points()), "point").c_str(),
              number_figure(curve.y(curve.size() - 1), 9).c_str(),
              number_figure(curve.x(curve.size() - 1), 9).c_str());
  const CurveRange range = curve.range(0, curve.size());
  if (!range.empty())
    ImGui::Text("from %s to %s", number_figure(range.min, 9).c_str(), number_figure(range.max, 9).c_str());
  if (!curve.not_finite().empty())
    ImGui::Text("%zu NaN, %zu Inf, the first at %s", curve.nan_count(), curve.inf_count(),
                number_figure(curve.first_not_finite(), 9).c_str());
  if (curve.merged() > 0)
    text_in(theme().muted, "Points before %s are merged in this window, each %zu into one.",
            number_figure(curve.x(curve.merged() - 1), 9).c_str(), curve.bucket(0).points);
  text_in(theme().muted, hidden ? "A click shows this curve again." : "A click hides this curve.");
  end_tip();
}

void toggle(PlotState& state, const std::string& name) {
  if (!state.hidden.erase(name)) state.hidden.insert(name);
}

}  // namespace

PlotLegend::PlotLegend(const std::vector<PlotLine>& lines, const PlotState& state, float left, float right,
                       float indent, int most_rows, const std::optional<At>& at)
    : lines_(lines) {
  const float swatch = em(1.3f), gap = em(0.4f), between = em(0.9f);
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    Entry entry{&line, {}, {}};
    const double value = line.raw->y(at ? line.raw->nearest(at->x) : line.raw->size() - 1);
    entry.value = at && at->exact ? number_figure(value, 9) : short_value(value);
    entry.alarm = alarm_of(line, state);
    entry.name_width = ImGui::CalcTextSize(line.name.c_str()).x;
    // Reserves the width of an exact number even for a short one, so that entries do not move while a run
    // continues or when the crosshair appears.
    entry.value_width = std::max(ImGui::CalcTextSize(entry.value.c_str()).x, em(6));
    entry.width = swatch + gap + entry.name_width + gap + entry.value_width +
                  (entry.alarm.empty() ? 0 : gap + ImGui::CalcTextSize(entry.alarm.c_str()).x);
    entries_.push_back(std::move(entry));
  }
  const float more = ImGui::CalcTextSize("+9999 more").x;
  float x = left + indent;
  int row = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const bool last_row = row + 1 >= most_rows, last = i + 1 == entries_.size();
    if (x + entry.width > right && x > left && !last_row) {
      ++row;
      x = left;
    }
    if (x + entry.width + (row + 1 >= most_rows && !last ? between + more : 0) > right) {
      left_out_ = entries_.size() - i;
      more_x_ = x;
      break;
    }
    entry.x = x;
    entry.row = row;
    x += entry.width + between;
  }
  rows_ = row + 1;
}

void PlotLegend::draw(float y, PlotState& state, const PlotColors& colors, PlotShown& shown) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float height = ImGui::GetTextLineHeight(), swatch = em(1.3f), gap = em(0.4f);
  ImGui::PushID("legend");
  for (size_t i = 0; i + left_out_ < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const bool hidden = state.hidden.count(entry.line->name) > 0;
    const float top = y + float(entry.row) * (height + em(0.1f)), middle = std::round(top + height / 2);
    ImGui::SetCursorScreenPos({entry.x, top});
    ImGui::PushID(int(i));
    if (ImGui::InvisibleButton("entry", {entry.width, height})) toggle(state, entry.line->name);
    ImGui::PopID();
    if (ImGui::IsItemHovered())
      list->AddRectFilled({entry.x - em(0.2f), top}, {entry.x + entry.width + em(0.2f), top + height},
                          colors.grid, em(0.2f));
    explain_line(*entry.line, hidden);
    shown.legend.push_back({entry.line->name + " " + entry.value +
                                (entry.alarm.empty() ? "" : " " + entry.alarm) + (hidden ? " hidden" : ""),
                            ImGui::GetItemRectMin(), ImGui::GetItemRectMax()});
    float x = entry.x;
    draw_dashed(list, {{x, middle}, {x + swatch, middle}}, with_alpha(entry.line->color, hidden ? 0.3f : 1),
                em(0.14f), entry.line->dash);
    x += swatch + gap;
    list->AddText({x, top}, with_alpha(colors.muted, hidden ? 0.5f : 1), entry.line->name.c_str());
    if (hidden) list->AddLine({x, middle}, {x + entry.name_width, middle}, colors.muted, 1);
    x += entry.name_width + gap;
    list->AddText({x, top}, with_alpha(colors.text, hidden ? 0.4f : 1), entry.value.c_str());
    if (!entry.alarm.empty())
      list->AddText({x + ImGui::CalcTextSize(entry.value.c_str()).x + gap, top}, colors.alarm,
                    entry.alarm.c_str());
  }
  if (left_out_ > 0) {
    const std::string text = (left_out_ == entries_.size() ? "" : "+") + std::to_string(left_out_) +
                             (left_out_ == entries_.size() ? left_out_ == 1 ? " curve" : " curves" : " more");
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float top = y + float(rows_ - 1) * (height + em(0.1f));
    ImGui::SetCursorScreenPos({more_x_, top});
    if (ImGui::InvisibleButton("more", size)) ImGui::OpenPopup("all");
    explain("Lists every curve of this chart, to hide and show them.");
    shown.legend.push_back({text, ImGui::GetItemRectMin(), ImGui::GetItemRectMax()});
    list->AddText({more_x_, top}, ImGui::IsItemHovered() ? colors.text : colors.accent, text.c_str());
  }
  draw_list(state, colors);
  ImGui::PopID();
}

void PlotLegend::draw_list(PlotState& state, const PlotColors& colors) const {
  ImGui::SetNextWindowSizeConstraints({0, 0}, {em(40), em(24)});
  if (!ImGui::BeginPopup("all")) return;
  if (ImGui::Button("All")) state.hidden.clear();
  ImGui::SameLine();
  if (ImGui::Button("None"))
    for (const Entry& entry : entries_) state.hidden.insert(entry.line->name);
  for (const Entry& entry : entries_) {
    ImGui::PushID(entry.line->name.c_str());
    bool on = !state.hidden.count(entry.line->name);
    if (tick_box("##on", &on)) toggle(state, entry.line->name);
    ImGui::SameLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float middle = at.y + ImGui::GetFrameHeight() / 2;
    draw_dashed(ImGui::GetWindowDrawList(), {{at.x, middle}, {at.x + em(1.6f), middle}}, entry.line->color,
                em(0.14f), entry.line->dash);
    ImGui::Dummy({em(1.6f), ImGui::GetFrameHeight()});
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    ImGui::Text("%s  %s", entry.line->name.c_str(), entry.value.c_str());
    if (!entry.alarm.empty()) {
      ImGui::SameLine();
      text_in(colors.alarm, "%s", entry.alarm.c_str());
    }
    ImGui::PopID();
  }
  ImGui::EndPopup();
}

}  // namespace lunagrad
