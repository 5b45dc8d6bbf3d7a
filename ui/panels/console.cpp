// Console: what the script printed, errors in their colour with the line that made them, and a line of Lua
// that the session evaluates at its next safe point.
#include <algorithm>
#include <cstring>

#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/widgets/log_view.h"

namespace lunagrad {
namespace {

class ConsolePanel final : public Panel {
 public:
  const char* title() const override { return "Console"; }
  Region region() const override { return Region::lower_left; }

  void draw_tools(Workbench& bench) override {
    if (ImGui::Button("Copy")) {
      std::string text;
      for (const ConsoleLine& line : bench.journal.lines()) text += line.text + '\n';
      ImGui::SetClipboardText(text.c_str());
    }
    explain("Copies the whole console. A part of it: select lines with the mouse, then Ctrl+C.");
    ImGui::SameLine();
    if (ImGui::Button("Clear")) bench.journal.clear_console();
    if (!view_.following()) {
      ImGui::SameLine();
      if (tool_button("To the end", true)) view_.scroll_to_end();
    }
  }

  void draw(Workbench& bench) override {
    const auto& lines = bench.journal.lines();
    const float input = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    if (lines.empty()) {
      ImGui::BeginChild("empty", {room.x, std::max(room.y - input, 1.0f)});
      draw_empty("Nothing printed yet",
                 "What the script prints appears here, and its errors with their lines.");
      ImGui::EndChild();
    } else {
      view_.draw(
          "log", lines.size(), bench.journal.revision(),
          [&](size_t i) {
            return LogLine{lines[i].text, color(lines[i].kind)};
          },
          {room.x, std::max(room.y - input, 1.0f)}, with_alpha(theme().accent, 0.25f));
    }
    describe(bench);
    draw_input(bench);
  }

 private:
  static ImU32 color(ConsoleLine::Kind kind) {
    switch (kind) {
      case ConsoleLine::Kind::warning:
        return theme().warning;
      case ConsoleLine::Kind::error:
        return theme().bad;
      case ConsoleLine::Kind::command:
        return theme().accent;
      case ConsoleLine::Kind::note:
        return theme().faint;
      case ConsoleLine::Kind::output:
        break;
    }
    return theme().text;
  }

  static void describe(Workbench& bench) {
    if (!bench.description.enabled()) return;
    const auto& lines = bench.journal.lines();
    for (size_t i = lines.size() - std::min<size_t>(lines.size(), 200); i < lines.size(); ++i)
      bench.description.add_last(lines[i].kind == ConsoleLine::Kind::error ? "console.error" : "console.line",
                                 lines[i].text);
  }

  void draw_input(Workbench& bench) {
    ImGui::PushFont(fonts().mono);
    ImGui::AlignTextToFramePadding();
    text_in(theme().accent, ">");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(-1);
    const bool entered = ImGui::InputTextWithHint(
        "##input", "evaluate Lua in this run, for example  model  or  1 + 1", input_, sizeof input_,
        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackHistory,
        [](ImGuiInputTextCallbackData* data) {
          static_cast<ConsolePanel*>(data->UserData)->recall(data);
          return 0;
        },
        this);
    bench.description.add_last("console.input", input_);
    if (entered && input_[0]) {
      bench.evaluate(input_);
      if (history_.empty() || history_.back() != input_) history_.push_back(input_);
      recalled_ = history_.size();
      input_[0] = '\0';
      view_.scroll_to_end();
      ImGui::SetKeyboardFocusHere(-1);
    }
    ImGui::PopFont();
    explain(
        "Enter evaluates the line at the script's next safe point, also while it runs or pauses.\n"
        "Up and Down recall earlier lines.");
  }

  void recall(ImGuiInputTextCallbackData* data) {
    if (history_.empty()) return;
    if (data->EventKey == ImGuiKey_UpArrow && recalled_ > 0) --recalled_;
    if (data->EventKey == ImGuiKey_DownArrow && recalled_ < history_.size()) ++recalled_;
    data->DeleteChars(0, data->BufTextLen);
    if (recalled_ < history_.size()) data->InsertChars(0, history_[recalled_].c_str());
  }

  LogView view_;
  char input_[4096] = "";
  std::vector<std::string> history_;
  size_t recalled_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_console_panel() { return std::make_unique<ConsolePanel>(); }

}  // namespace lunagrad
