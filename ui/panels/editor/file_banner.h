#pragma once
// A line above the text about its file: it is to be closed with changes, was changed on the disk too, is
// gone, or was restored. With a button for each possible action. Drawing thread only.
#include <functional>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class FileBanner {
 public:
  using Save = std::function<void(Document&, std::function<void()> saved)>;

  // Asks before unsaved text is lost.
  void ask_to_close(const Document& document) { closing_ = document.id; }
  // May close the document.
  void draw(Workbench&, Document&, const Save&);

 private:
  void draw_question(Workbench&, Document&, const Save&);

  int closing_ = 0;  // id of the document whose unsaved text the question is about
};

}  // namespace lunagrad
