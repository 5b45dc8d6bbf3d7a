-- Attention and transformer layers against the same computation with matmul and softmax.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

lg.manual_seed(3)
local inf = math.huge

local function written_out(q, k, v, mask)
  local scores = q:matmul(k:transpose(-2, -1)) / math.sqrt(q:size(-1))
  if mask then scores = scores + mask end
  return scores:softmax(-1):matmul(v)
end

-- scaled_dot_product_attention takes its arguments by position as in PyTorch, and by name.
local q, k, v = lg.randn(2, 3, 5, 4), lg.randn(2, 3, 5, 4), lg.randn(2, 3, 5, 6)
local causal = lg.zeros(5, 5):masked_fill(lg.ones(5, 5):triu(1):gt(0), -inf)
expect.close(F.scaled_dot_product_attention(q, k, v), written_out(q, k, v), 1e-5)
expect.close(F.scaled_dot_product_attention(q, k, v, nil, 0, true), written_out(q, k, v, causal), 1e-5)
expect.close(F.scaled_dot_product_attention(q, k, v, {is_causal = true}), written_out(q, k, v, causal), 1e-5)
expect.close(F.scaled_dot_product_attention(q, k, v, causal:eq(0)), written_out(q, k, v, causal), 1e-5)
expect.close(F.scaled_dot_product_attention(q, k, v, {attn_mask = causal}), written_out(q, k, v, causal), 1e-5)
expect.raises("attn_mask of shape [4] does not broadcast", function()
  F.scaled_dot_product_attention(q, k, v, lg.zeros(4))
end)

-- MultiheadAttention: PyTorch's names and all batch layouts.
local mha = nn.MultiheadAttention(8, 2, {batch_first = true})
local names = {}
for name in mha:named_parameters() do names[#names + 1] = name end
expect.equal(names, {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"})
local x = lg.randn(3, 5, 8)
local y, weights = mha(x, x, x)
expect.equal(y:size(), {3, 5, 8})
expect.equal(weights:size(), {3, 5, 5})
expect.close(weights:sum(-1), lg.ones(3, 5), 1e-5)
local fused, none = mha(x, x, x, {need_weights = false})
assert(none == nil)
expect.close(fused, y, 1e-5)
local _, by_head = mha(x, x, x, {average_attn_weights = false})
expect.equal(by_head:size(), {3, 2, 5, 5})
expect.close(by_head:mean(2), weights, 1e-6)

local sequence_first = nn.MultiheadAttention(8, 2)
sequence_first:load_state_dict(mha:state_dict())
expect.close(sequence_first(x:transpose(1, 2), x:transpose(1, 2), x:transpose(1, 2), {need_weights = false}),
  y:transpose(1, 2), 1e-5)
expect.close(mha(x[1], x[1], x[1], {need_weights = false}), y[1], 1e-5)
-- Separate query, key and value use the corresponding parts of the same weight.
expect.close((mha(x, x:clone(), x:clone())), y, 1e-5)

-- In the modules' masks true hides a position. All combinations, fused and with weights.
local padding = lg.tensor {{0, 0, 0, 1, 1}, {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}:gt(0)
local ahead = lg.ones(5, 5):triu(1):gt(0)
local two, two_padding = x:narrow(1, 1, 2), padding:narrow(1, 1, 2)
for _, masks in ipairs {
  {padding = two_padding}, {attn = ahead}, {causal = true}, {attn = causal}, {padding = two_padding, attn = ahead},
  {padding = two_padding, attn = causal}, {attn = ahead:unsqueeze(1):expand(4, 5, 5)},
} do
  local options = {attn_mask = masks.attn, key_padding_mask = masks.padding, is_causal = masks.causal}
  local with, seen = mha(two, two, two, options)
  options.need_weights = false
  expect.close(mha(two, two, two, options), with, 1e-5)
  if masks.padding then assert(seen[1]:narrow(2, 4, 2):abs():max():item() == 0) end
  if masks.attn or masks.causal then assert((seen[2] * ahead:float()):abs():max():item() == 0) end
end

-- kdim and vdim: keys and values of other widths.
local cross = nn.MultiheadAttention(8, 4, {kdim = 3, vdim = 5, batch_first = true, bias = false})
names = {}
for name in cross:named_parameters() do names[#names + 1] = name end
expect.equal(names, {"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"})
expect.equal((cross(x, lg.randn(3, 7, 3), lg.randn(3, 7, 5))):size(), {3, 5, 8})
expect.raises("MultiheadAttention: embed_dim 8 does not divide into 3 heads", function() nn.MultiheadAttention(8, 3) end)

-- add_bias_kv and add_zero_attn append keys and values that masks do not hide.
local longer = nn.MultiheadAttention(8, 2, {add_bias_kv = true, add_zero_attn = true, batch_first = true})
names = {}
for name in longer:named_parameters() do names[#names + 1] = name end
expect.equal(names,
  {"in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj.weight", "out_proj.bias"})
expect.equal(longer.bias_k:size(), {1, 1, 8})
do
  local _, seen = longer(x, x, x, {key_padding_mask = padding, is_causal = true, average_attn_weights = false})
  expect.equal(seen:size(), {3, 2, 5, 7})
  expect.close(seen:sum(-1), lg.ones(3, 2, 5), 1e-5)
  local hidden = ahead:unsqueeze(1):logical_or(padding:unsqueeze(2)):unsqueeze(2):expand(3, 2, 5, 5)
  expect.equal(seen:narrow(4, 1, 5):eq(0), hidden)
  assert(seen:narrow(4, 6, 2):min():item() > 0)
  -- The last column is the zero key, whose score is 0; the one before is bias_k.
  local q = lg.nn.functional.linear(x, longer.in_proj_weight, longer.in_proj_bias):narrow(3, 1, 8)
  local scores = (q * longer.bias_k:reshape(8)):reshape(3, 5, 2, 4):sum(-1) / math.sqrt(4)
  expect.close((seen:select(4, 6) / seen:select(4, 7)):log(), scores:transpose(2, 3), 1e-4)
  for _, options in ipairs {{}, {is_causal = true}, {key_padding_mask = padding}, {attn_mask = causal},
    {attn_mask = ahead, key_padding_mask = padding}} do
    options.need_weights = true
    local plain = longer(x, x, x, options)
    options.need_weights = false
    expect.close(longer(x, x, x, options), plain, 1e-5)
  end
  local loss = longer(x, x, x, {need_weights = false}):square():sum()
  loss:backward()
  assert(longer.bias_k.grad:abs():max():item() > 0 and longer.bias_v.grad:abs():max():item() > 0)
end

-- Weights are dropped in training only; every parameter gets a gradient.
local dropping = nn.MultiheadAttention(8, 2, {dropout = 0.5, batch_first = true})
local a = dropping(x, x, x, {need_weights = false})
local b = dropping(x, x, x, {need_weights = false})
assert((a - b):abs():max():item() > 0)
a:sum():backward()
for _, p in dropping:named_parameters() do assert(p.grad) end
dropping:eval()
expect.equal(dropping(x, x, x, {need_weights = false}), dropping(x, x, x, {need_weights = false}))

-- The encoder layer, with norm first and last, against its parts.
for _, first in ipairs {true, false} do
  local layer = nn.TransformerEncoderLayer(8, 2, {
    dim_feedforward = 16, dropout = 0, activation = "gelu", norm_first = first, batch_first = true,
  })
  local function attend(h) return (layer.self_attn(h, h, h, {is_causal = true})) end
  local function feed(h) return layer.linear2(F.gelu(layer.linear1(h))) end
  local z
  if first then
    z = x + attend(layer.norm1(x))
    z = z + feed(layer.norm2(z))
  else
    z = layer.norm1(x + attend(x))
    z = layer.norm2(z + feed(z))
  end
  expect.close(layer(x, {is_causal = true}), z, 1e-5)
  expect.close(layer(x, ahead), z, 1e-5)
end
local keys = {}
for name in nn.TransformerDecoderLayer(8, 2):named_parameters() do keys[#keys + 1] = name end
expect.equal(keys, {
  "self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight", "self_attn.out_proj.bias",
  "multihead_attn.in_proj_weight", "multihead_attn.in_proj_bias", "multihead_attn.out_proj.weight",
  "multihead_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
  "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias", "norm3.weight", "norm3.bias",
})
expect.raises("TransformerEncoderLayer: activation must be 'relu', 'gelu' or a function (got 'tanhh')", function()
  nn.TransformerEncoderLayer(8, 2, {activation = "tanhh"})
end)

-- The decoder layer against its parts.
local decoder = nn.TransformerDecoderLayer(8, 2, {dim_feedforward = 16, dropout = 0, batch_first = true})
local memory = lg.randn(3, 7, 8)
local h = decoder.norm1(x + (decoder.self_attn(x, x, x, {is_causal = true})))
h = decoder.norm2(h + (decoder.multihead_attn(h, memory, memory)))
h = decoder.norm3(h + decoder.linear2(decoder.linear1(h):relu()))
expect.close(decoder(x, memory, {tgt_is_causal = true}), h, 1e-5)
expect.close(decoder(x, memory, ahead), h, 1e-5)

-- Rotary embedding: scores depend on the distance between positions only; the offset continues a sequence.
local rotary = nn.RotaryEmbedding(4, {max_seq_len = 2})
local row = lg.randn(1, 6):expand(9, 6)
local turned = rotary(row)
expect.equal(turned:select(1, 1), row:select(1, 1))
expect.equal(turned:narrow(2, 5, 2), row:narrow(2, 5, 2))
local scores = turned:matmul(turned:t()):tolist()
for i = 1, 5 do expect.close(scores[i + 4][i + 2], scores[3][1], 1e-4) end
expect.close(rotary(row:narrow(1, 1, 2), 7), turned:narrow(1, 8, 2), 1e-6)
local pairs_of = nn.RotaryEmbedding(4, {interleaved = true})(row)
expect.close(pairs_of:select(1, 2):narrow(1, 1, 2), {
  row:select(1, 1)[1]:item() * math.cos(1) - row:select(1, 1)[2]:item() * math.sin(1),
  row:select(1, 1)[2]:item() * math.cos(1) + row:select(1, 1)[1]:item() * math.sin(1),
}, 1e-5)
assert(next(rotary:state_dict()) == nil)
expect.raises("RotaryEmbedding: dim must be even (got 3)", function() nn.RotaryEmbedding(3) end)
