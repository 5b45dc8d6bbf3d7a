// Binds lg.tensor, which makes a tensor from Lua numbers, booleans and nested tables, and the functions for
// the random generator, the devices, the matmul precision and the clock. Other functions that create tensors,
// such as lg.zeros, are ops (ops.cpp).
#include <chrono>
#include <memory>
#include <optional>
#include <random>

#include "runtime/core/default_dtype.h"
#include "runtime/core/script_numbers.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

// Reads the value at the top of the stack: a number, a boolean, or nested tables of them, at most kMaxDims
// levels deep.
class TableReader {
 public:
  explicit TableReader(lua_State* L) : L_(L) {
    measure();
    find_type();
  }
  // i64 if all numbers are integers, otherwise the default type; bool for booleans; the default type if there
  // are no elements.
  DType dtype() const { return dtype_; }
  Shape shape() const { return Shape(std::span<const int64_t>(sizes_)); }

  // The elements in row-major order. Integers stay exact; floats are converted as by a cast.
  template <class T>
  std::vector<T> read(DType type) {
    std::vector<T> values;
    values.reserve(size_t(numel(shape())));
    visit(0, [&] {
      if (lua_isboolean(L_, -1))
        values.push_back(convert<T>(bool(lua_toboolean(L_, -1))));
      else if (lua_isinteger(L_, -1))
        values.push_back(converted<T>(type, int64_t(lua_tointeger(L_, -1))));
      else
        values.push_back(converted<T>(type, double(lua_tonumber(L_, -1))));
    });
    return values;
  }

 private:
  template <class T, class Number>
  static T converted(DType type, Number number) {
    if (is_integral(type) && !std::is_same_v<T, Number>) check_converts("tensor", type, number);
    return convert<T>(number);
  }

  // Takes the sizes from the first element of each level; visit() checks the other elements.
  void measure() {
    const int top = lua_gettop(L_);
    luaL_checkstack(L_, kMaxDims + 2, "tensor");
    while (lua_type(L_, -1) == LUA_TTABLE) {
      if (sizes_.size() == size_t(kMaxDims))
        fail("tensor: tables are nested deeper than ", kMaxDims, " dims");
      sizes_.push_back(list_length(L_, -1, 1, "tensor"));
      lua_rawgeti(L_, -1, 1);
    }
    lua_settop(L_, top);
  }

  void find_type() {
    bool any = false;
    visit(0, [&] {
      DType here = DType::boolean;
      if (lua_type(L_, -1) == LUA_TNUMBER)
        here = lua_isinteger(L_, -1) ? DType::i64 : default_dtype();
      else if (!lua_isboolean(L_, -1))
        fail("tensor: numbers or booleans expected, got ", type_name(L_, -1));
      if (any && (here == DType::boolean) != (dtype_ == DType::boolean))
        fail("tensor: booleans and numbers do not mix");
      any = true;
      dtype_ = std::max(dtype_, here);
    });
    if (!any) dtype_ = default_dtype();
  }

  // Calls value() with each element on top of the stack.
  template <class F>
  void visit(size_t depth, F&& value) {
    const bool table = lua_type(L_, -1) == LUA_TTABLE;
    if (depth == sizes_.size()) {
      if (table) fail("tensor: the table is ragged: a table stands where the first element is a number");
      return value();
    }
    if (!table)
      fail("tensor: the table is ragged: ", type_name(L_, -1), " stands where the first element is a table");
    const int64_t length = list_length(L_, -1, 1, "tensor");
    if (length != sizes_[depth])
      fail("tensor: the table is ragged: dim ", depth + 1, " has ", sizes_[depth],
           " elements at first, then ", length);
    for (int64_t i = 1; i <= length; ++i) {
      if (i % 4096 == 0) context().check_stop();
      lua_rawgeti(L_, -1, i);
      visit(depth + 1, value);
      lua_pop(L_, 1);
    }
  }

  lua_State* const L_;
  std::vector<int64_t> sizes_;
  DType dtype_ = DType::boolean;
};

// Booleans have a branch of their own, because std::vector<bool> is not an array of bool.
Tensor tensor_from_table(TableReader& reader, DType dtype, Device& device) {
  if (dtype == DType::boolean) {
    const std::vector<double> values = reader.read<double>(DType::f64);
    const auto bools = std::make_unique<bool[]>(values.size());
    for (size_t i = 0; i < values.size(); ++i) bools[i] = values[i] != 0;
    return Tensor::from(std::span<const bool>(bools.get(), values.size()), reader.shape(), device);
  }
  Tensor made;
  visit_any_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      const std::vector<T> values = reader.read<T>(dtype);
      made = Tensor::from(std::span<const T>(values), reader.shape(), device);
    }
  });
  return made;
}

// lg.tensor(value, {dtype =, device =, requires_grad =})
int tensor(lua_State* L) {
  luaL_checkany(L, 1);
  std::optional<DType> dtype;
  Device* device = nullptr;
  bool requires_grad = false;
  if (!lua_isnoneornil(L, 2)) {
    if (!lua_istable(L, 2)) wrong_type(L, 2, "tensor", "options table");
    each_option(L, 2, "tensor", "dtype, device, requires_grad",
                [&](std::string_view name, int value, Callee callee) {
                  if (name == "dtype")
                    dtype = check_dtype(L, value, callee);
                  else if (name == "device")
                    device = &check_device(L, value, callee);
                  else if (name == "requires_grad")
                    requires_grad = check_boolean(L, value, callee);
                  else
                    return false;
                  return true;
                });
  }
  lua_settop(L, 1);
  mark_line(L);
  Tensor made;
  with_memory_retry(L, [&] {
    const NoGrad off;
    if (const Tensor* const x = to_tensor(L, 1)) {
      made = to(clone(*x), dtype.value_or(x->dtype()));
      if (device) made = to(made, *device);
      return;
    }
    TableReader reader(L);
    made = tensor_from_table(reader, dtype.value_or(reader.dtype()), device ? *device : *context().device);
  });
  if (requires_grad) made.requires_grad_();
  push_result(L, std::move(made));
  after_op(L);
  return 1;
}

// --- the random generator, devices and precision ---

int manual_seed(lua_State* L) {
  context().generator.seed(uint64_t(check_integer(L, 1, "manual_seed")));
  return 0;
}

// The seed as the integer with the same bits.
int initial_seed(lua_State* L) {
  lua_pushinteger(L, lua_Integer(context().generator.seed()));
  return 1;
}

// seed() -> a new seed of the generator, from the system's random numbers. It has 53 bits, so that a run's
// record shows it exactly.
int random_seed(lua_State* L) {
  std::random_device source;
  const uint64_t seed = (uint64_t(source()) << 32 | source()) >> 11;
  context().generator.seed(seed);
  lua_pushinteger(L, lua_Integer(seed));
  return 1;
}

int get_num_threads(lua_State* L) {
  lua_pushinteger(L, thread_count());
  return 1;
}

// Sets the number of threads of the process, as `run --threads` does.
int set_num_threads(lua_State* L) {
  constexpr int64_t kMost = 1024;
  const int64_t count = check_integer(L, 1, "set_num_threads");
  if (count < 1 || count > kMost)
    fail("set_num_threads: 1 to ", kMost, " threads expected (got ", count, ")");
  set_thread_count(int(count));
  return 0;
}

int get_rng_state(lua_State* L) {
  lua_createtable(L, 0, 2);
  lua_pushinteger(L, lua_Integer(context().generator.seed()));
  lua_setfield(L, -2, "seed");
  lua_pushinteger(L, lua_Integer(context().generator.stream()));
  lua_setfield(L, -2, "stream");
  return 1;
}

int set_rng_state(lua_State* L) {
  if (!lua_istable(L, 1)) wrong_type(L, 1, "set_rng_state", "table of get_rng_state");
  lua_getfield(L, 1, "seed");
  lua_getfield(L, 1, "stream");
  const int64_t seed = check_integer(L, -2, {"set_rng_state", "seed"});
  const int64_t stream = check_integer(L, -1, {"set_rng_state", "stream"});
  context().generator.restore(uint64_t(seed), uint64_t(stream));
  return 0;
}

Device& device_or_default(lua_State* L, const char* callee) {
  return lua_isnoneornil(L, 1) ? *context().device : check_device(L, 1, callee);
}

// device() -> the name of the default device; device(name) -> the name of that device, or an Error.
int get_device(lua_State* L) {
  push_string(L, device_or_default(L, "device").name());
  return 1;
}

int set_device(lua_State* L) {
  context().device = &check_device(L, 1, "set_device");
  return 0;
}

int get_default_dtype(lua_State* L) {
  lua_pushstring(L, dtype_name(default_dtype()));
  return 1;
}

int set_default_type(lua_State* L) {
  set_default_dtype(check_dtype(L, 1, "set_default_dtype"));
  return 0;
}

constexpr const char* kPrecisions[] = {"highest", "high", "medium"};

int get_matmul_precision(lua_State* L) {
  lua_pushstring(L, kPrecisions[int(context().matmul_precision)]);
  return 1;
}

int set_matmul_precision(lua_State* L) {
  const std::string_view given = check_string(L, 1, "set_matmul_precision");
  for (int i = 0; i < 3; ++i)
    if (given == kPrecisions[i]) {
      context().matmul_precision = MatmulPrecision(i);
      return 0;
    }
  bad_argument(L, 1, "set_matmul_precision",
               "one of 'highest', 'high', 'medium' expected, got '" + std::string(given) + "'");
}

int list_devices(lua_State* L) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (const auto& device : devices()) {
    lua_createtable(L, 0, 2);
    push_string(L, device->name());
    lua_setfield(L, -2, "name");
    push_string(L, device->description());
    lua_setfield(L, -2, "description");
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

// memory(device): the bytes of the default device, or of the named one.
int memory(lua_State* L) {
  const DeviceMemory bytes = device_or_default(L, "memory").memory();
  lua_createtable(L, 0, 4);
  for (const auto& [name, value] : {std::pair("in_use", bytes.in_use), std::pair("peak", bytes.peak),
                                    std::pair("reserved", bytes.reserved), std::pair("total", bytes.total)}) {
    lua_pushinteger(L, lua_Integer(value));
    lua_setfield(L, -2, name);
  }
  return 1;
}

int reset_peak_memory(lua_State* L) {
  device_or_default(L, "reset_peak_memory").reset_peak();
  return 0;
}

// Waits until the default device has finished all submitted work. Call it before reading the clock.
int synchronize(lua_State*) {
  Context& ctx = context();
  const uint64_t begin = ticks();
  ctx.device->sync();
  if (ctx.trace && !ctx.device->is_cpu()) ctx.trace->waited(ticks() - begin);
  return 0;
}

// Seconds of the monotonic clock.
int clock(lua_State* L) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  lua_pushnumber(L, std::chrono::duration<double>(now).count());
  return 1;
}

constexpr luaL_Reg kCreationFunctions[] = {{"tensor", guard<tensor>},
                                           {"manual_seed", guard<manual_seed>},
                                           {"initial_seed", guard<initial_seed>},
                                           {"seed", guard<random_seed>},
                                           {"get_num_threads", guard<get_num_threads>},
                                           {"set_num_threads", guard<set_num_threads>},
                                           {"get_rng_state", guard<get_rng_state>},
                                           {"set_rng_state", guard<set_rng_state>},
                                           {"device", guard<get_device>},
                                           {"set_device", guard<set_device>},
                                           {"devices", guard<list_devices>},
                                           {"matmul_precision", guard<get_matmul_precision>},
                                           {"set_matmul_precision", guard<set_matmul_precision>},
                                           {"get_default_dtype", guard<get_default_dtype>},
                                           {"set_default_dtype", guard<set_default_type>},
                                           {"memory", guard<memory>},
                                           {"reset_peak_memory", guard<reset_peak_memory>},
                                           {"synchronize", guard<synchronize>},
                                           {"clock", guard<clock>},
                                           {nullptr, nullptr}};

}  // namespace

void bind_create(lua_State* L, int core, int) {
  set_default_dtype(DType::f32);  // each script starts with f32
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kCreationFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
