// The suggestions in errors: for a misspelt name, and for a dot in place of a colon.
#include <doctest/doctest.h>

#include "script/meta/explain.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

// The first line that is no warning, and what follows.
std::string without_warnings(std::string text) {
  while (text.starts_with("warning: ")) text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace

TEST_CASE("an error says which name was meant, and where a colon or a dot belongs") {
  const Folder folder;
  const struct {
    const char* code;
    const char* message;
  } mistakes[] = {
      {"lg.zeroes(3)", "lg.zeroes does not exist; did you mean lg.zeros?"},
      {"lg.nn.Lienar(3, 4)", "lg.nn.Lienar does not exist; did you mean lg.nn.Linear?"},
      {"lg.Conv2d(3, 4, 1)", "lg.Conv2d does not exist; did you mean lg.conv2d or lg.nn.Conv2d?"},
      {"lg.ones(3):sofmax(1)", "Tensor has no field or method 'sofmax'; did you mean x:softmax?"},
      {"lg.nn.Linear(2, 3):paramters()",
       "Linear has no field or method 'paramters'; did you mean 'parameters'?"},
      {"local Net = lg.nn.class 'Net' function Net:encode() end Net():encdoe()",
       "Net has no method 'encdoe'; did you mean 'encode'?"},
      {"local m = lg.nn.Sequential() m:appned(1)",
       "Sequential has no field or method 'appned'; did you mean 'append'?"},
      {"local m = {} setmetatable(m, {__index = {close = print}, __name = 'File'}) m:clsoe()",
       "(method 'clsoe')"},
      {"lg.nn.Linear(2, 3).parameters()",
       "'parameters' is a method: call it with a colon, as in object:parameters(…)"},
      {"lg.nn:Linear(3, 4)", "what lg.nn holds is called with a dot: lg.nn.Linear(…)"},
      {"lg:zeros(3, 4)", "what lg holds is called with a dot: lg.zeros(…)"},
      {"lg.ones(3).sum()", "a method is called with a colon, as in x:sum(…)"},
      {"print(lg.run.live('lr', 0.1) * 2)", "; what lg.run.live gives is called for its value, as lr()"},
      {"function f() self.x = 1 end f()", "a function that uses self is defined and called with a colon"},
  };
  for (const auto& [code, message] : mistakes) {
    folder.write("mistake.lua", "local lg = require 'lunagrad'\n" + std::string(code) + "\n");
    Finished finished = folder.run({"run", "mistake.lua"});
    finished.err = without_warnings(finished.err);
    CHECK(finished.code == 1);
    CHECK_MESSAGE(finished.err.starts_with("mistake.lua:2: "), finished.err);
    CHECK_MESSAGE(finished.err.substr(0, finished.err.find('\n')).find(message) != std::string::npos,
                  finished.err);
  }
}

TEST_CASE("what Python writes is answered by what Lua has") {
  const Folder folder;
  const struct {
    const char* code;
    const char* message;
  } mistakes[] = {
      // Methods with a dot.
      {"print(lg.ones(2).size(1))", "a method is called with a colon, as in x:size(…)"},
      {"lg.nn.Linear(3, 4).forward(lg.ones(2, 3))", "'forward' is a method: call it with a colon"},
      {"lg.nn.Linear(3, 4).to('cpu')", "a method is called with a colon, as in object:method(…)"},
      {"local N = lg.nn.class('N') function N:encode(x) return self.fc(x) end N().encode(lg.ones(2))",
       "self is a tensor here: call the method with a colon"},
      // Iteration.
      {"for row in lg.ones(2, 2) do end", "rows: for i = 1, #x do local row = x[i] … end"},
      {"for p in lg.nn.Linear(1, 1):parameters() do end", "a list: for i, value in ipairs(list) do … end"},
      {"for s in lg.data.TensorDataset(lg.ones(2)) do end",
       "batches: for x, y in lg.data.DataLoader(set) do … end"},
      {"for k in pairs(lg.ones(2)) do end", "rows: for i = 1, #x do"},
      {"for i in range(3) do end", "for i = 1, n do … end"},
      // Words.
      {"print(len({}))", "the length of x is #x"},
      {"print(isinstance(1, 2))", "lg.nn.isinstance(m, lg.nn.Linear)"},
      {"print(torch.zeros(3))", "torch.x is lg.x"},
      {"print(None)", "None is Python's; write nil"},
      {"lg.nn.Linear(1, 1, {bias = False})", "False is Python's; write false"},
      {"lg.arange(3, {dtype = float})", "float is Python's; write lg.float"},
      {"lg.nn.Module('Net')", "local Net = nn.class(\"Net\")"},
      {"lg.Generator()", "random_split and DataLoader take {seed = 42}"},
      {"lg.cuda.is_available()", "a GPU is the device \"vulkan\""},
      {"print(lg.autograd)", "torch.autograd.grad is lg.grad"},
      {"print(lg.F)", "the functions of networks are lg.nn.functional"},
      {"lg.ones(2):numpy()", "x:tolist makes Lua tables"},
      {"print(lg.ones(2):topk(1).values)", "values, indices = x:topk(3)"},
      // Values.
      {"print(lg.ones(2):tolist()[0] + 1)", "positions in a table count from 1"},
      {"print(('%.2f'):format(lg.ones(1)))", "the number in a tensor of one element is x:item()"},
      {"local n, c = lg.ones(2, 3):size() print(n * c)", "taken apart by table.unpack"},
      {"local a, b = lg.ones(2, 3):chunk(2) a:sum()", "local a, b = table.unpack(list)"},
      {"lg.ones(2, {requires_grad = true}).grad:sum()", "a tensor has a gradient after loss:backward()"},
      {"lg.ones(2, {requires_grad = true}):grad()", "x.grad is a field"},
      {"lg.full(2, 3, 7)", "lg.full({2, 3}, 7)"},
      {"lg.no_grad() lg.ones(1, {requires_grad = true}):sum():backward()",
       "gradients are off here: lg.no_grad() without a function lasts until it is closed"},
      {"local x = lg.ones(2) x:masked_fill(x == 0, 1)", "x:eq(y) compares their elements"},
      {"local x = lg.ones(2) print((x == x):sum())", "x:eq(y) compares their elements"},
      {"local x = lg.ones(2) x[x == 1] = 0", "x:eq(y) compares their elements"},
      {"lg.where(lg.ones(2) == 0, lg.ones(2), 2)", "x:eq(y)"},
      {"local x = lg.ones(2) local m = x == 0 print(m:sum())", "x:eq(y) compares their elements"},
      {"local x = lg.ones(2) local function f() return (x == 0).sum end f()", "x:eq(y)"},
      {"print(lg.ones(2):ndim())", "ndim is a field, without ()"},
      {"print(lg.ones(2).T())", "T is a field, without ()"},
      {"print(lg.distributions.Exponential(2):mean())", "mean is a field, without ()"},
      {"print(lg.complex(lg.ones(1), lg.ones(1)).real + 1)", "a method is called, as in x:real()"},
      {"lg.sin(lg.complex(lg.ones(1), lg.ones(1)).real)", "a method is called, as in x:real()"},
      {"print(lg.nn.Linear(1, 1):named_parameters()['weight'])", "for name, value in … do … end"},
      {"local N = lg.nn.class 'N' function N:init() self.fc = lg.nn.Linear(2, 2) end "
       "function N:forward(x) return self:fc(x) end N()(lg.ones(1, 2))",
       "a layer is called with a dot, as self.fc(x)"},
      {"lg.nn.Linear(2, 2):deepcopy()", "a copy is lg.nn.utils.deepcopy(net)"},
      {"lg.nn.functional.cross_entropy(lg.ones(1, 2), {1})", "lg.tensor({…}) makes one"},
      {"lg.optim.SGD({lg.nn.Linear(1, 1):parameters()}, {lr = 1})", "lists of parameters are joined"},
      {"lg.tensor({1}, lg.float32)", "{dtype = lg.float32}"},
      {"lg.ones(1):to(device)", "x:to(lg.device())"},
      {"lg.no_grad(lg.ones(1))", "lg.no_grad(function() … end)"},
      {"print('%.2f' % 3)", "(\"loss %.4f\"):format(loss)"},
      {"print('a' + 'b')", "text is joined by .."},
      // Methods of lists, dicts and strings.
      {"local t = {} t:append(1)", "table.insert(list, x)"},
      {"for k, v in lg.nn.Linear(1, 1):state_dict():items() do end", "for name, value in pairs(t) do"},
      {"local s = 'a b' s:split()", "for word in text:gmatch("},
      {"tqdm(1)", "lg.run.steps(n)"},
      {"random.seed(0)", "lg.manual_seed(0) seeds tensors"},
      {"copy.deepcopy(1)", "lg.nn.utils.deepcopy(net)"},
      // Syntax.
      {"print(x:repeat(2, 1))", "x:tile(2, 3)"},
      {"print(lg.ones(2, 2)[1, 2])", "an element or a part is x[{i, j}]"},
      {"print(lg.ones(2, 2)[..., 1])", "x:select(-1, i)"},
      {"lg.range({end = 3})", "end is a word of Lua"},
      {"local a = 1 if true else 2", "condition and a or b"},
      {"local out, (h, c) = f(x)", "local out, h, c = lstm(x)"},
      {"for i, (x, y) in enumerate(l) do end", "for x, y in loader do … end"},
      {"print('{:.2f}'.format(3))", "('loss %.3f'):format(loss)"},
      {"assert x, 'm'", "assert(condition, message)"},
      {"raise ValueError('m')", "error(message)"},
      {"if x > 0: x = 1", "if … then … end"},
      {"if x != 3 then end", "not equal is ~="},
      {"print(2 ** 3)", "a power is x ^ 2"},
      {"local x = 1 x += 1", "x = x + 1"},
      {"print(a @ b)", "x:matmul(y)"},
      {"lg.tensor([1, 2])", "a list is a table: {1, 2, 3}"},
      {"lg.zeros((2, 3))", "a list of sizes or dims is a table: {2, 3}"},
      {"lg.ones(3):sum(dim = 1)", "f(x, {dim = 1})"},
      {"print(lg.ones(3)[:, 1])", "x[{{}, {1, 2}}]"},
      {"print({'a': 1})", "{name = value}"},
      {"for i in ipairs({}):", "for … do … end"},
      {"local f = lambda x: x", "function(x) return … end"},
      {"# a comment", "a comment begins with --"},
      {"import torch", "local lg = require \"lunagrad\""},
      {"def f(x)", "function name(x) … end"},
  };
  for (const auto& [code, message] : mistakes) {
    folder.write("python.lua", "local lg = require 'lunagrad'\n" + std::string(code) + "\n");
    Finished finished = folder.run({"run", "python.lua"});
    finished.err = without_warnings(finished.err);
    CHECK(finished.code == 1);
    CHECK_MESSAGE(finished.err.starts_with("python.lua:"), finished.err);
    CHECK_MESSAGE(finished.err.substr(0, finished.err.find('\n')).find(message) != std::string::npos,
                  code << "\n"
                       << finished.err);
  }
  folder.write("python.lua", "local lg = require 'lunagrad'\nlocal x = lg.ones(2, 2)\nprint(x[{{}, nil}])\n");
  CHECK(folder.run({"run", "python.lua"})
            .err.find("warning: python.lua:3: the nil at the end of this index is lost; a new "
                      "dim is lg.newaxis") != std::string::npos);
  folder.write("python.lua", "if x != 3 then end\n");
  CHECK(folder.run({"check", "python.lua"}).err.find("not equal is ~=") != std::string::npos);
  folder.write("python.lua", "local pass = 1 local lambda = 2 local from = 3\nprint(pass, lambda, from\n");
  CHECK(folder.run({"run", "python.lua"}).err.find("in Lua") == std::string::npos);
}

TEST_CASE("a tuple of Python that an index takes apart is warned of, in check too") {
  const Folder folder;
  const std::string start =
      "local lg = require 'lunagrad'\nlocal x = lg.ones(2, 2, {requires_grad = true})\n";
  const struct {
    const char* code;
    const char* message;  // "" for none
  } lines[] = {
      {"print(x:max(2)[2])", "python.lua:3: [2] is a row of the values: local values, indices = x:max(…)"},
      {"print(lg.topk(x, 1)[1])",
       "python.lua:3: [1] is a row of the values: local values, indices = x:topk(…)"},
      {"print(lg.grad(x:sum(), x)[1])", "python.lua:3: [1] is a row where lg.grad is asked for one tensor"},
      {"print((x:max(2))[2], (lg.grad(x:sum(), x))[1])", ""},
      {"print(lg.grad(x:sum(), {x})[1], x:sum(2)[1], math.max(1, 2), ({x:max(2)})[2])", ""},
      {"print('x:max(2)[2]') -- x:max(2)[2]", ""},
  };
  for (const auto& [code, message] : lines) {
    folder.write("python.lua", start + code + "\n");
    const Finished run = folder.run({"run", "python.lua"}), checked = folder.run({"check", "python.lua"});
    CHECK_MESSAGE(run.code == 0, code << "\n" << run.err);
    const std::string expected = message;
    CHECK_MESSAGE((expected.empty() ? run.err.find("is a row") == std::string::npos
                                    : run.err.find("warning: " + expected) != std::string::npos),
                  run.err);
    CHECK(checked.code == (expected.empty() ? 0 : 1));
    CHECK((expected.empty() || checked.err.find(expected) != std::string::npos));
  }
}

TEST_CASE("an endless recursion is told at once, with both ends of its calls") {
  const Folder folder;
  folder.write("deep.lua", "local function f(n)\n  return f(n + 1) + 1\nend\nf(1)\n");
  const Finished finished = folder.run({"run", "deep.lua", "--timeout", "20"});
  CHECK(finished.code == 1);
  CHECK_MESSAGE(finished.err.find("stack overflow") != std::string::npos, finished.err);
  CHECK(finished.err.find("  deep.lua:2: in upvalue 'f'\n") != std::string::npos);
  CHECK(finished.err.ends_with("  deep.lua:4: in main chunk\n"));
  const size_t more = finished.err.find("  … ");
  REQUIRE(more != std::string::npos);
  CHECK(std::stoi(finished.err.substr(more + std::string("  … ").size())) > 100000);
}

TEST_CASE("a name of the script's own gets no advice, nor does the message of an error that was caught") {
  const Folder folder;
  folder.write("own.lua", "local t = {} print(pcall(function() t.sofmax() end)) t.quite_another_thing()");
  const Finished finished = folder.run({"run", "own.lua"});
  CHECK(finished.out == "false\town.lua:1: attempt to call a nil value (field 'sofmax')\n");
  CHECK(finished.err.starts_with("own.lua:1: attempt to call a nil value (field 'quite_another_thing')\n"));
}

TEST_CASE("errors of plain Lua get no advice about tensors") {
  const Folder folder;
  for (const char* code :
       {"local ok = true ok.y = 1", "local ok = pcall(error) print(ok.y)", "ok = false ok:y()",
        "table.insert(print, 1)", "print(('a'):rep(print))", "for _ in ipairs(true) do end"}) {
    folder.write("plain.lua", "local lg = require 'lunagrad'\n" + std::string(code) + "\n");
    Finished finished = folder.run({"run", "plain.lua"});
    finished.err = without_warnings(finished.err);
    CHECK(finished.code == 1);
    CHECK_MESSAGE(finished.err.substr(0, finished.err.find('\n')).find(';') == std::string::npos,
                  finished.err);
  }
}

TEST_CASE("help explains what the library holds by its name, the end of it, or its table") {
  CHECK(explain("lg.nn.Linear").starts_with("lg.nn.Linear(in_features, out_features"));
  CHECK(explain("nn.Linear") == explain("Linear"));
  CHECK(explain("linear").starts_with("lg.linear(input, weight, bias"));
  CHECK(explain("F.cross_entropy") == explain("cross_entropy"));
  CHECK(explain("optim").find("  lg.optim.AdamW(") != std::string::npos);
  CHECK(explain("state_dict").find("Optimizer:state_dict()") != std::string::npos);
  CHECK(explain("state_dict").find("Module:state_dict(options)") != std::string::npos);
  CHECK(explain("dataloader") == explain("DataLoader"));
  CHECK(explain("inear").empty());
  CHECK(explain("").empty());
  CHECK(suggest("DataLodaer", "") == "; did you mean lg.data.DataLoader?");
  CHECK(suggest("optim.AdmaW", "") == "; did you mean lg.optim.AdamW?");
  CHECK(suggest("xyzzyxx", "").empty());
  const Folder folder;
  CHECK(folder.run({"help", "nn.Linear"}).out == explain("nn.Linear"));
  CHECK(folder.run({"help", "DataLodaer"}).err.ends_with("; did you mean lg.data.DataLoader?\n"));
  CHECK(folder.run({"repl"}, "?DataLodaer\n").out.ends_with("; did you mean lg.data.DataLoader?\n"));
  CHECK(folder.run({"help", "lg.tape"}).out.starts_with("lg.tape(root)\n"));
  CHECK(folder.run({"help", "tape"}).out.find("\nSee also: lunagrad help lg.tape") != std::string::npos);
}
