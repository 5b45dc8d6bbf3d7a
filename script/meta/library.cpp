#include "script/meta/library.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/io/own_file.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

// <prefix>/share/lunagrad/lua for a file in <prefix>/bin, <prefix>/lib or <prefix>/lib/<architecture>; else
// "".
std::string share_above(const fs::path& file) {
  fs::path folder = file.parent_path();
  for (int level = 0; level < 2 && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    std::error_code none;
    const fs::path installed = folder / "share/lunagrad/lua";
    if (fs::exists(installed / "lunagrad/init.lua", none)) return installed.string();
  }
  return {};
}

}  // namespace

const std::string& library_directory() {
  static const std::string directory = [] {
    if (const char* given = std::getenv("LUNAGRAD_LUA"); given && *given) return std::string(given);
    for (const std::filesystem::path& file : {fs::path(own_library_file()), fs::path(own_program())}) {
      const std::string installed = share_above(file);
      if (!installed.empty()) return installed;
    }
    return std::string(LUNAGRAD_LUA_SOURCE);
  }();
  return directory;
}

std::string state_directory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state)
    return std::string(state) + "/lunagrad";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.local/state/lunagrad" : std::string();
}

}  // namespace lunagrad
