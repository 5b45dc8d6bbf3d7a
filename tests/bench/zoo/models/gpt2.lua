-- GPT-2 small. Radford and others, "Language models are unsupervised multitask learners", 2019.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional

local Attention = nn.class("Attention")
function Attention:init(width, heads, dropout)
  self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
  self.heads, self.p, self.resid_dropout = heads, dropout, nn.Dropout(dropout)
end
function Attention:forward(x)
  local B, T, C = table.unpack(x:size())
  local q, k, v = table.unpack(self.c_attn(x):split(C, 3))
  local function heads(y) return y:view(B, T, self.heads, C // self.heads):transpose(2, 3) end
  local y = F.scaled_dot_product_attention(heads(q), heads(k), heads(v), {
    is_causal = true, dropout_p = self.training and self.p or 0,
  })
  return self.resid_dropout(self.c_proj(y:transpose(2, 3):contiguous():view(B, T, C)))
end

local Block = nn.class("Block")
function Block:init(width, heads, dropout)
  self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(width, heads, dropout), nn.LayerNorm(width)
  self.c_fc, self.c_proj, self.dropout = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(dropout)
end
function Block:forward(x)
  x = x + self.attn(self.ln_1(x))
  return x + self.dropout(self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), "tanh")))
end

local GPT = nn.class("GPT")
function GPT:init(s)
  self.wte, self.wpe = nn.Embedding(s.vocabulary, s.width), nn.Embedding(s.length, s.width)
  self.drop = nn.Dropout(s.dropout)
  self.h = nn.ModuleList()
  for _ = 1, s.layers do self.h:append(Block(s.width, s.heads, s.dropout)) end
  self.ln_f = nn.LayerNorm(s.width)
  self.lm_head = nn.Linear(s.width, s.vocabulary, {bias = false})
  self.wte.weight = self.lm_head.weight
  self:apply(function(m)
    if nn.isinstance(m, {nn.Linear, nn.Embedding}) then nn.init.normal_(m.weight, 0, 0.02) end
    if nn.isinstance(m, nn.Linear) and m.bias ~= nil then nn.init.zeros_(m.bias) end
  end)
end
function GPT:forward(idx)
  local pos = lg.arange(idx:size(2), {device = idx:device()})
  local x = self.drop(self.wte(idx) + self.wpe(pos))
  for _, block in ipairs(self.h) do x = block(x) end
  return self.lm_head(self.ln_f(x))
end

return function(zoo)
  local s = zoo.sizes
  local model = GPT(s):to(zoo.device)
  local optimizer = lg.optim.AdamW(model:parameters(), {lr = 3e-4, betas = {0.9, 0.95}, weight_decay = 0.1})
  local data = zoo.ids({s.batch, s.length + 1}, s.vocabulary)
  local x, y = data[{{}, {1, -2}}]:contiguous(), data[{{}, {2, -1}}]:contiguous()
  local function step()
    local loss = zoo.autocast(function() return F.cross_entropy(model(x):view(-1, s.vocabulary), y:view(-1)) end)
    optimizer:zero_grad()
    loss:backward()
    nn.utils.clip_grad_norm_(model:parameters(), 1.0)
    optimizer:step()
    return loss
  end
  return {module = model, step = step, infer = function() return zoo.autocast(function() return model(x) end) end}
end
