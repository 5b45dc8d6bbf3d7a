#include "ui/panels/runs/name_cell.h"

#include <imgui.h>

#include <algorithm>

#include "ui/widgets/icon.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr float kIndent = 1.1f;  // indent of a level, in em

// Draws the line from the parent's row above to this row, and the lines of other branches that pass this row.
void draw_branch(const RunTreeRow& row, ImVec2 at, float height) {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float pad = ImGui::GetStyle().CellPadding.y, top = at.y - pad, foot = at.y + height + pad;
  const auto x_of = [&](size_t level) { return at.x + em(kIndent * (float(level) + 0.4f)); };
  for (size_t level = 0; level < row.lines.size(); ++level)
    if (row.lines[level]) list->AddLine({x_of(level), top}, {x_of(level), foot}, theme().faint);
  const float x = x_of(row.lines.size()), middle = at.y + height / 2;
  list->AddLine({x, top}, {x, row.last ? middle : foot}, theme().faint);
  list->AddLine({x, middle}, {x + em(0.55f), middle}, theme().faint);
}

}  // namespace

std::string fork_text(const RunSummary& run) {
  return run.parent.empty() ? ""
                            : "\nwent on after step " + std::to_string(run.parent_step) + " of " + run.parent;
}

bool draw_name_cell(Workbench& bench, const RunSummary& run, const RunTreeRow& row, bool selected) {
  const float height = ImGui::GetFrameHeight();
  const ImVec2 cell = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  // The indent is limited, so that deep forks have space for their names.
  const float indent = std::min(em(kIndent) * float(row.level()), room / 2);
  const std::string from = run.parent.empty() ? "" : "from step " + std::to_string(run.parent_step);
  const float from_width = from.empty() ? 0 : ImGui::CalcTextSize(from.c_str()).x + em(0.5f);
  const std::string name = fitting_text(short_run_name(run.name), {ImGui::GetFont(), ImGui::GetFontSize()},
                                        std::max(room - indent - from_width, em(2)));
  const float name_x = cell.x + indent, name_y = cell.y + ImGui::GetStyle().FramePadding.y;
  const bool clicked = ImGui::Selectable(
      "###run", selected, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap,
      {0, height});
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddText({name_x, name_y}, theme().text, name.c_str());
  if (from.empty()) return clicked;
  if (row.below) {
    const float pad = ImGui::GetStyle().CellPadding.y;
    ImGui::PushClipRect({cell.x, cell.y - pad}, {name_x, cell.y + height + pad}, true);
    draw_branch(row, cell, height);
    ImGui::PopClipRect();
  }
  const float from_x = name_x + ImGui::CalcTextSize(name.c_str()).x + em(0.5f);
  list->AddText({from_x, name_y}, theme().muted, from.c_str());
  bench.description().add("runs.forked", run.name + " " + from + ", level " + std::to_string(row.level()),
                          cell, {cell.x + room, cell.y + height});
  return clicked;
}

bool draw_star_cell(Workbench& bench, const RunSummary& run) {
  const float side = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!run.problem.empty());
  const bool pressed = ImGui::InvisibleButton("star", {side, side});
  ImGui::EndDisabled();
  draw_star(ImGui::GetWindowDrawList(), {at.x + side / 2, at.y + side / 2}, side * 0.32f, run.starred,
            run.starred ? theme().warning : theme().faint);
  bench.description().add_last("runs.star", run.name + (run.starred ? " starred" : ""));
  explain(run.starred ? "Removes the star." : "Stars the run.");
  return pressed;
}

}  // namespace lunagrad
