-- A Llama of 110 million parameters: RMSNorm, SwiGLU, rotary positions, grouped queries. Touvron and others, "LLaMA: open and
-- efficient foundation language models", 2023.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Attention = nn.class("Attention")
function Attention:init(width, heads, groups)
  self.heads, self.groups, self.features = heads, groups, width // heads
  self.wq = nn.Linear(width, width, {bias = false})
  self.wk = nn.Linear(width, groups * self.features, {bias = false})
  self.wv = nn.Linear(width, groups * self.features, {bias = false})
  self.wo = nn.Linear(width, width, {bias = false})
end

-- Turns pairs of features (i, i + half) by the angles of their positions.
local function rotate(x, cos, sin)
  local a, b = table.unpack(x:chunk(2, -1))
  return x * cos + lg.cat({-b, a}, -1) * sin
end

function Attention:forward(x, cos, sin)
  local B, T, C = table.unpack(x:size())
  local q = self.wq(x):view(B, T, self.heads, self.features):transpose(2, 3)
  local k = self.wk(x):view(B, T, self.groups, self.features):transpose(2, 3)
  local v = self.wv(x):view(B, T, self.groups, self.features):transpose(2, 3)
  q, k = rotate(q, cos, sin), rotate(k, cos, sin)
  local y = F.scaled_dot_product_attention(q, k, v, {is_causal = true, enable_gqa = true})
  return self.wo(y:transpose(2, 3):reshape(B, T, C))
end

local Block = nn.class("Block")
function Block:init(s)
  self.attention_norm, self.attention = nn.RMSNorm(s.width, {eps = 1e-5}), Attention(s.width, s.heads, s.groups)
  self.ffn_norm = nn.RMSNorm(s.width, {eps = 1e-5})
  self.w1 = nn.Linear(s.width, s.hidden, {bias = false})
  self.w2 = nn.Linear(s.hidden, s.width, {bias = false})
  self.w3 = nn.Linear(s.width, s.hidden, {bias = false})
end
function Block:forward(x, cos, sin)
  x = x + self.attention(self.attention_norm(x), cos, sin)
  local y = self.ffn_norm(x)
  return x + self.w2(F.silu(self.w1(y)) * self.w3(y))
end

local Llama = nn.class("Llama")
function Llama:init(s)
  self.embedding = nn.Embedding(s.vocabulary, s.width)
  self.layers = nn.ModuleList()
  for _ = 1, s.layers do self.layers:append(Block(s)) end
  self.norm = nn.RMSNorm(s.width, {eps = 1e-5})
  self.output = nn.Linear(s.width, s.vocabulary, {bias = false})
  self.output.weight = self.embedding.weight
  nn.init.normal_(self.embedding.weight, 0, 0.02)
  local features = s.width // s.heads
  local rates = 10000.0 ^ (lg.arange(0, features, 2):float() / -features)
  local angles = lg.outer(lg.arange(s.length):float(), rates)
  angles = lg.cat({angles, angles}, -1)
  self:register_buffer("cos", angles:cos(), {persistent = false})
  self:register_buffer("sin", angles:sin(), {persistent = false})
end
function Llama:forward(ids)
  local x = self.embedding(ids)
  for _, layer in ipairs(self.layers) do x = layer(x, self.cos, self.sin) end
  return self.output(self.norm(x))
end

return function(zoo)
  local s = zoo.sizes
  local model = Llama(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 3e-4, betas = {0.9, 0.95}, weight_decay = 0.1})
  local data = zoo.ids({s.batch, s.length + 1}, s.vocabulary)
  local x, y = data[{{}, {1, -2}}]:contiguous(), data[{{}, {2, -1}}]:contiguous()
  local function loss() return F.cross_entropy(model(x):view(-1, s.vocabulary), y:view(-1)) end
  return zoo.training(model, optimizer, loss, function() return model(x) end)
end
