#pragma once
// `lunagrad init DIR`: a new project that trains, is tested, and is understood by Lua editors.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command; what is returned carries it out: exit code 0, 6 when the folder cannot be made or is not
// empty.
std::function<int()> add_init(CLI::App& app);

}  // namespace lunagrad
