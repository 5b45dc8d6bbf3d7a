#pragma once
// The files from which the engine and the program were loaded. Any thread.
#include <string>

namespace lunagrad {

// The shared library of the runtime, or the program when it is linked statically; "" when unknown. Symbolic
// links are resolved.
std::string own_library_file();
// The running program, to start it again; "" when unknown.
std::string own_program();
std::string own_neighbour(const std::string& name);  // the program of this name in the same folder

}  // namespace lunagrad
