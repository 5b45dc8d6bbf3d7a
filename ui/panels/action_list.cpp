#include "ui/panels/action_list.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/io/atomic_file.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

void ActionList::draw_tools(Workbench& bench) {
  Actions& actions = bench.actions();
  const auto button = [&](const char* label, const char* item, const char* help) {
    const bool pressed = ImGui::Button(label);
    bench.description().add_last(item, label);
    explain(help);
    ImGui::SameLine();
    return pressed;
  };
  ImGui::BeginDisabled(actions.lines().empty());
  if (button("Copy", "actions.copy",
             "Copies all lines. To copy some, select them with the mouse and press Ctrl+C.")) {
    std::string text;
    for (const Actions::Line& line : actions.lines()) text += line.text + '\n';
    ImGui::SetClipboardText(text.c_str());
  }
  if (button("Save", "actions.save", "Saves all lines as a script that does the same in another window.")) {
    const std::string& folder = bench.journal().run_folder();
    std::snprintf(path_, sizeof path_, "%s%sactions.lua", folder.c_str(), folder.empty() ? "" : "/");
    ImGui::OpenPopup("save actions");
  }
  if (button("Clear", "actions.clear", "Forgets these lines.")) actions.clear();
  ImGui::EndDisabled();
  if (!view_.following() &&
      button("Scroll to end", "actions.to_end", "Scrolls to the newest line and follows."))
    view_.scroll_to_end();
  ImGui::NewLine();
  draw_save(bench);
}

void ActionList::draw_save(Workbench& bench) {
  if (!ImGui::BeginPopup("save actions")) return;
  ImGui::TextUnformatted("Save as a script for lunagrad-workbench --drive:");
  ImGui::SetNextItemWidth(em(28));
  const bool entered = ImGui::InputText("##path", path_, sizeof path_, ImGuiInputTextFlags_EnterReturnsTrue);
  bench.description().add_last("actions.path", path_);
  explain("An existing file is replaced.");
  const bool pressed = ImGui::Button("Save");
  bench.description().add_last("actions.save_now", path_);
  if (entered || pressed) {
    const std::string path = path_;
    bench.shell().background_tasks().add(
        [path, text = bench.actions().as_script(bench.script())] { write_file(path, text); },
        [&bench, path](const std::string& problem) {
          if (problem.empty())
            bench.shell().write(ConsoleLine::Kind::note, "the actions are in " + path + "\n");
          else
            bench.shell().notice("The actions were not saved: " + problem);
        });
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

void ActionList::draw(Workbench& bench) {
  const Actions& actions = bench.actions();
  if (actions.lines().empty()) {
    draw_empty(
        "Nothing done yet",
        "What you do in the window appears here as lines of Lua. A script of such lines does it again: "
        "lunagrad-workbench SCRIPT --drive FILE.lua");
    return;
  }
  // The time is a comment, so that copied lines are Lua.
  const LogContent content{actions.dropped(), actions.lines().size(), actions.version(), [&](size_t i) {
                             const Actions::Line& line = actions.lines()[i];
                             line_ = line.text + "  -- " + line.time;
                             LogLine shown;
                             shown.text = line_;
                             shown.color = line.waits ? theme().muted : theme().text;
                             return shown;
                           }};
  view_.draw("actions", content, ImGui::GetContentRegionAvail(),
             {with_alpha(theme().accent, 0.25f), theme().accent, theme().faint});
  if (!bench.description().enabled()) return;
  const size_t count = actions.lines().size();
  for (size_t i = count - std::min<size_t>(count, 200); i < count; ++i)
    bench.description().add_last("actions.line", actions.lines()[i].text);
}

}  // namespace lunagrad
