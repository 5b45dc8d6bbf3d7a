-- Classifies MNIST digits of 28 x 28 pixels with a convolutional network.
--   lunagrad run examples/05_mnist_cnn.lua -- FOLDER
-- FOLDER holds the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
-- t10k-labels-idx1-ubyte, plain or compressed (.gz).
local lg = require "lunagrad"
local nn, data = lg.nn, lg.data

local folder = arg[1] or error("no folder of IDX files given: lunagrad run " .. arg[0] .. " -- FOLDER", 0)

local epochs = lg.run.param("epochs", 15, {min = 1, max = 100})
local batch_size = lg.run.param("batch_size", 64, {min = 1, max = 1024})
local network = lg.run.param("network", "cnn")
local lr = lg.run.live("lr", 5e-3, {min = 1e-5, max = 1, log = true})

local function load(name)
  local path = folder .. "/" .. name
  local file = io.open(path)
  if not file then return data.idx(path .. ".gz") end
  file:close()
  return data.idx(path)
end

local function dataset(part)
  local images = load(part .. "-images-idx3-ubyte"):to("f32") / 255
  return data.TensorDataset(images:unsqueeze(2), load(part .. "-labels-idx1-ubyte"):long())
end

-- Data augmentation: each batch is shifted by up to one pixel.
local function moved(x)
  local framed = lg.zeros(#x, 1, 30, 30)
  framed[{{}, {}, {2, 29}, {2, 29}}] = x
  local row, column = table.unpack(lg.randint(1, 4, {2}, {device = "cpu"}):tolist())
  return framed:narrow(3, row, 28):narrow(4, column, 28)
end

local train, test = dataset("train"), dataset("t10k")
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = batch_size, shuffle = true, drop_last = true})
end)
print(("%d images to learn from, %d for the test"):format(#train, #test))

local networks = {}

function networks.cnn()
  return nn.Sequential(
    nn.Conv2d(1, 16, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, {padding = 1}), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Dropout(0.25), nn.Linear(32 * 7 * 7, 10))
end

function networks.mlp()
  return nn.Sequential(
    nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
end

local build = networks[network] or error("network is 'cnn' or 'mlp', not '" .. network .. "'", 0)
local model = lg.run.state("model", build)
local steps, done = epochs * #loader, 0
local optimizer = lg.run.state("optimizer", function()
  -- The learning rate decays linearly to 0.
  return lg.optim.AdamW(model:parameters(), {lr = function() return lr() * (1 - done / steps) end})
end)
local loss_of = nn.CrossEntropyLoss()
print(model)

local function accuracy()
  model:eval()
  local right = 0
  lg.no_grad(function()
    for x, y in data.DataLoader(test, {batch_size = 500}) do
      right = right + model(x):argmax(2):eq(y):sum():item()
    end
  end)
  model:train()
  return right / #test
end

local next_batch = loader:cycle()
for step in lg.run.steps(steps) do
  local x, y = next_batch()
  done = step - 1
  optimizer:zero_grad()
  local loss = loss_of(model(moved(x)), y)
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
  if step % #loader == 0 then lg.run.log {test_accuracy = accuracy()} end
end

print(("test accuracy %.2f %%"):format(100 * accuracy()))
