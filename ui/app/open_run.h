#pragma once
// The script and run that a window's marker describes, so that the next start can open the script again and
// continue the run. Plain values.
#include <string>

#include "script/view/run.h"

namespace lunagrad {

struct OpenRun {
  std::string script;  // its absolute path, "" for none
  std::string folder;  // folder of the current run; "" for none
  RunOptions options;  // arguments, parameters, device, seed, steps and limits
};

std::string text_of(const OpenRun&);
OpenRun open_run_from(const std::string& text);  // returns an empty OpenRun when the text is damaged

}  // namespace lunagrad
