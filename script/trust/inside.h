#pragma once
// Whether what a folder of unknown origin names lies inside it, after links are resolved. Any thread. Errors
// are of kind file and name the entry.
#include <string>
#include <string_view>

namespace lunagrad {

// Whether a path, as it is written, names something inside of the folder that it is relative to.
bool stays_inside(std::string_view path);
// Whether it is the folder or lies in it, after links are resolved.
bool lies_inside(const std::string& path, const std::string& folder);
// The path of a regular file that the folder names. `whose`: what names it, for the error.
std::string file_inside(const std::string& folder, const std::string& name, const std::string& whose);
// Error when something in the folder is a link out of it, a pipe, a socket or a device: a reader of the
// folder would follow it.
void require_inside(const std::string& folder);
// Error when a file that a reader of a run's folder begins with is a pipe, a socket or a device, also through
// a link: to open it would wait for ever.
void refuse_special(const std::string& run_folder);
void require_entry_inside(const std::string& folder, const std::string& entry);
bool is_entry_inside(const std::string& folder, const std::string& entry);

}  // namespace lunagrad
