// The suggestions in errors: for a misspelt name, and for a dot in place of a colon.
#include <doctest/doctest.h>

#include "script/meta/explain.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;

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
      {"lg.nn.Linear(2, 3):paramters()", "(method 'paramters'); did you mean Module:parameters?"},
      {"local Net = lg.nn.class 'Net' function Net:encode() end Net():encdoe()",
       "(method 'encdoe'); did you mean Net:encode?"},
      {"local m = lg.nn.Sequential() m:appned(1)", "(method 'appned'); did you mean ModuleList:append?"},
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
    const Finished finished = folder.run({"run", "mistake.lua"});
    CHECK(finished.code == 1);
    CHECK_MESSAGE(finished.err.starts_with("mistake.lua:2: "), finished.err);
    CHECK_MESSAGE(finished.err.substr(0, finished.err.find('\n')).find(message) != std::string::npos,
                  finished.err);
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
  CHECK(folder.run({"help", "tape"}).out.starts_with("lg.tape(root)\n"));
}
