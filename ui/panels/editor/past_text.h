#pragma once
// The text of a past step, shown in place of a document: a line that names the step, the text, which is only
// read, and its difference from the document. The document with its undo, caret and scroll position stays as
// it is. Drawing thread only.
#include <vector>

#include "ui/editor/documents.h"
#include "ui/text/code_editor.h"
#include "ui/text/diff_view.h"
#include "ui/text/source_text.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class PastText {
 public:
  // The text to show for this document: a past text, or the document itself. Once a frame, before the text is
  // drawn.
  Document& choose(Workbench&, Document&);
  // What the last choose() returned for the document.
  Document& shown(Document& document) { return is_of(document) ? then_ : document; }
  bool is_of(const Document& document) const { return text_ && of_ == document.id; }
  CodeEditor& view() { return view_; }

  // The line above the text, if there is something to say.
  void draw_strip(Workbench&, Document&);
  void show_text() { compares_ = false; }
  bool shows_difference() const { return text_ && compares_; }
  void draw_difference(Workbench&, const Document&);
  bool take_back() { return std::exchange(went_back_, false); }  // once, when a button led to the document

 private:
  void compare(const Document&);

  SourceTextPtr text_;  // null: the document is shown
  int of_ = 0;          // the document's id
  Document then_;
  CodeEditor view_;
  bool compares_ = false, went_back_ = false;
  std::vector<DiffRow> rows_;
  uint64_t compared_ = 0;  // revision of the document in rows_; 0: not compared
  int removed_ = 0, added_ = 0, reveal_ = -1;
};

}  // namespace lunagrad
