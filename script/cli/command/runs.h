#pragma once
// `lunagrad runs`: lists, shows, compares, exports and removes what runs left in their folders.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command with its own commands; what is returned carries out the one that was parsed.
std::function<int()> add_runs(CLI::App& app);

}  // namespace lunagrad
