#include "ui/panels/runs/dialogs.h"

#include <imgui.h>

#include <cstdio>
#include <utility>

#include "script/run/notes.h"
#include "ui/window/field_focus.h"
#include "ui/window/theme.h"

namespace lunagrad {

static bool begin_popup(const char* id) {
  ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().panel);  // its buttons contrast with it
  const bool open = ImGui::BeginPopup(id);
  ImGui::PopStyleColor();
  return open;
}

void RunDialogs::ask_note(const RunSummary& run) {
  noted_ = run.folder;
  std::snprintf(note_, sizeof note_, "%s", run.note.c_str());
  opens_note_ = true;
}

void RunDialogs::ask_deletion(const std::set<std::string>& folders) {
  deleted_ = folders;
  opens_deletion_ = true;
}

bool RunDialogs::draw(Workbench& bench, const Change& change) {
  if (std::exchange(opens_note_, false)) ImGui::OpenPopup("note");
  if (std::exchange(opens_deletion_, false)) ImGui::OpenPopup("delete");
  draw_note(bench, change);
  return draw_deletion(bench, change);
}

void RunDialogs::draw_note(Workbench& bench, const Change& change) {
  if (!begin_popup("note")) return;
  text_in(theme().muted, "Note for %s", file_name(noted_).c_str());
  if (ImGui::IsWindowAppearing()) focus_next_field();
  ImGui::SetNextItemWidth(em(26));
  const bool entered = ImGui::InputText("##note", note_, sizeof note_, ImGuiInputTextFlags_EnterReturnsTrue);
  bench.description().add_last("runs.note.text", note_);
  ImGui::SameLine();
  const bool saved = ImGui::Button("Save");
  bench.description().add_last("runs.note.save", "");
  if (entered || saved) {
    change([folder = noted_, note = std::string(note_)] { set_note(folder, note); }, "");
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

bool RunDialogs::draw_deletion(Workbench& bench, const Change& change) {
  if (!begin_popup("delete")) return false;
  const std::string live = bench.journal().active() && !bench.journal().run_folder().empty()
                               ? full_path(bench.journal().run_folder())
                               : "";
  const std::string question = deleted_.size() == 1
                                   ? "Delete this run?"
                                   : "Delete these " + std::to_string(deleted_.size()) + " runs?";
  bold_text(question);
  size_t named = 0;
  for (const std::string& folder : deleted_)
    if (++named <= 8) ImGui::TextUnformatted(folder.c_str());
  if (named > 8) ImGui::Text("and %zu more", named - 8);
  ImGui::PushTextWrapPos(em(28));
  text_in(theme().warning,
          "Deletes their folders with metrics, scripts and checkpoints. This cannot be undone.");
  ImGui::PopTextWrapPos();
  const bool running = deleted_.count(live) > 0;
  if (running) text_in(theme().bad, "One of them is running. Stop it first.");
  ImGui::BeginDisabled(running);
  const bool yes = ImGui::Button("Delete");
  ImGui::EndDisabled();
  bench.description().add_last("runs.delete.yes", question);
  ImGui::SameLine();
  const bool no = ImGui::Button("Keep");
  bench.description().add_last("runs.delete.no", "Keep");
  if (yes)
    for (const std::string& folder : deleted_) {
      bench.curves().show(folder, false);
      change([folder] { remove_run(folder); }, "deleted the run " + folder);
    }
  if (yes || no) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  return yes;
}

}  // namespace lunagrad
