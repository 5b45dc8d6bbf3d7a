// The interface between Lua and the engine: errors leak nothing, memory stays bounded, states are separate.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "folders.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"
#include "script/meta/annotations.h"
#include "tests/support/sanitizers.h"
#include "tests/support/twin_device.h"

using namespace lunagrad;

namespace {

// A Lua state with its own context on this thread.
struct Script {
  Context own;
  UseContext use{own};
  lua_State* L;
  ScriptError error;

  explicit Script(const StateOptions& options = {}) : L(new_state(options)) { open_lunagrad(L); }
  ~Script() { close_state(L); }

  bool run(const std::string& code, const char* name = "@script.lua") {
    lua_settop(L, 0);
    const std::string whole = "local lg = require 'lunagrad.core' " + code;
    if (luaL_loadbufferx(L, whole.data(), whole.size(), name, "t") != LUA_OK) {
      error = {};
      error.message = lua_tostring(L, -1);
      return false;
    }
    return traceback_call(L, 0, LUA_MULTRET, error) == LUA_OK;
  }
  int64_t integer() { return int64_t(lua_tointeger(L, -1)); }
  std::string string() { return lua_tostring(L, -1); }
};

size_t resident_bytes() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * size_t(sysconf(_SC_PAGESIZE));
}

size_t peak_tensor_bytes = 0;

int times_owner(lua_State* L) {
  const int64_t value = check_integer(L, 1, "twice");
  if (value < 0) throw std::runtime_error("negative");
  lua_pushinteger(L, value * *module_owner<int64_t>(L));
  return 1;
}

}  // namespace

TEST_CASE("A script's error has its line, its message and the user's frames first") {
  Script script;
  REQUIRE_FALSE(script.run("\nlocal function inner(x)\n  return x + lg.zeros(3)\nend\ninner(lg.zeros(2))"));
  CHECK(script.error.message.starts_with("script.lua:3: add: shapes [2] and [3]"));
  CHECK(script.error.file == "script.lua");
  CHECK(script.error.line == 3);
  CHECK(script.error.traceback == "  script.lua:3: in local 'inner'\n  script.lua:5: in main chunk\n");
  CHECK(script.error.kind == ErrorKind::value);
}

TEST_CASE("The kind of an engine error is kept through Lua") {
  Script script;
  REQUIRE_FALSE(script.run("lg.zeros(2, {device = 'nowhere'})"));
  CHECK(script.error.kind == ErrorKind::device);
  REQUIRE_FALSE(
      script.run("local p = lg.zeros(1, {requires_grad = true})\n"
                 "p:register_hook(function() lg.zeros(2, {device = 'nowhere'}) end)\np:sum():backward()"));
  CHECK(script.error.kind == ErrorKind::device);
  REQUIRE_FALSE(script.run("pcall(lg.zeros, 2, {device = 'nowhere'}) error('another')"));
  CHECK(script.error.kind == ErrorKind::value);
  CHECK(script.error.message == "script.lua:1: another");
  script.own.stop_requested = true;
  REQUIRE_FALSE(script.run("local x = lg.ones(1 << 22) return x:exp()"));
  CHECK(script.error.kind == ErrorKind::cancelled);
}

TEST_CASE("Error values other than strings, and syntax errors, have a message") {
  Script script;
  REQUIRE_FALSE(script.run("error({code = 1})"));
  CHECK(script.error.message.starts_with("table: "));
  REQUIRE_FALSE(script.run("error()"));
  CHECK(script.error.message == "nil");
  REQUIRE_FALSE(script.run("x = = 1"));
  CHECK(script.error.message.starts_with("script.lua:1: "));
  REQUIRE_FALSE(script.run("require 'no.such.module'"));
  CHECK(script.error.message.find("no.such.module") != std::string::npos);
}

TEST_CASE("A long chunk name is not truncated in an error's position") {
  Script script;
  const std::string name = "@" + std::string(90, 'd') + "/train.lua";
  REQUIRE_FALSE(script.run("lg.zeros(-1)", name.c_str()));
  CHECK(script.error.file == name.substr(1));
  CHECK(script.error.message.starts_with(name.substr(1) + ":1: "));
}

TEST_CASE("Ten thousand errors from every binding leave no tensor behind") {
  Script script;
  REQUIRE(script.run(R"(
    local x = lg.zeros(2, 3, {requires_grad = true})
    local bad = {false, true, "text", -7, math.maxinteger, math.mininteger, 0.5, {}, {1, "x"}, {unknown = 1}, function() end, x, lg.zeros(0), lg.zeros(5)}
    local calls = 0
    local function attack(f)
      for i = 1, #bad do
        pcall(f, bad[i])
        for j = 1, #bad, 3 do
          pcall(f, bad[i], bad[j]) pcall(f, x, bad[j], bad[i])
          calls = calls + 2
        end
      end
    end
    local skipped = {manual_seed = true, set_device = true,
                     set_rng_state = true, no_grad = true, enable_grad = true}
    for name, f in pairs(lg) do
      if type(f) == "function" and not skipped[name] then attack(f) end
    end
    for name, f in pairs(lg.methods) do attack(f) end
    for name, f in pairs {lg.grad.check, getmetatable(lg.grad).__call} do attack(f) end
    return calls)"));
  CHECK(script.integer() > 10000);
  REQUIRE(script.run("return (lg.ones(2) + 1):sum():item()"));
  CHECK(script.integer() == 4);
  lua_settop(script.L, 0);
  lua_gc(script.L, LUA_GCCOLLECT);
  lua_gc(script.L, LUA_GCCOLLECT);
  CHECK(cpu_device().memory().in_use == 0);
}

// The most MiB of tensors on the CPU while the code runs.
size_t peak_of(Script& script, const char* code) {
  peak_tensor_bytes = 0;
  set_safe_point(
      script.L,
      [](lua_State*, void*) {
        peak_tensor_bytes = std::max(peak_tensor_bytes, cpu_device().memory().in_use);
      },
      nullptr);
  REQUIRE(script.run(code));
  return peak_tensor_bytes >> 20;
}

TEST_CASE("Garbage collection counts the bytes of tensors, without collectgarbage in the script") {
  Script script;
  CHECK(peak_of(script, "for i = 1, 20000 do lg.empty(1 << 20) end") < 300);
  // The same while a model is alive.
  CHECK(peak_of(script,
                "local keep = {} for i = 1, 64 do keep[i] = lg.empty(1 << 20) end "
                "for i = 1, 5000 do lg.empty(1 << 20) end") < 256 + 400);
}

TEST_CASE("What a script drops is free before the next ops run, and what it held for a while soon after") {
  Script script;
  // Garbage is collected less often where that takes long. Here it takes no time.
  binding_state(script.L).pressure.clock = [] { return uint64_t(0); };
  CHECK(peak_of(script, "for i = 1, 200 do lg.empty(1 << 22) end") <= 3 * 16);
  CHECK(peak_of(script, "local x = lg.ones(1 << 20) for i = 1, 200 do x:tile(4) end") <= 4 + 3 * 16);
  CHECK(peak_of(script, "local held = {} for i = 1, 2000 do held[i % 8] = lg.empty(1 << 20) end") <=
        2 * (8 * 4) + 64 + 16);
}

// Makes a device that is not the CPU the default one.
struct DefaultTwin {
  tests::TwinDevice device;
  Device* const before = context().device;
  DefaultTwin() {
    device.total = size_t(16) << 30;
    context().device = &device;
  }
  ~DefaultTwin() { context().device = before; }
};

TEST_CASE("With a GPU a full collection runs at half of the growth, if the last one was long ago") {
  static uint64_t now;
  now = 0;
  Script script;
  DefaultTwin twin;
  const auto peak_with = [&](uint64_t (*clock)()) {
    binding_state(script.L).pressure.clock = clock;
    return peak_of(
        script, "local held = {} for i = 1, 2000 do held[i % 8] = lg.empty(1 << 20, {device = 'cpu'}) end");
  };
  CHECK(peak_with([] { return uint64_t(0); }) <= 2 * (8 * 4) + 64 + 32 + 16);
  // A collection takes two ticks here, and the next op comes a tick later.
  const size_t seldom = peak_with([] { return ++now; });
  CHECK(seldom > 64 + 64);
  CHECK(seldom <= 2 * (8 * 4) + 64 + 128 + 16);
}

TEST_CASE("Before a backward pass a full collection may take a 32nd of the time, with a GPU a 16th") {
  static uint64_t now;
  const auto collects_after = [](uint64_t ticks, bool gpu) {
    Script script;
    std::optional<DefaultTwin> twin;
    if (gpu) twin.emplace();
    now = 0;
    BindingState& state = binding_state(script.L);
    state.pressure.clock = [] { return ++now; };
    REQUIRE(script.run("a = lg.empty(5 << 20, {device = 'cpu'})"));
    CHECK(collect_dropped(script.L, state));
    REQUIRE(script.run("b = lg.empty(5 << 20, {device = 'cpu'})"));
    now = state.pressure.full_ended + ticks * state.pressure.full_length;
    return collect_dropped(script.L, state);
  };
  CHECK(!collects_after(24, false));
  CHECK(collects_after(40, false));
  CHECK(!collects_after(8, true));
  CHECK(collects_after(24, true));
}

TEST_CASE("Training steps do not grow the resident size" * doctest::skip(tests::kAddressSanitizer)) {
  Script script;
  REQUIRE(script.run(R"(
    function step(count)
      w = w or lg.randn(8, 8, {requires_grad = true})
      for i = 1, count do
        local loss = (lg.ones(4, 8):matmul(w):tanh() * 2):sum()
        loss:backward()
        lg.no_grad(function() w:sub_(w.grad * 0.001) end)
        w.grad = nil
      end
    end
    step(1000))"));
  const size_t before = resident_bytes();
  REQUIRE(script.run("step(9000)"));
  CHECK(double(resident_bytes()) < 1.02 * double(before) + 1e6);
}

TEST_CASE("A graph that is dropped without backward is freed") {
  Script script;
  REQUIRE(
      script.run("local w = lg.randn(64, 64, {requires_grad = true}) "
                 "for i = 1, 3000 do local l = w:matmul(w):exp():sum() end"));
  CHECK(cpu_device().memory().in_use < (size_t(128) << 20));
}

TEST_CASE("Out of memory: Lua's garbage is freed and the call is made again") {
  Script script;
  lua_gc(script.L, LUA_GCSTOP);
  REQUIRE(script.run("lg.manual_seed(3) for i = 1, 8 do lg.empty(1 << 10) end"));
  lua_settop(script.L, 0);
  lua_pushinteger(script.L, 7);
  int calls = 0;
  uint64_t streams[2];
  size_t bytes[2];
  with_memory_retry(script.L, [&] {
    CHECK(lua_gettop(script.L) == 1);
    lua_pushnil(script.L);
    streams[calls] = script.own.generator.draw().stream;
    bytes[calls] = cpu_device().memory().in_use;
    if (++calls == 1) throw Error("no memory left", ErrorKind::memory);
  });
  CHECK(calls == 2);
  CHECK(streams[0] == streams[1]);
  CHECK(bytes[0] >= 8 * 4096);
  CHECK(bytes[1] == 0);
  CHECK_THROWS_WITH(with_memory_retry(script.L, [] { throw Error("none", ErrorKind::memory); }), "none");
}

TEST_CASE("Coroutines that close one another without end are an error") {
  Script script;
  REQUIRE(script.run(R"(
    local previous, failed
    for i = 1, 20000 do
      local next = previous
      previous = coroutine.create(function()
        local _ <close> = setmetatable({}, {__close = function()
          if next then
            local ok, message = coroutine.close(next)
            if not ok then failed = message error(message, 0) end
          end
        end})
        coroutine.yield()
      end)
      coroutine.resume(previous)
    end
    coroutine.close(previous)
    return failed)"));
  CHECK(script.string().find("coroutine.close: more than 100") != std::string::npos);
}

TEST_CASE("Lua's own memory has a limit, and the state works after reaching it") {
  Script script({.memory_limit = size_t(16) << 20});
  REQUIRE_FALSE(script.run("local t = {} for i = 1, 1e9 do t[i] = i end"));
  CHECK(script.error.kind == ErrorKind::memory);
  REQUIRE_FALSE(script.run("return ('x'):rep(1 << 30)"));
  CHECK(script.error.kind == ErrorKind::memory);
  REQUIRE(script.run("return 1 + 1"));
  CHECK(script.integer() == 2);
}

TEST_CASE("A tensor that cannot be allocated is an error of kind memory") {
  Script script;
  REQUIRE_FALSE(script.run("return lg.ones(1 << 50)"));
  CHECK(script.error.kind == ErrorKind::memory);
  REQUIRE(script.run("return lg.ones(3):sum():item()"));
}

TEST_CASE("Two states on one thread do not share a generator or a mode") {
  Script first;
  REQUIRE(first.run("lg.manual_seed(1) a = lg.rand(1):item() lg.manual_seed(1) lg.no_grad()"));
  {
    Script second;
    REQUIRE(second.run("lg.manual_seed(2) lg.rand(8) return lg.is_grad_enabled()"));
    CHECK(lua_toboolean(second.L, -1));
  }
  REQUIRE(first.run("return a == lg.rand(1):item() and not lg.is_grad_enabled()"));
  CHECK(lua_toboolean(first.L, -1));
}

TEST_CASE("A hook that outlives its state is an error, not a crash") {
  Tensor x = ones({2});
  x.requires_grad_();
  {
    Script script;
    push_tensor(script.L, x);
    lua_setglobal(script.L, "x");
    REQUIRE(script.run("x:register_hook(function(g) return g end)"));
  }
  CHECK_THROWS_AS(backward(sum(x)), Error);
}

TEST_CASE("Host functions reach scripts through add_module, with their owner") {
  Script script;
  int64_t factor = 2;
  const luaL_Reg functions[] = {{"twice", guard<times_owner>}, {nullptr, nullptr}};
  add_module(script.L, "host", functions, &factor);
  REQUIRE(script.run("return lg.host.twice(21)"));
  CHECK(script.integer() == 42);
  REQUIRE_FALSE(script.run("\nlg.host.twice(-1)"));
  CHECK(script.error.message == "script.lua:2: negative");
}

TEST_CASE("The safe point is called after every op, and may end the script") {
  Script script;
  int calls = 0;
  set_safe_point(
      script.L,
      [](lua_State* L, void* data) {
        if (++*static_cast<int*>(data) == 3) luaL_error(L, "stopped");
      },
      &calls);
  REQUIRE_FALSE(script.run("local x = lg.zeros(2) while true do x = x + 1 end"));
  CHECK(script.error.message.find("stopped") != std::string::npos);
  CHECK(calls == 3);
}

TEST_CASE("Numbers keep the decimal point in any locale") {
  Script script;
  REQUIRE(script.run("os.setlocale('de_DE.UTF-8') return tostring(lg.tensor{0.5})"));
  CHECK(script.string().find("0.5000") != std::string::npos);
  REQUIRE(script.run("os.setlocale('C')"));
}

TEST_CASE("require finds the library in its folder and modules in the script's folder") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bindings" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "lunagrad");
  std::ofstream(folder / "helper.lua") << "return {answer = 42}";
  std::ofstream(folder / "lunagrad/core.lua") << "error('hijacked')";
  {
    Script script({.script_directory = folder.string()});
    REQUIRE(script.run("return require('helper').answer"));
    CHECK(script.integer() == 42);
    REQUIRE_FALSE(script.run("require 'lunagrad.nothing'"));
    CHECK(script.error.message.find("no module 'lunagrad.nothing'") != std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("The meta files are Lua and name every function and method") {
  std::ostringstream printed, written, further;
  print_meta(printed);
  written << std::ifstream(LUNAGRAD_SOURCE_DIR "/lua/meta/tensor.lua").rdbuf();
  further << std::ifstream(LUNAGRAD_SOURCE_DIR "/lua/meta/torch_names.lua").rdbuf();
  const std::string text = printed.str() + written.str() + further.str();
  Script script;
  for (const std::string& file : {printed.str(), written.str(), further.str()})
    CHECK_MESSAGE(luaL_loadbuffer(script.L, file.data(), file.size(), "@meta.lua") == LUA_OK,
                  lua_tostring(script.L, -1));
  REQUIRE(script.run(R"(
    local names = {}
    for name, value in pairs(lg) do
      if type(value) == "function" and name:sub(1, 1) ~= "_" then names[#names + 1] = "lg." .. name end
    end
    for name in pairs(lg.methods) do names[#names + 1] = "Tensor:" .. name end
    return table.concat(names, " "))"));
  std::istringstream names(script.string());
  for (std::string name; names >> name;) {
    if (name.ends_with("repeat")) continue;  // a keyword of Lua cannot be declared
    std::string as_field = name;
    std::replace(as_field.begin(), as_field.end(), ':', '.');
    const bool found =
        text.find(name + "(") != std::string::npos || text.find(as_field + " = ") != std::string::npos;
    CHECK_MESSAGE(found, name);
  }
}
