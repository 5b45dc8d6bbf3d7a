-- Classifies handwritten digits of 8 x 8 pixels with one hidden layer.
local lg = require "lunagrad"
local nn, data = lg.nn, lg.data

local epochs = lg.run.param("epochs", 80, {min = 1, max = 10000})
local hidden = lg.run.param("hidden", 256, {min = 4, max = 1024})
local batch_size = lg.run.param("batch_size", 64, {min = 1, max = 512})
local dropout = lg.run.live("dropout", 0.2, {min = 0, max = 0.9})
local lr = lg.run.live("lr", 2e-3, {min = 1e-5, max = 1, log = true})

-- Each row has 64 pixels from 0 to 16 and the digit. A fifth of the rows is the test set.
local folder = arg[0]:match("^(.*)/") or "."
local digits = data.csv(folder .. "/../assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = batch_size, shuffle = true, drop_last = true})
end)

local Net = nn.class("Net")
function Net:init(width)
  self.fc1 = nn.Linear(64, width)
  self.dropout = nn.Dropout(dropout)
  self.fc2 = nn.Linear(width, 10)
end

function Net:forward(x)
  return self.fc2(self.dropout(self.fc1(x):relu()))
end

local model = lg.run.state("model", function() return Net(hidden) end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.AdamW(model:parameters(), {lr = lr})
end)
local loss_of = nn.CrossEntropyLoss()
print(model)

local test_loader = data.DataLoader(test, {batch_size = #test})
local function accuracy(samples)
  model:eval()
  local right, total = 0, 0
  lg.no_grad(function()
    for x, y in samples do
      right = right + model(x):argmax(2):eq(y):sum():item()
      total = total + #y
    end
  end)
  model:train()
  return right / total
end

local next_batch = loader:cycle()
for step in lg.run.steps(epochs * #loader) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = loss_of(model(x), y)
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
  if step % (5 * #loader) == 0 then lg.run.log {test_accuracy = accuracy(test_loader)} end
end

print(("test accuracy %.2f %%"):format(100 * accuracy(test_loader)))
