// Binds lunagrad.core._onnx_export, which lunagrad/onnx.lua calls to write a model as an ONNX file, and
// _onnx_read, which lunagrad/onnx_import calls to read one.
#include <algorithm>

#include "script/bind/data/files.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/onnx/export.h"
#include "script/onnx/reader.h"
#include "script/parts/parts.h"

namespace lunagrad {
namespace {

constexpr const char* kExportFunction = "io.onnx_export";

std::vector<std::string> check_names(lua_State* L, int index, Callee callee) {
  if (!lua_istable(L, index)) wrong_type(L, index, callee, "list of names");
  std::vector<std::string> names;
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; ++i, lua_pop(L, 1)) {
    names.emplace_back(check_string(L, lua_gettop(L), callee));
    if (names.back().empty() || std::count(names.begin(), names.end(), names.back()) > 1)
      bad_argument(L, index, callee, "'" + names.back() + "' is empty or given twice");
  }
  lua_pop(L, 1);
  return names;
}

onnx_export::Options check_options(lua_State* L, int index) {
  onnx_export::Options options;
  if (lua_isnoneornil(L, index)) return options;
  if (!lua_istable(L, index)) wrong_type(L, index, kExportFunction, "table of options");
  each_option(L, index, kExportFunction, "input_names, output_names, dynamic_batch",
              [&](std::string_view name, int value, Callee callee) {
                if (name == "input_names") {
                  options.input_names = check_names(L, value, callee);
                } else if (name == "output_names") {
                  options.output_names = check_names(L, value, callee);
                } else if (name == "dynamic_batch") {
                  if (lua_isboolean(L, value)) {
                    if (lua_toboolean(L, value)) options.batch_dim = 0;
                    return true;
                  }
                  const int64_t dim = check_position(L, value, callee);
                  if (dim < 0 || dim >= kMaxDims)
                    bad_argument(L, value, callee, "true or a dim from 1 on expected");
                  options.batch_dim = int(dim);
                } else {
                  return false;
                }
                return true;
              });
  return options;
}

// The tensors that a model returned, from stack index `first` on: separate results, or one list of tensors.
TensorList check_results(lua_State* L, int first) {
  TensorList results;
  const auto add = [&](int index) {
    const Tensor* const x = to_tensor(L, index);
    if (!x)
      fail(kExportFunction, ": the model returned a ", type_name(L, index),
           "; tensors or a list of tensors can be outputs");
    results.push_back(*x);
  };
  const int last = lua_gettop(L);
  if (last == first && lua_istable(L, first)) {
    for (lua_Integer i = 1; lua_rawgeti(L, first, i) != LUA_TNIL; ++i, lua_pop(L, 1)) add(lua_gettop(L));
    lua_pop(L, 1);
  } else {
    for (int i = first; i <= last; ++i) add(i);
  }
  if (results.empty()) fail(kExportFunction, ": the model returned no tensor");
  return results;
}

// onnx_export(path, model, inputs, options, id, title, names, tensors): id is the interned path of the
// module's calls, 0 for a function; title is the name of the graph; names[i] is the name of tensors[i] in the
// module's state_dict.
int export_onnx(lua_State* L) {
  const std::string file = check_path(L, kExportFunction);
  const TensorList inputs = check_tensors(L, 3, kExportFunction);
  if (inputs.empty()) bad_argument(L, 3, kExportFunction, "at least one example input is needed");
  const onnx_export::Options options = check_options(L, 4);
  onnx_export::Model model;
  const int64_t id = check_integer(L, 5, kExportFunction);
  if (id < 0 || id > UINT32_MAX) bad_argument(L, 5, kExportFunction, "not an id of a path");
  model.path = interned(uint32_t(id));
  model.title = check_string(L, 6, kExportFunction);
  const std::vector<std::string> names = check_names(L, 7, kExportFunction);
  const TensorList tensors = check_tensors(L, 8, kExportFunction);
  if (names.size() != tensors.size()) bad_argument(L, 7, kExportFunction, "a name for each tensor expected");
  for (size_t i = 0; i < names.size(); ++i) model.parameters.emplace_back(names[i], tensors[i]);
  model.run = [L](const TensorList& examples) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, int(examples.size()) + 8, kExportFunction);
    lua_pushvalue(L, 2);
    for (const Tensor& x : examples) push_tensor(L, x);
    lua_call(L, int(examples.size()), LUA_MULTRET);
    const TensorList results = check_results(L, top + 1);
    lua_settop(L, top);
    return results;
  };
  onnx_export::export_model(file, model, inputs, options);
  return 0;
}

void push_names(lua_State* L, const std::vector<std::string>& names) {
  lua_createtable(L, int(names.size()), 0);
  for (size_t i = 0; i < names.size(); ++i) {
    push_string(L, names[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
}

struct AttributePusher : PlainPusher {
  using PlainPusher::operator();

  void operator()(const Tensor& value) const { push_tensor(L, value); }
  void operator()(const std::vector<std::string>& values) const { push_names(L, values); }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    lua_createtable(L, int(values.size()), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      (*this)(values[i]);
      lua_rawseti(L, -2, lua_Integer(i) + 1);
    }
  }
};

// _onnx_read(path) -> {name, opset, inputs, outputs, initializers = {{name, tensor}, …}, nodes = {{op, name,
// inputs, outputs, attributes}, …}}; tensors on the CPU
int read_onnx(lua_State* L) {
  constexpr const char* kReader = "io.onnx_import";
  const std::string path = check_path(L, kReader, FileUse::read);
  const onnx_import::Model model = onnx_import::read_model(
      path, [&](const std::string& other) { binding_state(L).files.check(other, FileUse::read, kReader); });
  luaL_checkstack(L, 8, kReader);
  lua_createtable(L, 0, 6);
  push_string(L, model.name);
  lua_setfield(L, -2, "name");
  lua_pushinteger(L, lua_Integer(model.opset));
  lua_setfield(L, -2, "opset");
  push_names(L, model.inputs);
  lua_setfield(L, -2, "inputs");
  push_names(L, model.outputs);
  lua_setfield(L, -2, "outputs");
  lua_createtable(L, int(model.initializers.size()), 0);
  for (size_t i = 0; i < model.initializers.size(); ++i) {
    lua_createtable(L, 2, 0);
    push_string(L, model.initializers[i].first);
    lua_rawseti(L, -2, 1);
    push_tensor(L, model.initializers[i].second);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_setfield(L, -2, "initializers");
  lua_createtable(L, int(model.nodes.size()), 0);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const onnx_import::Node& node = model.nodes[i];
    lua_createtable(L, 0, 5);
    push_string(L, node.op);
    lua_setfield(L, -2, "op");
    push_string(L, node.name);
    lua_setfield(L, -2, "name");
    push_names(L, node.inputs);
    lua_setfield(L, -2, "inputs");
    push_names(L, node.outputs);
    lua_setfield(L, -2, "outputs");
    lua_createtable(L, 0, int(node.attributes.size()));
    for (const auto& [name, value] : node.attributes) {
      push_string(L, name);
      std::visit(AttributePusher{{L}}, value);
      lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "attributes");
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_setfield(L, -2, "nodes");
  return 1;
}

constexpr luaL_Reg kFunctions[] = {
    {"_onnx_export", guard<export_onnx>}, {"_onnx_read", guard<read_onnx>}, {nullptr, nullptr}};

}  // namespace

void add_part_onnx(Parts& all) {
  all.bindings.push_back([](lua_State* L, int core) {
    lua_pushvalue(L, core);
    luaL_setfuncs(L, kFunctions, 0);
    lua_pop(L, 1);
  });
}

}  // namespace lunagrad
