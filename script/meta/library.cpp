#include "script/meta/library.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "runtime/system/libraries.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

std::string library_in(const fs::path& folder) {
  std::error_code none;
  for (const char* place : {"share/lunagrad/lua", "lua"}) {
    const fs::path found = folder / place;
    if (fs::exists(found / "lunagrad/init.lua", none)) return found.string();
  }
  return {};
}

// The folder that set_library_directory() got, until the folder is used.
struct Given {
  std::mutex mutex;
  std::string folder;
  bool used = false;
};
Given& given() {
  static Given one;
  return one;
}

}  // namespace

std::string library_near(const std::string& file) {
  fs::path folder = fs::path(file).parent_path();
  std::string found = library_in(folder);
  for (int level = 0; level < 2 && found.empty() && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    std::error_code none;
    const fs::path installed = folder / "share/lunagrad/lua";
    if (fs::exists(installed / "lunagrad/init.lua", none)) found = installed.string();
  }
  return found;
}

const std::string& library_directory() {
  static const std::string directory = [] {
    {
      Given& set = given();
      const std::lock_guard lock(set.mutex);
      set.used = true;
      if (!set.folder.empty()) return set.folder;
    }
    if (const char* given = std::getenv("LUNAGRAD_LUA"); given && *given) return std::string(given);
    for (const std::string& file : {std::string(own_library_file()), std::string(own_program())}) {
      const std::string installed = library_near(file);
      if (!installed.empty()) return installed;
    }
    return std::string(LUNAGRAD_LUA_SOURCE);
  }();
  return directory;
}

bool set_library_directory(const std::string& folder, std::string* why) {
  const auto refuse = [&](const char* reason) {
    if (why) *why = folder + reason;
    return false;
  };
  std::error_code none;
  if (!fs::exists(fs::path(folder) / "lunagrad/init.lua", none)) return refuse(" has no lunagrad/init.lua");
  Given& set = given();
  const std::lock_guard lock(set.mutex);
  if (set.used && library_directory() != folder) return refuse(": a session uses another folder already");
  set.folder = folder;
  return true;
}

std::string state_directory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state)
    return std::string(state) + "/lunagrad";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.local/state/lunagrad" : std::string();
}

}  // namespace lunagrad
