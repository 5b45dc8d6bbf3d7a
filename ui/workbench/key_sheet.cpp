#include "ui/workbench/key_sheet.h"

#include <algorithm>

#include "ui/window/theme.h"

namespace lunagrad {

void draw_keys(Workbench& bench) {
  ImGui::PushTextWrapPos();
  if (bench.shell().state_folder().empty())
    text_in(theme().muted, "Settings are not kept in this session, so keys are the defaults.");
  else
    text_in(theme().muted, "Other keys: \"keys\": {\"Pause\": \"F7\"} in %s, read at the start.",
            settings_file(bench.shell().state_folder()).c_str());
  ImGui::PopTextWrapPos();
  if (!ImGui::BeginTable("keys", 3, ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, em(8));
  ImGui::TableSetupColumn("command", ImGuiTableColumnFlags_WidthStretch, 0.38f);
  ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthStretch, 0.62f);
  for (const Command& command : bench.commands().all()) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    bold_text(command.key);
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos();
    ImGui::TextUnformatted(command.name.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("keys.command", command.name + "  " + command.key);
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos();
    text_in(theme().muted, "%s%s", command.help.c_str(),
            command.panel.empty() ? "" : (" In the panel " + command.panel + ".").c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::EndTable();
}

void KeySheet::draw(Workbench& bench) {
  if (opening_) ImGui::OpenPopup("Keys");
  opening_ = false;
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const ImVec2 size{std::min(em(58), window.x - em(1)), std::min(em(44), window.y - em(1))};
  ImGui::SetNextWindowPos({(window.x - size.x) / 2, (window.y - size.y) / 2});
  ImGui::SetNextWindowSize(size);
  if (!ImGui::BeginPopup("Keys", ImGuiWindowFlags_NoMove)) return;
  bold_text("Keys");
  bench.description().add_last("keys", "");
  ImGui::SameLine(ImGui::GetWindowWidth() - em(5));
  if (ImGui::Button("Close")) ImGui::CloseCurrentPopup();
  bench.description().add_last("keys.close", "");
  draw_keys(bench);
  ImGui::EndPopup();
}

}  // namespace lunagrad
