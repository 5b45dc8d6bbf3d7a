#include "script/meta/library.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace lunagrad {

const std::string& library_directory() {
  static const std::string directory = [] {
    if (const char* given = std::getenv("LUNAGRAD_LUA"); given && *given) return std::string(given);
    std::error_code none;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", none);
    const std::filesystem::path installed = program.parent_path().parent_path() / "share/lunagrad/lua";
    if (std::filesystem::exists(installed / "lunagrad/init.lua", none)) return installed.string();
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
