#pragma once
// Writes runs as one HTML file that any browser opens without a server or network. Any thread. Errors are of
// kind file.
#include <string>
#include <vector>

namespace lunagrad {

// One run, or several to compare.
void export_report(const std::vector<std::string>& folders, const std::string& path);

}  // namespace lunagrad
