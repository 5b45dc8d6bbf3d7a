#pragma once
// Work on the folders of runs outside the drawing thread. The result of the latest task is shown below the
// tools of Runs and in the console. Drawing thread only.
#include <functional>
#include <string>
#include <vector>

#include "ui/workbench/workbench.h"

namespace lunagrad {

class FolderTasks {
 public:
  // Changes a folder on another thread. The result is the error, or `well` if that is not empty.
  void change(Workbench&, std::function<void()> work, const std::string& well = "");
  // Writes one page of the runs beside the folder of the first run; an existing file is not overwritten.
  void export_runs(Workbench&, const std::vector<std::string>& folders);
  void draw(Workbench&) const;  // the result; nothing without one

 private:
  std::string result_;
  bool failed_ = false;
};

}  // namespace lunagrad
