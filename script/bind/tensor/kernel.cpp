// The functions of lunagrad.core that lg.kernel calls: _kernel makes a kernel, _run_kernel launches it. A
// launch compiles the kernel if the device or the dtypes of its inputs and outputs are new.
// lua/lunagrad/kernel.lua checks the user's arguments and fills in the defaults.
#include <map>

#include "runtime/core/user_kernel.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

struct Kernel {
  KernelSource source;
  std::map<std::pair<const Device*, std::vector<DType>>, int64_t> compiled;
};

constexpr UserType<Kernel> kKernelType("lunagrad.Kernel", "kernel");

template <class F>
void each_item(lua_State* L, int table, const char* name, F&& visit) {
  check_table(L, table, name);
  const int64_t count = list_length(L, table, table, name);
  for (int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, table, i);
    visit(lua_gettop(L));
    lua_pop(L, 1);
  }
}

// _kernel(name, glsl, inputs, outputs, params, {x, y, z})
int new_kernel(lua_State* L) {
  constexpr const char* kName = "kernel";
  // A shader can access any address. On a device that runs on the CPU, that is the memory of this process.
  if (binding_state(L).files.limited) fail("kernel: a sandboxed script cannot bring a shader of its own");
  KernelSource source;
  source.name = check_string(L, 1, kName);
  source.glsl = check_string(L, 2, kName);
  each_item(L, 3, kName, [&](int at) {
    source.inputs.push_back({std::string(check_string(L, at, kName)), DType::f32});
  });
  each_item(L, 4, kName, [&](int at) {
    source.outputs.push_back({std::string(check_string(L, at, kName)), DType::f32});
  });
  each_item(L, 5, kName, [&](int at) { source.params.emplace_back(check_string(L, at, kName)); });
  const Dims threads = check_integers(L, 6, 6, kName);
  for (int d = 0; d < 3; ++d) source.threads[size_t(d)] = d < threads.size() ? threads[d] : 1;
  kKernelType.push(L, std::make_shared<Kernel>(Kernel{std::move(source), {}}));
  return 1;
}

int64_t compiled(Kernel& kernel, Device& device, const TensorList& inputs, const std::vector<DType>& types) {
  std::vector<DType> all;
  for (const Tensor& x : inputs) all.push_back(x.dtype());
  all.insert(all.end(), types.begin(), types.end());
  const auto [entry, is_new] = kernel.compiled.try_emplace({&device, all}, -1);
  if (entry->second >= 0) return entry->second;
  auto* const compiler = dynamic_cast<KernelCompiler*>(&device);
  if (!compiler) fail_as(ErrorKind::device, kernel.source.name, ": ", device.name(), " runs no shaders");
  KernelSource source = kernel.source;
  for (size_t i = 0; i < source.inputs.size(); ++i) source.inputs[i].dtype = all[i];
  for (size_t i = 0; i < source.outputs.size(); ++i) source.outputs[i].dtype = types[i];
  return entry->second = compiler->compile(source);
}

// _run_kernel(kernel, tensors, numbers, groups, types, shapes) -> outputs
int run_kernel(lua_State* L) {
  const std::shared_ptr<Kernel> held = kKernelType.check(L, 1, "kernel");
  Kernel& kernel = *held;
  const char* const name = kernel.source.name.c_str();
  const TensorList inputs = check_tensors(L, 2, name);
  std::vector<double> numbers;
  each_item(L, 3, name, [&](int at) { numbers.push_back(check_number(L, at, name)); });
  const Dims groups = check_integers(L, 4, 4, name);
  std::vector<DType> types;
  each_item(L, 5, name, [&](int at) { types.push_back(check_dtype(L, at, name)); });
  std::vector<Shape> shapes;
  each_item(L, 6, name, [&](int at) { shapes.push_back(check_integers(L, at, at, name)); });
  for (const Tensor& x : inputs)
    if (&x.device() != &inputs[0].device())
      fail(name, ": operands are on different devices: ", inputs[0].device().name(), " and ",
           x.device().name());
  const int64_t number = compiled(kernel, inputs[0].device(), inputs, types);
  int count = 0;
  with_memory_retry(L, [&] {
    TensorList outputs = launch_kernel(number, inputs, numbers, groups, types, shapes);
    count = int(outputs.size());
    luaL_checkstack(L, count, "too many outputs");
    for (Tensor& y : outputs) push_tensor(L, std::move(y));
  });
  return count;
}

constexpr luaL_Reg kKernelFunctions[] = {
    {"_kernel", guard<new_kernel>}, {"_run_kernel", guard<run_kernel>}, {nullptr, nullptr}};

}  // namespace

void bind_kernel(lua_State* L, int core, int) {
  kKernelType.define(L);
  lua_pop(L, 1);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kKernelFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
