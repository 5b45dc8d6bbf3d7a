-- Transformer layers, with PyTorch's names, parameters and order of operations.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local Dropout = require "lunagrad.nn.dropout"
local Linear = require "lunagrad.nn.linear"
local LayerNorm = require("lunagrad.nn.norm").LayerNorm
local MultiheadAttention = require("lunagrad.nn.attention").MultiheadAttention
local reader = require("lunagrad.arguments").reader

local activations = {relu = core.relu, gelu = core.gelu}

local specs = {
  "d_model", "nhead", {"dim_feedforward", 2048}, {"dropout", 0.1}, {"activation", "relu"}, {"layer_norm_eps", 1e-5},
  {"batch_first", false}, {"norm_first", false}, {"bias", true}, {"device"}, {"dtype"},
}

-- The base class of encoder and decoder layers.
local Layer = class("TransformerLayer")

function Layer:attention(a)
  return MultiheadAttention(a.d_model, a.nhead, {
    dropout = a.dropout, bias = a.bias, batch_first = a.batch_first, device = a.device, dtype = a.dtype,
  })
end

-- Creates all but the attention: `norms` blocks, each with its own norm and dropout.
function Layer:setup(a, norms)
  local options = {bias = a.bias, device = a.device, dtype = a.dtype}
  self.linear1 = Linear(a.d_model, a.dim_feedforward, options)
  self.dropout = Dropout(a.dropout)
  self.linear2 = Linear(a.dim_feedforward, a.d_model, options)
  for i = 1, norms do
    self["norm" .. i] = LayerNorm(a.d_model,
      {eps = a.layer_norm_eps, bias = a.bias, device = a.device, dtype = a.dtype})
  end
  for i = 1, norms do self["dropout" .. i] = Dropout(a.dropout) end
  self.norm_first = a.norm_first
  self.activation = type(a.activation) == "string" and activations[a.activation] or a.activation
  if type(a.activation) == "string" and not activations[a.activation] then
    core._fail(("%s: activation must be 'relu', 'gelu' or a function (got '%s')"):format(self.__name, a.activation))
  end
end

-- x + block(norm(x)) with norm_first, else norm(x + block(x)).
function Layer:residual(x, norm, block)
  if self.norm_first then return x + block(norm(x)) end
  return norm(x + block(x))
end

function Layer:feed_forward(x, dropout)
  return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))
end

-- TransformerEncoderLayer(d_model, nhead, {dim_feedforward, dropout, activation, norm_first, batch_first, …})
local Encoder = class("TransformerEncoderLayer", Layer)
local read_encoder = reader("TransformerEncoderLayer", table.unpack(specs))

function Encoder:init(...)
  local a = read_encoder(...)
  self.self_attn = self:attention(a)
  self:setup(a, 2)
end

local read_source = reader("TransformerEncoderLayer", "src", {"src_mask"}, {"src_key_padding_mask"}, {"is_causal", false})

-- layer(src, {src_mask, src_key_padding_mask, is_causal})
function Encoder:forward(...)
  local a = read_source(...)
  local options = {
    attn_mask = a.src_mask, key_padding_mask = a.src_key_padding_mask, is_causal = a.is_causal, need_weights = false,
  }
  local x = self:residual(a.src, self.norm1, function(h) return self.dropout1((self.self_attn(h, h, h, options))) end)
  return self:residual(x, self.norm2, function(h) return self:feed_forward(h, self.dropout2) end)
end

-- TransformerDecoderLayer(d_model, nhead, {…}): self-attention, attention to the memory, and the
-- feed-forward block.
local Decoder = class("TransformerDecoderLayer", Layer)
local read_decoder = reader("TransformerDecoderLayer", table.unpack(specs))

function Decoder:init(...)
  local a = read_decoder(...)
  self.self_attn = self:attention(a)
  self.multihead_attn = self:attention(a)
  self:setup(a, 3)
end

local read_target = reader("TransformerDecoderLayer", "tgt", "memory", {"tgt_mask"}, {"memory_mask"},
  {"tgt_key_padding_mask"}, {"memory_key_padding_mask"}, {"tgt_is_causal", false}, {"memory_is_causal", false})

-- layer(tgt, memory, {tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
-- memory_is_causal})
function Decoder:forward(...)
  local a = read_target(...)
  local to_target = {
    attn_mask = a.tgt_mask, key_padding_mask = a.tgt_key_padding_mask, is_causal = a.tgt_is_causal, need_weights = false,
  }
  local to_memory = {
    attn_mask = a.memory_mask, key_padding_mask = a.memory_key_padding_mask, is_causal = a.memory_is_causal,
    need_weights = false,
  }
  local x = self:residual(a.tgt, self.norm1, function(h) return self.dropout1((self.self_attn(h, h, h, to_target))) end)
  x = self:residual(x, self.norm2, function(h)
    return self.dropout2((self.multihead_attn(h, a.memory, a.memory, to_memory)))
  end)
  return self:residual(x, self.norm3, function(h) return self:feed_forward(h, self.dropout3) end)
end

return {TransformerEncoderLayer = Encoder, TransformerDecoderLayer = Decoder}
