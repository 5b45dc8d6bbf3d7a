#pragma once
// Help with names in a text: completions at the caret while the user types, and the text of `?name` for the
// name under the mouse. Drawing thread only.
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "ui/base/description.h"
#include "ui/editor/completion.h"
#include "ui/text/code_editor.h"
#include "ui/widgets/choice_popup.h"

namespace lunagrad {

class NameHelp {
 public:
  explicit NameHelp(std::function<void()> wake) : completion_(std::move(wake)) {}

  // Call before the text is drawn. Returns true when the completions take Up, Down, Enter, Tab and Escape.
  bool take_keys(const CodeEditor&);
  // Call after the text is drawn, with the result of drawing it.
  void draw(SessionConsole&, TextBuffer&, CodeEditor&, const CodeEditor::Result&, Description&);
  bool proposes() { return completion_.open() && !completion_.proposals().empty(); }
  void close() { completion_.close(); }

 private:
  void explain(const TextBuffer&, const CodeEditor::Result&, Description&);

  Completion completion_;
  ChoicePopup popup_;
  static constexpr int kClosed = -2;      // ChoicePopup's answer to Escape
  int taken_ = -1;                        // the completion chosen by a key, or kClosed
  std::optional<TextPosition> unwanted_;  // start of the name whose list was closed with Escape
  bool over_ = false;                     // the mouse is over the completions
  std::string explained_, explanation_;
};

}  // namespace lunagrad
