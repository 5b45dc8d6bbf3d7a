#pragma once
// Folders, beyond std::filesystem. Any thread.
#include <string>

namespace lunagrad {

// Makes a folder that only this user may enter. Six random letters take the place of the last six of the
// name. Returns false when it cannot be made.
bool make_unique_folder(std::string& name);
// Removes an empty folder with the one call that a sandbox allows.
void remove_empty_folder(const std::string& path);
// Whether this process may write into the folder, as the system's limits of this moment say.
bool is_writable(const std::string& folder);

}  // namespace lunagrad
