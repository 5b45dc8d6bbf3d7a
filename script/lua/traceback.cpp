#include "script/lua/traceback.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/memory_limit.h"
#include "runtime/core/op.h"
#include "script/lua/binding_state.h"
#include "script/lua/caught_error.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/hint.h"
#include "script/lua/missing.h"
#include "script/lua/passed.h"
#include "script/lua/script_line.h"
#include "script/meta/library.h"

namespace lunagrad {
namespace {

// The value at the top of the stack as text.
std::string text_of_top(lua_State* L) {
  size_t length = 0;
  const char* text = luaL_tolstring(L, -1, &length);
  std::string copy(text, length);
  lua_pop(L, 1);
  return copy;
}

struct Place {
  std::string file;
  int line = 0;
  size_t length = 0;  // of the text "file.lua:12: "
};

// The place at the start of "file.lua:12: message".
Place place_in(const std::string& message) {
  for (size_t colon = message.find(':'); colon != std::string::npos; colon = message.find(':', colon + 1)) {
    const size_t end = message.find_first_not_of("0123456789", colon + 1);
    if (end == std::string::npos || end == colon + 1 || end - colon > 9 || message.compare(end, 2, ": ") != 0)
      continue;
    return {message.substr(0, colon), std::stoi(message.substr(colon + 1, end - colon - 1)), end + 2};
  }
  return {};
}

// The innermost of the places at the start of "a.lua:12: hook: a.lua:9: message": a coroutine, a hook or
// another function that the engine calls passes an error on with the line of its own call in front. `script`:
// the name of the script's chunk; other files are modules, not data.
Place innermost_place(const std::string& message, const std::string& script) {
  Place found = place_in(message);
  for (size_t begin = found.length; found.line > 0;) {
    const std::string rest = message.substr(begin);
    const size_t word = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_ ");
    const bool says = word != rest.npos && word > 0 && rest.compare(word, 2, ": ") == 0;
    const size_t skipped = says ? word + 2 : 0;
    const Place inner = place_in(rest.substr(skipped));
    const bool is_code = inner.file == script || inner.file.ends_with(".lua");
    if (inner.line == 0 || !is_code || inner.file.find_first_of(" (") != inner.file.npos) break;
    found = inner;
    begin += skipped + inner.length;
  }
  return found;
}

std::string function_name(const lua_Debug& frame) {
  if (*frame.what == 'm') return "in main chunk";
  if (frame.name)
    return std::string("in ") + (*frame.namewhat ? frame.namewhat : "function") + " '" + frame.name + "'";
  return "in a function";
}

// The frames on the stack when the error was raised.
struct Frames {
  std::vector<std::string> user, library;
  Place first;               // the innermost line of the user's code
  std::string first_as_lua;  // as Lua prints it, with long names cut
  int first_level = 0;
  size_t skipped = 0;  // levels left out in the middle of a deep stack
};

constexpr size_t kShownAtEachEnd = 12;
constexpr int kListedTensors = 8;

// Finds the outermost level of the stack by bisection, because each lua_getstack walks from the innermost
// level.
int last_level(lua_State* L) {
  lua_Debug frame;
  int there = 1, beyond = 2;
  for (; lua_getstack(L, beyond, &frame); beyond *= 2) there = beyond;
  while (beyond - there > 1) {
    const int middle = there + (beyond - there) / 2;
    (lua_getstack(L, middle, &frame) ? there : beyond) = middle;
  }
  return there;
}

Frames read_frames(lua_State* L) {
  // An endless recursion is 200,000 levels deep. Reading all levels would take minutes.
  constexpr int kInner = 200, kOuter = 50;
  Frames frames;
  BindingState& state = binding_state(L);
  lua_Debug frame;
  const int last = last_level(L);
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    if (level > kInner && level < last - kOuter) {
      frames.skipped = size_t(last - kOuter - level);
      level = last - kOuter - 1;
      continue;
    }
    lua_getinfo(L, "Sln", &frame);
    if (frame.currentline < 0) continue;
    const Chunk& chunk = state.chunk(frame);
    const std::string& file = interned(chunk.file);
    const std::string place = file + ":" + std::to_string(frame.currentline);
    if (chunk.library) {
      frames.library.push_back(place.substr(library_directory().size() + 1));
      continue;
    }
    if (frames.user.empty()) {
      frames.first = {file, frame.currentline, 0};
      frames.first_as_lua = frame.short_src;
      frames.first_level = level;
    }
    frames.user.push_back(place + ": " + function_name(frame));
  }
  return frames;
}

std::string join(const Frames& frames) {
  std::string text;
  const size_t count = frames.user.size();
  for (size_t i = 0; i < count; ++i) {
    if (count > 2 * kShownAtEachEnd && i == kShownAtEachEnd) {
      text += "  … " + std::to_string(count - 2 * kShownAtEachEnd + frames.skipped) + " more …\n";
      i = count - kShownAtEachEnd;
    }
    text += "  " + frames.user[i] + "\n";
  }
  if (frames.library.empty()) return text;
  text += "  (through ";
  for (size_t i = 0; i < std::min(frames.library.size(), kShownAtEachEnd); ++i)
    text += (i ? ", " : "") + frames.library[i];
  return text + (frames.library.size() > kShownAtEachEnd ? ", …)\n" : ")\n");
}

// Notes the op that the engine's Error names, and the tensors among the arguments of the function that raised
// it, whose frame still exists.
void note_call(lua_State* L, const CaughtError& raised, ScriptError& error) {
  std::string_view name = raised.message;
  if (name.starts_with("bad argument #"))  // to 'matmul'
    name.remove_prefix(std::min(name.size(), name.find('\'') + 1));
  name = name.substr(0, name.find_first_of("':"));
  for (const std::string& known : {std::string(name), "_" + std::string(name)})
    if (error.op.empty() && find_op(known)) error.op = known;
  lua_Debug callee;
  if (error.op.empty() || !lua_getstack(L, 1, &callee) || !lua_getinfo(L, "S", &callee) ||
      *callee.what != 'C')
    return;
  for (int i = 1; lua_getlocal(L, &callee, i); ++i) {
    if (const Tensor* const x = to_tensor(L, -1)) error.operands.push_back(*x);
    for (int k = 1; lua_istable(L, -1) && k <= kListedTensors; ++k) {  // cat{a, b}
      lua_rawgeti(L, -1, k);
      const Tensor* const x = to_tensor(L, -1);
      if (x) error.operands.push_back(*x);
      lua_pop(L, 1);
      if (!x) break;
    }
    lua_pop(L, 1);
  }
}

// Fills `error` from the message at the top of the stack.
void describe(lua_State* L, ScriptError& error) {
  error.message = text_of_top(L);
  const Frames frames = read_frames(L);
  error.traceback = join(frames);
  const Place place = place_in(error.message);
  const bool in_user_code =
      frames.user.empty() || (place.line == frames.first.line && place.file == frames.first_as_lua);
  const bool in_library = place.file.starts_with(library_directory());
  const Place& shown = !in_user_code && place.line && !in_library ? place : frames.first;
  error.file = frames.user.empty() ? place.file : shown.file;
  error.line = frames.user.empty() ? place.line : shown.line;
  if (const Place inner = innermost_place(error.message, frames.first_as_lua);
      inner.line > 0 && (inner.line != place.line || inner.file != place.file) &&
      !inner.file.starts_with(library_directory())) {
    error.file = inner.file == frames.first_as_lua ? frames.first.file : inner.file;
    error.line = inner.line;
  }
  const std::string wrong_call = describe_wrong_call(L, frames.first_level);
  if (!frames.user.empty() && (in_library || !wrong_call.empty()))
    error.message = frames.first_as_lua + ":" + std::to_string(frames.first.line) + ": " +
                    (wrong_call.empty() ? error.message.substr(place.length) : wrong_call);
  const CaughtError& raised = binding_state(L).last_error;  // raised by the engine or the library
  if (const size_t at = error.message.rfind(raised.message); *raised.message && at != std::string::npos) {
    note_call(L, raised, error);
    if (raised.kind == ErrorKind::value) error.message.insert(at, module_path(L));
  }
  if (explain_missing(L, frames.first_level, frames.first.line, in_user_code, error.message)) return;
  std::string advice = missing_method(L, frames.first_level, error.message);
  if (advice.empty()) advice = dotted_method(L, frames.first_level, error.message);
  if (advice.empty()) advice = compared_tensors(L, frames.first_level, error.message);
  error.message += advice.empty() ? hint(error.message) : advice;
}

// The message handler of traceback_call, which passes the ScriptError to fill.
int describe_error(lua_State* L) {
  luaL_checkany(L, 1);
  describe(L, Passed<ScriptError>::get());
  return 1;
}

// The script's line at which the last call_noting_line failed.
thread_local SourceLine failed_line;

// Calls the first argument with the other arguments. If the call fails, stores the script's line: Lua calls
// no message handler when memory runs out.
int call_noting_line(lua_State* L) {
  luaL_checkany(L, 1);
  try {
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  } catch (...) {  // Lua's own exception; the enclosing protected call unwinds the stack
    const MemoryLimit limit = memory_limit();
    set_memory_limit({});  // the name of a file needs little memory
    try {
      failed_line = script_line(L);
    } catch (const std::exception&) {
      failed_line = {};
    }
    set_memory_limit(limit);
    throw;
  }
  return lua_gettop(L);
}

}  // namespace

std::string advised_message(lua_State* L) {
  ScriptError error;
  describe(L, error);
  return std::move(error.message);
}

int traceback_call(lua_State* L, int arguments, int results, ScriptError& error) {
  error = {};
  failed_line = {};
  BindingState& state = binding_state(L);
  state.last_error.message[0] = '\0';
  const int function = lua_gettop(L) - arguments;
  const Passed<ScriptError> passed(error);
  lua_pushcfunction(L, guard<describe_error>);
  lua_insert(L, function);
  lua_pushcfunction(L, call_noting_line);
  lua_insert(L, function + 1);
  const int status = lua_pcall(L, arguments + 1, results, function);
  lua_remove(L, function);
  if (status == LUA_OK) return status;
  if (status == LUA_ERRMEM) {
    const std::string place = to_string(failed_line);
    error.message = place + (place.empty() ? "" : ": ") + memory_error(L);
    error.file = interned(failed_line.file);
    error.line = failed_line.line;
  } else if (error.message.empty()) {  // an error in the handler itself
    const char* text = lua_tostring(L, -1);
    error.message = text ? text : "unknown error";
  }
  lua_pop(L, 1);
  const char* last = state.last_error.message;
  if (status == LUA_ERRMEM)
    error.kind = ErrorKind::memory;
  else if (*last && error.message.find(last) != std::string::npos)
    error.kind = state.last_error.kind;
  return status;
}

}  // namespace lunagrad
