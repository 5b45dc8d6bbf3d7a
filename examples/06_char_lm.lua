-- A byte-level language model: an LSTM learns to predict the next byte of a text, then generates a sample.
--   lunagrad run examples/06_char_lm.lua -- FILE
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local path = arg[1] or error("no text given: lunagrad run " .. arg[0] .. " -- FILE", 0)

local steps = lg.run.param("steps", 1000, {min = 1})
local length = lg.run.param("length", 64, {min = 8, max = 512})
local batch_size = lg.run.param("batch_size", 32, {min = 1, max = 512})
local width = lg.run.param("width", 192, {min = 8, max = 1024})
local written = lg.run.param("written", 300, {min = 0})
local lr = lg.run.live("lr", 4e-3, {min = 1e-5, max = 1, log = true})

-- A window starts at every byte; the order is shuffled in each pass. y is x shifted by one byte.
local set = data.text(path, length, {stride = 1})
local loader = lg.run.state("loader", function()
  return data.DataLoader(set, {batch_size = batch_size, shuffle = true, drop_last = true})
end)

local CharLM = nn.class("CharLM")

function CharLM:init(size)
  self.embedding = nn.Embedding(256, 64)
  self.lstm = nn.LSTM(64, size, {batch_first = true})
  self.head = nn.Linear(size, 256)
end

-- Returns logits [batch, length, 256], and the state for the continuation of the text.
function CharLM:forward(x, h, c)
  local out
  out, h, c = self.lstm(self.embedding(x), h, c)
  return self.head(out), h, c
end

local model = lg.run.state("model", function() return CharLM(width) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = lr}) end)
print(model)

local next_batch = loader:cycle()
local began = lg.clock()
for step in lg.run.steps(steps) do
  local x, y = next_batch()
  optimizer:zero_grad()
  local loss = F.cross_entropy(model(x):flatten(1, 2), y:flatten())
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1)
  optimizer:step()
  lg.run.log {loss = loss}
  if step % 100 == 0 or step == steps then
    local rate = step * batch_size * length / (lg.clock() - began)
    print(("step %d: %.3f nats per byte, %.0f bytes/s"):format(step, loss:item(), rate))
  end
end

lg.no_grad(function()
  local text = {"\n"}
  local h, c
  for _ = 1, written do
    local logits
    logits, h, c = model(lg.tensor({{text[#text]:byte()}}), h, c)
    local chances = (logits[1][1] / 0.8):softmax(1)
    text[#text + 1] = string.char(chances:multinomial(1):item())
  end
  print(table.concat(text))
end)
