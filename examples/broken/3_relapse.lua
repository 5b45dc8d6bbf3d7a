-- Digits, with layers that are normalised by the script's own op, and a loss that stays too high. docs/find-the-bug.md
-- finds out why. --set norm=nn.LayerNorm uses the library's layer instead.
local lg = require "lunagrad"
local nn, data = lg.nn, lg.data

local lr = lg.run.live("lr", 3e-3, {min = 1e-5, max = 1, log = true})
local norm = lg.run.param("norm", "own", {choices = {"own", "nn.LayerNorm"}})

-- Each row has 64 pixels from 0 to 16 and the digit. A fifth of the rows is the test set.
local digits = data.csv("assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = 64, shuffle = true, drop_last = true})
end)

-- Each row of the result has mean 0 and variance 1: z = (x - mean x) / s.
local standardize = lg.custom_op {
  name = "standardize",
  forward = function(ctx, x)
    local centred = x - x:mean(2, {keepdim = true})
    local s = (centred:square():mean(2, {keepdim = true}) + 1e-5):sqrt()
    local z = centred / s
    ctx:save(z, s)
    return z
  end,
  backward = function(ctx, g)
    local z, s = ctx:saved()
    local along_z = z * (g * z):mean(2, {keepdim = true})
    return (g - along_z) / s
  end,
}

local function layer(inputs, outputs)
  local rest = {own = standardize, ["nn.LayerNorm"] = nn.LayerNorm(outputs, {elementwise_affine = false})}
  return nn.Sequential(nn.Linear(inputs, outputs), rest[norm], nn.ReLU())
end

local model = lg.run.state("model", function()
  return nn.Sequential(layer(64, 64), layer(64, 64), layer(64, 64), layer(64, 64), nn.Linear(64, 10))
end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.SGD(model:parameters(), {lr = lr, momentum = 0.9})
end)

local next_batch = loader:cycle()
for _ in lg.run.steps(120) do
  local x, y = next_batch()
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
