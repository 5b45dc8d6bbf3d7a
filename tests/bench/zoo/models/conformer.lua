-- A recognizer of speech: attention and convolution between two halves of a feed-forward net. Gulati and others, "Conformer:
-- convolution-augmented transformer for speech recognition", 2020. Its loss is CTC.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local function feed_forward(width, dropout)
  return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Dropout(dropout),
    nn.Linear(4 * width, width), nn.Dropout(dropout))
end

local Convolution = nn.class("Convolution")
function Convolution:init(width, kernel, dropout)
  self.norm = nn.LayerNorm(width)
  self.layers = nn.Sequential(nn.Conv1d(width, 2 * width, 1), nn.GLU(2),
    nn.Conv1d(width, width, kernel, {padding = kernel // 2, groups = width, bias = false}),
    nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1), nn.Dropout(dropout))
end
function Convolution:forward(x) return self.layers(self.norm(x):transpose(2, 3)):transpose(2, 3) end

local Block = nn.class("Block")
function Block:init(s)
  local width, dropout = s.width, s.dropout
  self.first, self.second = feed_forward(width, dropout), feed_forward(width, dropout)
  self.norm = nn.LayerNorm(width)
  self.attention = nn.MultiheadAttention(width, s.heads, {dropout = dropout, batch_first = true})
  self.dropout, self.convolution = nn.Dropout(dropout), Convolution(width, s.kernel, dropout)
  self.last = nn.LayerNorm(width)
end
function Block:forward(x)
  x = x + 0.5 * self.first(x)
  local y = self.norm(x)
  x = x + self.dropout((self.attention(y, y, y, {need_weights = false})))
  x = x + self.convolution(x)
  return self.last(x + 0.5 * self.second(x))
end

local Conformer = nn.class("Conformer")
function Conformer:init(s)
  local width, blocks = s.width, {}
  self.shrink = nn.Sequential(nn.Conv2d(1, width, 3, {stride = 2}), nn.ReLU(),
    nn.Conv2d(width, width, 3, {stride = 2}), nn.ReLU())
  self.enter = nn.Sequential(nn.Linear(width * (((s.bands - 1) // 2 - 1) // 2), width), nn.Dropout(s.dropout))
  for i = 1, s.layers do blocks[i] = Block(s) end
  self.blocks = nn.Sequential(table.unpack(blocks))
  self.head = nn.Linear(width, s.labels)
end
function Conformer:forward(x)
  x = self.shrink(x:unsqueeze(2))
  x = self.enter(x:transpose(2, 3):flatten(3))
  return F.log_softmax(self.head(self.blocks(x)), -1)
end

return function(zoo)
  local s = zoo.sizes
  local model = Conformer(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 5e-4, betas = {0.9, 0.98}})
  local x = zoo.wave({s.batch, s.frames, s.bands})
  local labels = zoo.ids({s.batch, s.words}, s.labels - 1) + 1
  local lengths = lg.full({s.batch}, ((s.frames - 1) // 2 - 1) // 2, {dtype = "i64"})
  local words = lg.full({s.batch}, s.words, {dtype = "i64"})
  local function loss() return F.ctc_loss(model(x):transpose(1, 2), labels, lengths, words) end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
