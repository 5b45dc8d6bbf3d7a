#pragma once
// `lunagrad repro RUN`: runs the script of a run's folder again, with its arguments, seed, device, parameters
// and the changes that were made to them, and tells the first number that comes out otherwise.
#include <functional>

namespace CLI {
class App;
}

namespace lunagrad {

// Adds the command; what is returned carries it out: exit code 0 when every number is the same, 7 when one is
// not, the script's when it fails.
std::function<int()> add_repro(CLI::App& app);

}  // namespace lunagrad
