#pragma once
// Files, and the beginning of main(), of the build's programs that write shaders. Errors of files are
// exceptions. One thread.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
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
  std::ofstream out(path);
  out << text << std::flush;
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

// Calls `work` if the command line has an argument for each name. Prints errors. Returns the exit code.
template <class Work>
int run_program(int count, char** words, std::initializer_list<const char*> names, Work work) {
  if (size_t(count) != names.size() + 1) {
    std::fprintf(stderr, "usage: %s", words[0]);
    for (const char* const name : names) std::fprintf(stderr, " %s", name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace lunagrad::gpu
