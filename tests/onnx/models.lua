-- Writes models as ONNX files into the folder arg[1], each with name.npz beside it: the inputs and outputs under the
-- names that they have in the graph. Where the batch may have any size, name.other.npz has the values of another size.
-- check.py reads them.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local folder = arg[1]

lg.manual_seed(5)

local function named(what, list)
  local out = {}
  for i, x in ipairs(list) do out[#list == 1 and what or what .. "_" .. i] = x end
  return out
end

local function write_values(path, model, inputs)
  local arrays = named("input", inputs)
  local outputs = {model(table.unpack(inputs))}
  if type(outputs[1]) == "table" then outputs = outputs[1] end
  for name, y in pairs(named("output", outputs)) do arrays[name] = y:detach():contiguous() end
  lg.io.npz.save(path, arrays)
end

local function export(name, model, inputs, options)
  if lg.is_tensor(inputs) then inputs = {inputs} end
  local path = folder .. "/" .. name
  lg.io.onnx_export(path .. ".onnx", model, inputs, options)
  if type(model) ~= "function" then model:eval() end
  write_values(path .. ".npz", model, inputs)
  if not options then return end
  local dim, others = options.dynamic_batch == true and 1 or options.dynamic_batch, {}
  for i, x in ipairs(inputs) do others[i] = lg.cat({x, x:flip(dim), x}, dim) end
  write_values(path .. ".other.npz", model, others)
end

-- --- networks ---

export("mlp", nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 4), nn.LogSoftmax(2)),
  lg.randn(3, 6), {dynamic_batch = true})

local cnn = nn.Sequential(
  nn.Conv2d(3, 8, 3, {padding = 1, bias = false}), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
  nn.Conv2d(8, 8, 3, {stride = 2, groups = 4}), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
cnn(lg.randn(8, 3, 16, 16))  -- updates the running statistics
export("cnn", cnn, lg.randn(2, 3, 16, 16), {dynamic_batch = true})

local Block = nn.class("Block")
function Block:init(d, heads)
  self.heads = heads
  self.norm1, self.qkv, self.out = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
  self.norm2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
end
function Block:forward(x)
  local batch, time, d = table.unpack(x:size())
  local parts = {}
  for i, part in ipairs(self.qkv(self.norm1(x)):chunk(3, 3)) do
    parts[i] = part:view(batch, time, self.heads, d // self.heads):transpose(2, 3)
  end
  local mixed = F.scaled_dot_product_attention(parts[1], parts[2], parts[3], {is_causal = true})
  x = x + self.out(mixed:transpose(2, 3):reshape(batch, time, d))
  return x + self.down(F.gelu(self.up(self.norm2(x))))
end
local Gpt = nn.class("Gpt")
function Gpt:init()
  self.bytes, self.places = nn.Embedding(50, 16), nn.Embedding(8, 16)
  self.blocks = nn.ModuleList {Block(16, 2), Block(16, 2)}
  self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 50, {bias = false})
  self.head.weight = self.bytes.weight
end
function Gpt:forward(x)
  local h = self.bytes(x) + self.places(lg.arange(x:size(2)))
  for _, block in ipairs(self.blocks) do h = block(h) end
  return self.head(self.norm(h))
end
export("gpt", Gpt(), lg.randint(0, 50, {2, 8}), {dynamic_batch = true})

-- A class token that is repeated for each picture, and pictures cut into patches.
local Vit = nn.class("Vit")
function Vit:init()
  self.patches = nn.Conv2d(3, 16, 4, {stride = 4})
  self.class, self.places = nn.Parameter(lg.randn(1, 1, 16)), nn.Parameter(lg.randn(1, 17, 16))
  self.encoder = nn.TransformerEncoderLayer(16, 4, {dim_feedforward = 32, batch_first = true, activation = "gelu"})
end
function Vit:forward(x)
  local tokens = self.patches(x):flatten(3):transpose(2, 3)
  local h = lg.cat({self.class:expand(x:size(1), -1, -1), tokens}, 2) + self.places
  return self.encoder(h):select(2, 1)
end
export("vit", Vit(), lg.randn(2, 3, 16, 16), {dynamic_batch = true})

export("lstm", nn.LSTM(5, 7, {num_layers = 2, batch_first = true, bidirectional = true}), lg.randn(3, 4, 5),
  {dynamic_batch = true})
export("lstm_states", nn.LSTM(5, 7), {lg.randn(4, 3, 5), lg.randn(1, 3, 7), lg.randn(1, 3, 7)}, {dynamic_batch = 2})
export("gru", nn.GRU(5, 7, {num_layers = 2, bidirectional = true}), lg.randn(4, 3, 5), {dynamic_batch = 2})
export("rnn", nn.RNN(5, 7, {nonlinearity = "relu", bias = false}), lg.randn(4, 3, 5))
export("rnn_tanh", nn.RNN(5, 7), {lg.randn(4, 3, 5), lg.randn(1, 3, 7)})
export("lstm_cell", nn.LSTMCell(5, 7), {lg.randn(3, 5), lg.randn(3, 7), lg.randn(3, 7)}, {dynamic_batch = true})

-- --- layers ---

export("conv1d",
  nn.Sequential(nn.Conv1d(2, 3, 4, {padding = "same", dilation = 2}), nn.ConvTranspose1d(3, 2, 3, {stride = 2})),
  lg.randn(2, 2, 9), {dynamic_batch = true})
export("conv3d", nn.Conv3d(2, 3, 2, {padding = 1}), lg.randn(1, 2, 3, 4, 5), {dynamic_batch = true})
export("conv_transpose2d", nn.ConvTranspose2d(4, 6, 3, {stride = 2, padding = 1, output_padding = 1, groups = 2}),
  lg.randn(2, 4, 5, 5), {dynamic_batch = true})
export("conv_unbatched", nn.Conv2d(2, 3, 3), lg.randn(2, 6, 6))
export("pools", function(x)
  return x:max_pool2d(3, 2, 1, 1, true), x:max_pool2d({2, 3}), x:avg_pool2d(3, 2, 1), x:avg_pool2d(3, 2, 1, true),
    x:avg_pool2d(3, 2, 1, true, false), x:avg_pool2d(2, 2, 0, false, true, 3), x:adaptive_avg_pool2d(3),
    x:adaptive_avg_pool2d({2, 5}), x:adaptive_max_pool2d({2, 8}), x:max_pool2d(2, 1, 0, 2)
end, lg.randn(2, 3, 10, 8), {dynamic_batch = true})
export("pools_1d", function(x)
  return x:max_pool1d(3, 2, 1), x:avg_pool1d(3, 2, 1), x:adaptive_avg_pool1d(4)
end, lg.randn(2, 3, 10))
export("resize", function(x)
  return F.interpolate(x, {scale_factor = 2}), F.interpolate(x, {size = {7, 3}}),
    F.interpolate(x, {scale_factor = 2, mode = "bilinear"}), F.interpolate(x, {size = {9, 4}, mode = "bilinear"}),
    F.interpolate(x, {size = {9, 4}, mode = "bilinear", align_corners = true})
end, lg.randn(2, 3, 5, 6), {dynamic_batch = true})
export("resize_volume", function(x)
  return F.interpolate(x, {scale_factor = 2, mode = "trilinear"}), F.interpolate(x, {size = {3, 5, 7}, mode = "nearest-exact"})
end, lg.randn(2, 3, 2, 3, 4))

local batch_norm = nn.BatchNorm1d(6, {affine = false})
batch_norm(lg.randn(8, 6, 4))
export("instance_norm", function(x) return F.instance_norm(x) end, lg.randn(2, 6, 4), {dynamic_batch = true})
export("norms", nn.Sequential(nn.GroupNorm(3, 6), batch_norm, nn.RMSNorm(4), nn.LayerNorm({6, 4})),
  lg.randn(2, 6, 4), {dynamic_batch = true})
export("attention", function(q, k, v)
  local seen = lg.ones(4, 5):tril(1):to("bool")
  return F.scaled_dot_product_attention(q, k, v),
    F.scaled_dot_product_attention(q, k, v, {attn_mask = seen, softcap = 2}),
    F.scaled_dot_product_attention(q, k, v, {attn_mask = lg.zeros(4, 5):masked_fill(seen, -math.huge)})
end, {lg.randn(2, 3, 4, 6), lg.randn(2, 3, 5, 6), lg.randn(2, 3, 5, 6)}, {dynamic_batch = true})
export("multihead", nn.MultiheadAttention(8, 2, {batch_first = true}),
  {lg.randn(2, 4, 8), lg.randn(2, 5, 8), lg.randn(2, 5, 8)}, {dynamic_batch = true})
export("decoder", nn.TransformerDecoderLayer(8, 2, {dim_feedforward = 16}), {lg.randn(4, 2, 8), lg.randn(5, 2, 8)},
  {dynamic_batch = 2})
export("rope", function(x)
  local angles = lg.arange(5):float():unsqueeze(2) * lg.tensor {1.0, 0.1, 0.01}
  return F.rope(x, angles:cos(), angles:sin()), F.rope(x, angles:cos(), angles:sin(), {interleaved = true})
end, lg.randn(2, 3, 5, 8), {dynamic_batch = true})

-- --- functions ---

local x, positive = lg.randn(3, 4) * 2, lg.rand(3, 4) + 0.2
export("activations", function(x)
  return x:relu(), x:gelu(), F.gelu(x, "tanh"), x:silu(), x:sigmoid(), x:tanh(), x:softmax(2), x:log_softmax(1),
    x:elu(0.5), x:leaky_relu(0.1), x:selu(), x:celu(0.7), x:mish(), x:softplus(2, 1), x:softsign(), x:tanhshrink(),
    x:threshold(0.5, -1), x:hardtanh(-0.5, 1), x:hardsigmoid(), x:hardswish(), x:relu6(), x:logsigmoid(), x:glu(2),
    F.prelu(x, lg.tensor {0.1, 0.2, 0.3, 0.4}), x:softmin(1)
end, x, {dynamic_batch = true})
export("functions", function(x, p)
  return x:exp(), p:log(), p:sqrt(), p:rsqrt(), x:abs(), x:neg(), x:sign(), x:square(), p:reciprocal(), x:exp2(),
    x:expm1(), p:log1p(), p:log2(), p:log10(), x:sin(), x:cos(), x:tan(), (p / 2):asin(), (p / 2):acos(), x:atan(),
    x:sinh(), x:cosh(), x:asinh(), (p + 1):acosh(), (p / 2):atanh(), x:erf(), x:floor(), x:ceil(), x:round(),
    x:trunc(), x:frac(), x:clamp(-1, 1), x:clamp {min = 0.5}, lg.atan2(x, p - 0.7), x:nan_to_num()
end, {x, positive}, {dynamic_batch = true})
export("arithmetic", function(x, p)
  return x + p, x - 2, 3 * x, x / p, p ^ x, x // p, x % p, lg.fmod(x, p), lg.maximum(x, p), lg.minimum(x, 0.3),
    lg.logaddexp(x, p), lg.lerp(x, p, 0.3), lg.addcmul(x, p, p, {value = 2}), lg.where(x:gt(p), x, p),
    x:masked_fill(x:lt(0), 9), x:add(p, {alpha = 3}), x:div(p, {rounding_mode = "trunc"})
end, {x, positive}, {dynamic_batch = true})
export("comparisons", function(x, p)
  local a, b = x:gt(0), p:le(1)
  return x:eq(x:round()), x:ne(p), x:lt(p), x:ge(p), lg.logical_and(a, b), lg.logical_or(a, b), lg.logical_xor(a, b),
    lg.logical_not(a), lg.logical_and(x, p), x:isnan(), (x / (p - p)):isinf(), x:isfinite(), lg.isclose(x, p)
end, {x, positive}, {dynamic_batch = true})
local ids = lg.randint(-9, 9, {3, 4})
export("integers", function(i)
  return i + 1, i * i, i // 4, i % 4, i:abs(), i:clamp(-2, 3), i / 4, i:float() * 0.5, i:relu(), i:sum(2), i:eq(2),
    i:to("i32") + 1
end, ids, {dynamic_batch = true})
export("reductions", function(x)
  local top, at = x:max(2)
  local most, where = x:topk(2, 2)
  local sorted, order = x:sort(2, true)
  return x:sum(), x:sum(2), x:mean({1, 3}, true), x:prod(3), x:amax({2, 3}), x:amin(1), top, at, x:argmax(),
    x:argmin(3), x:var(2), x:std({2, 3}, {correction = 0}), x:norm(), x:norm(1, 2), x:logsumexp(3), x:gt(0):all(2),
    x:gt(0):any(), most, where, sorted, order, x:cumsum(2), x:cumsum(2, {exclusive = true}), x:cumprod(2),
    F.normalize(x, 2, 2), x:median(3)
end, lg.randn(2, 3, 4))
export("shapes", function(x)
  local parts = x:split(2, 3)
  return x:view(6, 4), x:flatten(2), x:permute(3, 1, 2), x:transpose(1, 3), x:unsqueeze(2), x:narrow(3, 2, 2),
    x:select(2, 3), x:slice(3, 1, 4, 2), lg.cat({x, x}, 2), lg.stack({x, x}, 1), parts[1], parts[2], x:flip(1),
    x:roll(1, 3), x:unfold(3, 2, 1), F.pad(x, {1, 2, 0, 1}, {value = 3}), F.pad(x, {1, 2}, {mode = "reflect"}),
    F.pad(x, {1, 1}, {mode = "circular"}), F.pad(x, {2, 1}, {mode = "replicate"}), x:tril(), x:triu(1),
    x:expand(5, 2, 3, 4), x:tile(2, 1, 2), x:squeeze(), x[2], x[{1, {2, 3}}], lg.einsum("bij,bkj->bik", x, x),
    x:repeat_interleave(2, 2), x:movedim(1, 3), x:diagonal(1, 1, 3)
end, lg.randn(2, 3, 4))
export("indices", function(x, i)
  return x:index_select(2, lg.tensor {2, 0}), x:gather(2, i), x:scatter(2, i, x:narrow(2, 1, 2)),
    x:scatter_add(2, i, x), F.one_hot(i, 4), F.embedding(i, x), x:index_fill(2, lg.tensor {3, 1}, 7),
    x:index_add(1, lg.tensor {2, 2, 0}, x, 0.5), x:index_copy(2, lg.tensor {1}, x:narrow(2, 4, 1))
end, {lg.randn(3, 4), lg.tensor {{0, 2}, {1, 0}, {2, 1}}})
export("in_place", function(x)
  local y = x:clone()
  y:mul_(2):add_(1):relu_()
  local z = lg.zeros_like(x)
  z:copy_(y)
  return y, z
end, x, {dynamic_batch = true})
export("halves", nn.Sequential(nn.Linear(6, 4), nn.SiLU()):to("f16"), lg.randn(3, 6):to("f16"))
