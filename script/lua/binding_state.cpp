#include "script/lua/binding_state.h"

#include <string_view>

#include "script/lua/source.h"
#include "script/meta/library.h"

namespace lunagrad {
namespace {

bool is_library(const char* source) {
  const std::string& folder = library_directory();
  return source[0] == '@' && std::string_view(source + 1).starts_with(folder) &&
         source[1 + folder.size()] == '/';
}

}  // namespace

void Chunk::read(const lua_Debug& frame) {
  source = nullptr;
  file = intern(chunk_name(frame.source));
  library = is_library(frame.source);
  length = frame.srclen;
  std::memcpy(start, frame.source, std::min(frame.srclen, kCompared));
  source = frame.source;
}

void set_safe_point(lua_State* L, SafePoint function, void* data) {
  binding_state(L).safe_point = function;
  binding_state(L).safe_point_data = data;
}

void remember_module(lua_State* L, int index) {
  const int reference = binding_state(L).called_modules;
  if (reference == LUA_NOREF || !lua_istable(L, index)) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
  lua_pushvalue(L, index);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pushvalue(L, index);
    lua_pushliteral(L, "training");
    lua_rawget(L, index);
    lua_pushboolean(L, lua_toboolean(L, -1));
    lua_replace(L, -2);
    lua_rawset(L, -4);
  }
  lua_pop(L, 2);
}

}  // namespace lunagrad
