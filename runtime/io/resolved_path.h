#pragma once
// Paths after links are resolved. Any thread.
#include <filesystem>
#include <string>
#include <system_error>

namespace lunagrad {

// The absolute path, also of a file that does not exist; "" is the working folder. Error of kind file when a
// folder on the way cannot be read.
std::filesystem::path resolved_path(const std::string& path);
std::filesystem::path resolved_path(const std::string& path, std::error_code&);
// Whether a path is the folder or lies in it. Both are resolved. Nothing lies in an empty path.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace lunagrad
