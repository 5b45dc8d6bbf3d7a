#pragma once
// `lunagrad open`: starts the workbench, which is installed in the folder of this program, after checking
// that it can start. `lunagrad doctor` checks the same.
#include <string>

namespace lunagrad {

// What a window needs and this machine lacks, with how to get it: a display, the libraries of the window, a
// Vulkan loader. "" when nothing is missing.
std::string missing_for_window();

}  // namespace lunagrad
