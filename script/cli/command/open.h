#pragma once
// `lunagrad open`: starts the workbench, which is installed in this program's folder, after checking that it
// can start. `lunagrad doctor` makes the same check.
#include <string>

namespace lunagrad {

// What a window needs and the system lacks, and how to get it: a display, the window's libraries, a Vulkan
// loader. "" when nothing is missing.
std::string missing_for_window();

}  // namespace lunagrad
