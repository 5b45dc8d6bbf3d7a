// `lunagrad check`: checks the syntax, the globals and the fields of lg in scripts without running them. An
// undefined global is probably misspelt; an assigned one probably lacks `local`.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <set>

#include "runtime/error.h"
#include "script/chunk/fields.h"
#include "script/chunk/globals.h"
#include "script/chunk/lost_nils.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/command/all.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/meta/explain.h"
#include "script/meta/help.h"
#include "script/meta/python.h"
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

// Looks fields up in the real library. Its function run exists only in a session: help knows its fields.
constexpr const char* kLookUp = R"lua(
local lg = require "lunagrad"
local function get(holder, name) return holder[name] end
return function(path)
  local holder = lg
  for name in path:gmatch("%.([^.]+)") do
    if type(holder) ~= "table" or holder ~= lg and (rawget(holder, "__name") or rawget(holder, "__index")) then return "" end
    local ok, value = pcall(get, holder, name)
    if not ok then
      return tostring(value):match("lg[%w_.]* does not exist.*") or ""
    end
    holder = value
  end
  return ""
end
)lua";

class Library {
 public:
  Library() : state_(new_state({}), close_state) {
    lua_State* const L = state_.get();
    open_lunagrad(L);
    if (luaL_loadstring(L, kLookUp) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK)
      fail("check: ", lua_tostring(L, -1));
  }

  // "lg.rnd does not exist; did you mean lg.rand?", or "" when the field exists or belongs to an object.
  std::string complaint(const FieldUse& use) {
    const std::string path = use.path();
    if (path == "lg.run") return {};
    if (path.starts_with("lg.run.")) return complaint_of_run(path);
    lua_State* const L = state_.get();
    lua_pushvalue(L, -1);
    lua_pushlstring(L, path.data(), path.size());
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) fail("check: ", lua_tostring(L, -1));
    const std::string found = lua_tostring(L, -1) ? lua_tostring(L, -1) : "";
    lua_pop(L, 1);
    return found;
  }

 private:
  static std::string complaint_of_run(const std::string& path) {
    for (const HelpEntry& entry : help_entries())
      if (path == entry.name || path.starts_with(entry.name + ".")) return {};
    return path + " does not exist" + suggest(path, "lg.run.");
  }

  std::unique_ptr<lua_State, decltype(&close_state)> state_;
};

int check(const std::string& path, bool tests, Library& library) {
  lua_State* L = luaL_newstate();
  if (!L) fail_as(ErrorKind::memory, "not enough memory");
  const std::unique_ptr<lua_State, decltype(&lua_close)> owner(L, lua_close);
  std::set<std::string> known = standard_globals(L);
  if (tests) known.insert({"describe", "it", "before_each", "after_each", "expect"});
  const int status = luaL_loadfilex(L, path.c_str(), "t");
  if (status != LUA_OK) {
    const std::string message = lua_tostring(L, -1);
    std::cerr << message << (status == LUA_ERRFILE ? "" : python_syntax(read_script(path), message)) << "\n";
    return int(status == LUA_ERRFILE ? Outcome::file : Outcome::error);
  }
  size_t found = 0;
  const CompiledFunction chunk = read_chunk(L);
  const std::vector<GlobalUse> uses = global_uses(chunk);
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
  for (const int line : lost_nils(chunk)) {
    std::cerr << path << ":" << line << ": " << kLostNil << "\n";
    ++found;
  }
  for (const auto& [line, advice] : python_tuples(read_script(path))) {
    std::cerr << path << ":" << line << ": " << advice << "\n";
    ++found;
  }
  std::set<std::string> added;  // by the script itself
  const std::vector<FieldUse> fields = field_uses(chunk);
  for (const FieldUse& use : fields)
    if (use.assigned) added.insert(use.path());
  for (const FieldUse& use : fields) {
    if (use.assigned || added.count(use.path())) continue;
    const std::string complaint = library.complaint(use);
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
  CLI::App& command =
      add_command(program, "check", "check the syntax, the globals and the fields of lg in scripts");
  add_required_arguments(command, "scripts", *paths, "Lua files");
  add_flag(command, "--tests", *tests, "also know the globals of `lunagrad test`");
  return [=] {
    return carry_out("check", [&] {
      int code = 0;
      Library library;
      for (const std::string& path : *paths) code = std::max(code, check(path, *tests, library));
      return code;
    });
  };
}

}  // namespace lunagrad
