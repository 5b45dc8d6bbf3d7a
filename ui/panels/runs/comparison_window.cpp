#include "ui/panels/runs/comparison_window.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <string>

#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {

void ComparisonWindow::draw(Workbench& bench) {
  if (!open_) return;
  const ImVec2 whole = ImGui::GetMainViewport()->Size;
  ImGui::SetNextWindowSize({std::min(em(56), whole.x * 0.9f), std::min(em(34), whole.y * 0.85f)},
                           ImGuiCond_Appearing);
  ImGui::SetNextWindowPos({whole.x / 2, whole.y / 2}, ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme().raised);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  if (ImGui::Begin("Compare runs", &open_, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    if (ImGui::IsWindowFocused() && key_pressed(GLFW_KEY_ESCAPE, false)) open_ = false;
    if (!comparison_.problem.empty()) {
      ImGui::PushTextWrapPos(0);
      text_in(theme().bad, "%s", comparison_.problem.c_str());
      ImGui::PopTextWrapPos();
      bench.description().add_last("runs.diff.problem", comparison_.problem);
    } else {
      draw_config_difference(bench);
      draw_code_difference(bench);
    }
  }
  ImGui::End();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

void ComparisonWindow::draw_config_difference(Workbench& bench) {
  if (comparison_.config.empty()) {
    text_in(theme().muted, "Script, arguments, seed, device, commit and parameters are equal.");
    bench.description().add_last("runs.diff.config", "the same");
    return;
  }
  bold_text("Different settings");
  if (!ImGui::BeginTable("config", 3,
                         ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable | ImGuiTableFlags_NoSavedSettings))
    return;
  ImGui::TableSetupColumn("");
  ImGui::TableSetupColumn(comparison_.left.c_str());
  ImGui::TableSetupColumn(comparison_.right.c_str());
  ImGui::TableHeadersRow();
  for (const ConfigDifference& difference : comparison_.config) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text_in(theme().muted, "%s", difference.what.c_str());
    bench.description().add_last("runs.diff.config",
                                 difference.what + ": " + difference.left + " / " + difference.right);
    for (const std::string* value : {&difference.left, &difference.right}) {
      ImGui::TableNextColumn();
      ImGui::TextWrapped("%s", value->c_str());
    }
  }
  ImGui::EndTable();
}

void ComparisonWindow::draw_code_difference(Workbench& bench) {
  ImGui::Spacing();
  if (comparison_.code.empty()) {
    text_in(theme().muted, "The scripts are equal.");
    bench.description().add_last("runs.diff.code", "the same");
    return;
  }
  bold_text("Scripts");
  ImGui::SameLine();
  const std::string count = std::to_string(comparison_.removed) +
                            (comparison_.removed == 1 ? " line" : " lines") + " only in the first (-), " +
                            std::to_string(comparison_.added) + " only in the second (+)";
  text_in(theme().muted, "%s", count.c_str());
  bench.description().add_last("runs.diff.code", count);
  const Theme& t = theme();
  draw_diff("code", comparison_.code, ImGui::GetContentRegionAvail(), {t.good, t.bad, t.text, t.muted});
}

}  // namespace lunagrad
