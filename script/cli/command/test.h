#pragma once
// `lunagrad test`: runs Lua files, each in a state of its own, and counts their tests: those of it(), or the
// file itself when it has none.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command; what is returned carries it out: exit code 0, 3 when a test failed, 6 when there is no
// such file.
std::function<int()> add_test(CLI::App& app);

}  // namespace lunagrad
