#include "runtime/system/folders.h"

#include <stdlib.h>
#include <unistd.h>

namespace lunagrad {

bool make_unique_folder(std::string& name) { return ::mkdtemp(name.data()) != nullptr; }

void remove_empty_folder(const std::string& path) { ::rmdir(path.c_str()); }

bool is_writable(const std::string& folder) { return ::access(folder.c_str(), W_OK) == 0; }

}  // namespace lunagrad
