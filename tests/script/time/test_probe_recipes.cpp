// Probes of trainings of many kinds: a replay reads the values that the run would have logged, bit for bit.
// Each training logs `total()`, in which every bit of the weights and gradients counts.
#include <doctest/doctest.h>

#include <filesystem>

#include "script/run/record.h"
#include "tests/script/time/trainings.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using namespace lunagrad::test;

namespace {

// Defines `model`, which is registered, a loader `next_batch`, which is not, `optimizer`, `loss_of` and
// `total`.
const std::string kBegin = R"lua(
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data
local set = data.TensorDataset(lg.rand(40, 6), lg.randint(0, 3, {40}))
local loader = data.DataLoader(set, {batch_size = 8, shuffle = true})
local next_batch = loader:cycle()
local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3))
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = 0.02}) end)
local function loss_of(x, y) return F.cross_entropy(model(x), y) end
local function total(other)
  local sum = lg.zeros(1, {dtype = "f64"})
  for _, p in ipairs((other or model):parameters()) do
    for _, x in ipairs {p:detach(), p.grad or p:detach()} do
      local flat = x:flatten():double()
      sum = sum + (flat * lg.arange(1, #flat + 1):double()):sum()
    end
  end
  return sum:item()
end
)lua";

struct Recipe {
  const char *name, *code;
  const char* value = "total()";  // what is logged as `v`, and probed
};

const Recipe kRecipes[] = {
    {"several loaders, one with workers", R"lua(
local other = data.DataLoader(set, {batch_size = 4, shuffle = true, num_workers = 2})
local more = other:cycle()
for step in lg.run.steps(24) do
  local x, y = next_batch()
  local x2, y2 = more()
  optimizer:zero_grad()
  local loss = loss_of(x, y) + loss_of(x2, y2)
  loss:backward() optimizer:step()
  lg.run.log {v = total()}
end)lua"},
    {"autocast and a gradient scaler", R"lua(
local scaler = lg.run.state("scaler", function() return lg.optim.GradScaler() end)
for step in lg.run.steps(24) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = lg.autocast("f16", function() return loss_of(x, y) end)
  scaler:scale(loss):backward()
  scaler:step(optimizer) scaler:update()
  lg.run.log {v = total() + scaler:get_scale()}
end)lua",
     "total() + scaler:get_scale()"},
    {"gradients of several passes", R"lua(
for step in lg.run.steps(24) do
  optimizer:zero_grad()
  for _ = 1, 3 do
    local x, y = next_batch()
    local loss = loss_of(x, y) / 3
    loss:backward()
  end
  optimizer:step()
  lg.run.log {v = total()}
end)lua"},
    {"a model that grows", R"lua(
for step in lg.run.steps(24) do
  local x, y = next_batch()
  optimizer:zero_grad()
  loss_of(x, y):backward() optimizer:step()
  if step == 9 then lg.surgery.insert(model[1], nn.Linear(12, 12), "after") end
  lg.run.log {v = total(), size = #model:parameters()}
end)lua"},
    {"an evaluation every few steps, and augmented data", R"lua(
local accuracy = 0
for step in lg.run.steps(24) do
  local x, y = next_batch()
  if lg.rand(1):item() < 0.5 then x = x + lg.randn(#x, 6) * 0.1 end
  optimizer:zero_grad()
  loss_of(x, y):backward() optimizer:step()
  if step % 5 == 0 then
    model:eval()
    accuracy = lg.no_grad(function() return model(x):argmax(2):eq(y):float():mean():item() end)
    model:train()
  end
  lg.run.log {v = total() + accuracy}
end)lua",
     "total() + accuracy"},
    {"a captured graph", R"lua(
local train = lg.compile(function(x, y)
  optimizer:zero_grad()
  local loss = loss_of(x, y)
  loss:backward() optimizer:step()
  return loss
end, {capture_graph = true})
for step in lg.run.steps(24) do
  local x, y = next_batch()
  local loss = train(x, y)
  lg.run.log {v = total()}
end)lua"},
    {"an average of weights, and schedules", R"lua(
local average = lg.run.state("average", function() return lg.optim.EMA(model:parameters(), {decay = 0.9}) end)
local schedule = lg.run.state("schedule", function() return lg.optim.lr_scheduler.CosineAnnealingLR(optimizer, 24) end)
for step in lg.run.steps(24) do
  local x, y = next_batch()
  optimizer:zero_grad()
  loss_of(x, y):backward() optimizer:step()
  average:update() schedule:step()
  lg.run.log {v = total() + schedule:get_last_lr()[1]}
end)lua",
     "total() + schedule:get_last_lr()[1]"},
    {"a curriculum that depends on the loss", R"lua(
local hard = 0.1
for step in lg.run.steps(24) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = loss_of(x * hard, y)
  loss:backward() optimizer:step()
  if loss:item() < 1.2 then hard = hard * 1.1 end
  lg.run.log {v = total() + hard}
end)lua",
     "total() + hard"},
    {"two models against each other", R"lua(
local critic = lg.run.state("critic", function() return nn.Linear(12, 1) end)
local other = lg.run.state("other", function() return lg.optim.RMSprop(critic:parameters(), {lr = 0.01}) end)
for step in lg.run.steps(24) do
  local x, y = next_batch()
  other:zero_grad()
  critic(model[1](x):detach()):square():mean():backward() other:step()
  local loss = loss_of(x, y) - critic(model[1](x)):mean()
  optimizer:zero_grad()
  loss:backward() optimizer:step()
  lg.run.log {v = total() + total(critic)}
end)lua",
     "total() + total(critic)"},
    {"a loop of epochs around an iterated loader", R"lua(
local step_of, seen = lg.run.steps(24), 0
for epoch = 1, 5 do
  for x, y in loader do
    if not step_of() then break end
    seen = seen + #x
    optimizer:zero_grad()
    loss_of(x, y):backward() optimizer:step()
    lg.run.log {v = total() + seen}
  end
end)lua",
     "total() + seen"},
    {"recurrent states that are carried on", R"lua(
local reader = lg.run.state("reader", function() return nn.GRU(6, 12, {batch_first = true}) end)
local tune = lg.run.state("tune", function() return lg.optim.SGD(reader:parameters(), {lr = 0.05}) end)
local carried
for step in lg.run.steps(24) do
  local x = next_batch()
  local out
  out, carried = reader(x:view(8, 1, 6), carried)
  tune:zero_grad()
  out:square():mean():backward() tune:step()
  carried = carried:detach()
  lg.run.log {v = total(reader) + carried:sum():item()}
end)lua",
     "total(reader) + carried:sum():item()"},
    {"steps of an optimizer, without lg.run.steps", R"lua(
for epoch = 1, 24 do
  local x, y = next_batch()
  optimizer:zero_grad()
  loss_of(x, y):backward()
  optimizer:step()
  lg.run.log {v = total()}
end)lua"},
};

}  // namespace

TEST_CASE("a probe reads the logged bits in trainings of many kinds, with and without keyframes") {
  const Folder folder;
  for (const Recipe& recipe : kRecipes) {
    CAPTURE(recipe.name);
    folder.write("train.lua", kBegin + recipe.code);
    for (const bool keyframes : {true, false}) {
      CAPTURE(keyframes);
      std::filesystem::remove_all(folder.path() + "/run");
      std::vector<std::string> command{"run", "train.lua", "--run-dir", "run"};
      if (keyframes) command.insert(command.end(), {"--keyframes", "64MiB"});
      const Finished run = folder.run(command);
      CAPTURE(run.err);
      REQUIRE(run.code == 0);
      const Rows rows = logged(read_run(folder.path() + "/run"), "v");
      REQUIRE(rows.size() == 24);
      const Finished whole = folder.run({"probe", "run", recipe.value, "--json"});
      CAPTURE(whole.err);
      CHECK(rows_of(whole.out) == rows);
      const Finished part =
          folder.run({"probe", "run", recipe.value, "--json", "--from", "17", "--to", "20"});
      CAPTURE(part.err);
      CHECK(rows_of(part.out) == Rows(rows.begin() + 16, rows.begin() + 20));
    }
  }
}
