#pragma once
// Files that the build reads and writes for shaders. Errors are exceptions. One thread.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace lunagrad::gpu {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return std::move(text).str();
}

// Leaves an unchanged file alone, so that nothing is compiled again. Creates the folder.
inline void write_if_changed(const std::filesystem::path& path, const std::string& text) {
  if (std::filesystem::exists(path) && read_text(path) == text) return;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out;
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out.open(path);
  out << text << std::flush;
}

}  // namespace lunagrad::gpu
