#pragma once
// What the marker of a window says about its script and its run, so that the next start can open the script
// again and go on with the run. Plain values.
#include <string>

#include "script/view/run.h"

namespace lunagrad {

struct OpenRun {
  std::string script;  // its absolute path, "" for none
  std::string folder;  // of the run that is going on, "" for none
  RunOptions options;  // arguments, parameters, device, seed, steps and limits
};

std::string text_of(const OpenRun&);
OpenRun open_run_from(const std::string& text);  // empty when the text is damaged

}  // namespace lunagrad
