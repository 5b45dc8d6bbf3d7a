-- Trains with data_parallel. Arguments: a case, a file for rank 0's result. `compare.lua` compares the files of several worlds.
local lg = require "lunagrad"
local nn, F, dist = lg.nn, lg.nn.functional, lg.distributed
local case, path = arg[1], arg[2]
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()

local Cnn = nn.class("Cnn")
function Cnn:init()
  self.conv = nn.Conv2d(1, 4, 3)
  self.norm = nn.BatchNorm2d(4)
  self.drop = nn.Dropout(0.2)
  self.fc = nn.Linear(4 * 36, 5)
end
function Cnn:forward(x) return self.fc(self.drop(F.relu(self.norm(self.conv(x)))):flatten(2)) end

-- A frozen layer, a shared weight, a layer that is never used, and one that only some ranks use.
local Odd = nn.class("Odd")
function Odd:init()
  self.a = nn.Linear(6, 6)
  self.b = nn.Linear(6, 6)
  self.b.weight = self.a.weight
  self.frozen = nn.Linear(6, 6)
  self.unused = nn.Linear(3, 3)
  self.sometimes = nn.Linear(6, 6)
  self.out = nn.Linear(6, 5)
  for _, p in ipairs(self.frozen:parameters()) do p:requires_grad_(false) end
end
function Odd:forward(x, extra)
  local h = self.b(F.relu(self.frozen(self.a(x))))
  if extra then h = h + self.sometimes(h) end
  return self.out(h)
end

-- Sequences of tokens; the embedding is the output layer, too.
local Gpt = nn.class("Gpt")
function Gpt:init()
  self.tokens = nn.Embedding(11, 16)
  self.block = nn.TransformerEncoderLayer(16, 2, {dim_feedforward = 32, dropout = 0.1, batch_first = true})
  self.head = nn.Linear(16, 11, {bias = false})
  self.head.weight = self.tokens.weight
  self.out = nn.Linear(11, 5)
end
function Gpt:forward(x) return self.out(self.head(self.block(self.tokens(x))):mean(2)) end
local Lstm = nn.class("Lstm")
function Lstm:init()
  self.tokens = nn.Embedding(11, 16)
  self.lstm = nn.LSTM(16, 12, {num_layers = 2, batch_first = true, dropout = 0.2})
  self.out = nn.Linear(12, 5)
end
function Lstm:forward(x) return self.out(self.lstm(self.tokens(x)):select(2, -1)) end

local classes = {cnn = Cnn, gpt = Gpt, lstm = Lstm, odd = Odd}
local deterministic = case == "cnn" or case == "gpt" or case == "lstm"
lg.manual_seed(5)
local inputs = case == "cnn" and lg.randn(64, 1, 8, 8) or deterministic and lg.randint(0, 11, {64, 7}) or lg.randn(64, 6)
local set = lg.data.TensorDataset(inputs, lg.randint(0, 5, {64}))
if rank > 0 then lg.manual_seed(100 + rank) end  -- rank 0's model is the one that counts
local bare = classes[case] and classes[case]() or
  nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 5))
local model = dist.data_parallel(bare, {deterministic = deterministic, bucket = 0.001})
assert(model == bare)
local loader = lg.data.DataLoader(set, {batch_size = 16, shuffle = true, seed = 3}):shard()
assert(#loader == 4)
local optimizer = deterministic and lg.optim.Adam(model:parameters(), 1e-3) or lg.optim.SGD(model:parameters(), 0.1)

local step, share = 0, 16 // size
for _ = 1, 13 do
  for x, y in loader do
    assert(x:size(1) == share)
    step = step + 1
    if step > 50 then break end
    optimizer:zero_grad()
    if case == "accumulate" then
      -- Two halves: the gradients of the first stay on each rank until the second is averaged.
      local half = share // 2
      model:no_sync(function() (F.cross_entropy(model(x:narrow(1, 1, half)), y:narrow(1, 1, half)) / 2):backward() end)
      local rest = share - half;
      (F.cross_entropy(model(x:narrow(1, half + 1, rest)), y:narrow(1, half + 1, rest)) / 2):backward()
    elseif case == "odd" then
      -- In one process the samples of every rank are there: the extra layer runs for the first half of them, weighed alike.
      local logits
      if size == 1 then
        logits = lg.cat({model(x:narrow(1, 1, 8), true), model(x:narrow(1, 9, 8), false)}, 1)
      else
        logits = model(x, rank < size // 2)
      end
      F.cross_entropy(logits, y):backward()
      assert(model.unused.weight.grad == nil and model.frozen.weight.grad == nil)
      assert(model.sometimes.weight.grad)
    else
      F.cross_entropy(model(x), y):backward()
    end
    optimizer:step()
  end
end

-- All ranks have the same bits.
local state, names, result = model:state_dict(), {}, {}
for name in pairs(state) do names[#names + 1] = name end
table.sort(names)  -- pairs has another order in every process
for _, name in ipairs(names) do
  local x = state[name]
  local all = dist.all_gather(x:detach():reshape(1, -1))
  for r = 1, size do assert(all:select(1, r):equal(all:select(1, 1)), name .. " differs between ranks") end
  result[name] = x
end
if rank == 0 then lg.io.save(path, result) end
