// Mistakes that stop no run: a run warns of each once, and `lunagrad check` finds all that show without a
// run.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

const std::string kStart = "local lg = require 'lunagrad'\nlocal x = lg.tensor {1., 2., 3.}\n";

}  // namespace

TEST_CASE("a tensor or a number as a condition, and == of a tensor and a number, are told by run and check") {
  const Folder folder;
  const struct {
    const char* code;
    const char* message;  // "" for none
  } lines[] = {
      {"if x:gt(5) then end", "x:gt(…) is a tensor, which is always true as a condition; :item()"},
      {"local mask = x:lt(0) if mask then end", "x:lt(…) is a tensor, which is always true"},
      {"while lg.isnan(x):any() do break end", "x:any(…) is a tensor, which is always true"},
      {"local function f(y) if y:eq(x):all() then return 1 end end f(x)", "x:all(…) is a tensor"},
      {"print(not x:gt(1))", "x:gt(…) is a tensor, which is always true"},
      {"print(x:gt(1) and 1 or 0)", "x:gt(…) is a tensor, which is always true"},
      {"assert(x:gt(0):all())", "x:all(…) is a tensor, which is always true"},
      {"repeat until (x + 1):sum()", "x:sum(…) is a tensor, which is always true"},
      {"if #{} then end", "a number is always true as a condition, also 0"},
      {"local n = ... if (n or 3) % 2 then end", "a number is always true as a condition, also 0"},
      {"if x:sum() == 6 then end", "x:sum(…) is a tensor, which never is == a number"},
      {"print(0.5 == x[1]:mean(), x:max() ~= 1)", "is a tensor, which never is == a number"},
      {"local loss_of = lg.nn.MSELoss() local loss = loss_of(x, x) if loss == 0 then end",
       "the loss is a tensor, which never is == a number"},
      {"if x:gt(5):any():item() then end", ""},
      {"if x:sum():item() == 6 or x:size(1) == 3 then end", ""},
      {"local y = #arg > 5 and x:gt(1) or x:lt(1) y = arg[1] or x:gt(1) print(y)", ""},
      {"local m = nil if #arg > 5 then m = x:gt(1) end if m then print(m) end", ""},
      {"local m = #arg > 5 and x:gt(1) if m then print(m) end", ""},
      {"if x:equal(x) and x:allclose(x) and lg.is_tensor(x) then end", ""},
      {"if x ~= nil and x.grad == nil then end", ""},
  };
  for (const auto& [code, message] : lines) {
    CAPTURE(code);
    folder.write("silent.lua", kStart + code + "\n");
    const Finished run = folder.run({"run", "silent.lua"}), checked = folder.run({"check", "silent.lua"});
    CHECK(run.code == 0);
    const std::string told = message;
    CHECK_MESSAGE(occurrences(run.err, "warning: silent.lua:3: ") == (told.empty() ? 0 : 1), run.err);
    CHECK_MESSAGE(run.err.find(told) != std::string::npos, run.err);
    CHECK_MESSAGE(checked.code == (told.empty() ? 0 : 1), checked.err);
    CHECK_MESSAGE(checked.err.find(told) != std::string::npos, checked.err);
  }
}

TEST_CASE("== of two tensors is told once, at its line; a tensor == itself is meant") {
  const Folder folder;
  folder.write("identity.lua", kStart +
                                   "local y, same = x:clone(), x\n"
                                   "print(x == same, x.grad == nil, rawequal(x, y), x == 'x')\n"
                                   "for _ = 1, 3 do\n  print(x == y)\nend\nprint(y ~= x)\n");
  const Finished finished = folder.run({"run", "identity.lua"});
  CHECK(finished.code == 0);
  CHECK_MESSAGE(occurrences(finished.err, "warning: ") == 1, finished.err);
  CHECK(finished.err.find("warning: identity.lua:6: == asks whether two tensors are the same one") !=
        std::string::npos);
  const Finished checked = folder.run({"check", "identity.lua"});
  CHECK(checked.code == 1);
  CHECK(checked.err.find("identity.lua:6: == asks whether two tensors are the same one") !=
        std::string::npos);
  folder.write("library.lua",
               "local lg = require 'lunagrad'\nlocal net = lg.nn.Linear(2, 2)\n"
               "local adam = lg.optim.Adam(net:parameters())\n"
               "lg.nn.utils.deepcopy(net)\nnet.weight = lg.nn.Parameter(lg.rand(2, 2))\n"
               "print(pcall(function() net(lg.ones(1, 2)):sum():backward() adam:step() end))\n");
  CHECK(folder.run({"run", "library.lua"}).err.find("== asks") == std::string::npos);
}

TEST_CASE("a line that begins with a parenthesis and goes on with a call is told") {
  const Folder folder;
  const std::pair<const char*, bool> sources[] = {
      {"local f = print\nlocal a = f\n(f or print)(1)\n", true},
      {"local t = {print}\nlocal a = t[1]\n-- a comment\n\n(print)(1)\n", true},
      {"local f = function() return print end\nlocal a = f()\n(print or f)(1)\n", true},
      {"local s = ('x'):rep(2)\n(print)(s)\n", true},
      {"local f = print f 'x'\n(print)(1)\n", true},
      {"local f = print f {}\n(print)(1)\n", true},
      {"local f = print\nlocal a = f;\n(f or print)(1)\n", false},
      {"local function f\n(a)\n  (print)(a)\nend\nf(1)\n", false},
      {"local a\n(print)(1)\nlocal t = {1,\n  (2)}\nprint(\n  (3), t, a)\n", false},
      {"local a = 'x'\n(print)(a)\nlocal b = {}\n(print)(b)\nlocal c = 3\n(print)(c)\n", false},
      {"local a = function() end\n(print)(a)\nif a then\n  (print)(a)\nend\n(print)(a)\n", false},
      {"local a <const> = nil\n(print)(a)\ngoto done\n(print)(a)\n::done::\n(print)(a)\n", false},
      {"local s = [[\nf\n(x)]] --[[ f\n(x) ]]\nprint(s,\n(1 + 2))\n", false},
  };
  for (const auto& [source, told] : sources) {
    CAPTURE(source);
    folder.write("lines.lua", source);
    const Finished checked = folder.run({"check", "lines.lua"});
    CHECK_MESSAGE((checked.err.find("this line begins with '('") != std::string::npos) == told, checked.err);
  }
  folder.write("lines.lua", "local f = print\nlocal a = f\n(f)(1)\n");
  CHECK(folder.run({"run", "lines.lua"}).err.find("warning: lines.lua:3: this line begins with '('") !=
        std::string::npos);
}

TEST_CASE("a global that a run assigns is told once, in modules too, and not in the console") {
  const Folder folder;
  folder.write("global.lua", "local a = 1\ntotal = a\nother = a\n_G.meant = 2\nprint(total, other, meant)\n");
  const Finished finished = folder.run({"run", "global.lua"});
  CHECK(finished.code == 0);
  CHECK(
      finished.err.find("warning: global.lua:2: assigns the global 'total'; write `local`, or _G.total where "
                        "one is meant") != std::string::npos);
  CHECK_MESSAGE(occurrences(finished.err, "assigns the global") == 1, finished.err);
  folder.write("part.lua", "helper = 3\nreturn {}\n");
  folder.write("whole.lua", "require 'part'\n_G.meant = 1\nprint(helper)\n");
  CHECK(folder.run({"run", "whole.lua"}).err.find("part.lua:1: assigns the global 'helper'") !=
        std::string::npos);
  CHECK(folder.run({"-e", "x = 1 print(x)"}).err.find("assigns") == std::string::npos);
  CHECK(folder.run({"repl"}, "x = 1\nx\n").err.find("assigns") == std::string::npos);
}

TEST_CASE("steps whose gradients were never cleared, and steps without gradients, are told once") {
  const Folder folder;
  const std::string model =
      "local lg = require 'lunagrad'\nlocal net = lg.nn.Linear(2, 1)\n"
      "local opt = lg.optim.SGD(net:parameters(), {lr = 0.1})\n"
      "local function loss() return net(lg.ones(4, 2)):mean() end\nfor step = 1, 4 do\n";
  const char* const summed = "the gradients also hold gradients of an earlier step";
  const char* const vain = "no parameter has a gradient, so the step changed nothing";
  const struct {
    const char* body;
    const char* message;
  } loops[] = {
      {"loss():backward()\nopt:step()\n", summed},
      {"loss():backward()\nlg.nn.utils.clip_grad_norm_(net:parameters(), 1)\nopt:step()\n", summed},
      {"loss():backward({create_graph = true})\nopt:step()\n", summed},
      {"loss():backward()\nopt:zero_grad()\nopt:step()\n", vain},
      {"opt:zero_grad()\nloss():backward()\nopt:step()\n", ""},
      {"opt:zero_grad {set_to_none = false}\nloss():backward()\nopt:step()\n", ""},
      {"loss():backward()\nopt:step()\nnet:zero_grad()\n", ""},
      {"loss():backward()\nopt:step()\nfor _, p in ipairs(net:parameters()) do p.grad:zero_() end\n", ""},
      {"for _ = 1, 3 do loss():backward() end\nopt:step()\nopt:zero_grad()\n", ""},
      {"loss():backward()\nif step % 2 == 0 then opt:step() opt:zero_grad() end\n", ""},
      {"opt:zero_grad()\nloss():backward()\nopt:step()\nloss():backward()\n", ""},
      {"opt:zero_grad {set_to_none = false}\nloss():backward()\nopt:step()\nloss():backward()\n", ""},
      {"opt:step(function() opt:zero_grad() local l = loss() l:backward() return l end)\n", ""},
  };
  for (const auto& [body, message] : loops) {
    CAPTURE(body);
    folder.write("steps.lua", model + body + "end\n");
    const Finished finished = folder.run({"run", "steps.lua"});
    CHECK_MESSAGE(finished.code == 0, finished.err);
    CHECK_MESSAGE(occurrences(finished.err, "warning: steps.lua:") == (*message ? 1 : 0), finished.err);
    CHECK_MESSAGE(finished.err.find(message) != std::string::npos, finished.err);
  }
}

TEST_CASE("gradients that LBFGS, a scaler, two optimizers in turn or lg.run.steps clear are no mistake") {
  const Folder folder;
  folder.write("fine.lua", R"(local lg = require "lunagrad"
local nn = lg.nn
local x, y = lg.randn(8, 2), lg.randn(8, 1)
local net = nn.Linear(2, 1)
local lbfgs = lg.optim.LBFGS(net:parameters(), {max_iter = 4})
for _ = 1, 3 do
  lbfgs:step(function()
    lbfgs:zero_grad()
    local loss = nn.functional.mse_loss(net(x), y)
    loss:backward()
    return loss
  end)
end
local scaler, sgd = lg.GradScaler(), lg.optim.SGD(net:parameters(), {lr = 0.1})
for _ = 1, 3 do
  sgd:zero_grad()
  scaler:scale(nn.functional.mse_loss(net(x), y)):backward()
  scaler:unscale_(sgd)
  nn.utils.clip_grad_norm_(net:parameters(), 1)
  scaler:step(sgd)
  scaler:update()
end
local critic, maker = nn.Linear(1, 1), nn.Linear(2, 1)
local of_critic, of_maker = lg.optim.Adam(critic:parameters()), lg.optim.Adam(maker:parameters())
for _ = 1, 3 do
  of_critic:zero_grad {set_to_none = false}
  critic(maker(x):detach()):mean():backward()
  of_critic:step()
  of_maker:zero_grad()
  critic(maker(x)):mean():backward()
  of_maker:step()
end
local adam = lg.optim.Adam(net:parameters())
for step in lg.run.steps(50) do
  adam:zero_grad()
  nn.functional.mse_loss(net(x), y):backward()
  adam:step()
end
)");
  const Finished finished = folder.run({"run", "fine.lua", "--progress", "none"});
  CHECK_MESSAGE(finished.code == 0, finished.err);
  CHECK_MESSAGE(finished.err.find("warning") == std::string::npos, finished.err);
}
