#pragma once
// The dialogs of the Runs panel: the note of a run, and the question whether to delete runs. Owns their
// texts. Drawing thread only.
#include <functional>
#include <set>
#include <string>

#include "ui/runs/list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class RunDialogs {
 public:
  // Changes a folder on another thread, and reports the error, or `well` if that is not empty.
  using Change = std::function<void(std::function<void()> work, const std::string& well)>;

  void ask_note(const RunSummary&);
  void ask_deletion(const std::set<std::string>& folders);
  // Once a frame, in the panel's window. Returns true when the folders of ask_deletion() are being deleted.
  bool draw(Workbench&, const Change&);

 private:
  void draw_note(Workbench&, const Change&);
  bool draw_deletion(Workbench&, const Change&);

  std::string noted_;  // folder of the run whose note is edited
  char note_[1024] = "";
  std::set<std::string> deleted_;
  bool opens_note_ = false, opens_deletion_ = false;
};

}  // namespace lunagrad
