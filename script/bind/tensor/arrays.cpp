// Binds lg.io.npz, lg.io.png, and every listed format whose functions take no options.
#include "runtime/io/format.h"
#include "runtime/io/npz.h"
#include "runtime/io/png.h"
#include "script/bind/data/files.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"

namespace lunagrad {
namespace {

// Upvalue: the FileFormat.
const FileFormat& format_of(lua_State* L) {
  return *static_cast<const FileFormat*>(lua_touserdata(L, lua_upvalueindex(1)));
}

int load_file(lua_State* L) {
  const FileFormat& format = format_of(L);
  const std::string name = format.name + std::string(".load");
  push_loaded(L, format.load(check_path(L, name.c_str(), FileUse::read), {}));
  return 1;
}

int save_file(lua_State* L) {
  const FileFormat& format = format_of(L);
  const std::string name = format.name + std::string(".save");
  const std::string path = check_path(L, name.c_str());
  format.save(path, check_tensor(L, 2, name.c_str()));
  return 0;
}

// npz.load(path) -> name -> tensor
int load_npz_file(lua_State* L) {
  push_named_tensors(L, load_npz(check_path(L, "npz.load", FileUse::read)));
  return 1;
}

// npz.save(path, name -> tensor, {compress})
int save_npz_file(lua_State* L) {
  constexpr const char* kName = "npz.save";
  const std::string path = check_path(L, kName);
  NamedTensors tensors = check_named_tensors(L, kName);
  bool compress = false;
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, kName, "table of options");
    each_option(L, 3, kName, "compress", [&](std::string_view name, int value, Callee callee) {
      if (name != "compress") return false;
      compress = check_boolean(L, value, callee);
      return true;
    });
  }
  save_npz(path, tensors, compress);
  return 0;
}

// png.load(path, {channels}) -> u8 [channels, height, width]
int load_png_file(lua_State* L) {
  constexpr const char* kName = "png.load";
  const std::string path = check_path(L, kName, FileUse::read);
  int64_t channels = 0;
  if (!lua_isnoneornil(L, 2)) {
    if (!lua_istable(L, 2)) wrong_type(L, 2, kName, "table of options");
    each_option(L, 2, kName, "channels", [&](std::string_view name, int value, Callee callee) {
      if (name != "channels") return false;
      channels = check_integer(L, value, callee);
      if (channels != 1 && channels != 3 && channels != 4)
        bad_argument(L, value, callee, "1 (grey), 3 (rgb) or 4 (rgba) expected");
      return true;
    });
  }
  push_loaded(L, load_png(path, int(channels)));
  return 1;
}

int save_png_file(lua_State* L) {
  const std::string path = check_path(L, "png.save");
  save_png(path, check_tensor(L, 2, "png.save"));
  return 0;
}

constexpr luaL_Reg kFormat[] = {{"load", guard<load_file>}, {"save", guard<save_file>}, {nullptr, nullptr}};
constexpr luaL_Reg kNpz[] = {
    {"load", guard<load_npz_file>}, {"save", guard<save_npz_file>}, {nullptr, nullptr}};
constexpr luaL_Reg kPng[] = {
    {"load", guard<load_png_file>}, {"save", guard<save_png_file>}, {nullptr, nullptr}};

}  // namespace

void bind_arrays(lua_State* L, int io) {
  for (const FileFormat* format : file_formats()) {
    if (format->takes_options) continue;
    luaL_newlibtable(L, kFormat);
    lua_pushlightuserdata(L, const_cast<FileFormat*>(format));
    luaL_setfuncs(L, kFormat, 1);
    lua_setfield(L, io, format->name);
  }
  luaL_newlib(L, kNpz);
  lua_setfield(L, io, "npz");
  luaL_newlib(L, kPng);
  lua_setfield(L, io, "png");
}

}  // namespace lunagrad
