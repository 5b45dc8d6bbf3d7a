#include "script/lua/source.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <lua.hpp>
#include <memory>

#include "runtime/core/error.h"
#include "script/lua/foreign_lua.h"

namespace lunagrad {

// In Lua's names of chunks '@' marks a file and '=' a literal name; any other name is the code itself.
std::string chunk_name(const char* source) {
  if (*source == '@' || *source == '=') return source + 1;
  const std::string_view code = source;
  const std::string_view line = code.substr(0, std::min(code.find('\n'), size_t(40)));
  return "[string \"" + std::string(line) + (line.size() < code.size() ? "...\"]" : "\"]");
}

std::string read_script(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail_as(ErrorKind::file, path, ": ", std::strerror(EISDIR));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail_as(ErrorKind::file, path, ": ", std::strerror(errno ? errno : EIO));
  // Not through a stream buffer, which reports a failed allocation as the end of the file.
  std::string content;
  char block[1 << 14];
  for (;;) {
    in.read(block, sizeof block);
    content.append(block, size_t(in.gcount()));
    if (in.eof()) return content;
    if (!in) fail_as(ErrorKind::file, path, ": ", std::strerror(errno ? errno : EIO));
  }
}

std::string_view without_shebang(std::string_view source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  if (source.empty() || source[0] != '#') return source;
  const size_t end = source.find('\n');
  return end == std::string_view::npos ? std::string_view() : source.substr(end);
}

std::string syntax_error(std::string_view source, const std::string& name, SourcePlace& place) {
  refuse_foreign_lua();
  const std::unique_ptr<lua_State, decltype(&lua_close)> state(luaL_newstate(), lua_close);
  if (!state) fail_as(ErrorKind::memory, "not enough memory");
  const int status = luaL_loadbufferx(state.get(), source.data(), source.size(), name.c_str(), "t");
  if (status == LUA_OK) return {};
  const std::string message = lua_tostring(state.get(), -1);
  place.file = chunk_name(name.c_str());
  // Lua shortens long chunk names in its message, so the line number is found by the colons around it.
  const size_t colon = message.find(": ");
  const size_t before = colon == std::string::npos ? colon : message.rfind(':', colon - 1);
  if (before != std::string::npos) place.line = std::atoi(message.c_str() + before + 1);
  return message;
}

}  // namespace lunagrad
