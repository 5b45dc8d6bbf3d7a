#pragma once
// Whether the paths in a folder of unknown origin stay inside it, after links are resolved. Any thread.
// Errors are of kind file and name the entry.
#include <string>
#include <string_view>

namespace lunagrad {

// Whether a relative path, as written, stays inside its folder.
bool stays_inside(std::string_view path);
// Whether `path` is the folder or is inside it, after links are resolved.
bool lies_inside(const std::string& path, const std::string& folder);
// The path of a regular file that the folder names. `whose`: the file that contains the name, for the error.
std::string file_inside(const std::string& folder, const std::string& name, const std::string& whose);
// Error when something in the folder is a link out of it, a pipe, a socket or a device, which a reader of the
// folder would follow.
void require_inside(const std::string& folder);
// Error when a file that readers of a run's folder open first is a pipe, a socket or a device, or a link to
// one: opening it would wait for ever.
void refuse_special(const std::string& run_folder);
void require_entry_inside(const std::string& folder, const std::string& entry);
bool is_entry_inside(const std::string& folder, const std::string& entry);

}  // namespace lunagrad
