-- A GPT that learns a sentence by heart, and generates with a cache of keys and values, top-k and top-p.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local n_embd, n_head, block_size = 32, 4, 32

local Attention = nn.class("Attention")
function Attention:init()
  self.c_attn = nn.Linear(n_embd, 3 * n_embd)
  self.c_proj = nn.Linear(n_embd, n_embd)
  self:register_buffer("mask", lg.tril(lg.ones(block_size, block_size)):view(1, 1, block_size, block_size))
end
function Attention:forward(x, past)
  local B, T, C = table.unpack(x:size())
  local q, k, v = table.unpack(self.c_attn(x):split(n_embd, {dim = 3}))
  local function heads(y) return y:view(B, T, n_head, C // n_head):transpose(2, 3) end
  q, k, v = heads(q), heads(k), heads(v)
  if past then k, v = lg.cat({past[1], k}, {dim = -2}), lg.cat({past[2], v}, {dim = -2}) end
  local S = k:size(-2)
  local att = q:matmul(k:transpose(-2, -1)) * (1.0 / math.sqrt(k:size(-1)))
  att = att:masked_fill(self.mask[{{}, {}, {S - T + 1, S}, {1, S}}]:eq(0), -math.huge)
  local y = F.softmax(att, {dim = -1}):matmul(v)
  return self.c_proj(y:transpose(2, 3):contiguous():view(B, T, C)), {k, v}
end

local Block = nn.class("Block")
function Block:init()
  self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(n_embd), Attention(), nn.LayerNorm(n_embd)
  self.mlp = nn.ModuleDict {c_fc = nn.Linear(n_embd, 4 * n_embd), c_proj = nn.Linear(4 * n_embd, n_embd)}
end
function Block:forward(x, past)
  local a, present = self.attn(self.ln_1(x), past)
  x = x + a
  return x + self.mlp.c_proj(F.gelu(self.mlp.c_fc(self.ln_2(x)))), present
end

local GPT = nn.class("GPT")
function GPT:init(vocab_size)
  self.wte, self.wpe = nn.Embedding(vocab_size, n_embd), nn.Embedding(block_size, n_embd)
  self.h, self.ln_f = nn.ModuleList {Block(), Block()}, nn.LayerNorm(n_embd)
  self.lm_head = nn.Linear(n_embd, vocab_size, {bias = false})
  self.wte.weight = self.lm_head.weight
  self:apply(function(m)
    if nn.isinstance(m, {nn.Linear, nn.Embedding}) then nn.init.normal_(m.weight, {mean = 0.0, std = 0.02}) end
    if nn.isinstance(m, nn.Linear) and m.bias ~= nil then nn.init.zeros_(m.bias) end
  end)
end
function GPT:forward(idx, past)
  local first = past and past[1][1]:size(-2) or 0
  local pos = lg.arange(first, first + idx:size(2), {dtype = lg.long, device = idx:device()}):unsqueeze(1)
  local x, presents = self.wte(idx) + self.wpe(pos), {}
  for i, block in ipairs(self.h) do x, presents[i] = block(x, past and past[i]) end
  return self.lm_head(self.ln_f(x)), presents
end
function GPT:generate(idx, max_new_tokens, temperature, top_k, top_p)
  local out, past = idx, nil
  for _ = 1, max_new_tokens do
    local logits
    logits, past = self(idx, past)
    logits = logits[{{}, -1, {}}] / temperature
    logits[logits:lt(lg.topk(logits, top_k)[{{}, {-1}}])] = -math.huge
    local sorted_logits, sorted_indices = lg.sort(logits, {descending = true})
    local remove = lg.cumsum(F.softmax(sorted_logits, {dim = -1}), {dim = -1}):gt(top_p)
    remove[{{}, {2, -1}}] = remove[{{}, {1, -2}}]:clone()
    remove[{{}, 1}] = false
    logits = logits:masked_fill(remove:scatter(2, sorted_indices, remove), -math.huge)
    idx = lg.multinomial(F.softmax(logits, {dim = -1}), {num_samples = 1})
    out = lg.cat({out, idx}, {dim = 2})
  end
  return out
end
local sentence = "the quick brown fox jumps over a lazy dog. "
local stoi, itos, ids = {}, {}, {}
for c in sentence:rep(4):gmatch(".") do
  if not stoi[c] then stoi[c], itos[#itos + 1] = #itos, c end
  ids[#ids + 1] = stoi[c]
end
local windows = lg.tensor(ids, {dtype = lg.long}):unfold(1, block_size + 1, 1)
local model = GPT(#itos)
local optimizer = lg.optim.AdamW(model:parameters(), {lr = 1e-2, betas = {0.9, 0.95}, weight_decay = 0.01})
for step = 1, 80 do
  for _, group in ipairs(optimizer.param_groups) do group.lr = 1e-2 * math.min(1, step / 10) end
  local batch = windows[lg.randint(#windows, {8})]
  local x, y = batch[{{}, {1, -2}}], batch[{{}, {2, -1}}]
  local logits = lg.autocast("bf16", function() return model(x) end)
  local loss = F.cross_entropy(logits:reshape(-1, logits:size(-1)), y:reshape(-1), {ignore_index = -1})
  optimizer:zero_grad {set_to_none = true}
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
end
model:eval()
lg.no_grad(function()
  local out = model:generate(lg.tensor {{stoi["t"], stoi["h"], stoi["e"], stoi[" "]}}, 27, 0.5, 3, 0.9)
  local text = {}
  for i, id in ipairs(out[1]:tolist()) do text[i] = itos[id + 1] end
  assert(table.concat(text) == sentence:sub(1, 31), table.concat(text))
  local whole, first, past = model(out), model(out[{{}, {1, 10}}])
  local rest = model(out[{{}, {11, -1}}], past)
  assert(lg.allclose(lg.cat({first, rest}, 2), whole, {rtol = 1e-4, atol = 1e-4}))
end)
