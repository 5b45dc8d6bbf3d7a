// `lunagrad check`: finds mistakes in scripts without running them: syntax errors, names that nothing
// defines, forgotten `local`s, fields that lg and the script's own classes lack, and valid Lua that does
// something other than it seems to.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "runtime/core/error.h"
#include "script/chunk/classes.h"
#include "script/chunk/fields.h"
#include "script/chunk/globals.h"
#include "script/chunk/mistakes.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/command/all.h"
#include "script/cli/command/test.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/meta/explain.h"
#include "script/meta/help.h"
#include "script/meta/python.h"
#include "script/view/run.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

template <class Names>
std::string closest(const std::string& name, const Names& known) {
  std::string best;
  size_t least = name.size() > 4 ? 3 : 2;  // at a larger distance it is another word
  for (const std::string& other : known) {
    const size_t d = edits(name, other);
    if (d < least) least = d, best = other;
  }
  return best.empty() ? best : "; is '" + best + "' meant?";
}

// Looks up fields in the real library. lg.run exists only in a session, so its fields come from the help.
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
end, function(name) return name == "training" or name == "super" or lg.nn.Module[name] ~= nil end
)lua";

class FieldLibrary {
 public:
  FieldLibrary() : state_(new_state({}), close_state) {
    lua_State* const L = state_.get();
    open_lunagrad(L);
    if (luaL_loadstring(L, kLookUp) != LUA_OK || lua_pcall(L, 0, 2, 0) != LUA_OK)
      fail("check: ", lua_tostring(L, -1));
  }

  // "lg.rnd does not exist; did you mean lg.rand?", or "" when the field exists or belongs to an object.
  std::string complaint(const FieldUse& use) {
    const std::string path = use.path();
    if (path == "lg.run") return {};
    if (path.starts_with("lg.run.")) return complaint_of_run(path);
    call(kComplaint, path);
    lua_State* const L = state_.get();
    const std::string found = lua_tostring(L, -1) ? lua_tostring(L, -1) : "";
    lua_pop(L, 1);
    return found;
  }

  // Whether all modules' objects have the field or method.
  bool is_of_modules(const std::string& name) {
    call(kOfModules, name);
    const bool has = lua_toboolean(state_.get(), -1);
    lua_pop(state_.get(), 1);
    return has;
  }

 private:
  enum Function { kComplaint = 1, kOfModules = 2 };  // stack indices

  void call(Function function, const std::string& argument) {
    lua_State* const L = state_.get();
    lua_pushvalue(L, function);
    lua_pushlstring(L, argument.data(), argument.size());
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) fail("check: ", lua_tostring(L, -1));
  }

  static std::string complaint_of_run(const std::string& path) {
    for (const HelpEntry& entry : help_entries())
      if (path == entry.name || path.starts_with(entry.name + ".")) return {};
    return path + " does not exist" + suggest(path, "lg.run.");
  }

  std::unique_ptr<lua_State, decltype(&close_state)> state_;
};

// The line that declares a local variable of this name, in the function or a function inside it; 0 for none.
int declared_in(const CompiledFunction& function, const std::string& name) {
  for (const CompiledFunction::Local& local : function.locals)
    if (local.name == name && local.begin > 0 && local.begin <= function.lines.size())
      return function.lines[local.begin - 1];
  for (const CompiledFunction& inner : function.functions)
    if (const int line = declared_in(inner, name)) return line;
  return 0;
}

class Checker {
 public:
  explicit Checker(bool tests) : tests_(tests), state_(luaL_newstate(), lua_close) {
    if (!state_) fail_as(ErrorKind::memory, "not enough memory");
    lua_State* const L = state_.get();
    luaL_openlibs(L);
    standard_.insert("arg");
    lua_pushglobaltable(L);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) standard_.insert(lua_tostring(L, -2));
    lua_pop(L, 1);
  }

  void check(const std::string& path) {
    ++files_;
    lua_State* const L = state_.get();
    const int status = luaL_loadfilex(L, path.c_str(), "t");
    if (status != LUA_OK) {
      const std::string message = lua_tostring(L, -1);
      lua_pop(L, 1);
      std::cerr << message << (status == LUA_ERRFILE ? "" : python_syntax(read_script(path), message))
                << "\n";
      return note(status == LUA_ERRFILE ? Outcome::file : Outcome::error, 1);
    }
    const CompiledFunction chunk = read_chunk(L);
    lua_pop(L, 1);
    complaints_.clear();
    FieldUses fields;
    ClassFields classes;
    GlobalUses globals;
    std::vector<Mistake> mistakes = silent_mistakes(chunk, read_script(path), {&fields, &classes, &globals});
    check_globals(chunk, globals.take(), tests_ || is_test_file(fs::path(path).filename().string()));
    for (Mistake& mistake : mistakes) complaints_.emplace_back(mistake.line, std::move(mistake.text));
    check_fields(fields.take());
    for (const ClassFields::Missing& read :
         classes.missing([this](const std::string& name) { return library_.is_of_modules(name); }))
      complaints_.emplace_back(read.line, read.type + " has no field '" + read.field +
                                              "': nothing here assigns it" + closest(read.field, read.known));
    std::stable_sort(complaints_.begin(), complaints_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [line, text] : complaints_) std::cerr << path << ":" << line << ": " << text << "\n";
    if (!complaints_.empty()) note(Outcome::error, complaints_.size());
  }

  // Prints the number of checked files and returns the exit code.
  int end() const {
    const auto counted = [](size_t count, const std::string& what) {
      return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
    };
    std::cout << "checked " << counted(files_, "file") << ": "
              << (mistakes_ ? counted(mistakes_, "mistake") : "no mistakes") << "\n";
    return code_;
  }

 private:
  void note(Outcome outcome, size_t mistakes) {
    code_ = std::max(code_, int(outcome));
    mistakes_ += mistakes;
  }

  void check_globals(const CompiledFunction& chunk, const std::vector<GlobalUse>& uses, bool tests) {
    using Kind = GlobalUse::Kind;
    std::set<std::string> known = standard_;
    if (tests) known.insert({"describe", "it", "before_each", "after_each", "expect"});
    std::set<std::string> defined = known;
    for (const GlobalUse& use : uses)
      if (use.kind != Kind::read) defined.insert(use.name);
    for (const GlobalUse& use : uses) {
      if (use.kind == Kind::assigned && !known.count(use.name))
        complaints_.emplace_back(use.line, assigned_global(use.name));
      if (use.kind != Kind::read || defined.count(use.name)) continue;
      std::string complaint = "nothing defines '" + use.name + "'";
      if (use.name == "lg")
        complaint += "; local lg = require \"lunagrad\"";
      else if (const int line = declared_in(chunk, use.name))
        complaint += "; the local of line " + std::to_string(line) + " is not known here";
      else
        complaint += closest(use.name, defined);
      complaints_.emplace_back(use.line, std::move(complaint));
    }
  }

  void check_fields(const std::vector<FieldUse>& fields) {
    std::set<std::string> added;  // by the script itself
    for (const FieldUse& use : fields)
      if (use.assigned) added.insert(use.path());
    for (const FieldUse& use : fields) {
      if (use.assigned || added.count(use.path())) continue;
      if (std::string complaint = library_.complaint(use); !complaint.empty())
        complaints_.emplace_back(use.line, std::move(complaint));
    }
  }

  const bool tests_;
  const std::unique_ptr<lua_State, decltype(&lua_close)> state_;
  FieldLibrary library_;
  std::set<std::string> standard_;  // globals
  std::vector<std::pair<int, std::string>> complaints_;
  size_t files_ = 0, mistakes_ = 0;
  int code_ = 0;
};

// The scripts that the paths name. For a folder: all scripts below it, by name, except in hidden folders, run
// folders and folders of installed modules.
std::vector<std::string> scripts_in(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      found.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      if (at->is_directory(ignored) && (name.starts_with('.') || name == "runs" || name == "lua_modules"))
        at.disable_recursion_pending();
      else if (name.ends_with(".lua") && at->is_regular_file(ignored))
        below.push_back(at->path().lexically_normal().string());
    }
    if (error) fail_as(ErrorKind::file, path, ": ", error.message());
    if (below.empty()) fail_as(ErrorKind::file, path, ": no file in it ends with .lua");
    std::sort(below.begin(), below.end());
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace

// Exit code 0, 1 when something is wrong, 6 when a file is missing.
Action add_check(Program& program) {
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto tests = std::make_shared<bool>(false);
  CLI::App& command = add_command(program, "check", "find mistakes in scripts without running them");
  add_required_arguments(command, "scripts", *paths, "Lua files, and folders of them");
  add_flag(command, "--tests", *tests,
           "also know the globals of `lunagrad test`, which files named as tests are checked with anyway");
  return [=] {
    return carry_out("check", [&] {
      Checker checker(*tests);
      for (const std::string& path : scripts_in(*paths)) checker.check(path);
      return checker.end();
    });
  };
}

}  // namespace lunagrad
