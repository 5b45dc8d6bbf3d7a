#include "ui/text/find_bar.h"

#include <GLFW/glfw3.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "ui/base/redraw.h"
#include "ui/window/field_focus.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr double kPatience = 0.003;  // seconds of searching per frame

bool lit_button(const char* label, bool on) {
  if (on) ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(theme().accent, 0.3f));
  const bool pressed = ImGui::Button(label);
  if (on) ImGui::PopStyleColor();
  return pressed;
}

}  // namespace

void FindBar::open(const TextBuffer& buffer, bool replace) {
  open_ = focus_ = true;
  replacing_ |= replace;
  const TextRange selected = buffer.selection();
  if (!selected.empty() && selected.begin.line == selected.end.line) query_.text = buffer.text(selected);
}

int FindBar::current(const TextBuffer& buffer) const {
  const int next = search_.next(buffer.selection().begin);
  return next >= 0 && search_.matches()[size_t(next)] == buffer.selection() ? next : -1;
}

bool FindBar::go(TextBuffer& buffer, bool forward) {
  const int match =
      forward ? search_.next(buffer.selection().end) : search_.previous(buffer.selection().begin);
  if (match < 0) return false;
  buffer.select(search_.matches()[size_t(match)]);
  return true;
}

bool FindBar::replace_one(TextBuffer& buffer) {
  const int match = current(buffer);
  if (match >= 0) {
    const TextRange range = search_.matches()[size_t(match)];
    buffer.select(range);
    buffer.type(search_.replacement(buffer, range, with_));
    search_.update(buffer, kPatience);
    if (!search_.complete()) draw_again_in(0);
  }
  return go(buffer, true) || match >= 0;
}

std::string FindBar::summary(const TextBuffer& buffer) const {
  if (!search_.error().empty()) return search_.error();
  if (query_.text.empty()) return {};
  const size_t count = search_.matches().size();
  const std::string number =
      std::to_string(count) + (search_.complete() && count < TextSearch::kMostMatches ? "" : "+");
  const int match = current(buffer);
  if (count == 0) return search_.complete() ? "not found" : "looking";
  return match >= 0 ? std::to_string(match + 1) + " of " + number : number + " found";
}

bool FindBar::draw(TextBuffer& buffer, const Describe& describe, bool read_only) {
  if (!open_) return false;
  search_.look_for(query_);
  search_.update(buffer, kPatience);
  bool changed = false;
  const float room = ImGui::GetContentRegionAvail().x;
  const float field = std::clamp(room - em(21), em(6), em(16));
  if (std::exchange(focus_, false)) focus_next_field();
  ImGui::SetNextItemWidth(field);
  const bool entered =
      ImGui::InputTextWithHint("##find", "find", &query_.text, ImGuiInputTextFlags_EnterReturnsTrue);
  describe("editor.find", query_.text);
  const bool focused = ImGui::IsItemActive() || ImGui::IsItemDeactivated();
  explain("Enter goes to the next, Shift+Enter to the one before; Esc closes.");
  if (entered) {
    changed |= go(buffer, !ImGui::GetIO().KeyShift);
    focus_ = true;
  }
  ImGui::SameLine();
  if (ImGui::ArrowButton("##previous", ImGuiDir_Up)) changed |= go(buffer, false);
  explain("Previous. Shift+F3");
  ImGui::SameLine(0, em(0.2f));
  if (ImGui::ArrowButton("##next", ImGuiDir_Down)) changed |= go(buffer, true);
  describe("editor.find.next", "");
  explain("Next. F3");
  ImGui::SameLine();
  if (lit_button("Aa", query_.match_case)) query_.match_case = !query_.match_case;
  describe("editor.find.case", query_.match_case ? "on" : "off");
  explain("Match case.");
  ImGui::SameLine(0, em(0.2f));
  if (lit_button(".*", query_.regex)) query_.regex = !query_.regex;
  describe("editor.find.regex", query_.regex ? "on" : "off");
  explain("Regular expression (ECMAScript), line by line. $1 in the replacement is the first group.");
  if (!read_only) {
    ImGui::SameLine(0, em(0.2f));
    if (lit_button("Replace", replacing_)) replacing_ = !replacing_;
    describe("editor.find.replacing", replacing_ ? "on" : "off");
    explain("Replace. Ctrl+H");
  }
  ImGui::SameLine(0, em(0.2f));
  if (ImGui::Button("Close##find") || (focused && key_pressed(GLFW_KEY_ESCAPE))) close();
  describe("editor.find.close", "");
  ImGui::SameLine();
  const std::string found = summary(buffer);
  const bool wrong = !search_.error().empty();
  if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(found.c_str()).x) ImGui::NewLine();
  ImGui::AlignTextToFramePadding();
  text_in(wrong ? theme().bad : theme().muted, "%s", found.c_str());
  describe("editor.found", found);
  if (!replacing_ || read_only) return changed;
  ImGui::SetNextItemWidth(field);
  ImGui::InputTextWithHint("##with", "replace with", &with_);
  describe("editor.replacement", with_);
  ImGui::SameLine();
  if (ImGui::Button("This one")) changed |= replace_one(buffer);
  describe("editor.replace", "this one");
  explain("Replaces this match and goes to the next.");
  ImGui::SameLine(0, em(0.2f));
  if (ImGui::Button("All")) changed |= search_.replace_all(buffer, with_) > 0;
  describe("editor.replace", "all");
  explain("Replaces all matches. Undo reverts them together.");
  return changed;
}

}  // namespace lunagrad
