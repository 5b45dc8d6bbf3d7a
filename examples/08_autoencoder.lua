-- An autoencoder: encodes the 64 pixels of a digit in a few numbers and reconstructs them. The baseline is a linear
-- autoencoder of the same width, which is trained at the same time.
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local epochs = lg.run.param("epochs", 100, {min = 1, max = 1000})
local width = lg.run.param("width", 4, {min = 1, max = 32})
local lr = lg.run.live("lr", 3e-3, {min = 1e-5, max = 1, log = true})

local folder = arg[0]:match("^(.*)/") or "."
local pixels = data.csv(folder .. "/../assets/data/digits.csv"):narrow(2, 1, 64) / 16
local train, test = data.random_split(data.TensorDataset(pixels), {0.8, 0.2}, {seed = 0})
local loader = lg.run.state("loader", function()
  return data.DataLoader(train, {batch_size = 64, shuffle = true, drop_last = true})
end)
local held_back = data.DataLoader(test, {batch_size = #test})

local Autoencoder = nn.class("Autoencoder")

function Autoencoder:init(code)
  self.encoder = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, code))
  self.decoder = nn.Sequential(nn.Linear(code, 128), nn.GELU(), nn.Linear(128, 64), nn.Sigmoid())
end

function Autoencoder:forward(x) return self.decoder(self.encoder(x)) end

local deep = lg.run.state("deep", function() return Autoencoder(width) end)
local linear = lg.run.state("linear", function() return nn.Sequential(nn.Linear(64, width), nn.Linear(width, 64)) end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.Adam({{params = deep:parameters()}, {params = linear:parameters()}}, {lr = lr})
end)

local next_batch = loader:cycle()
for step in lg.run.steps(epochs * #loader) do
  local x = next_batch()
  optimizer:zero_grad()
  local loss, linear_loss = F.mse_loss(deep(x), x), F.mse_loss(linear(x), x)
  -- The networks share no parameters, so one backward of the summed losses trains both.
  local total = loss + linear_loss
  total:backward()
  optimizer:step()
  lg.run.log {loss = loss, linear_loss = linear_loss}
end

-- A row of pixels as text.
local function row(image, y)
  local shades = {}
  for x = 1, 8 do
    local shade = math.floor(math.min(math.max(image[y][x], 0), 1) * 4 + 0.5)
    shades[x] = (" .+#@"):sub(shade + 1, shade + 1):rep(2)
  end
  return table.concat(shades)
end

lg.no_grad(function()
  local x = held_back:cycle()()
  local back = deep(x)
  local input, output = x:view(-1, 8, 8):tolist(), back:view(-1, 8, 8):tolist()
  for digit = 1, 3 do
    for y = 1, 8 do print(row(input[digit], y) .. "  ->  " .. row(output[digit], y)) end
  end
  print(("mean squared error through %d numbers: %.4f, linear %.4f"):format(width, F.mse_loss(back, x):item(),
    F.mse_loss(linear(x), x):item()))
end)
