-- Attention: MultiheadAttention and RotaryEmbedding.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local Linear = require "lunagrad.nn.linear"
local reader = require("lunagrad.arguments").reader

-- MultiheadAttention(embed_dim, num_heads, {dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first}), with
-- PyTorch's parameters and initialization. Inputs are [L, N, E], or [N, L, E] with batch_first, or [L, E]. add_bias_kv
-- appends a learned key and value to each sequence, add_zero_attn a zero key and value; masks do not hide them.
local MultiheadAttention = class("MultiheadAttention")
for _, name in ipairs {
  "in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias", "bias_k", "bias_v",
} do
  MultiheadAttention._optional[name] = true
end
local read = reader("MultiheadAttention", "embed_dim", "num_heads", {"dropout", 0}, {"bias", true},
  {"add_bias_kv", false}, {"add_zero_attn", false}, {"kdim"}, {"vdim"}, {"batch_first", false}, {"device"}, {"dtype"})

function MultiheadAttention:init(...)
  local a = read(...)
  if a.num_heads < 1 or a.embed_dim % a.num_heads ~= 0 then
    core._fail(("MultiheadAttention: embed_dim %d does not divide into %d heads"):format(a.embed_dim, a.num_heads))
  end
  local width = a.embed_dim
  self.embed_dim, self.num_heads, self.dropout, self.batch_first = width, a.num_heads, a.dropout, a.batch_first
  self.add_zero_attn = a.add_zero_attn
  if (a.kdim or width) == width and (a.vdim or width) == width then
    self.in_proj_weight = init._parameter({3 * width, width}, a, init.xavier_uniform_)
  else
    self.q_proj_weight = init._parameter({width, width}, a, init.xavier_uniform_)
    self.k_proj_weight = init._parameter({width, a.kdim or width}, a, init.xavier_uniform_)
    self.v_proj_weight = init._parameter({width, a.vdim or width}, a, init.xavier_uniform_)
  end
  if a.bias then self.in_proj_bias = init._parameter({3 * width}, a, init.zeros_) end
  if a.add_bias_kv then
    self.bias_k = init._parameter({1, 1, width}, a, init.xavier_normal_)
    self.bias_v = init._parameter({1, 1, width}, a, init.xavier_normal_)
  end
  self.out_proj = Linear(width, width, {bias = a.bias, device = a.device, dtype = a.dtype})
  if a.bias then init.zeros_(self.out_proj.bias) end
end

-- Query, key and value after their input projections, [.., .., E].
function MultiheadAttention:project(query, key, value)
  local weight, bias, width = self.in_proj_weight, self.in_proj_bias, self.embed_dim
  if weight and rawequal(query, key) and rawequal(key, value) then
    return table.unpack(core.linear(query, weight, bias):chunk(3, -1))
  end
  local function part(x, i, own)
    local first = (i - 1) * width + 1
    return core.linear(x, own or weight:narrow(1, first, width), bias and bias:narrow(1, first, width))
  end
  return part(query, 1, self.q_proj_weight), part(key, 2, self.k_proj_weight), part(value, 3, self.v_proj_weight)
end

-- A mask that hides a position if either mask does; a may be nil.
local function join_masks(a, b)
  if not a then return b end
  if a:dtype() == "bool" and b:dtype() == "bool" then return a:logical_and(b) end
  local function added(mask)
    if mask:dtype() ~= "bool" then return mask end
    return core.zeros(mask:size(), {device = mask:device()}):masked_fill(mask:logical_not(), -math.huge)
  end
  return added(a) + added(b)
end

-- One mask [N, 1, 1 or L, S], or a shape that broadcasts to it, from the module's two masks. In the module's masks true
-- hides a position, as in PyTorch's modules; in the result true keeps it, as in scaled_dot_product_attention.
function MultiheadAttention:mask(attn_mask, key_padding_mask, batch)
  local function hidden(mask)
    if mask:dtype() == "bool" then return mask:logical_not() end
    return mask
  end
  if attn_mask then
    attn_mask = hidden(attn_mask)
    if attn_mask:dim() == 3 then
      local size = attn_mask:size()
      attn_mask = attn_mask:reshape(batch, size[1] // batch, size[2], size[3])
    end
  end
  if not key_padding_mask then return attn_mask end
  local padding = hidden(key_padding_mask)
  if padding:dim() == 1 then padding = padding:unsqueeze(1) end
  padding = padding:unsqueeze(2):unsqueeze(3)
  return join_masks(attn_mask, padding)
end

-- The causal mask [queries, keys]: false for keys after the query.
local function causal_mask(q, k)
  return core.ones({q:size(-2), k:size(-2)}, {device = q:device()}):tril():gt(0)
end

-- Appends the keys and values of add_bias_kv and add_zero_attn to keys and values [N, heads, S, size], and a column for
-- each of them to the mask.
function MultiheadAttention:append(k, v, mask)
  local shape, added = k:size(), 0
  local function grow(other_k, other_v)
    k, v = core.cat({k, other_k}, 3), core.cat({v, other_v}, 3)
    added = added + 1
  end
  local function spread(x) return x:reshape(1, shape[2], 1, shape[4]):expand(shape[1], shape[2], 1, shape[4]) end
  if self.bias_k then grow(spread(self.bias_k), spread(self.bias_v)) end
  if self.add_zero_attn then
    local zero = core.zeros({shape[1], shape[2], 1, shape[4]}, {dtype = k:dtype(), device = k:device()})
    grow(zero, zero)
  end
  if mask then
    local columns = mask:size()
    columns[#columns] = added
    local options = {dtype = mask:dtype(), device = mask:device()}
    local seen = mask:dtype() == "bool" and core.ones(columns, options) or core.zeros(columns, options)
    mask = core.cat({mask, seen}, -1)
  end
  return k, v, mask
end

-- Which queries see at least one key: [.., .., L or 1, 1].
local function seeing(mask)
  if mask:dtype() == "bool" then return mask:any(-1, true) end
  return mask:detach():amax(-1, true):gt(-math.huge)
end

-- Attention composed of ops, which also returns the weights. A query that sees no key gets 0.
local function with_weights(q, k, v, mask, causal, dropout)
  local scores = (q * (1 / math.sqrt(q:size(-1)))):matmul(k:transpose(-2, -1))
  if mask and mask:dtype() == "bool" then
    scores = core.where(mask, scores, -math.huge)
  elseif mask then
    scores = scores + mask
  end
  if causal then
    scores = core.where(causal_mask(q, k), scores, -math.huge)
  end
  local weights = scores:softmax(-1)
  if mask then
    weights = core.where(seeing(causal and join_masks(mask, causal_mask(q, k)) or mask), weights, 0)
  end
  if dropout > 0 then weights = core.dropout(weights, dropout, true) end
  return weights:matmul(v), weights
end

local read_call = reader("MultiheadAttention", "query", "key", "value", {"key_padding_mask"}, {"need_weights", true},
  {"attn_mask"}, {"average_attn_weights", true}, {"is_causal", false})

-- attention(query, key, value, {key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal}) returns
-- the result and, unless need_weights is false, the weights: [N, L, S], or [N, heads, L, S] when they are not averaged.
-- is_causal hides later positions, with or without a mask.
function MultiheadAttention:forward(...)
  local a = read_call(...)
  local single = a.query:dim() == 2
  local batch_dim = single and 0 or self.batch_first and 1 or 2
  local batch = single and 1 or a.query:size(batch_dim)
  local heads, size = self.num_heads, self.embed_dim // self.num_heads

  -- [N, heads, length, size], without a copy.
  local function split(x)
    if single then x = x:unsqueeze(1) end
    local shape = x:size()
    x = x:reshape(shape[1], shape[2], heads, size)
    return batch_dim == 2 and x:permute(2, 3, 1, 4) or x:transpose(2, 3)
  end

  local q, k, v = self:project(a.query, a.key, a.value)
  q, k, v = split(q), split(k), split(v)
  local mask = self:mask(a.attn_mask, a.key_padding_mask, batch)
  local causal, dropout = a.is_causal, self.training and self.dropout or 0
  if self.bias_k or self.add_zero_attn then
    if causal then mask = join_masks(mask, causal_mask(q, k)) end
    k, v, mask = self:append(k, v, mask)
    causal = false
  end
  local y, weights
  if a.need_weights then
    y, weights = with_weights(q, k, v, mask, causal, dropout)
    if a.average_attn_weights then weights = weights:mean(2) end
    if single then weights = weights:squeeze(1) end
  else
    y = core.scaled_dot_product_attention(q, k, v, mask, dropout, causal)
  end
  y = y:transpose(2, 3):flatten(3, 4)
  if single then y = y:squeeze(1) end
  y = self.out_proj(y)
  if batch_dim == 2 then y = y:transpose(1, 2) end
  return y, weights
end

function MultiheadAttention:extra_repr()
  return ("%d, %d, dropout = %g"):format(self.embed_dim, self.num_heads, self.dropout)
end

-- RotaryEmbedding(dim, {max_seq_len, base, interleaved}): rotates pairs of the first `dim` features of x [..., T, D] at
-- position t by the angles t base^(-2 i / dim). Positions count from 0; rotary(x, offset) starts at `offset`, for generation
-- token by token. The table of cosines and sines grows on demand and is not part of the state dict.
local RotaryEmbedding = class("RotaryEmbedding")
local read_rotary = reader("RotaryEmbedding", "dim", {"max_seq_len", 256}, {"base", 10000}, {"interleaved", false})

function RotaryEmbedding:init(...)
  local a = read_rotary(...)
  if a.dim < 2 or a.dim % 2 ~= 0 then core._fail(("RotaryEmbedding: dim must be even (got %d)"):format(a.dim)) end
  self.dim, self.base, self.interleaved = a.dim, a.base, a.interleaved
  self.max_seq_len = a.max_seq_len
  self.tables = {}
end

-- Cosines and sines of at least `length` positions, computed once for each dtype and device.
function RotaryEmbedding:angles(length, dtype, device)
  local key = dtype .. " " .. device
  local cached = self.tables[key]
  if cached and cached.length >= length then return cached end
  local _ <close> = core.no_grad()
  length = math.max(length, self.max_seq_len, cached and 2 * cached.length or 0)
  local options = {dtype = "f64", device = "cpu"}
  local rates = (core.arange(0, self.dim, 2, options) * (-math.log(self.base) / self.dim)):exp()
  local angles = core.arange(0, length, 1, options):unsqueeze(2) * rates
  cached = {length = length, cos = angles:cos():to(dtype):to(device), sin = angles:sin():to(dtype):to(device)}
  self.tables[key] = cached
  return cached
end

function RotaryEmbedding:forward(x, offset)
  offset = offset or 0
  local length = x:size(-2)
  local cached = self:angles(offset + length, x:dtype(), x:device())
  return core.rope(x, cached.cos:narrow(1, offset + 1, length), cached.sin:narrow(1, offset + 1, length),
    self.interleaved)
end

function RotaryEmbedding:extra_repr()
  return ("%d, base = %g"):format(self.dim, self.base)
end

return {MultiheadAttention = MultiheadAttention, RotaryEmbedding = RotaryEmbedding}
