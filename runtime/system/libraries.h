#pragma once
// Shared libraries, and the files from which the engine and the program were loaded. Any thread.
#include <string>

namespace lunagrad {

// The running program, to start it again; "" when unknown.
std::string own_program();
std::string own_neighbour(const std::string& name);  // the program of this name in the same folder
// The shared library of the runtime, or the program when it is linked statically; "" when unknown. Symbolic
// links are resolved.
std::string own_library_file();
// The file of the shared library `name` beside the runtime's, or in `folder` there, if it has one. Without a
// path when the place of the runtime's library is unknown.
std::string library_beside(const std::string& name, const std::string& folder);

// Loads a shared library for the life of the process; plug-ins that it loads see its symbols. Null, with the
// system's reason in `why`, when it cannot be loaded.
void* load_library(const std::string& file, std::string& why);
void* find_symbol(void* library, const char* name);  // null when the library has no such symbol

}  // namespace lunagrad
