#pragma once
// Where the engine's code was loaded from. Any thread.
#include <string>

namespace lunagrad {

// The shared library of the runtime, or the program when it is linked statically; "" when unknown. Symbolic
// links are resolved.
std::string own_library_file();

}  // namespace lunagrad
