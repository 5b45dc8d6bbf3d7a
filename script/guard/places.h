#pragma once
// The places that every run may read: system libraries, drivers and devices of GPUs, the bundled Lua library.
// Any thread.
#include <string>
#include <vector>

namespace lunagrad {

std::vector<std::string> places_of_every_run();

}  // namespace lunagrad
