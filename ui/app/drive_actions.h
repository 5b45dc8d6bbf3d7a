#pragma once
// The actions of the window as functions of a drive's table `ui`, and `reach`, which waits until the run is
// as far as it was when a line was recorded. Drawing thread only.
#include <map>
#include <string>

#include "script/lua/drive_script.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// Adds a function for each action of the workbench, which outlives them. Error if a name is taken.
void add_action_functions(std::map<std::string, DriveScript::Function>&, Workbench&);

}  // namespace lunagrad
