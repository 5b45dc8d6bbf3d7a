-- Trains a small model, with one fault in it: the runs that the tests compare.
--   kind   mlp cnn transformer rnn
--   fault  none; in the last step: inputs labels nan; from the start, in one weight: scaled zeroed; removed: a layer
local lg = require "lunagrad"
local nn = lg.nn
local kind, fault = lg.run.param("kind", "mlp"), lg.run.param("fault", "none")
local which, last = lg.run.param("which", 1), lg.run.param("last", 10)
local removed = fault == "removed"

local function sequence(layers)
  local kept = {}
  for _, layer in ipairs(layers) do if layer then kept[#kept + 1] = layer end end
  return nn.Sequential(table.unpack(kept))
end

local function mlp()
  return sequence {nn.Linear(8, 16), nn.ReLU(), not removed and nn.Linear(16, 16), not removed and nn.Tanh(),
    nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 4)}
end

local function cnn()
  return sequence {nn.Conv2d(1, 4, 3, {padding = 1}), nn.BatchNorm2d(4), nn.ReLU(),
    not removed and nn.Conv2d(4, 4, 3, {padding = 1}), not removed and nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(64, 4)}
end

local Block = nn.class("Block")
function Block:init()
  self.norm1, self.attn, self.norm2 = nn.LayerNorm(16), nn.MultiheadAttention(16, 2), nn.LayerNorm(16)
  self.up, self.down, self.drop = nn.Linear(16, 32), nn.Linear(32, 16), nn.Dropout(0.1)
end
function Block:forward(x)
  local h = self.norm1(x)
  x = x + self.drop((self.attn(h, h, h)))
  return x + self.drop(self.down(self.up(self.norm2(x)):gelu()))
end

local Transformer = nn.class("Transformer")
function Transformer:init()
  self.embed, self.blocks, self.head = nn.Linear(8, 16), nn.ModuleList(), nn.Linear(16, 4)
  for _ = 1, removed and 2 or 3 do self.blocks:append(Block()) end
end
function Transformer:forward(x)
  x = self.embed(x)
  for _, block in ipairs(self.blocks) do x = block(x) end
  return self.head(x:mean(2))
end

local Recurrent = nn.class("Recurrent")
function Recurrent:init()
  self.rnn, self.head = nn.LSTM(8, 16, {batch_first = true}), nn.Linear(16, 4)
  if not removed then self.middle = nn.Linear(16, 16) end
end
function Recurrent:forward(x)
  local h = self.rnn(x):select(2, 6)
  if not removed then h = self.middle(h):tanh() end
  return self.head(h)
end

local shapes = {mlp = {32, 8}, cnn = {16, 1, 8, 8}, transformer = {8, 6, 8}, rnn = {8, 6, 8}}
local net = ({mlp = mlp, cnn = cnn, transformer = Transformer, rnn = Recurrent})[kind]()
local weights = {}
for name, weight in net:named_parameters() do
  if weight:dim() > 1 then weights[#weights + 1] = {name = name, value = weight} end
end
local chosen = weights[(which - 1) % #weights + 1]
lg.run.text("chosen", "net." .. chosen.name)  -- its name on the tape
lg.no_grad(function()
  if fault == "scaled" then chosen.value:mul_(5) end
  if fault == "zeroed" then chosen.value:zero_() end
end)
local optimizer = lg.optim.Adam(net:parameters(), {lr = 0.003})
local loss_of = nn.CrossEntropyLoss()
for step in lg.run.steps(last) do
  local x = lg.randn(table.unpack(shapes[kind]))
  local labels = lg.randint(0, 4, {x:size(1)})
  if step == last then
    if fault == "inputs" then x = x * 30 end
    if fault == "labels" then labels = labels:roll(1) end
    if fault == "nan" then x[2] = 0 / 0 end
  end
  local loss = loss_of(net(x), labels)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log{loss = loss}
end
