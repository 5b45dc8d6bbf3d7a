-- Dilated causal convolutions with gates, skips and classes of samples. Van den Oord and others, "WaveNet: a generative model
-- for raw audio", 2016.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Layer = nn.class("Layer")
function Layer:init(channels, skips, dilation)
  self.dilation = dilation
  self.conv = nn.Conv1d(channels, 2 * channels, 2, {dilation = dilation})
  self.skip, self.residual = nn.Conv1d(channels, skips, 1), nn.Conv1d(channels, channels, 1)
end
function Layer:forward(x)
  local filter, gate = table.unpack(self.conv(F.pad(x, {self.dilation, 0})):chunk(2, 2))
  local y = lg.tanh(filter) * lg.sigmoid(gate)
  return x + self.residual(y), self.skip(y)
end

local WaveNet = nn.class("WaveNet")
function WaveNet:init(s)
  self.embedding = nn.Embedding(256, s.channels)
  self.layers = nn.ModuleList()
  for _ = 1, s.stacks do
    for i = 0, s.depth - 1 do self.layers:append(Layer(s.channels, s.skips, 1 << i)) end
  end
  self.out1, self.out2 = nn.Conv1d(s.skips, s.skips, 1), nn.Conv1d(s.skips, 256, 1)
end
function WaveNet:forward(ids)
  local x, total = self.embedding(ids):transpose(2, 3), 0
  for _, layer in ipairs(self.layers) do
    local skip
    x, skip = layer(x)
    total = total + skip
  end
  return self.out2(F.relu(self.out1(F.relu(total))))
end

return function(zoo)
  local s = zoo.sizes
  local model = WaveNet(s):to(zoo.device)
  local optimizer = lg.optim.Adam(model:parameters(), {lr = 1e-3})
  local data = zoo.ids({s.batch, s.length + 1}, 256)
  local x, y = data[{{}, {1, -2}}], data[{{}, {2, -1}}]
  return zoo.training(model, optimizer, function() return F.cross_entropy(model(x), y) end, function() return model(x) end)
end
