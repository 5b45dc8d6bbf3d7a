-- A run that can be stopped at any step and resumed with identical results.
--   lunagrad run examples/12_resume.lua --run-dir mine          Ctrl-C somewhere in the middle
--   lunagrad run examples/12_resume.lua --resume mine           continues after the last finished step
-- State that must survive is registered with lg.run.state: weights, the optimizer, the position in the data. The step number,
-- the parameters and the state of the random generator are always saved.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local epochs = lg.run.param("epochs", 40, {min = 1, max = 1000})
local save_every = lg.run.param("save_every", 200, {min = 1})
local lr = lg.run.live("lr", 2e-3, {min = 1e-5, max = 1, log = true})

local folder = arg[0]:match("^(.*)/") or "."
local digits = data.csv(folder .. "/../assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())

local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.AdamW(model:parameters(), {lr = lr}) end)
local loader = lg.run.state("loader", function() return data.DataLoader(set, {batch_size = 64, shuffle = true}) end)
-- A table of numbers, strings and tensors can be registered too.
local seen = lg.run.state("seen", function() return {samples = 0} end)

local next_batch = loader:cycle()
for step in lg.run.steps(epochs * #loader) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = F.cross_entropy(model(x), y)
  loss:backward()
  optimizer:step()
  seen.samples = seen.samples + #x
  lg.run.log {loss = loss}
  -- Ctrl-C saves a checkpoint at the end of the step. This checkpoint helps after a crash or a power cut.
  if step % save_every == 0 then lg.run.checkpoint() end
end

-- This number is the same whether or not the run was stopped.
local norm = 0
for _, p in ipairs(model:parameters()) do norm = norm + p:double():square():sum():item() end
print(("%d samples seen, square of the weights %.12f"):format(seen.samples, norm))
