-- A language model whose layers have experts: a router sends each token through two of eight. Jiang and others, "Mixtral of
-- experts", 2024.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Attention = nn.class("Attention")
function Attention:init(width, heads)
  self.qkv, self.proj = nn.Linear(width, 3 * width, {bias = false}), nn.Linear(width, width, {bias = false})
  self.heads = heads
end
function Attention:forward(x)
  local B, T, C = table.unpack(x:size())
  local q, k, v = table.unpack(self.qkv(x):split(C, 3))
  local function heads(y) return y:view(B, T, self.heads, C // self.heads):transpose(2, 3) end
  local y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), {is_causal = true})
  return self.proj(y:transpose(2, 3):reshape(B, T, C))
end

local Expert = nn.class("Expert")
function Expert:init(width, hidden)
  self.w1, self.w2 = nn.Linear(width, hidden, {bias = false}), nn.Linear(hidden, width, {bias = false})
  self.w3 = nn.Linear(width, hidden, {bias = false})
end
function Expert:forward(x) return self.w2(F.silu(self.w1(x)) * self.w3(x)) end

local Experts = nn.class("Experts")
function Experts:init(s)
  self.gate, self.chosen = nn.Linear(s.width, s.experts, {bias = false}), s.chosen
  self.experts = nn.ModuleList()
  for _ = 1, s.experts do self.experts:append(Expert(s.width, s.hidden)) end
end
-- The output, and the loss that balances the experts' shares of tokens.
function Experts:forward(x)
  local B, T, C = table.unpack(x.shape)
  x = x:reshape(-1, C)
  local routes = F.softmax(self.gate(x):float(), -1)
  local weights, selected = lg.topk(routes, self.chosen, -1)
  weights = weights / weights:sum(-1, {keepdim = true})
  local result = lg.zeros_like(x)
  for i, expert in ipairs(self.experts) do
    local token, place = lg.where(selected:eq(i - 1))
    local y = expert(x[token]) * weights[{token, place}]:unsqueeze(-1)
    result:index_add_(1, token, y:to(result.dtype))
  end
  local shares = F.one_hot(selected, #self.experts):float():sum(2):mean(1)
  return result:view(B, T, C), #self.experts * (shares * routes:mean(1)):sum()
end

local Block = nn.class("Block")
function Block:init(s)
  self.norm1, self.attention = nn.LayerNorm(s.width), Attention(s.width, s.heads)
  self.norm2, self.experts = nn.LayerNorm(s.width), Experts(s)
end
function Block:forward(x)
  x = x + self.attention(self.norm1(x))
  local y, balance = self.experts(self.norm2(x))
  return x + y, balance
end

local Mixture = nn.class("Mixture")
function Mixture:init(s)
  self.tokens, self.positions = nn.Embedding(s.vocabulary, s.width), nn.Embedding(s.length, s.width)
  self.blocks = nn.ModuleList()
  for _ = 1, s.layers do self.blocks:append(Block(s)) end
  self.norm, self.head = nn.LayerNorm(s.width), nn.Linear(s.width, s.vocabulary, {bias = false})
  self:apply(function(m)
    if nn.isinstance(m, {nn.Linear, nn.Embedding}) then nn.init.normal_(m.weight, 0, 0.02) end
  end)
end
function Mixture:forward(ids)
  local x = self.tokens(ids) + self.positions(lg.arange(ids:size(2), {device = ids:device()}))
  local balance = 0
  for _, block in ipairs(self.blocks) do
    local b
    x, b = block(x)
    balance = balance + b
  end
  return self.head(self.norm(x)), balance
end

return function(zoo)
  local s = zoo.sizes
  local model = Mixture(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 3e-4, betas = {0.9, 0.95}, weight_decay = 0.1})
  local data = zoo.ids({s.batch, s.length + 1}, s.vocabulary)
  local x, y = data[{{}, {1, -2}}]:contiguous(), data[{{}, {2, -1}}]:contiguous()
  local function loss()
    local logits, balance = model(x)
    return F.cross_entropy(logits:view(-1, s.vocabulary), y:view(-1)) + 0.01 * balance
  end
  return zoo.training(model, optimizer, loss, function() return (model(x)) end)
end
