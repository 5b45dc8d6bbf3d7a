// `lunagrad check`: checks the syntax and the globals of scripts without running them. An undefined global is
// probably misspelt; an assigned one probably lacks `local`.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

#include "runtime/error.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/base/chunk_globals.h"
#include "script/cli/command/all.h"
#include "script/meta/explain.h"
#include "script/session.h"

namespace lunagrad {
namespace {

std::set<std::string> standard_globals(lua_State* L) {
  luaL_openlibs(L);
  std::set<std::string> names{"arg"};
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) names.insert(lua_tostring(L, -2));
  lua_pop(L, 1);
  return names;
}

std::string closest(const std::string& name, const std::set<std::string>& known) {
  std::string best;
  size_t least = name.size() > 4 ? 3 : 2;  // a larger distance is another word
  for (const std::string& other : known) {
    const size_t d = edits(name, other);
    if (d < least) least = d, best = other;
  }
  return best;
}

int check(const std::string& path, bool tests) {
  lua_State* L = luaL_newstate();
  const std::unique_ptr<lua_State, decltype(&lua_close)> owner(L, lua_close);
  std::set<std::string> known = standard_globals(L);
  if (tests) known.insert({"describe", "it", "before_each", "after_each", "expect"});
  const int status = luaL_loadfilex(L, path.c_str(), "t");
  if (status != LUA_OK) {
    std::cerr << lua_tostring(L, -1) << "\n";
    return int(status == LUA_ERRFILE ? Outcome::file : Outcome::error);
  }
  size_t found = 0;
  const std::vector<GlobalUse> uses = global_uses(L);
  using Kind = GlobalUse::Kind;
  std::set<std::string> defined = known;
  for (const GlobalUse& use : uses)
    if (use.kind != Kind::read) defined.insert(use.name);
  for (const GlobalUse& use : uses) {
    std::string complaint;
    if (use.kind == Kind::assigned && !known.count(use.name)) {
      complaint =
          "assigns the global '" + use.name + "'; write `local`, or _G." + use.name + " where one is meant";
    } else if (use.kind == Kind::read && !defined.count(use.name)) {
      complaint = "nothing defines '" + use.name + "'";
      if (use.name == "lg") {
        complaint += "; local lg = require \"lunagrad\"";
      } else if (const std::string near = closest(use.name, defined); !near.empty()) {
        complaint += "; is '" + near + "' meant?";
      }
    }
    if (complaint.empty()) continue;
    std::cerr << path << ":" << use.line << ": " << complaint << "\n";
    ++found;
  }
  return found ? int(Outcome::error) : 0;
}

}  // namespace

// Exit code 0, 1 when something is wrong, 6 when there is no such file.
Action add_check(Program& program) {
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto tests = std::make_shared<bool>(false);
  CLI::App& command = add_command(program, "check", "check the syntax and the globals of scripts");
  add_required_arguments(command, "scripts", *paths, "Lua files");
  add_flag(command, "--tests", *tests, "also know the globals of `lunagrad test`");
  return [=] {
    return carry_out("check", [&] {
      int code = 0;
      for (const std::string& path : *paths) code = std::max(code, check(path, *tests));
      return code;
    });
  };
}

}  // namespace lunagrad
