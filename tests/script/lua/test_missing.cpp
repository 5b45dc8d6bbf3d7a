// Errors about nil name what is misspelt; errors inside modules name the module.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

struct Mistake {
  const char* code;
  const char* message;  // of the error, behind "bad.lua:LINE: "
  int line = 2;
};

struct Hint {
  const char* code;
  const char* part;  // of the error
};

// The first line of the error of a script with this code, which must fail.
std::string error_of(const Folder& folder, const char* code) {
  folder.write("bad.lua", "local lg = require 'lunagrad'\n" + std::string(code) + "\n");
  const Finished finished = folder.run({"run", "bad.lua"});
  CHECK(finished.code == 1);
  return finished.err.substr(0, finished.err.find('\n'));
}
void check(const Folder& folder, const Hint& hint) {
  CAPTURE(hint.code);
  const std::string first = error_of(folder, hint.code);
  CHECK_MESSAGE(first.find(hint.part) != std::string::npos, first);
}
void check(const Folder& folder, const Mistake& mistake) {
  CAPTURE(mistake.code);
  const std::string first = error_of(folder, mistake.code);
  CHECK_MESSAGE(first == "bad.lua:" + std::to_string(mistake.line) + ": " + mistake.message, first);
}

}  // namespace

TEST_CASE("a misspelt global is told with the nearest name that is known there") {
  const Folder folder;
  const Mistake mistakes[] = {
      {"pritn(3)", "attempt to call a nil value (global 'pritn'); did you mean 'print'?"},
      {"local x = reqiure 'part'", "attempt to call a nil value (global 'reqiure'); did you mean 'require'?"},
      {"local model = lg.nn.Linear(1, 1) print(modle:parameters())",
       "attempt to index a nil value (global 'modle'); did you mean 'model'?"},
      {"local learning_rate = 0.1 local function f() return lerning_rate * 2, learning_rate end f()",
       "attempt to perform arithmetic on a nil value (global 'lerning_rate'); did you mean 'learning_rate'?"},
      {"_G.loss = 1 print('loss ' .. lsos)",
       "attempt to concatenate a nil value (global 'lsos'); did you mean 'loss'?"},
      {"train()\nlocal function train() end",
       "attempt to call a nil value (global 'train'); the local 'train' of line 3 is not declared yet here"},
      {"if lg then local rate = 1 end\nprint(rate + 1)",
       "attempt to perform arithmetic on a nil value (global 'rate'); the local 'rate' of line 2 ends with "
       "its "
       "block or function",
       3},
      {"print(math.sqr(2))", "attempt to call a nil value (field 'sqr'); did you mean 'math.sqrt'?"},
      {"table.isnert({}, 1)", "attempt to call a nil value (field 'isnert'); did you mean 'table.insert'?"},
      {"print(('x'):uper())", "attempt to call a nil value (method 'uper'); did you mean 'upper'?"},
      {"local config = {hidden = 3} print(config.hiden + 1)",
       "attempt to perform arithmetic on a nil value (field 'hiden'); did you mean 'config.hidden'?"},
      {"local all = {config = {hidden = 3}} print(all.config.hiden + 1)",
       "attempt to perform arithmetic on a nil value (field 'hiden'); did you mean 'all.config.hidden'?"},
      {"local function f() end\nlocal y = f()\nprint(y:sum())",
       "attempt to index a nil value (local 'y'); the call in line 3 gave nothing: a function gives a value "
       "by return",
       4},
      {"local t = {} t:len()", "attempt to call a nil value (method 'len'); in Lua: the length is #x"},
      {"local N = lg.nn.class 'N'\nfunction N.init() self.fc = 1 end N()",
       "attempt to index a nil value (global 'self'); a function that uses self is defined and called with a "
       "colon",
       3},
      {"for i in 10 do end",
       "attempt to call a number value (for iterator 'for iterator'); numbers: for i = 1, n do … end"},
      {"for step in lg.run.steps do end",
       "run.steps: the number of steps is missing: for step in lg.run.steps(n) do … end"},
      {"print(zeros(3))", "attempt to call a nil value (global 'zeros'); did you mean lg.zeros?"},
  };
  for (const Mistake& mistake : mistakes) check(folder, mistake);
}

TEST_CASE("a nil that goes into a call is told by what the line names") {
  const Folder folder;
  const Hint hints[] = {
      {"local input = lg.ones(1, 1) lg.nn.Linear(1, 1)(inptu)",
       "; 'inptu' is nil here; did you mean 'input'?"},
      {"local config = {width = 3} lg.zeros(config.widht)",
       "; 'widht' is nil here; did you mean 'config.width'?"},
      {"for i = 1, stpes do end local steps = 3", "; 'stpes' is nil here"},
      {"local N = lg.nn.class 'N' function N:init() self.scale = 2 end\n"
       "function N:forward(x) return x * self.scael end N()(lg.ones(1))",
       "; N has no field 'scael'; did you mean 'scale'?"},
      {"local N = lg.nn.class 'N'\nfunction N:forward(x) return x * self.other end N()(lg.ones(1))",
       "; N has no field 'other'"},
  };
  for (const Hint& hint : hints) check(folder, hint);
}

TEST_CASE("a field that an object of a script's class lacks is nil, and what uses it names the class") {
  const Folder folder;
  const std::string start =
      "local Block = lg.nn.class 'Block'\n"
      "function Block:init(s) if s ~= 1 then self.down = lg.nn.Linear(2, 2) end end\n"
      "function Block:encode(x) return x end\n";
  folder.write("optional.lua",
               "local lg = require 'lunagrad'\n" + start +
                   "function Block:forward(x) if self.down then x = self.down(x) end return x end\n"
                   "print(Block(1)(lg.ones(1, 2)):sum():item(), #Block(2)(lg.ones(1, 2)))\n"
                   "print(Block(1).down, rawget(Block(1), 'down'), lg.has(Block(1), 'down'))\n");
  const Finished finished = folder.run({"run", "optional.lua"});
  CHECK_MESSAGE(finished.code == 0, finished.err);
  CHECK(finished.out == "2.0\t1\nnil\tnil\tfalse\n");
  const Mistake mistakes[] = {
      {"function Block:forward(x) return self.dwon(x) end Block(2)(lg.ones(1, 2))",
       "Block has no field 'dwon'; did you mean 'down'?"},
      {"function Block:forward(x) return x + self.dwon.bias end Block(2)(lg.ones(1, 2))",
       "Block has no field 'dwon'; did you mean 'down'?"},
      {"function Block:forward(x) return #self.layers end Block(2)(lg.ones(1, 2))",
       "Block has no field 'layers'"},
      {"function Block:forward(x) return self:encdoe(x) end Block(2)(lg.ones(1, 2))",
       "Block has no method 'encdoe'; did you mean 'encode'?"},
      {"Block(1):paramters()", "Block has no method 'paramters'; did you mean 'parameters'?"},
      {"Block(1):deepcopy()", "Block has no method 'deepcopy'; a copy is lg.nn.utils.deepcopy(net)"},
      {"local net = lg.nn.class('Net')() net.block = Block(2) print(net.block.dwon.weight)",
       "Block has no field 'dwon'; did you mean 'down'?"},
      {"local Wide = lg.nn.class('Wide', Block) local wide = Wide(2) print(wide.dwon.weight)",
       "Wide has no field 'dwon'; did you mean 'down'?"},
  };
  for (Mistake mistake : mistakes) {
    const std::string code = start + mistake.code;
    mistake.code = code.c_str();
    mistake.line = 5;
    check(folder, mistake);
  }
  // A tensor without a gradient is no object that lacks a field.
  folder.write("bad.lua", "local lg = require 'lunagrad'\n" + start +
                              "function Block:forward(x) return self.down.weight.grad:sum() end "
                              "Block(2)(lg.ones(1, 2))\n");
  CHECK(folder.run({"run", "bad.lua"}).err.find("a tensor has a gradient after loss:backward()") !=
        std::string::npos);
  // The library's own objects stay strict.
  for (const char* code :
       {"print(lg.nn.Linear(1, 1).down)", "print(lg.nn.Sequential().down)",
        "print(lg.optim.SGD(lg.nn.Linear(1, 1):parameters()).down)", "print(lg.nn.down)"}) {
    folder.write("bad.lua", "local lg = require 'lunagrad'\n" + std::string(code) + "\n");
    CHECK_MESSAGE(folder.run({"run", "bad.lua"}).code == 1, code);
  }
}

TEST_CASE("an error inside a module names its path and class") {
  const Folder folder;
  const Mistake mistakes[] = {
      {"local N = lg.nn.class 'N'\n"
       "function N:init() self.fc1 = lg.nn.Linear(10, 5) self.fc2 = lg.nn.Linear(6, 2) end\n"
       "function N:forward(x) return self.fc2(self.fc1(x)) end\nlocal model = N() model(lg.ones(1, 10))",
       "in model.fc2 (Linear): linear: input of shape [1, 5] does not fit weight of shape [2, 6]: the last "
       "dim of "
       "the input must be 6",
       5},
      {"local net = lg.nn.Sequential(lg.nn.ReLU(), lg.nn.Sequential(lg.nn.Linear(5, 2)))\nnet(lg.ones(1, 3))",
       "in net.1.0 (Linear): linear: input of shape [1, 3] does not fit weight of shape [2, 5]: the last dim "
       "of the "
       "input must be 5",
       3},
      {"print(lg.nn.Sequential(lg.nn.Linear(5, 2))(lg.ones(1, 3)))",
       "in Sequential.0 (Linear): linear: input of shape [1, 3] does not fit weight of shape [2, 5]: the "
       "last dim of "
       "the input must be 5"},
      {"local fc = lg.nn.Linear(5, 2) fc(lg.ones(1, 3))",
       "linear: input of shape [1, 3] does not fit weight of shape [2, 5]: the last dim of the input must be "
       "5"},
  };
  for (const Mistake& mistake : mistakes) check(folder, mistake);
}

TEST_CASE("labels that are no integers, and tensors without a gradient, are told with what to write") {
  const Folder folder;
  const Hint hints[] = {
      {"lg.nn.functional.cross_entropy(lg.randn(4, 3), lg.zeros(4))", "; target:long() makes class ids"},
      {"lg.nn.CrossEntropyLoss()(lg.randn(4, 3), lg.zeros(4, 1))",
       "; target:flatten():long() makes class ids"},
      {"lg.nn.functional.cross_entropy(lg.randn(4, 3), lg.zeros(4, 1):long())",
       "; target:flatten() makes class ids"},
      {"lg.nn.functional.nll_loss(lg.randn(4, 3), lg.zeros(4))", "; target:long() makes class ids"},
      {"lg.nn.functional.cross_entropy(lg.randn(4, 3), lg.zeros(4):bool())",
       "; target:long() makes class ids"},
      {"lg.nn.Embedding(9, 3)(lg.ones(4))", "; index:long() converts them"},
      {"lg.randn(3, 3):gather(2, lg.zeros(3, 1))", "; index:long() converts them"},
      {"lg.nn.functional.one_hot(lg.zeros(3), 4)", "; index:long() converts them"},
      {"lg.zeros(3, 3):scatter(2, lg.zeros(3, 1), 1)", "; index:long() converts them"},
      {"lg.ones(3, 3):index_select(1, lg.zeros(1))", "; index:long() converts them"},
      {"lg.ones(3):take(lg.zeros(1))", "; index:long() converts them"},
      {"lg.ones(3):bincount()", "; x:long() converts them"},
      {"print(lg.ones(3)[lg.zeros(1)])", "; index:long() converts it"},
      {"lg.nn.MultiMarginLoss()(lg.randn(2, 3), lg.zeros(2))", "; target:long() converts it"},
      {"lg.nn.Linear(2, 2)(lg.ones(1, 2):long())", "; x:float() converts"},
      {"lg.ones(3):sum():backward()", "; a leaf requires it by {requires_grad = true} or x:requires_grad_()"},
      {"lg.nn.Linear(2, 2)(lg.ones(1, 2)):detach():sum():backward()", "detach() and item() end it"},
      {"lg.grad(lg.ones(3):sum(), lg.ones(3))", "; write x:requires_grad_() before it is used"},
  };
  for (const Hint& hint : hints) check(folder, hint);
}
