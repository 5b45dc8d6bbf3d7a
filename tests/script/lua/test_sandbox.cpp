// `run --sandbox` and `--memory`: attempts of a script to escape; each must end with an error message.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

struct Attempt {
  const char* code;
  int exit_code;
  const char* said;  // on either stream
};

void try_each(const Folder& folder, const std::vector<std::string>& limits,
              const std::vector<Attempt>& attempts) {
  for (const Attempt& attempt : attempts) {
    std::vector<std::string> arguments = limits;
    arguments.insert(arguments.end(), {"-e", attempt.code});
    const Finished finished = folder.run(arguments);
    CAPTURE(attempt.code);
    CAPTURE(finished.out);
    CAPTURE(finished.err);
    CHECK(finished.code == attempt.exit_code);
    CHECK((finished.out + finished.err).find(attempt.said) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a sandboxed script trains and cannot reach libraries outside the sandbox") {
  const Folder folder;
  try_each(folder, {"--sandbox"},
           {{"local m = lg.nn.Linear(2, 1) local o = lg.optim.Adam(m:parameters()) for i in lg.run.steps(3) "
             "do o:zero_grad() "
             "m(lg.ones(1, 2)):sum():backward() o:step() end print('trained', os.time() > 0, os.clock() >= "
             "0, #os.date() > 0)",
             0, "trained\ttrue\ttrue\ttrue"},
            {"print(io, debug, package, dofile, loadfile, string.dump, os.execute, os.getenv, os.remove, "
             "os.exit, os.tmpname)",
             0, "nil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\tnil\n"},
            {"print(pcall(require, 'io'))", 0, "module 'io' not found"},
            {"print(pcall(require, 'debug'))", 0, "module 'debug' not found"},
            {"print(pcall(require, 'package'))", 0, "module 'package' not found"},
            {"print(require 'os' == os, require 'os'.execute)", 0, "true\tnil"},
            {"print(getmetatable(''), getmetatable(lg.ones(1)).__gc)", 0, "false\tnil"},
            {"print(getmetatable(require 'lunagrad.core'._step_list {lg.ones(1)}))", 0, "false"},
            {"print(load(string.char(27) .. 'Lua', 'x', 'b'))", 0, "attempt to load a binary chunk"},
            {"print(load('return 7', 'x', 'bt', {})())", 0, "7"},
            {"print(load('return print', 'x', 't', {})())", 0, "nil"},
            {"setmetatable({}, {__gc = print})", 1, "a sandboxed script has no finalizers (__gc)"},
            {"collectgarbage('stop')", 1, "collectgarbage: a sandboxed script has"},
            {"print(collectgarbage('count') > 0, collectgarbage())", 0, "true\t0"},
            {"local l = lg.ones(1):requires_grad_() lg.tape((l * 2):sum()):svg('x.svg')", 1,
             "runs no other program"}});
  // A plain run keeps all of it.
  CHECK(folder.run({"-e", "print(io ~= nil, package ~= nil, string.dump ~= nil)"}).out ==
        "true\ttrue\ttrue\n");
}

TEST_CASE("a sandboxed script reads its own folder and writes its run's") {
  const Folder folder;
  fs::create_directories(folder.path() + "/project/lua_modules");
  folder.write("secret.csv", "1,2\n");
  folder.write("secret.lua", "return 'secret'");
  folder.write("project/data.csv", "1,2\n3,4\n");
  folder.write("project/helper.lua", "return 'helper'");
  folder.write("project/lua_modules/other.lua", "return 'other'");
  folder.write("project/bytes.lua", "\x1bLua");
  fs::create_symlink("../secret.csv", folder.path() + "/project/link.csv");
  fs::create_symlink("../secret.lua", folder.path() + "/project/link.lua");
  REQUIRE(folder.run({"-e", "lg.io.save('outside.safetensors', {1})"}).code == 0);
  const auto run = [&](const std::string& code, const std::string& directory = "") {
    folder.write("project/run.lua", "local lg = require 'lunagrad' " + code);
    std::vector<std::string> arguments{"run", "project/run.lua", "--sandbox"};
    if (!directory.empty()) arguments.insert(arguments.end(), {"--run-dir", directory});
    return folder.run(arguments);
  };
  CHECK(
      run("print(require 'helper', require 'other', lg.io.csv.load('project/data.csv'):sum():item())").out ==
      "helper\tother\t10.0\n");
  for (const char* code :
       {"lg.io.csv.load('secret.csv')", "lg.io.csv.load('project/../secret.csv')",
        "lg.io.csv.load('project/link.csv')", "lg.data.csv('secret.csv')", "lg.data.text('secret.lua', 4)",
        "lg.io.load('outside.safetensors')", "lg.io.load('/etc/passwd')", "lg.io.npz.load('x.npz')",
        "lg.io.png.load('/x.png')", "lg.data.image_folder('.')", "require 'link'",
        "lg.run.resume('outside.safetensors')"}) {
    const Finished finished = run(code);
    CAPTURE(code);
    CAPTURE(finished.err);
    CHECK(finished.code == 6);
    CHECK(finished.err.find("a sandboxed script reads files of its own folder alone") != std::string::npos);
  }
  for (const char* code :
       {"lg.io.save('project/new.st', {1})", "lg.io.onnx_export('x.onnx', lg.nn.Linear(2, 1), lg.ones(1, 2))",
        "lg.io.npy.save('/tmp/x.npy', lg.ones(1))",
        "lg.run.log{a = 1} lg.io.png.save('project/x.png', lg.zeros(2, 2))"}) {
    const Finished finished = run(code);
    CAPTURE(code);
    CHECK(finished.code == 6);
    CHECK(finished.err.find("a sandboxed script writes into its run's folder alone") != std::string::npos);
  }
  for (const char* name : {"../secret", "secret", "/etc/passwd", "..secret", "bytes"}) {
    const Finished finished = run(std::string("require '") + name + "'");
    CAPTURE(name);
    CHECK(finished.code == 1);
  }
  // Checkpoints, images and what it saves there.
  const Finished kept =
      run("local w = lg.run.state('w', function() return lg.zeros(2) end) for i in lg.run.steps(2) do "
          "lg.run.log{i = i} "
          "lg.run.checkpoint() end lg.run.image('p', lg.zeros(2, 2)) lg.io.save('out/own.st', {w}) "
          "print(#lg.io.load('out/own.st'))",
          "out");
  INFO(kept.err);
  CHECK(kept.code == 0);
  CHECK(kept.out == "1\n");
  CHECK_FALSE(fs::exists(folder.path() + "/out/git.diff"));
  const Finished resumed =
      folder.run({"run", "project/run.lua", "--sandbox", "--resume", "out", "--steps", "3"});
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(fs::exists(folder.path() + "/out/checkpoints/step-00000003.safetensors"));
}

TEST_CASE("exceeding the memory limit with Lua values, tensors or the tape is exit code 8") {
  if (tests::kSanitized) return;  // sanitizers change the memory that is counted
  const Folder folder;
  try_each(
      folder, {"--sandbox", "--timeout", "60"},
      {{"local t = {} for i = 1, 1e9 do t[i] = {} end", 8, "not enough memory"},
       {"local s = ('x'):rep(1000) while true do s = s .. s end", 8, "not enough memory"},
       {"local s = ('x'):rep(1 << 30)", 8, "not enough memory"},
       {"local t = {} for i = 1, 1e9 do t[i] = lg.zeros(1000, 1000) end", 8, "within the limit of 256 MiB"},
       {"local t = {} for i = 1, 1e9 do t[i] = lg.zeros(1) end", 8, "memory"},
       {"local x = lg.ones(1, {requires_grad = true}) while true do x = x + 1 end", 8,
        "within the limit of 256 MiB"},
       {"local x = lg.zeros(1 << 28)", 8, "within the limit of 256 MiB"},
       // Garbage is collected before the limit is an error; after a caught error the state works.
       {"for i = 1, 3000 do local x = lg.zeros(1000, 1000) end print('through')", 0, "through"},
       {"for i = 1, 20 do print(pcall(lg.zeros, 1 << 30)) end print(lg.ones(3):sum():item())", 0, "3.0"},
       {"print(pcall(string.rep, 'x', 1 << 30)) print(#('x'):rep(1 << 20))", 0, "1048576"}});
  try_each(
      folder, {"--memory", "32"},
      {{"local t = {} for i = 1, 1e9 do t[i] = lg.zeros(1000, 1000) end", 8, "within the limit of 32 MiB"},
       {"print(io ~= nil)", 0, "true"}});
  try_each(folder, {"--sandbox", "--memory", "1024"}, {{"print(lg.zeros(1 << 27):numel())", 0, "134217728"}});
  // Tables of the host, and other memory that scripts make grow.
  try_each(
      folder, {"--sandbox", "--timeout", "60"},
      {{"lg.adaptive_avg_pool2d(lg.ones(1, 4, 4), {1 << 29, 2})", 8, "out of memory"},
       {"lg.adaptive_max_pool2d(lg.ones(1, 4, 4), {2, 1 << 23})", 8, "out of memory"},
       {"lg.zeros(0, 1 << 28):split(1, 2)", 8, "out of memory"},
       {"lg.zeros(0, 1 << 20):chunk(1 << 20, 2)", 8, "out of memory"},
       {"lg.zeros(0, 1 << 40):unbind(2)", 8, "out of memory"},
       {"local t = {} while true do t = {t} end", 8, "not enough memory"},
       {"local i = 0 while true do i = i + 1 pcall(lg.einsum, ('x'):rep(1 << 20) .. i, lg.ones(2)) "
        "local x = lg.ones(1 << 20) end",
        8, "out of memory"},
       {"local x = lg.ones(1, {requires_grad = true}) for i = 1, 100000 do x = x + 1 end lg.tape(x):json()",
        8, "memory"}});
  CHECK(folder.run({"--memory", "1", "-e", "print(1)"}).code == 2);
  CHECK(folder.run({"--sandbox", "script.lua"}).code == 2);
}

TEST_CASE("the time limit ends code that Lua cannot interrupt") {
  const Folder folder;
  try_each(
      folder, {"--sandbox", "--timeout", "0.3"},
      {{"while true do pcall(function() while true do end end) end", 124, "time limit reached"},
       {"xpcall(function() while true do end end, function() while true do end end)", 124,
        "time limit reached"},
       {"print(('a'):rep(40):find(('a*'):rep(20) .. 'b'))", 124, "time limit reached"},
       {"table.move({}, 1, 1 << 40, 2)", 124, "time limit reached"},
       {"local c <close> = setmetatable({}, {__close = function() while true do end end})", 124,
        "time limit"},
       {"coroutine.wrap(function() while true do coroutine.yield(pcall(error)) end end)() while true do end",
        124, "time limit reached"}});
  CHECK(folder.run({"--sandbox", "--timeout", "20", "-e", "print(#('').rep('', 1 << 62, ''))"}).out == "0\n");
  // Without a sandbox scripts have finalizers; the time limit ends them, too.
  CHECK(folder.run({"--timeout", "0.5", "-e", "setmetatable({}, {__gc = function() while true do end end})"})
            .code == 124);
}
