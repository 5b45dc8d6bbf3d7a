// Binds lg.io: the readers and writers of runtime/io, and save and load of nested tables. Loading never runs
// code. A table is saved as a safetensors file whose metadata entry "lunagrad" describes the table as JSON:
//   number, string, boolean   as they are
//   infinity, NaN             {"number": text}
//   invalid UTF-8             {"bytes": hex}
//   list                      [value, …]
//   other table               {"table": [[key, value], …]}
//   tensor                    {"tensor": name}
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/io/csv.h"
#include "runtime/io/json_text.h"
#include "runtime/io/safetensors.h"
#include "runtime/ops.h"
#include "script/bind/data/files.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/size.h"

namespace lunagrad {

void push_loaded(lua_State* L, const Tensor& x) { push_result(L, to(x, *context().device)); }

std::string check_path(lua_State* L, const char* function, FileUse use) {
  const std::string_view path = check_string(L, 1, function);
  if (path.empty() || path.find('\0') != std::string_view::npos) bad_argument(L, 1, function, "not a path");
  return binding_state(L).files.check(std::string(path), use, function);
}

void push_named_tensors(lua_State* L, const NamedTensors& tensors) {
  lua_createtable(L, 0, int(tensors.size()));
  for (const auto& [name, tensor] : tensors) {
    push_string(L, name);
    push_loaded(L, tensor);
    lua_rawset(L, -3);
  }
}

namespace {

using nlohmann::json;

constexpr const char* kTableKey = "lunagrad";

char check_delimiter(lua_State* L, int index, Callee callee) {
  const std::string_view text = check_string(L, index, callee);
  if (text.size() != 1) bad_argument(L, index, callee, "one character expected");
  return text[0];
}

// --- csv ---

// csv.load(path, {header, delimiter, dtype}) -> tensor, names of the columns or nil
int load_csv_file(lua_State* L) {
  constexpr const char* kName = "csv.load";
  const std::string path = check_path(L, kName, FileUse::read);
  CsvOptions options;
  if (!lua_isnoneornil(L, 2)) {
    if (!lua_istable(L, 2)) wrong_type(L, 2, kName, "table of options");
    each_option(L, 2, kName, "header, delimiter, dtype",
                [&](std::string_view name, int value, Callee callee) {
                  if (name == "header")
                    options.header = check_boolean(L, value, callee);
                  else if (name == "delimiter")
                    options.delimiter = check_delimiter(L, value, callee);
                  else if (name == "dtype")
                    options.dtype = check_dtype(L, value, callee);
                  else
                    return false;
                  return true;
                });
  }
  CsvTable table = load_csv(path, options);
  push_loaded(L, table.values);
  if (!options.header) return 1;
  lua_createtable(L, int(table.columns.size()), 0);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    push_string(L, table.columns[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  return 2;
}

// csv.save(path, tensor, {columns, delimiter})
int save_csv_file(lua_State* L) {
  constexpr const char* kName = "csv.save";
  const std::string path = check_path(L, kName);
  const Tensor values = check_tensor(L, 2, kName);
  std::vector<std::string> columns;
  char delimiter = ',';
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, kName, "table of options");
    each_option(L, 3, kName, "columns, delimiter", [&](std::string_view name, int value, Callee callee) {
      if (name == "delimiter") {
        delimiter = check_delimiter(L, value, callee);
      } else if (name == "columns") {
        if (!lua_istable(L, value)) wrong_type(L, value, callee, "list of names");
        for (lua_Integer i = 1; lua_rawgeti(L, value, i) != LUA_TNIL; ++i, lua_pop(L, 1))
          columns.emplace_back(check_string(L, lua_gettop(L), callee));
        lua_pop(L, 1);
      } else {
        return false;
      }
      return true;
    });
  }
  save_csv(path, values, columns, delimiter);
  return 0;
}

// --- safetensors ---

// safetensors.load(path, {skip_unsupported}) -> name -> tensor, name -> text
int load_safetensors_file(lua_State* L) {
  constexpr const char* kName = "safetensors.load";
  const std::string path = check_path(L, kName, FileUse::read);
  bool skip = false;
  if (!lua_isnoneornil(L, 2)) {
    if (!lua_istable(L, 2)) wrong_type(L, 2, kName, "table of options");
    each_option(L, 2, kName, "skip_unsupported", [&](std::string_view name, int value, Callee callee) {
      if (name != "skip_unsupported") return false;
      skip = check_boolean(L, value, callee);
      return true;
    });
  }
  const Safetensors file = load_safetensors(path, skip);
  push_named_tensors(L, file.tensors);
  lua_createtable(L, 0, int(file.metadata.size()));
  for (const auto& [name, value] : file.metadata) {
    push_string(L, name);
    push_string(L, value);
    lua_rawset(L, -3);
  }
  return 2;
}

// The string at `index`. Error for any other type, including a number, which Lua would convert.
std::string text_at(lua_State* L, int index, const char* function, const char* what) {
  if (lua_type(L, index) != LUA_TSTRING)
    fail(function, ": ", what, " must be strings (got ", type_name(L, index), ")");
  size_t size = 0;
  const char* text = lua_tolstring(L, index, &size);
  return {text, size};
}

}  // namespace

NamedTensors check_named_tensors(lua_State* L, const char* function) {
  if (!lua_istable(L, 2)) wrong_type(L, 2, function, "table of tensors");
  NamedTensors tensors;
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const std::string name = text_at(L, -2, function, "the names of tensors");
    const Tensor* const tensor = to_tensor(L, -1);
    if (!tensor)
      fail(function, ": '", name, "' is a ", type_name(L, -1), ", not a tensor (lg.io.save takes both)");
    tensors.emplace_back(name, *tensor);
  }
  // Lua's order of keys is arbitrary: sort by name, so that equal tables give equal files.
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return tensors;
}

namespace {

// safetensors.save(path, name -> tensor, {metadata = name -> text})
int save_safetensors_file(lua_State* L) {
  constexpr const char* kName = "safetensors.save";
  const std::string path = check_path(L, kName);
  const NamedTensors tensors = check_named_tensors(L, kName);
  std::map<std::string, std::string> metadata;
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, kName, "table of options");
    each_option(L, 3, kName, "metadata", [&](std::string_view name, int value, Callee callee) {
      if (name != "metadata") return false;
      if (!lua_istable(L, value)) wrong_type(L, value, callee, "table of texts");
      for (lua_pushnil(L); lua_next(L, value); lua_pop(L, 1)) {
        const std::string key = text_at(L, -2, kName, "names of metadata");
        metadata[key] = text_at(L, -1, kName, "values of metadata");
      }
      return true;
    });
  }
  save_safetensors(path, tensors, metadata);
  return 0;
}

// --- nested tables ---

bool is_utf8(const std::string& text) {
  try {
    json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

std::string hexadecimal(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) (out += kDigits[byte >> 4]) += kDigits[byte & 15];
  return out;
}

class TableWriter {
 public:
  explicit TableWriter(lua_State* L) : L_(L) {}
  NamedTensors tensors;

  json write(int index, const std::string& path) {
    switch (lua_type(L_, index)) {
      case LUA_TBOOLEAN:
        return bool(lua_toboolean(L_, index));
      case LUA_TNUMBER:
        return number(index);
      case LUA_TSTRING:
        return text(index);
      case LUA_TTABLE:
        return table(index, path);
      default:
        break;
    }
    if (const Tensor* const tensor = to_tensor(L_, index)) return {{"tensor", name_of(*tensor, path)}};
    fail("io.save: ", path, " is a ", type_name(L_, index),
         "; tensors, numbers, strings, booleans and tables are saved");
  }

 private:
  json number(int index) const {
    if (lua_isinteger(L_, index)) return int64_t(lua_tointeger(L_, index));
    const double value = lua_tonumber(L_, index);
    if (std::isfinite(value)) return value;
    return {{"number", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
  }

  json text(int index) const {
    size_t size = 0;
    const char* const bytes = lua_tolstring(L_, index, &size);
    std::string value(bytes, size);
    if (is_utf8(value)) return value;
    return {{"bytes", hexadecimal(value)}};
  }

  // A tensor that appears twice is stored once.
  std::string name_of(const Tensor& tensor, const std::string& path) {
    tensor.storage().check_whole("io.save");
    std::string& name = names_[tensor.id()];
    if (name.empty()) {
      name = is_utf8(path) ? path : hexadecimal(path);
      const std::string base = name;
      for (int copy = 2; !taken_.emplace(name, true).second || name == "__metadata__"; ++copy)
        name = base + "#" + std::to_string(copy);
      tensors.emplace_back(name, tensor);
    }
    return name;
  }

  std::string key_path(const std::string& path) const {
    size_t size = 0;
    lua_pushvalue(L_, -2);  // lua_tolstring would change the key that lua_next needs
    const char* const key = luaL_tolstring(L_, -1, &size);
    std::string out = path.empty() ? std::string(key, size) : path + "." + std::string(key, size);
    lua_pop(L_, 2);
    return out;
  }

  json table(int index, const std::string& path) {
    const std::string shown = path.empty() ? "the table" : path;
    if (!is_dims(L_, index) && lua_getmetatable(L_, index))
      fail("io.save: ", shown, " is an object with a metatable; save what its state_dict() gives");
    const void* const identity = lua_topointer(L_, index);
    if (std::find(above_.begin(), above_.end(), identity) != above_.end())
      fail("io.save: ", shown, " contains itself");
    if (above_.size() >= size_t(kDeepestNesting))
      fail("io.save: more than ", kDeepestNesting, " tables within each other");
    luaL_checkstack(L_, 8, "io.save");
    above_.push_back(identity);
    index = lua_absindex(L_, index);
    const lua_Integer length = lua_Integer(lua_rawlen(L_, index));
    json pairs = json::array();
    lua_Integer in_list = 0;
    for (lua_pushnil(L_); lua_next(L_, index); lua_pop(L_, 1)) {
      const int key = lua_type(L_, -2);
      if (key != LUA_TSTRING && key != LUA_TNUMBER && key != LUA_TBOOLEAN)
        fail("io.save: ", shown, " has a ", type_name(L_, -2),
             " as a key; strings, numbers and booleans are saved");
      if (lua_isinteger(L_, -2) && lua_tointeger(L_, -2) >= 1 && lua_tointeger(L_, -2) <= length) ++in_list;
      json name = write(lua_gettop(L_) - 1, "");
      pairs.push_back({std::move(name), write(lua_gettop(L_), key_path(path))});
    }
    above_.pop_back();
    // Lua's order of keys is arbitrary: sort by key, so that equal tables give equal files.
    std::sort(pairs.begin(), pairs.end(), [](const json& a, const json& b) { return a[0] < b[0]; });
    if (in_list != length || size_t(length) != pairs.size()) return {{"table", std::move(pairs)}};
    json list = json::array();
    for (json& pair : pairs) list.push_back(std::move(pair[1]));
    return list;
  }

  lua_State* L_;
  std::vector<const void*> above_;
  std::map<uint64_t, std::string> names_;
  std::map<std::string, bool> taken_;
};

class TableReader {
 public:
  TableReader(lua_State* L, const std::string& path, const Safetensors& file) : L_(L), path_(path) {
    for (const auto& [name, tensor] : file.tensors) tensors_[name] = &tensor;
    // name -> userdata: a tensor that appears twice becomes one userdata.
    lua_newtable(L_);
    made_ = lua_gettop(L_);
  }

  void push(const std::string& description) {
    json value;
    try {
      value = parse_json<json>(description, path_ + ": the description of its table");
    } catch (const json::exception&) {
      complain("the description of its table is not valid JSON");
    }
    push(value);
  }

 private:
  template <class... Parts>
  [[noreturn]] void complain(const Parts&... parts) const {
    fail_as(ErrorKind::file, path_, ": ", parts...);
  }

  void push(const json& value) {
    luaL_checkstack(L_, 8, "io.load");
    switch (value.type()) {
      case json::value_t::boolean:
        return lua_pushboolean(L_, value.get<bool>());
      case json::value_t::number_integer:
        return lua_pushinteger(L_, value.get<int64_t>());
      case json::value_t::number_unsigned:
        if (value.get<uint64_t>() > uint64_t(INT64_MAX))
          complain("an integer of its table does not fit 64 bits");
        return lua_pushinteger(L_, value.get<int64_t>());
      case json::value_t::number_float:
        return lua_pushnumber(L_, value.get<double>());
      case json::value_t::string:
        return push_string(L_, value.get_ref<const std::string&>());
      case json::value_t::array:
        return push_list(value);
      case json::value_t::object:
        break;
      default:
        complain("the description of its table holds null");
    }
    if (value.size() != 1) complain("the description of its table is damaged");
    const std::string& kind = value.begin().key();
    const json& content = value.begin().value();
    if (kind == "table") return push_pairs(content);
    if (!content.is_string()) complain("the description of its table is damaged");
    const std::string& text = content.get_ref<const std::string&>();
    if (kind == "tensor") return push_named(text);
    if (kind == "bytes") return push_bytes(text);
    if (kind != "number" || (text != "nan" && text != "inf" && text != "-inf"))
      complain("the description of its table is damaged");
    lua_pushnumber(L_, text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL);
  }

  void push_list(const json& list) {
    lua_createtable(L_, int(std::min<size_t>(list.size(), 1 << 20)), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      push(list[i]);
      lua_rawseti(L_, -2, lua_Integer(i) + 1);
    }
  }

  void push_pairs(const json& pairs) {
    if (!pairs.is_array()) complain("the description of its table is damaged");
    lua_newtable(L_);
    for (const json& pair : pairs) {
      if (!pair.is_array() || pair.size() != 2) complain("the description of its table is damaged");
      push(pair[0]);
      const int type = lua_type(L_, -1);
      const bool key = type == LUA_TSTRING || type == LUA_TBOOLEAN ||
                       (type == LUA_TNUMBER && lua_tonumber(L_, -1) == lua_tonumber(L_, -1));
      if (!key) complain("the description of its table is damaged");
      push(pair[1]);
      lua_rawset(L_, -3);
    }
  }

  void push_named(const std::string& name) {
    push_string(L_, name);
    if (lua_rawget(L_, made_) != LUA_TNIL) return;
    lua_pop(L_, 1);
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) complain("its table names the tensor '", name, "', which it does not hold");
    push_loaded(L_, *found->second);
    push_string(L_, name);
    lua_pushvalue(L_, -2);
    lua_rawset(L_, made_);
  }

  void push_bytes(const std::string& digits) {
    const auto digit = [&](char c) {
      const size_t value = std::string_view("0123456789abcdef").find(c);
      if (value == std::string_view::npos) complain("the description of its table is damaged");
      return value;
    };
    if (digits.size() % 2 != 0) complain("the description of its table is damaged");
    std::string bytes;
    for (size_t i = 0; i < digits.size(); i += 2) bytes += char(digit(digits[i]) << 4 | digit(digits[i + 1]));
    push_string(L_, bytes);
  }

  lua_State* L_;
  const std::string& path_;
  std::map<std::string_view, const Tensor*> tensors_;
  int made_ = 0;
};

// io.save(path, table)
int save_table(lua_State* L) {
  lua_settop(L, 2);
  if (lua_istable(L, 1) && lua_type(L, 2) == LUA_TSTRING) lua_insert(L, 1);  // PyTorch's order
  const std::string path = check_path(L, "save");
  if (!lua_istable(L, 2)) wrong_type(L, 2, "save", "table");
  TableWriter writer(L);
  const std::string description = writer.write(2, "").dump();
  save_safetensors(path, writer.tensors, {{kTableKey, description}});
  return 0;
}

// io.load(path) -> the saved table; name -> tensor for a safetensors file of another program; the value for a
// file of torch.save
int load_table(lua_State* L) {
  const std::string path = check_path(L, "load", FileUse::read);
  if (is_pt(path)) {
    push_pt(L, path);
    return 1;
  }
  const Safetensors file = load_safetensors(path);
  const auto description = file.metadata.find(kTableKey);
  if (description != file.metadata.end()) {
    TableReader(L, path, file).push(description->second);
    return 1;
  }
  push_named_tensors(L, file.tensors);
  return 1;
}

constexpr luaL_Reg kIo[] = {{"save", guard<save_table>}, {"load", guard<load_table>}, {nullptr, nullptr}};
constexpr luaL_Reg kCsv[] = {
    {"load", guard<load_csv_file>}, {"save", guard<save_csv_file>}, {nullptr, nullptr}};
constexpr luaL_Reg kSafetensors[] = {
    {"load", guard<load_safetensors_file>}, {"save", guard<save_safetensors_file>}, {nullptr, nullptr}};

}  // namespace

void bind_io(lua_State* L, int core, int) {
  luaL_newlib(L, kIo);
  luaL_newlib(L, kCsv);
  lua_setfield(L, -2, "csv");
  luaL_newlib(L, kSafetensors);
  lua_setfield(L, -2, "safetensors");
  bind_arrays(L, lua_gettop(L));
  bind_pt(L, lua_gettop(L));
  lua_setfield(L, core, "io");
}

}  // namespace lunagrad
