-- A hyperparameter sweep: trains the same network for each learning rate and width of a small grid, and prints a table.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local epochs = lg.run.param("epochs", 10, {min = 1, max = 100})
local rates, widths = {1e-3, 3e-3, 1e-2}, {8, 32, 128}

local folder = arg[0]:match("^(.*)/") or "."
local digits = data.csv(folder .. "/../assets/data/digits.csv")
local set = data.TensorDataset(digits:narrow(2, 1, 64) / 16, digits:select(2, 65):long())
local train, test = data.random_split(set, {0.8, 0.2}, {seed = 0})

-- Trains one network and returns its test accuracy. The seed makes each row of the table reproducible by itself.
local function train_one(lr, width, step)
  lg.manual_seed(1)
  local model = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
  local optimizer = lg.optim.Adam(model:parameters(), {lr = lr})
  local loader = data.DataLoader(train, {batch_size = 64, shuffle = true, seed = 1})
  for _ = 1, epochs do
    for x, y in loader do
      step()
      optimizer:zero_grad()
      local loss = F.cross_entropy(model(x), y)
      loss:backward()
      optimizer:step()
      lg.run.log {[("loss/lr=%g,width=%d"):format(lr, width)] = loss}
    end
  end
  return lg.no_grad(function()
    local x, y = data.DataLoader(test, {batch_size = #test}):cycle()()
    return model(x):argmax(2):eq(y):float():mean():item()
  end)
end

-- All networks share one step counter, so the progress bar covers the whole sweep.
local batches = math.ceil(#train / 64)
local step = lg.run.steps(#rates * #widths * epochs * batches)
local found, best = {}, {accuracy = -1}
for i, lr in ipairs(rates) do
  found[i] = {}
  for k, width in ipairs(widths) do
    local accuracy = train_one(lr, width, step)
    found[i][k] = accuracy
    if accuracy > best.accuracy then best = {accuracy = accuracy, lr = lr, width = width} end
  end
end

local header = {"lr \\ width"}
for k, width in ipairs(widths) do header[k + 1] = ("%8d"):format(width) end
print(table.concat(header))
for i, lr in ipairs(rates) do
  local line = {("%-10g"):format(lr)}
  for k in ipairs(widths) do line[k + 1] = ("%7.2f%%"):format(100 * found[i][k]) end
  print(table.concat(line))
end
print(("best: lr %g, width %d, %.2f %% right"):format(best.lr, best.width, 100 * best.accuracy))
