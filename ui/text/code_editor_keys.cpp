// The keys of a CodeEditor and its context menu.
#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include <algorithm>

#include "ui/base/utf8.h"
#include "ui/text/code_editor.h"
#include "ui/text/commands.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// Including the keypad's Enter.
bool entered() { return key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER); }

}  // namespace

void copy_selection(const TextBuffer& buffer) {
  const std::string text =
      buffer.has_selection() ? buffer.text(buffer.selection()) : buffer.line(buffer.caret().line) + "\n";
  ImGui::SetClipboardText(text.c_str());
}

void cut_selection(TextBuffer& buffer) {
  copy_selection(buffer);
  if (buffer.has_selection())
    buffer.type({});
  else
    delete_lines(buffer);
}

void paste_clipboard(TextBuffer& buffer) {
  const char* text = ImGui::GetClipboardText();
  if (!text || !*text) return;
  const TextBuffer::Step step(buffer);
  buffer.type(text);
}

void CodeEditor::type_characters(TextBuffer& buffer, const Look& look, Result& result) {
  const ImGuiIO& io = ImGui::GetIO();
  if ((io.KeyCtrl && !io.KeyAlt) || io.KeySuper) return;
  for (const ImWchar c : io.InputQueueCharacters) {
    if (c < 0x20 || c == 0x7f) continue;
    if (look.read_only) {
      result.refused = true;
      continue;
    }
    buffer.type(utf8_of(c));
    outdent_closing(buffer, highlight_);
    result.edited = result.typed = follow_ = true;
    wanted_column_ = -1;
  }
}

void CodeEditor::handle_control_keys(TextBuffer& buffer, const Look& look, Result& result) {
  const bool shift = ImGui::GetIO().KeyShift;
  const auto edit = [&](auto&& command) {
    if (look.read_only) {
      result.refused = true;
      return;
    }
    command();
    result.edited = follow_ = true;
    wanted_column_ = -1;
  };
  if (key_pressed(GLFW_KEY_Z)) edit([&] { shift ? buffer.redo() : buffer.undo(); });
  if (key_pressed(GLFW_KEY_Y)) edit([&] { buffer.redo(); });
  if (key_pressed(GLFW_KEY_C) || key_pressed(GLFW_KEY_INSERT)) copy_selection(buffer);
  if (key_pressed(GLFW_KEY_X)) edit([&] { cut_selection(buffer); });
  if (key_pressed(GLFW_KEY_V)) edit([&] { paste_clipboard(buffer); });
  if (key_pressed(GLFW_KEY_D)) edit([&] { duplicate(buffer); });
  if (key_pressed(GLFW_KEY_SLASH)) edit([&] { toggle_comment(buffer); });
  if (shift && key_pressed(GLFW_KEY_K)) edit([&] { delete_lines(buffer); });
  if (key_pressed(GLFW_KEY_BACKSPACE)) edit([&] { erase_by(buffer, Motion::word_left); });
  if (key_pressed(GLFW_KEY_DELETE)) edit([&] { erase_by(buffer, Motion::word_right); });
  if (key_pressed(GLFW_KEY_A)) {
    buffer.select({{}, buffer.end()});
    result.moved = true;
  }
  if (key_pressed(GLFW_KEY_SPACE)) result.wants_completion = true;
}

void CodeEditor::handle_keys(TextBuffer& buffer, const Look& look, Result& result) {
  // The keys belong to the text: letter shortcuts and keyboard navigation between widgets are off.
  ImGui::CaptureKeyboardFromApp(true);
  ImGui::GetCurrentContext()->WantTextInputNextFrame = 1;
  const ImGuiIO& io = ImGui::GetIO();
  const bool ctrl = io.KeyCtrl && !io.KeyAlt, shift = io.KeyShift, alt = io.KeyAlt && !io.KeyCtrl;
  const TextPosition before = buffer.caret();
  const auto go = [&](int key, Motion motion) {
    if (!key_pressed(key)) return;
    // Left and Right go to the start and the end of a selection.
    const TextRange selected = buffer.selection();
    TextPosition to = moved_by(buffer, buffer.caret(), motion);
    if (!shift && !selected.empty() && motion == Motion::left) to = selected.begin;
    if (!shift && !selected.empty() && motion == Motion::right) to = selected.end;
    move(buffer, to, shift);
    wanted_column_ = -1;
  };
  const auto climb = [&](int key, Motion motion, int lines) {
    if (!key_pressed(key)) return;
    const TextPosition from = buffer.caret();
    if (wanted_column_ < 0) wanted_column_ = screen_column(buffer.line(from.line), from.column);
    move(buffer, moved_by(buffer, from, motion, wanted_column_, lines), shift);
  };
  const auto edit = [&](auto&& command) {
    if (look.read_only) {
      result.refused = true;
      return;
    }
    command();
    result.edited = follow_ = true;
    wanted_column_ = -1;
  };
  go(GLFW_KEY_LEFT, ctrl ? Motion::word_left : Motion::left);
  go(GLFW_KEY_RIGHT, ctrl ? Motion::word_right : Motion::right);
  go(GLFW_KEY_HOME, ctrl ? Motion::begin : Motion::line_start);
  go(GLFW_KEY_END, ctrl ? Motion::end : Motion::line_end);
  const int page = std::max(1, m_.last - m_.first - 1);
  climb(GLFW_KEY_PAGE_UP, Motion::up, page);
  climb(GLFW_KEY_PAGE_DOWN, Motion::down, page);
  if (alt) {
    if (key_pressed(GLFW_KEY_UP)) edit([&] { move_lines(buffer, -1); });
    if (key_pressed(GLFW_KEY_DOWN)) edit([&] { move_lines(buffer, 1); });
  } else if (!look.popup) {
    climb(GLFW_KEY_UP, Motion::up, 1);
    climb(GLFW_KEY_DOWN, Motion::down, 1);
  }
  if (ctrl) {
    handle_control_keys(buffer, look, result);
  } else {
    if (key_pressed(GLFW_KEY_BACKSPACE)) edit([&] { erase_by(buffer, Motion::left); });
    if (key_pressed(GLFW_KEY_DELETE))
      edit([&] { shift ? cut_selection(buffer) : erase_by(buffer, Motion::right); });
    if (shift && key_pressed(GLFW_KEY_INSERT)) edit([&] { paste_clipboard(buffer); });
    if (!look.popup && entered()) edit([&] { new_line(buffer, highlight_); });
    if (!look.popup && key_pressed(GLFW_KEY_TAB) && !alt)
      edit([&] { shift ? unindent(buffer) : indent(buffer); });
    if (!look.popup && key_pressed(GLFW_KEY_ESCAPE) && buffer.has_selection())
      buffer.set_caret(buffer.caret());
  }
  type_characters(buffer, look, result);
  result.moved |= buffer.caret() != before;
}

void CodeEditor::draw_menu(TextBuffer& buffer, const Look& look, Result& result) {
  ImGui::PushFont(fonts().body);
  if (ImGui::BeginPopupContextItem("menu")) {
    const bool edits = !look.read_only;
    const auto item = [&](const char* label, const char* key, bool enabled, auto&& command) {
      if (!ImGui::MenuItem(label, key, false, enabled)) return;
      command();
      result.edited = edits;
      take_focus();
    };
    item("Cut", "Ctrl+X", edits, [&] { cut_selection(buffer); });
    item("Copy", "Ctrl+C", true, [&] { copy_selection(buffer); });
    item("Paste", "Ctrl+V", edits, [&] { paste_clipboard(buffer); });
    item("Select all", "Ctrl+A", true, [&] { buffer.select({{}, buffer.end()}); });
    ImGui::Separator();
    item("Undo", "Ctrl+Z", edits, [&] { buffer.undo(); });
    item("Redo", "Ctrl+Y", edits, [&] { buffer.redo(); });
    ImGui::Separator();
    item("Comment", "Ctrl+/", edits, [&] { toggle_comment(buffer); });
    item("Indent", "Tab", edits && buffer.has_selection(), [&] { indent(buffer); });
    item("Unindent", "Shift+Tab", edits, [&] { unindent(buffer); });
    item("Duplicate", "Ctrl+D", edits, [&] { duplicate(buffer); });
    ImGui::Separator();
    result.wants_probe = ImGui::MenuItem("Add a probe...", "Shift+F9", false, edits);
    ImGui::EndPopup();
  }
  ImGui::PopFont();
}

}  // namespace lunagrad
