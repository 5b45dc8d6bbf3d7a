-- Digits with early stopping; the memory grows as long as the script runs. docs/find-the-bug.md finds out why.
local lg = require "lunagrad"
local nn, data = lg.nn, lg.data

local lr = lg.run.live("lr", 1e-3, {min = 1e-5, max = 1, log = true})
local patience = lg.run.param("patience", 10, {min = 1})

-- Each row has 64 pixels from 0 to 16 and the digit. A fifth of the rows is the test set.
local digits = data.csv("assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = 64, shuffle = true, drop_last = true})
end)
local test_loader = data.DataLoader(test, {batch_size = #test})

local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 10))
end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.AdamW(model:parameters(), {lr = lr})
end)
local loss_of = nn.CrossEntropyLoss()

local function test_loss()
  model:eval()
  local sum, count = 0, 0
  for x, y in test_loader do
    sum, count = sum + loss_of(model(x), y), count + 1
  end
  model:train()
  return sum / count
end

-- Whether none of the last `patience` tests lowered the loss.
local history = {}
local function has_stalled(loss)
  history[#history + 1] = loss
  local best = lg.stack(history):argmin():item() + 1  -- a position in a tensor counts from 0
  return #history - best >= patience
end

local next_batch = loader:cycle()
for step in lg.run.steps(2000) do
  local x, y = next_batch()
  local loss = loss_of(model(x), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
  if step % 5 == 0 then
    local now = test_loss()
    lg.run.log {test_loss = now}
    if has_stalled(now) then break end
  end
end
