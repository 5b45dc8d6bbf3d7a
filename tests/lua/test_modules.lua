-- Modules against PyTorch's (tests/reference/cases/modules.py): results and gradients in training and in evaluation, and the
-- names and shapes of their state. Then what the table cannot say: random layers, lazy layers, containers, errors.
local lg = require "lunagrad"
local expect = require "expect"

local nn, F = lg.nn, lg.nn.functional
local root = arg[0]:match("^(.*)tests/lua/")
local cases = dofile(root .. "tests/reference/modules.lua")

-- The formula that made the reference's numbers.
local function numbers(shape, seed)
  local count = 1
  for _, size in ipairs(shape) do count = count * size end
  local list = {}
  for i = 0, count - 1 do list[i + 1] = ((i * 37 + 11 * seed + 5) % 61 * 2 - 60) / 40 end
  return lg.tensor(list, {dtype = "f64"}):reshape(shape)
end

local function build(case)
  local arguments = {}
  for i, value in ipairs(case.args) do
    arguments[i] = type(value) == "table" and value.layer and nn[value.layer](value.options) or value
  end
  if next(case.options) then arguments[#arguments + 1] = case.options end
  local module = nn[case.name](table.unpack(arguments)):to("f64")
  local state, names = module:state_dict(), {}
  for name in pairs(state) do names[#names + 1] = name end
  table.sort(names)
  for seed, name in ipairs(names) do
    if state[name]:dtype() == "f64" then
      local drawn = numbers(state[name]:size(), seed - 1)
      state[name]:copy_(name:find "running_var$" and drawn:abs() + 0.5 or drawn)
    end
  end
  return module
end

local function flat(tensor) return tensor:detach():to("f64"):reshape(-1):tolist() end

local function check_mode(module, case, mode, where)
  local wanted = case[mode]
  if not wanted then return end
  module:train(mode == "train")
  module:zero_grad()
  local given, call = {}, {}
  for i, input in ipairs(case.given) do
    given[i] = input.ids and lg.tensor(input.ids) or numbers(input.shape, 19 + i):requires_grad_()
  end
  for name, values in pairs(case.call) do
    local mask = lg.tensor(values)
    call[name] = mask:dtype() == "bool" and mask or mask:to("f64")
  end
  if next(call) then given[#given + 1] = call end
  local out = table.pack(module(table.unpack(given)))
  assert(out.n == #wanted.out or out[#wanted.out + 1] == nil, where .. ": too many results")
  expect.equal(out[1]:size(), wanted.shape, where .. " shape")
  for i, values in ipairs(wanted.out) do expect.close(flat(out[i]), values, 1e-9, where .. " result " .. i) end
  if not wanted.inputs then return end
  (out[1] * numbers(wanted.shape, 40)):sum():backward()
  for i, values in ipairs(wanted.inputs) do
    if values then expect.close(flat(given[i].grad), values, 1e-9, where .. " gradient of input " .. i) end
  end
  local seen = 0
  for name, parameter in module:named_parameters() do
    local values = wanted.parameters and wanted.parameters[name]
    if values then
      expect.close(flat(parameter.grad), values, 1e-8, where .. " gradient of " .. name)
      seen = seen + 1
    end
  end
  for _ in pairs(wanted.parameters or {}) do seen = seen - 1 end
  assert(seen == 0, where .. ": gradients are missing")
end

local names = {}
for i, case in ipairs(cases) do
  local where = ("%s (case %d)"):format(case.name, i)
  local module = build(case)
  local state = {}
  for name, tensor in pairs(module:state_dict()) do state[name] = tensor:size() end
  expect.equal(state, case.state, where .. " state")
  check_mode(module, case, "train", where .. " train")
  check_mode(module, case, "eval", where .. " eval")
  assert(tostring(module):find("^" .. case.name .. "%("), where)
  names[case.name] = true
end
assert(#cases > 80, #cases)

-- Random layers: what is dropped, and what a channel shares.
do
  lg.manual_seed(3)
  local ones = lg.ones(20, 30, 4, 5)
  for _, name in ipairs {"Dropout1d", "Dropout2d", "Dropout3d"} do
    local x = name == "Dropout1d" and ones:narrow(4, 1, 1):squeeze(4) or name == "Dropout3d" and ones:unsqueeze(5) or ones
    local y = nn[name](0.25)(x):flatten(3)
    expect.equal(y:amax(3):eq(y:amin(3)):all():item(), true, name) -- a channel has one value
    local kept = y:select(3, 1)
    expect.equal(kept:eq(0):logical_or(kept:sub(4 / 3):abs():lt(1e-5)):all():item(), true, name)
    expect.close(kept:eq(0):float():mean():item(), 0.25, 0.06, name)
  end
  expect.equal(F.dropout1d(lg.ones(6, 5)):std(2):max():item(), 0.0) -- [C, L] has no batch
  expect.equal(F.dropout3d(lg.ones(6, 2, 2, 2)):flatten(2):std(2):max():item(), 0.0)
  local x = lg.randn(200, 100)
  for _, name in ipairs {"AlphaDropout", "FeatureAlphaDropout"} do
    local y = nn[name](0.3)(x)
    expect.close(y:mean():item(), 0, 0.03, name)
    expect.close(y:std():item(), 1, 0.03, name)
    expect.equal(nn[name](0.3):eval()(x):equal(x), true, name)
  end
  expect.equal(F.alpha_dropout(x):equal(x), true) -- training = false, as in PyTorch
  local y = nn.RReLU(0.25, 0.5)(x)
  local slope = y:div(x):masked_select(x:lt(0))
  assert(slope:min():item() >= 0.2499 and slope:max():item() <= 0.5001 and slope:std():item() > 0.06)
  expect.equal(y:masked_select(x:ge(0)):equal(x:masked_select(x:ge(0))), true)

  local logits = lg.tensor({0.0, math.log(3)}):expand(4000, 2)
  local hard = F.gumbel_softmax(logits, 1, true)
  expect.equal(hard:sum(2):equal(lg.ones(4000)), true)
  expect.close(hard:mean(1):tolist(), {0.25, 0.75}, 0.03)
  expect.close(F.gumbel_softmax(logits, {tau = 0.5}):sum(2):sub(1):abs():max():item(), 0, 1e-5)
  local leaf = logits:clone():detach():requires_grad_()
  F.gumbel_softmax(leaf, 1, true):select(2, 1):sum():backward()
  assert(leaf.grad:abs():sum():item() > 0)
  expect.raises("tau must be greater than 0", function() return (F.gumbel_softmax(logits, 0)) end)
end

-- Fractional pools with PyTorch's windows for given samples.
do
  local x = numbers({1, 2, 7, 6}, 3)
  local samples = lg.tensor({{{0.25, 0.75}, {0.5, 0.125}}}, {dtype = "f64"})
  local y, at = F.fractional_max_pool2d(x, {2, 3}, {4, 3}, nil, true, samples)
  expect.close(y:flatten():tolist(), {1.15, 1.15, 0.6, 1.25, 1.15, 1.35, 0.9, 0.9, 1.45, 1, 0.55, 1.2, 1.4, 1.4, 1.3, 1.5, 1.4, 0.95, 1.15, 1.15, 1.05, 1.35, 0.8, 1.45})
  expect.equal(at:flatten():tolist(), {7, 7, 10, 12, 7, 17, 25, 25, 22, 30, 38, 40, 8, 8, 3, 13, 8, 16, 26, 26, 21, 36, 39, 41})
  local volume = numbers({1, 1, 5, 4, 6}, 4)
  y, at = F.fractional_max_pool3d_with_indices(volume, 2, {3, 2, 3}, nil, lg.tensor({{{0.25, 0.75, 0.5}}}, {dtype = "f64"}))
  expect.close(y:flatten():tolist(), {1.45, 1, 1.15, 1.2, 1.35, 0.8, 1.45, 1, 1.5, 1.2, 1.1, 1.15, 0.7, 1.35, 1.25, 1.4, 1.45, 1.5})
  expect.equal(at:flatten():tolist(), {25, 33, 10, 43, 20, 23, 25, 33, 58, 43, 38, 71, 79, 81, 76, 114, 86, 119})
  expect.equal(nn.FractionalMaxPool2d(2, {output_ratio = 0.5})(x):size(), {1, 2, 3, 3})
  expect.raises("give either output_size or output_ratio", function() return (nn.FractionalMaxPool2d(2)) end)
  expect.raises("do not fit dim 3", function() return (F.fractional_max_pool2d(x, 2, math.maxinteger)) end)
end

-- Pools return the indices of their values, and unpooling puts the values back there.
do
  local x = lg.randn(2, 3, 5, 6, 4)
  for dims, size in ipairs {{2, 3, 9}, {2, 3, 5, 6}, {2, 3, 5, 6, 4}} do
    local image = dims == 1 and lg.randn(size) or dims == 2 and x:select(5, 1) or x
    for _, name in ipairs {("max_pool%dd"):format(dims), ("adaptive_max_pool%dd"):format(dims)} do
      local values, at = F[name](image, 2, {return_indices = true})
      expect.equal(image:flatten(3):gather(3, at:flatten(3)):reshape(values:size()):equal(values), true, name)
      expect.equal(F[name](image, 2):equal(values), true, name)
      local same, again = F[name .. "_with_indices"](image, 2)
      expect.equal(same:equal(values) and again:equal(at), true, name)
    end
    local values, at = F[("max_pool%dd"):format(dims)](image, 2, {return_indices = true})
    local back = F[("max_unpool%dd"):format(dims)](values, at, 2, {output_size = size})
    expect.equal(back:eq(0):logical_or(back:eq(image)):all():item(), true)
    expect.close(back:sum():item(), values:sum():item(), 1e-4)
  end
  expect.raises("max_unpool2d: indices must be i64", function() return F.max_unpool2d(lg.ones(1, 1, 1), lg.ones(1, 1, 1), 2) end)
end

-- Lazy layers are plain ones after the first input.
do
  lg.manual_seed(5)
  local net = nn.Sequential(nn.LazyConv2d(4, 3, {padding = 1}), nn.LazyBatchNorm2d(), nn.LazyConvTranspose2d(2, 2),
    nn.Flatten(), nn.LazyLinear(3, {bias = false}))
  expect.equal(#net:parameters(), 0)
  expect.raises("call the model once", function() net[5]:load_state_dict {} end)
  expect.equal(net(lg.randn(2, 5, 4, 4)):size(), {2, 3})
  local shapes = {}
  for name, parameter in net:named_parameters() do shapes[name] = parameter:size() end
  expect.equal(shapes, {["0.weight"] = {4, 5, 3, 3}, ["0.bias"] = {4}, ["1.weight"] = {4}, ["1.bias"] = {4},
    ["2.weight"] = {4, 2, 2, 2}, ["2.bias"] = {2}, ["4.weight"] = {3, 50}})
  assert(tostring(net):find("Linear(50, 3, bias = false)", 1, true))
  local failing = nn.LazyConv1d(4, 3, {groups = 3})
  expect.raises("do not divide into 3 groups", function() failing(lg.randn(1, 2, 5)) end)
  expect.equal(nn.LazyInstanceNorm1d {affine = true}(lg.randn(2, 3, 5)):size(), {2, 3, 5})
end

-- Containers of parameters.
do
  local Net = nn.class "Net"
  function Net:init()
    self.list = nn.ParameterList {lg.ones(2), lg.ones(3)}
    self.dict = nn.ParameterDict {b = lg.ones(1), a = nn.Parameter(lg.ones(4))}
  end
  local net, keys = Net(), {}
  for name in net:named_parameters() do keys[#keys + 1] = name end
  expect.equal(keys, {"list.0", "list.1", "dict.a", "dict.b"})
  net.list:append(lg.zeros(1))
  expect.equal(#net.list, 3)
  expect.equal(net.list:pop():size(), {1})
  expect.equal(#net:parameters(), 4)
  expect.equal(net.dict:keys(), {"a", "b"})
  expect.equal(net.dict:pop("a"):size(), {4})
  expect.equal(net.dict:contains "a", false)
  expect.equal(net.dict:get("a", 7), 7)
  expect.raises("not a tensor", function() net.list:append(3) end)
  expect.raises("is the name of a field", function() net.dict:set("keys", lg.ones(1)) end)
  expect.raises("there is no parameter 'c'", function() net.dict:pop "c" end)
end

-- The layers of a stack begin equal and train apart.
do
  local layer = nn.TransformerEncoderLayer(4, 2, {dropout = 0})
  local encoder = nn.TransformerEncoder(layer, 2, {norm = nn.LayerNorm(4)})
  local state = encoder:state_dict()
  expect.equal(state["layers.0.linear1.weight"]:equal(state["layers.1.linear1.weight"]), true)
  encoder(lg.randn(3, 2, 4)):pow(2):sum():backward()
  assert(not encoder.layers[1].linear1.weight.grad:equal(encoder.layers[2].linear1.weight.grad))
  assert(layer.linear1.weight.grad == nil)
  expect.equal(nn.Transformer.generate_square_subsequent_mask(2):tolist(), {{0.0, -math.huge}, {0.0, 0.0}})
  expect.raises("num_layers must be at least 1", function() return (nn.TransformerDecoder(layer, 0)) end)
  expect.raises("src has 2 items and tgt 3", function()
    return (nn.Transformer {d_model = 4, nhead = 2}(lg.randn(3, 2, 4), lg.randn(3, 3, 4)))
  end)
end

-- Embedding: shortened rows, the padding row, given weights.
do
  local weight = lg.tensor {{3.0, 4.0}, {0.3, 0.4}, {0.0, 5.0}}
  local table_of = nn.Embedding.from_pretrained(weight, {max_norm = 1, padding_idx = -1})
  expect.equal(table_of.weight.requires_grad, false)
  expect.equal(table_of.padding_idx, 2)
  expect.close(table_of(lg.tensor {0, 1}), {{0.6, 0.8}, {0.3, 0.4}})
  expect.close(table_of.weight, {{0.6, 0.8}, {0.3, 0.4}, {0, 5}})
  expect.equal(nn.EmbeddingBag.from_pretrained(weight, {freeze = false, mode = "sum"}).weight.requires_grad, true)
  expect.equal(nn.Embedding(3, 2, {padding_idx = 1}).weight[2]:tolist(), {0.0, 0.0})
  expect.raises("padding_idx 3 is out of range for 3 rows", function() return (nn.Embedding(3, 2, 3)) end)
  expect.raises("mode must be 'sum', 'mean' or 'max'", function() return (nn.EmbeddingBag(3, 2, {mode = "min"})) end)
  expect.raises("a tensor of 2 dims expected", function() return (nn.Embedding.from_pretrained(lg.ones(3))) end)
  expect.raises("offsets must begin with 0", function()
    return (F.embedding_bag(lg.tensor {1, 2}, weight, lg.tensor {1}))
  end)
end

-- nn.init.
do
  lg.manual_seed(11)
  local drawn = nn.init.trunc_normal_(lg.empty(40000), 0.5, 2, -1, 3)
  assert(drawn:min():item() >= -1 and drawn:max():item() <= 3)
  -- Of a normal distribution cut at -0.75 and 1.25 deviations: mean and deviation by their formulas.
  local function density(z) return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) end
  local share = 0.5 * (lg.tensor({1.25 / math.sqrt(2)}):erf():item() + lg.tensor({0.75 / math.sqrt(2)}):erf():item())
  local shift = (density(-0.75) - density(1.25)) / share
  local spread = 1 + (-0.75 * density(-0.75) - 1.25 * density(1.25)) / share - shift ^ 2
  expect.close(drawn:mean():item(), 0.5 + 2 * shift, 0.02)
  expect.close(drawn:std():item(), 2 * math.sqrt(spread), 0.02)
  expect.raises("a less than b", function() nn.init.trunc_normal_(drawn, 0, 1, 2, 1) end)

  for _, shape in ipairs {{70, 40}, {40, 70}, {6, 3, 2, 2}, {3, 3}} do
    local w = nn.init.orthogonal_(lg.empty(shape, {dtype = "f64"}), 2):flatten(2)
    local square = w:size(1) <= w:size(2) and w:matmul(w:t()) or w:t():matmul(w)
    expect.close(square:sub(lg.eye(square:size(1), {dtype = "f64"}) * 4):abs():max():item(), 0, 1e-12)
  end
  expect.raises("a tensor of 2 or more dims", function() nn.init.orthogonal_(lg.empty(3)) end)

  expect.equal(nn.init.eye_(lg.empty(2, 3)):tolist(), {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}})
  local x = lg.randn(1, 4, 5)
  expect.equal(F.conv1d(x, nn.init.dirac_(lg.empty(4, 4, 3)), nil, 1, 1):equal(x), true)
  expect.equal(F.conv1d(x, nn.init.dirac_(lg.empty(4, 2, 3), 2), nil, 1, 1, 1, 2):equal(x), true)
  expect.raises("must divide the 4 output channels", function() nn.init.dirac_(lg.empty(4, 2, 3), 3) end)
  local sparse = nn.init.sparse_(lg.empty(20, 30), 0.33, 1)
  expect.equal(sparse:eq(0):long():sum(1):tolist(), lg.full({30}, 7):tolist())
  expect.close(sparse:masked_select(sparse:ne(0)):std():item(), 1, 0.1)
  expect.equal(nn.init.calculate_gain "conv_transpose3d", 1)
end

-- Grouped attention, a bias of rms_norm, transposed convolutions to a size, converted batch norms.
do
  local q, k, v = lg.randn(2, 6, 3, 4), lg.randn(2, 2, 5, 4), lg.randn(2, 2, 5, 4)
  local wanted = F.scaled_dot_product_attention(q, k:repeat_interleave(3, 2), v:repeat_interleave(3, 2))
  expect.close(F.scaled_dot_product_attention(q, k, v, {enable_gqa = true}), wanted, 1e-6)
  expect.raises("the 6 heads of query must be a multiple of the 4 of key", function()
    return F.scaled_dot_product_attention(q, lg.randn(2, 4, 5, 4), lg.randn(2, 4, 5, 4), {enable_gqa = true})
  end)
  local x, w, b = lg.randn(2, 3), lg.randn(3), lg.randn(3)
  expect.equal(F.rms_norm(x, 3, w, {bias = b}):equal(F.rms_norm(x, 3, w) + b), true)

  local conv = nn.ConvTranspose2d(1, 1, 3, {stride = 2, padding = 1})
  expect.equal(conv(lg.randn(1, 1, 4, 4), {8, 7}):size(), {1, 1, 8, 7})
  expect.raises("dim 3 may have 7 to 8 elements", function() return (conv(lg.randn(1, 1, 4, 4), {9, 7})) end)
  local net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3), nn.ReLU()))
  assert(tostring(net):find "SyncBatchNorm%(3")
  expect.close(net(lg.randn(8, 3)):amin():item(), 0)
end

-- Impossible sizes are errors.
do
  local image, volume, big = lg.randn(1, 2, 4, 4), lg.randn(1, 2, 4, 4, 4), math.maxinteger
  for _, call in ipairs {
    function(n) return F.max_pool2d(image, n) end,
    function(n) return F.max_pool2d(image, 2, n) end,
    function(n) return F.max_pool2d(image, 2, 1, n) end,
    function(n) return F.avg_pool3d(volume, 2, 1, n) end,
    function(n) return F.max_pool3d(volume, 2, 1, 0, n) end,
    function(n) return F.lp_pool2d(image, 2, n) end,
    function(n) return F.adaptive_avg_pool2d(image, {n, 2}) end,
    function(n) return F.adaptive_max_pool3d(volume, n) end,
    function(n) return F.conv2d(image, lg.ones(1, 2, 3, 3), nil, n) end,
    function(n) return F.conv2d(image, lg.ones(1, 2, 3, 3), nil, 1, n) end,
    function(n) return F.conv_transpose3d(volume, lg.ones(2, 1, 3, 3, 3), nil, n) end,
    function(n) return F.unfold(image, 2, n) end,
    function(n) return F.unfold(image, 2, 1, n) end,
    function(n) return F.max_unpool2d(image, lg.zeros_like(image):long(), n) end,
    function(n) return F.pixel_shuffle(image, n) end,
    function(n) return F.channel_shuffle(image, n) end,
    function(n) return F.local_response_norm(image, n) end,
    function(n) return F.interpolate(image, n, nil, "bicubic") end,
    function(n) return F.affine_grid(lg.ones(1, 2, 3), {1, 1, n, n}) end,
    function(n) return (nn.ConstantPad2d(n, 0)(image)) end,
    function(n) return (nn.Unflatten(2, {n, n})(image)) end,
  } do
    assert(not pcall(call, big) and not pcall(call, math.mininteger))
  end
  for _, name in ipairs {"max_pool3d", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d"} do
    expect.equal(F[name](lg.zeros(0, 2, 4, 4, 4), 2):size(), {0, 2, 2, 2, 2})
    expect.raises("has no elements", function() return F[name](lg.zeros(1, 2, 4, 0, 4), 2) end)
  end
  expect.raises("scale_factor must be one number or 2 (got 3)", function() return (F.interpolate(image, nil, {1, 2, 3})) end)
  expect.raises("to 4e+30", function() return (F.interpolate(image, nil, 1e30, "area")) end)
  expect.raises("antialias does not exist", function()
    return (F.interpolate(image, {size = 2, mode = "bilinear", antialias = true}))
  end)
end
