-- The models that the tests of training share, and their samples: models.make(case, dropout) -> model, whose groups() are modules for
-- fully_shard; models.samples(case) -> inputs, labels of 5 classes.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local models = {}

local Cnn = nn.class("Cnn")
function Cnn:init(dropout)
  self.conv = nn.Conv2d(1, 4, 3)
  self.norm = nn.BatchNorm2d(4)
  self.drop = nn.Dropout(dropout)
  self.fc = nn.Linear(4 * 36, 5)
end
function Cnn:forward(x) return self.fc(self.drop(F.relu(self.norm(self.conv(x)))):flatten(2)) end
function Cnn:groups() return {self.conv, self.norm, self.fc} end

-- A frozen layer, a shared weight, a layer that is never used, a layer that only some ranks use, and a parameter
-- without dims.
local Odd = nn.class("Odd")
function Odd:init()
  self.a = nn.Linear(6, 6)
  self.b = nn.Linear(6, 6)
  self.b.weight = self.a.weight
  self.frozen = nn.Linear(6, 6)
  self.unused = nn.Linear(3, 3)
  self.sometimes = nn.Linear(6, 6)
  self.out = nn.Linear(6, 5)
  self.scale = nn.Parameter(lg.tensor(1.5))
  for _, p in ipairs(self.frozen:parameters()) do p:requires_grad_(false) end
end
function Odd:forward(x, extra)
  local h = self.b(F.relu(self.frozen(self.a(x))))
  if extra then h = h + self.sometimes(h) end
  return self.out(h) * self.scale
end
function Odd:groups() return {self.frozen, self.out} end

-- Sequences of tokens; the embedding is the output layer, too.
local Gpt = nn.class("Gpt")
function Gpt:init(dropout)
  self.tokens = nn.Embedding(11, 16)
  self.blocks = nn.ModuleList()
  for _ = 1, 2 do
    self.blocks:append(nn.TransformerEncoderLayer(16, 2, {dim_feedforward = 32, dropout = dropout / 2, batch_first = true}))
  end
  self.head = nn.Linear(16, 11, {bias = false})
  self.head.weight = self.tokens.weight
  self.out = nn.Linear(11, 5)
end
function Gpt:forward(x)
  x = self.tokens(x)
  for _, block in ipairs(self.blocks) do x = self.checkpointed and lg.checkpoint(block, x) or block(x) end
  return self.out(self.head(x):mean(2))
end
function Gpt:groups() return self.blocks end

local Lstm = nn.class("Lstm")
function Lstm:init(dropout)
  self.tokens = nn.Embedding(11, 16)
  self.lstm = nn.LSTM(16, 12, {num_layers = 2, batch_first = true, dropout = dropout})
  self.out = nn.Linear(12, 5)
end
function Lstm:forward(x) return self.out(self.lstm(self.tokens(x)):select(2, -1)) end
function Lstm:groups() return {self.tokens, self.lstm} end

local Mlp = nn.class("Mlp", nn.Sequential)
function Mlp:init()
  nn.Sequential.init(self, nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 5))
end
function Mlp:groups() return {self[1], self[3], self[5]} end

local classes = {cnn = Cnn, gpt = Gpt, lstm = Lstm, odd = Odd, mlp = Mlp}

function models.make(case, dropout) return (classes[case] or Mlp)(dropout) end

function models.samples(case)
  local inputs = case == "cnn" and lg.randn(64, 1, 8, 8) or (case == "gpt" or case == "lstm") and lg.randint(0, 11, {64, 7})
    or lg.randn(64, 6)
  return inputs, lg.randint(0, 5, {64})
end

return models
