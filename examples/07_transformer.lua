-- A small GPT on the bytes of a text: causal attention, learned positions, a learning rate schedule and a generated sample.
--   lunagrad run examples/07_transformer.lua -- FILE
local lg = require "lunagrad"
local nn, F, data = lg.nn, lg.nn.functional, lg.data

local path = arg[1] or error("no text given: lunagrad run " .. arg[0] .. " -- FILE", 0)

local steps = lg.run.param("steps", 500, {min = 1})
local length = lg.run.param("length", 128, {min = 8, max = 1024})
local batch_size = lg.run.param("batch_size", 16, {min = 1, max = 512})
local width = lg.run.param("width", 128, {min = 16, max = 1024})
local layers = lg.run.param("layers", 4, {min = 1, max = 48})
local heads = lg.run.param("heads", 4, {min = 1, max = 32})
local written = lg.run.param("written", 300, {min = 0})
local lr = lg.run.live("lr", 2e-3, {min = 1e-5, max = 1, log = true})

local set = data.text(path, length, {stride = 1})
local loader = lg.run.state("loader", function()
  return data.DataLoader(set, {batch_size = batch_size, shuffle = true, drop_last = true})
end)

local Block = nn.class("Block")

function Block:init(d, count)
  self.heads = count
  self.norm1, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
  self.norm2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
end

function Block:forward(x)
  local batch, time, d = table.unpack(x:size())
  local parts = {}
  for i, part in ipairs(self.qkv(self.norm1(x)):chunk(3, 3)) do
    parts[i] = part:view(batch, time, self.heads, d // self.heads):transpose(2, 3)
  end
  local q, k, v = table.unpack(parts)
  local mixed = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  x = x + self.out(mixed:transpose(2, 3):reshape(batch, time, d))
  return x + self.down(F.gelu(self.up(self.norm2(x))))
end

local Gpt = nn.class("Gpt")

function Gpt:init()
  self.bytes, self.places = nn.Embedding(256, width), nn.Embedding(length, width)
  self.blocks = nn.ModuleList()
  for _ = 1, layers do self.blocks:append(Block(width, heads)) end
  self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256)
end

function Gpt:forward(x)
  local h = self.bytes(x) + self.places(lg.arange(x:size(2)))
  for _, block in ipairs(self.blocks) do h = block(h) end
  return self.head(self.norm(h))
end

local model = lg.run.state("model", function() return Gpt() end)
local optimizer = lg.run.state("optimizer", function()
  return lg.optim.AdamW(model:parameters(), {lr = lr, weight_decay = 0.1})
end)
local schedule = lg.run.state("schedule", function()
  -- Linear warm-up over a tenth of the steps, then cosine decay.
  local warm = math.max(steps // 10, 1)
  return lg.optim.lr_scheduler.LambdaLR(optimizer, function(step)
    if step < warm then return (step + 1) / warm end
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / math.max(steps - warm, 1)))
  end)
end)
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
  schedule:step()
  lg.run.log {loss = loss}
  if step % 50 == 0 or step == steps then
    local rate = step * batch_size * length / (lg.clock() - began)
    print(("step %d: %.3f nats per byte, %.0f bytes/s"):format(step, loss:item(), rate))
  end
end

lg.no_grad(function()
  local text = {10}
  for _ = 1, written do
    local seen = lg.tensor({{table.unpack(text, math.max(1, #text - length + 1))}})
    local chances = (model(seen)[1][-1] / 0.8):softmax(1)
    text[#text + 1] = chances:multinomial(1):item()
  end
  print(string.char(table.unpack(text)))
end)
