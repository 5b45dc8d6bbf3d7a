-- Digits, with a few blurred batches, and a loss that jumps now and then. docs/find-the-bug.md finds out why.
local lg = require "lunagrad"
local nn, data = lg.nn, lg.data

local lr = lg.run.live("lr", 0.1, {min = 1e-5, max = 1, log = true})

-- Each row has 64 pixels from 0 to 16 and the digit. A fifth of the rows is the test set.
local digits = data.csv("assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = 64, shuffle = true, drop_last = true})
end)

local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.SGD(model:parameters(), {lr = lr, momentum = 0.9})
end)

-- The model shall not rely on sharp edges.
local kernel = lg.ones(1, 1, 3, 3)
local function blurred(x)
  return nn.functional.conv2d(x:view(-1, 1, 8, 8), kernel, nil, {padding = 1}):flatten(2)
end

local next_batch = loader:cycle()
for step in lg.run.steps(400) do
  local x, y = next_batch()
  if lg.rand(1):item() < 0.02 then x = blurred(x) end
  local loss = nn.functional.cross_entropy(model(x), y)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end

lg.no_grad(function()
  local x, y = data.DataLoader(test, {batch_size = #test}):cycle()()
  print(("test accuracy %.2f %%"):format(100 * model(x):argmax(2):eq(y):float():mean():item()))
end)
