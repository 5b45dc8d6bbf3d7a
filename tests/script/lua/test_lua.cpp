// Runs each tests/lua/*.lua in a fresh state, one test case per file. A Lua test is a plain script with
// assertions.
#include <doctest/doctest.h>

#include <filesystem>

#include "folders.h"
#include "runtime/core/context.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;

namespace {

void run_script(const std::string& path) {
  Context own;
  UseContext use(own);
  lua_State* L = new_state({.script_directory = std::filesystem::path(path).parent_path().string()});
  open_lunagrad(L);
  ScriptError error;
  if (luaL_loadfilex(L, path.c_str(), "t") != LUA_OK) {
    FAIL_CHECK(lua_tostring(L, -1));
  } else if (traceback_call(L, 0, 0, error) != LUA_OK) {
    FAIL_CHECK(error.message << "\n" << error.traceback);
  }
  close_state(L);
}

const std::string kFolder = LUNAGRAD_SOURCE_DIR "/tests/lua/";

}  // namespace

TEST_CASE("Lua: tensors are created, read, converted and printed") {
  run_script(kFolder + "test_tensor.lua");
}
TEST_CASE("Lua: tensors are indexed for reading and writing") { run_script(kFolder + "test_index.lua"); }
TEST_CASE("Lua: shapes, sorting, scans and products") { run_script(kFolder + "test_shape.lua"); }
TEST_CASE("Lua: gradients, hooks, modes and the tape") { run_script(kFolder + "test_grad.lua"); }
TEST_CASE("Lua: complex numbers") { run_script(kFolder + "test_complex.lua"); }
TEST_CASE("Lua: derivatives of functions, gradients as values, the tape's nodes") {
  run_script(kFolder + "test_derivatives.lua");
}
TEST_CASE("Lua: checkpoints run again in backward") { run_script(kFolder + "test_checkpoint.lua"); }
TEST_CASE("Lua: custom ops") { run_script(kFolder + "test_custom.lua"); }
TEST_CASE("Lua: custom kernels") { run_script(kFolder + "test_kernel.lua"); }
TEST_CASE("Lua: mixed precision and loss scaling") { run_script(kFolder + "test_autocast.lua"); }
TEST_CASE("Lua: NaN and Inf are found at the op that makes them") {
  run_script(kFolder + "test_anomaly.lua");
}
TEST_CASE("Lua: a mistake is one error with its line") { run_script(kFolder + "test_errors.lua"); }
TEST_CASE("Lua: networks, their state and their printing") { run_script(kFolder + "test_nn.lua"); }
TEST_CASE("Lua: convolution, pooling and resizing, as functions and modules") {
  run_script(kFolder + "test_conv.lua");
}
TEST_CASE("Lua: recurrent layers and cells") { run_script(kFolder + "test_rnn.lua"); }
TEST_CASE("Lua: losses, containers and vectors of parameters") { run_script(kFolder + "test_loss.lua"); }
TEST_CASE("Lua: schedules of the learning rate") { run_script(kFolder + "test_schedule.lua"); }
TEST_CASE("Lua: optimizers follow their formulas") { run_script(kFolder + "test_optim.lua"); }
TEST_CASE("Lua: data sets, loaders and splits") { run_script(kFolder + "test_data.lua"); }
TEST_CASE("Lua: files of tables and tensors") { run_script(kFolder + "test_io.lua"); }
TEST_CASE("Lua: optimizers and schedulers give PyTorch's values") {
  run_script(kFolder + "test_reference.lua");
}

TEST_SUITE_END();
