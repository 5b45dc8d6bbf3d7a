#pragma once
// `lunagrad open`: starts the workbench that lies beside this program, after a look whether it can start.
#include <string>
#include <vector>

namespace lunagrad {

// What a window needs and this machine lacks, with how to get it: a display, the libraries of the window, a
// Vulkan loader. "" when nothing is missing.
std::string missing_for_window();
// Returns only when the workbench cannot be started, with the exit code.
int open_workbench(const std::vector<std::string>& arguments);

}  // namespace lunagrad
