#pragma once
// `lunagrad check`: a script's syntax and its globals, without running it. A global that nothing defines is a
// misspelt name; one that is assigned is a local without `local`.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command; what is returned carries it out: exit code 0, 1 when something is wrong, 6 when there is
// no such file.
std::function<int()> add_check(CLI::App& app);

}  // namespace lunagrad
