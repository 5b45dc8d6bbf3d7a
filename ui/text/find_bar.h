#pragma once
// A row to find and replace in a text. Knows a TextBuffer, no files. Drawing thread only.
#include <imgui.h>

#include <functional>
#include <string>

#include "ui/text/buffer.h"
#include "ui/text/search.h"

namespace lunagrad {

class FindBar {
 public:
  using Describe = std::function<void(const char* name, const std::string& text)>;  // describes the last item

  void open(const TextBuffer&, bool replace);  // searches for the selected text, if it is within a line
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  // Returns true when the caret moved to a match, or the text was changed.
  bool draw(TextBuffer&, const Describe&, bool read_only = false);
  bool go(TextBuffer&, bool forward);
  const TextSearch* search() const { return open_ && search_.active() ? &search_ : nullptr; }
  int current(const TextBuffer&) const;  // index of the selected match, -1 for none

 private:
  bool replace_one(TextBuffer&);
  std::string summary(const TextBuffer&) const;

  bool open_ = false, replacing_ = false, focus_ = false;
  SearchQuery query_;
  std::string with_;
  TextSearch search_;
};

}  // namespace lunagrad
