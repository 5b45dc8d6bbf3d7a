#pragma once
// Where the engine's code and the program were loaded from. Any thread.
#include <string>

namespace lunagrad {

// The shared library of the runtime, or the program when it is linked statically; "" when unknown. Symbolic
// links are resolved.
std::string own_library_file();
// The program that runs, to start it once more; "" when unknown.
std::string own_program();
std::string own_neighbour(const std::string& name);  // the program of that name beside it

}  // namespace lunagrad
