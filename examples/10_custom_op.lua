-- A custom op with its own gradient: hidden units whose output is -1 or 1.
-- The sign function has gradient 0 almost everywhere, so a network cannot learn through it. The straight-through estimator
-- passes the gradient where |x| <= 1 (I. Hubara et al., "Binarized Neural Networks", 2016).
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local binarize = lg.custom_op {
  name = "binarize",
  forward = function(ctx, x)
    ctx:save(x)
    return x:ge(0):to(x:dtype()) * 2 - 1
  end,
  backward = function(ctx, g)
    local x = ctx:saved()
    return g * x:abs():le(1):to(g:dtype())
  end,
}

-- A custom op with an exact gradient can be checked against finite differences.
local cube = lg.custom_op {
  name = "cube",
  forward = function(ctx, x)
    ctx:save(x)
    return x * x * x
  end,
  backward = function(ctx, g)
    local x = ctx:saved()
    return g * 3 * x:square()
  end,
}
assert(lg.grad.check(cube, {lg.randn(3, 4, {dtype = "f64", requires_grad = true})}))
print("cube: the gradient agrees with finite differences")

local epochs = lg.run.param("epochs", 60, {min = 1, max = 1000})
local lr = lg.run.live("lr", 2e-3, {min = 1e-5, max = 1, log = true})

local folder = arg[0]:match("^(.*)/") or "."
local digits = data.csv(folder .. "/../assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 8 - 1, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = 64, shuffle = true, drop_last = true})
end)

local Net = nn.class("Net")

function Net:init()
  self.fc1, self.norm, self.fc2 = nn.Linear(64, 256), nn.BatchNorm1d(256), nn.Linear(256, 10)
end

function Net:forward(x) return self.fc2(binarize(self.norm(self.fc1(x)))) end

local model = lg.run.state("model", function() return Net() end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = lr}) end)

local next_batch = loader:cycle()
for step in lg.run.steps(epochs * #loader) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = F.cross_entropy(model(x), y)
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end

model:eval()
lg.no_grad(function()
  local x, y = data.DataLoader(test, {batch_size = #test}):cycle()()
  print(("test accuracy with one bit per hidden unit %.2f %%"):format(
    100 * model(x):argmax(2):eq(y):float():mean():item()))
end)
