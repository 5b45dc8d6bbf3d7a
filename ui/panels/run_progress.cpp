#include "ui/panels/run_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

std::string time_text(double seconds) {
  return seconds < 60 ? run_time_figure(seconds) : clock_figure(seconds);
}

double seconds_left(const Journal& journal) {
  const double rate = journal.steps_per_second();
  if (journal.total() <= 0 || rate <= 0 || !journal.active()) return -1;
  return double(std::max<int64_t>(journal.total() - journal.step(), 0)) / rate;
}

// With as many digits as the run will need.
float progress_width(const Journal& journal) {
  std::string digits = count_figure(std::max({journal.total(), journal.step(), int64_t(99999)}));
  for (char& c : digits)
    if (c != ',') c = '0';
  const std::string progress = "in step " + digits + (journal.total() > 0 ? " / " + digits : "");
  const std::string past = "step " + digits + " (past)";
  return std::max(em(10.5f), widest({progress.c_str(), past.c_str()}) + em(1));
}

void draw_progress(Workbench& bench, float width) {
  const Journal& journal = bench.journal();
  const bool past = !bench.shown().live();
  // The run may stand within a step whose tape is shown.
  const bool within = !past && bench.shown().cursor() > journal.step();
  const std::string of = journal.total() > 0 ? " / " + count_figure(journal.total()) : "";
  const std::string text = past     ? cursor_text(bench)
                           : within ? "in step " + count_figure(bench.shown().cursor()) + of
                                    : "step " + count_figure(journal.step()) + of;
  const float height = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos(), end{at.x + width, at.y + height};
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, end, theme().raised, em(0.3f));
  if (journal.total() > 0) {
    const float part = std::min(1.0f, float(journal.step()) / float(journal.total()));
    list->AddRectFilled(at, {at.x + width * part, end.y}, with_alpha(theme().accent, 0.35f), em(0.3f));
  }
  if (past) list->AddRect(at, end, theme().warning, em(0.3f));
  const float text_width = ImGui::CalcTextSize(text.c_str()).x;
  list->AddText({std::round(at.x + (width - text_width) / 2), at.y + ImGui::GetStyle().FramePadding.y},
                past ? theme().warning : theme().text, text.c_str());
  ImGui::Dummy({width, height});
  const std::string progress = "step " + std::to_string(journal.step()) +
                               (journal.total() > 0 ? " / " + std::to_string(journal.total()) : "");
  bench.description().add_last("step", progress);
  std::string help = past     ? "The window shows this past step. The run is at " + progress + "."
                     : within ? "The run stands within this step, and all panels show it."
                              : "Last finished step of lg.run.steps.";
  help += " " + time_text(journal.elapsed()) + " since the run began, pauses included";
  if (const double left = seconds_left(journal); left >= 0) help += ", about " + time_text(left) + " to go";
  explain((help + ".").c_str());
}

float cursor_width() { return widest({"Live", "live"}) + 2 * ImGui::GetStyle().FramePadding.x; }

void draw_cursor(Workbench& bench, float width) {
  const auto coming = bench.shown().coming();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = ImGui::GetFrameHeight();
  if (bench.shown().live() && !coming) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + width, at.y + height}, with_alpha(theme().good, 0.16f), em(0.3f));
    const float text_width = ImGui::CalcTextSize("live").x;
    list->AddText({std::round(at.x + (width - text_width) / 2), at.y + ImGui::GetStyle().FramePadding.y},
                  theme().good, "live");
    ImGui::Dummy({width, height});
    bench.description().add_last("cursor", "live");
    explain("The panels show the latest step. A click on a curve or an alarm goes to a past one.");
    return;
  }
  ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(theme().warning, 0.3f));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, with_alpha(theme().warning, 0.45f));
  const bool pressed = ImGui::Button("Live", {width, height});
  ImGui::PopStyleColor(2);
  bench.description().add_last("cursor", coming ? "to step " + count_figure(*coming) : cursor_text(bench));
  bench.description().add_last("cursor.live", "Live");
  explain(coming ? ("Step " + count_figure(*coming) + " is being computed. Click to stay at the latest step.")
                       .c_str()
                 : "Shows the latest step in all panels and follows the run.");
  if (pressed) bench.shown().go_live();
}

}  // namespace lunagrad
