// `lunagrad init DIR`: makes a new project that trains, has tests, and works with Lua editors.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "script/cli/base/carry_out.h"
#include "script/cli/command/all.h"
#include "script/meta/annotations.h"
#include "script/meta/library.h"

namespace lunagrad {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTrain =
    R"lua(-- lunagrad run train.lua            trains; --set lr=0.1 changes a parameter, Ctrl-C and --resume go on later
-- lunagrad open train.lua           the same in the window
-- lunagrad test                     the tests in tests/
local lg = require "lunagrad"
local nn = lg.nn
local Model = require "model"

local steps = lg.run.param("steps", 500, {min = 1})
local lr = lg.run.live("lr", 1e-2, {min = 1e-5, max = 1, log = true})

local model = lg.run.state("model", function() return Model(16) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = lr}) end)
local loss_of = nn.MSELoss()

-- Data of this project's own belongs here; lg.data has readers and a loader.
local function batch()
  local x = lg.rand(64, 1) * 6 - 3
  return x, x:sin()
end

for step in lg.run.steps(steps) do
  local x, y = batch()
  optimizer:zero_grad()
  local loss = loss_of(model(x), y)
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end

local x, y = batch()
print(("mean squared error %.5f"):format(lg.no_grad(function() return loss_of(model(x), y):item() end)))
)lua";

constexpr const char* kModel = R"lua(-- The network: required by train.lua and by its test.
local nn = require("lunagrad").nn

local Model = nn.class("Model")

function Model:init(width)
  self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
end

-- x [batch, 1] -> [batch, 1]
function Model:forward(x)
  return self.layers(x)
end

return Model
)lua";

constexpr const char* kTest = R"lua(local lg = require "lunagrad"
local Model = require "model"

describe("Model", function()
  it("keeps the shape of a batch", function()
    expect.equal(Model(8)(lg.rand(5, 1)):size(), {5, 1})
  end)
  it("has right gradients", function()
    local model = Model(4):to("f64")
    local x = lg.rand(3, 1, {dtype = "f64", requires_grad = true})
    assert(lg.grad.check(function(input) return model(input):sum() end, {x}))
  end)
end)
)lua";

constexpr const char* kIgnore = "runs/\nresults.xml\n";

// For servers that run GitHub's workflows. Each step ends with its command's exit code.
constexpr const char* kWorkflow = R"yaml(name: lunagrad

on: [push, pull_request]

jobs:
  project:
    # A runner that has lunagrad on its PATH, as `cmake --install build --prefix /usr/local` puts it there.
    runs-on: self-hosted
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - name: Find mistakes without running
        run: lunagrad check .
      - name: Test
        run: lunagrad test --junit results.xml
      - name: Train a few steps
        run: lunagrad run train.lua --steps 20 --seed 1 --timeout 600
      - name: Keep the results of the tests
        if: always()
        uses: actions/upload-artifact@v4
        with:
          name: results
          path: results.xml
)yaml";
constexpr const char* kWorkflows = ".github/workflows";

int init(const std::string& directory, bool ci) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_empty(directory, error))
    fail_as(ErrorKind::file, directory, ": exists and is not empty");
  std::vector<const char*> folders{"tests", ".lunagrad"};
  if (ci) folders.push_back(kWorkflows);
  for (const char* folder : folders) {
    fs::create_directories(fs::path(directory) / folder, error);
    if (error) fail_as(ErrorKind::file, directory, ": ", error.message());
  }
  std::ostringstream meta;
  print_meta(meta);
  const nlohmann::ordered_json settings = {
      {"runtime.version", "Lua 5.4"},
      {"workspace.library", {".lunagrad", library_directory() + "/meta", library_directory()}},
      {"diagnostics.globals", {"describe", "it", "before_each", "after_each", "expect"}}};
  const auto write = [&](const char* name, const std::string& content) {
    write_file(directory + "/" + name, content);
  };
  write("train.lua", kTrain);
  write("model.lua", kModel);
  write("tests/test_model.lua", kTest);
  write(".gitignore", kIgnore);
  write(".luarc.json", settings.dump(2) + "\n");
  write(".lunagrad/ops.gen.lua", meta.str());
  const std::string workflow = std::string(kWorkflows) + "/lunagrad.yml";
  if (ci) write(workflow.c_str(), kWorkflow);
  std::cout << "made " << directory << ": train.lua, model.lua, tests/test_model.lua, .luarc.json"
            << (ci ? ", " + workflow : "") << "\n"
            << "  cd " << directory << " && lunagrad run train.lua && lunagrad test\n";
  return 0;
}

}  // namespace

// Exit code 0, 6 when the folder cannot be made or is not empty.
Action add_init(Program& program) {
  const auto directory = std::make_shared<std::string>();
  CLI::App& command = add_command(program, "init", "create a project: a script, a test, editor settings");
  const auto ci = std::make_shared<bool>(false);
  add_argument(command, "DIR", *directory, "a new or empty folder");
  add_flag(command, "--ci", *ci, "also write a workflow for CI: check, test, and a short run");
  return [=] { return carry_out("init", [&] { return init(*directory, *ci); }); };
}

}  // namespace lunagrad
