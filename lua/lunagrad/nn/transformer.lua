-- Transformers and their layers, with PyTorch's names, parameters and order of operations.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local containers = require "lunagrad.nn.containers"
local Dropout = require("lunagrad.nn.dropout").Dropout
local init = require "lunagrad.nn.initialize"
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

-- Stacks of layers: copies of one layer, with equal values at first, and a norm of the result. Where a mask is true,
-- the position is hidden.

-- A copy of a module with its own parameters and submodules.
local function copy_module(value, copies)
  if core.is_tensor(value) then
    if not copies[value] then
      local tensor = value:detach():clone()
      copies[value] = value.requires_grad and tensor:requires_grad_() or tensor
    end
    return copies[value]
  end
  local kind = type(value) == "table" and getmetatable(value)
  if type(value) ~= "table" or kind and not kind._is_module then return value end
  if copies[value] then return copies[value] end
  local copy = {}
  copies[value] = copy
  for key, field in next, value do rawset(copy, key, copy_module(field, copies)) end
  rawset(copy, "_placed", nil)
  rawset(copy, "_shared", nil)
  return setmetatable(copy, kind)
end

local function copies_of(layer, count, owner)
  if math.type(count) ~= "integer" or count < 1 then
    core._fail(("%s: num_layers must be at least 1 (got %s)"):format(owner, tostring(count)))
  end
  local list = {}
  for i = 1, count do list[i] = copy_module(layer, {}) end
  return containers.ModuleList(list)
end

-- TransformerEncoder(encoder_layer, num_layers, {norm})
local Encoders = class("TransformerEncoder")
local read_encoders = reader("TransformerEncoder", "encoder_layer", "num_layers", {"norm"}, {"enable_nested_tensor", true},
  {"mask_check", true})

function Encoders:init(...)
  local a = read_encoders(...)
  self.layers, self.num_layers = copies_of(a.encoder_layer, a.num_layers, "TransformerEncoder"), a.num_layers
  self.norm = a.norm
end

local read_sources = reader("TransformerEncoder", "src", {"mask"}, {"src_key_padding_mask"}, {"is_causal", false})

-- encoder(src, {mask, src_key_padding_mask, is_causal})
function Encoders:forward(...)
  local a = read_sources(...)
  local x = a.src
  for i = 1, #self.layers do
    x = self.layers[i](x, {src_mask = a.mask, src_key_padding_mask = a.src_key_padding_mask, is_causal = a.is_causal})
  end
  return self.norm and self.norm(x) or x
end

-- TransformerDecoder(decoder_layer, num_layers, {norm})
local Decoders = class("TransformerDecoder")
local read_decoders = reader("TransformerDecoder", "decoder_layer", "num_layers", {"norm"})

function Decoders:init(...)
  local a = read_decoders(...)
  self.layers, self.num_layers = copies_of(a.decoder_layer, a.num_layers, "TransformerDecoder"), a.num_layers
  self.norm = a.norm
end

local read_targets = reader("TransformerDecoder", "tgt", "memory", {"tgt_mask"}, {"memory_mask"}, {"tgt_key_padding_mask"},
  {"memory_key_padding_mask"}, {"tgt_is_causal", false}, {"memory_is_causal", false})

-- decoder(tgt, memory, {tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
-- memory_is_causal})
function Decoders:forward(...)
  local a = read_targets(...)
  local x, memory = a.tgt, a.memory
  a.tgt, a.memory = nil, nil
  for i = 1, #self.layers do x = self.layers[i](x, memory, a) end
  return self.norm and self.norm(x) or x
end

-- Transformer({d_model = 512, nhead = 8, num_encoder_layers = 6, num_decoder_layers = 6, …}): an encoder of the source and a
-- decoder of the target, both with a norm at the end.
local Transformer = class("Transformer")
local read_transformer = reader("Transformer", {"d_model", 512}, {"nhead", 8}, {"num_encoder_layers", 6},
  {"num_decoder_layers", 6}, {"dim_feedforward", 2048}, {"dropout", 0.1}, {"activation", "relu"}, {"custom_encoder"},
  {"custom_decoder"}, {"layer_norm_eps", 1e-5}, {"batch_first", false}, {"norm_first", false}, {"bias", true}, {"device"},
  {"dtype"})

function Transformer:init(...)
  local a = read_transformer(...)
  local options = {}
  for _, name in ipairs {
    "dim_feedforward", "dropout", "activation", "layer_norm_eps", "batch_first", "norm_first", "bias", "device", "dtype",
  } do
    options[name] = a[name]
  end
  local function norm()
    return LayerNorm(a.d_model, {eps = a.layer_norm_eps, bias = a.bias, device = a.device, dtype = a.dtype})
  end
  self.encoder = a.custom_encoder or Encoders(Encoder(a.d_model, a.nhead, options), a.num_encoder_layers, norm())
  self.decoder = a.custom_decoder or Decoders(Decoder(a.d_model, a.nhead, options), a.num_decoder_layers, norm())
  for _, parameter in ipairs(self:parameters()) do
    if parameter:dim() > 1 then init.xavier_uniform_(parameter) end
  end
  self.d_model, self.nhead, self.batch_first = a.d_model, a.nhead, a.batch_first
end

local read_pair = reader("Transformer", "src", "tgt", {"src_mask"}, {"tgt_mask"}, {"memory_mask"}, {"src_key_padding_mask"},
  {"tgt_key_padding_mask"}, {"memory_key_padding_mask"}, {"src_is_causal", false}, {"tgt_is_causal", false},
  {"memory_is_causal", false})

-- transformer(src, tgt, {src_mask, tgt_mask, memory_mask, src_key_padding_mask, tgt_key_padding_mask,
-- memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal})
function Transformer:forward(...)
  local a = read_pair(...)
  for _, name in ipairs {"src", "tgt"} do
    local x = a[name]
    if x:dim() ~= a.src:dim() or x:size(-1) ~= self.d_model then
      core._fail(("Transformer: src and tgt need equal numbers of dims and %d features (got shapes [%s] and [%s])"):format(
        self.d_model, table.concat(a.src:size(), ", "), table.concat(a.tgt:size(), ", ")))
    end
  end
  local batch = a.src:dim() == 3 and (self.batch_first and 1 or 2)
  if batch and a.src:size(batch) ~= a.tgt:size(batch) then
    core._fail(("Transformer: src has %d items and tgt %d"):format(a.src:size(batch), a.tgt:size(batch)))
  end
  local memory = self.encoder(a.src,
    {mask = a.src_mask, src_key_padding_mask = a.src_key_padding_mask, is_causal = a.src_is_causal})
  return self.decoder(a.tgt, memory, {
    tgt_mask = a.tgt_mask, memory_mask = a.memory_mask, tgt_key_padding_mask = a.tgt_key_padding_mask,
    memory_key_padding_mask = a.memory_key_padding_mask, tgt_is_causal = a.tgt_is_causal,
    memory_is_causal = a.memory_is_causal,
  })
end

-- A mask [size, size]: 0, and -infinity above the diagonal.
function Transformer.generate_square_subsequent_mask(first, second)
  local size = math.type(first) == "integer" and first or second
  if math.type(size) ~= "integer" or size < 0 then
    core._fail(("Transformer.generate_square_subsequent_mask: a size expected (got %s)"):format(tostring(size)))
  end
  local hidden = core.ones(size, size):triu(1):gt(0)
  return core.zeros(size, size):masked_fill(hidden, -math.huge)
end

return {
  TransformerEncoderLayer = Encoder, TransformerDecoderLayer = Decoder, TransformerEncoder = Encoders,
  TransformerDecoder = Decoders, Transformer = Transformer,
}
