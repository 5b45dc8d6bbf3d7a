#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

// Breaks text into lines at spaces only: Dear ImGui also breaks within names such as lg.run.log.
std::vector<std::string> wrapped(const char* text, float width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || ImGui::CalcTextSize(longer.c_str()).x <= width)
      lines.back() = longer;
    else
      lines.push_back(word);
  }
  return lines;
}

}  // namespace

#define PANEL(name) std::unique_ptr<Panel> make_##name##_panel();
#include "ui/panels/panels.def"
#undef PANEL

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
#define PANEL(name) panels.push_back(make_##name##_panel());
#include "ui/panels/panels.def"
#undef PANEL
  return panels;
}

std::optional<PanelStep> step_of_tape(const Workbench& bench, bool said) {
  const TapeSnapshot* const tape = bench.tape().tape();
  if (!tape) return std::nullopt;
  return PanelStep{tape->step, said, bench.tape().former()};
}

std::string step_note(const Workbench& bench, const PanelStep& shown) {
  if (shown.former) return "previous run";
  return shown.step == bench.shown().cursor() ? "" : "step " + count_figure(shown.step);
}

ImU32 step_color(const Workbench& bench, int64_t step) {
  const bool behind = step != bench.shown().cursor();
  const bool runs = bench.journal().state() == SessionState::running;
  return bench.shown().live() && (!behind || runs) ? theme().muted : theme().warning;
}

ImU32 cursor_color(const Workbench& bench) {
  return bench.shown().live() ? with_alpha(theme().good, 0.6f) : theme().warning;
}

std::string cursor_text(const Workbench& bench) {
  return "step " + count_figure(bench.shown().cursor()) + (bench.shown().live() ? "" : " (past)");
}

void describe_cursor(Workbench& bench, const char* item, float x, float top, float bottom) {
  bench.description().add(item, cursor_text(bench), {x - 1, top}, {x + 1, bottom});
}

void Panel::add_own_command(Workbench& bench, std::string label, const std::string& help,
                            std::function<void()> run, std::function<bool()> possible) const {
  label[0] = char(std::tolower(static_cast<unsigned char>(label[0])));
  const std::string panel = title();
  bench.commands().add_composed({panel + ": " + label, "", help,
                                 [&bench, panel, run = std::move(run)] {
                                   bench.shell().show_panel(panel);
                                   run();
                                 },
                                 std::move(possible)});
}

bool tool_button(const char* label, bool on) {
  if (on) {
    ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(theme().accent, 0.3f));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, with_alpha(theme().accent, 0.4f));
  }
  const bool pressed = ImGui::Button(label);
  if (on) ImGui::PopStyleColor(2);
  return pressed;
}

void draw_empty(const char* headline, const char* sentence) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float wrap = std::min(room.x - em(2), em(26));
  if (wrap < em(4)) return;
  const std::vector<std::string> lines = wrapped(sentence, wrap);
  const float height = float(lines.size()) * ImGui::GetTextLineHeight() + em(1.6f),
              left = ImGui::GetCursorPosX();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::max(0.0f, (room.y - height) / 2));
  ImGui::PushFont(fonts().bold);
  ImGui::SetCursorPosX(left + (room.x - ImGui::CalcTextSize(headline).x) / 2);
  text_in(theme().muted, "%s", headline);
  ImGui::PopFont();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (const std::string& line : lines) {
    const float free = room.x - ImGui::CalcTextSize(line.c_str()).x;
    ImGui::SetCursorPosX(left + std::max(free / 2, 0.0f));
    text_in(theme().faint, "%s", line.c_str());
  }
  ImGui::PopStyleVar();
}

}  // namespace lunagrad
