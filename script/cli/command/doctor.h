#pragma once
// `lunagrad doctor`: looks at what a run will find here: the processor, devices and their arithmetic, the
// display, the Lua library, room for runs. Each finding is a line, each fault with what to do.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command; what is returned carries it out: exit code 0, 1 when something that runs need is broken.
std::function<int()> add_doctor(CLI::App& app);

}  // namespace lunagrad
