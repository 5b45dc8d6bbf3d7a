#pragma once
// What the Runs panel asks: the note of a run, and whether runs shall be deleted. Owns the texts of both.
// Drawing thread only.
#include <functional>
#include <set>
#include <string>

#include "ui/runs/list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class RunDialogs {
 public:
  // Changes a folder on another thread, and reports the error, or `well` unless that is empty.
  using Change = std::function<void(std::function<void()> work, const std::string& well)>;

  void ask_note(const RunSummary&);
  void ask_deletion(const std::set<std::string>& folders);
  // Once a frame, in the panel's window. True: the folders of ask_deletion() are being deleted.
  bool draw(Workbench&, const Change&);

 private:
  void draw_note(Workbench&, const Change&);
  bool draw_deletion(Workbench&, const Change&);

  std::string noted_;  // a folder
  char note_[1024] = "";
  std::set<std::string> deleted_;
  bool opens_note_ = false, opens_deletion_ = false;
};

}  // namespace lunagrad
