#include "ui/editor/name_help.h"

#include <GLFW/glfw3.h>

#include <cctype>

#include "ui/editor/definition.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {
namespace {

// Whether the caret follows two letters of a name, or a dot or colon after a name.
bool follows_name(const TextBuffer& buffer) {
  const TextPosition caret = buffer.caret();
  const std::string before = buffer.line(caret.line).substr(0, size_t(caret.column));
  if (before.find("--") != before.npos) return false;
  size_t letters = 0;
  while (letters < before.size() && in_name(before[before.size() - 1 - letters])) ++letters;
  if (letters >= 2) return !std::isdigit(static_cast<unsigned char>(before[before.size() - letters]));
  const size_t end = before.size() - letters;
  return end > 1 && (before[end - 1] == '.' || before[end - 1] == ':') && in_name(before[end - 2]);
}

// Where the name before the caret begins.
TextPosition name_start(const TextBuffer& buffer) {
  TextPosition at = buffer.caret();
  const std::string& line = buffer.line(at.line);
  while (at.column > 0 && in_name(line[size_t(at.column) - 1])) --at.column;
  return at;
}

}  // namespace

bool NameHelp::take_keys(const CodeEditor& view) {
  taken_ = -1;
  const size_t count = completion_.proposals().size();
  if (!completion_.open() || !view.focused()) return false;
  if (count == 0) {  // the session has not answered yet: an answer after Escape opens no list
    if (key_pressed(GLFW_KEY_ESCAPE)) taken_ = kClosed;
    return false;
  }
  taken_ = popup_.take_keys(int(count));
  return true;
}

void NameHelp::draw(SessionConsole& session, TextBuffer& buffer, CodeEditor& view,
                    const CodeEditor::Result& did, Description& description) {
  if (!did.path_hovered.empty() && !over_) explain(buffer, did, description);
  const bool closed = completion_.open() && taken_ == kClosed;
  if (closed) unwanted_ = name_start(buffer);
  // A list that was closed with Escape stays closed for the rest of this name.
  if (did.wants_completion || (unwanted_ && *unwanted_ != name_start(buffer))) unwanted_.reset();
  const bool asks = did.wants_completion || (did.typed && !unwanted_ && follows_name(buffer));
  // Deleting a letter searches again with the shorter name; any other change of text or caret closes the
  // list.
  const bool narrows = completion_.open() && did.edited && !did.typed && taken_ == -1 && follows_name(buffer);
  if (asks || narrows) {
    completion_.ask(session, buffer);
    popup_.restart();
  } else if (closed || did.edited || did.moved || (!view.focused() && !over_)) {
    completion_.close();
  }
  over_ = false;
  if (!completion_.open()) return;
  const std::vector<Proposal>& proposals = completion_.proposals();
  const auto row = [&](int i) {
    const Proposal& proposal = proposals[size_t(i)];
    return ChoicePopup::Choice{proposal.name, proposal.detail, proposal.help};
  };
  const auto on_row = [&](int i, ImVec2 min, ImVec2 max) {
    description.add("editor.proposal", proposals[size_t(i)].name + " " + proposals[size_t(i)].detail, min,
                    max);
    over_ |= ImGui::IsMouseHoveringRect(min, max, false);
  };
  const int clicked = popup_.draw(int(proposals.size()), row, did.caret_below, did.line_height, on_row);
  const int taken = clicked >= 0 ? clicked : taken_;
  if (taken >= 0 && size_t(taken) < proposals.size()) {
    buffer.select(completion_.replaced());
    buffer.type(proposals[size_t(taken)].name);
    view.follow_caret();
    view.take_focus();
  }
  if (taken != -1) completion_.close();
}

void NameHelp::explain(const TextBuffer& buffer, const CodeEditor::Result& did, Description& description) {
  const std::string& path = did.path_hovered;
  if (path != explained_) {
    explained_ = path;
    explanation_ = explain_path(resolved_path(buffer, path));
    while (explanation_.ends_with('\n')) explanation_.pop_back();
  }
  if (explanation_.empty()) return;
  show_tip(explanation_, {.area = did.hovered}, em(30));
  if (const ShownTip* const tip = shown_tip())
    description.add("editor.help", explanation_, tip->area.min, tip->area.max);
}

}  // namespace lunagrad
