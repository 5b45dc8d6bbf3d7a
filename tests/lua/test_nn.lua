local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

-- A class: fields in the order of assignment, and calling it.
local Net = nn.class("Net")
function Net:init(width)
  self.second = nn.Linear(2, width)
  self.first = nn.Linear(width, 1, {bias = false})
  self.scale = nn.Parameter(lg.ones(1))
  self:register_buffer("mean", lg.zeros(1))
  self.name = "a field that is no layer"
end
function Net:forward(x) return self.first(self.second(x):tanh()) * self.scale + self.mean end

lg.manual_seed(1)
local net = Net(3)
assert(getmetatable(net) == Net and Net.super == nn.Module and tostring(Net) == "class Net")
local names = {}
for name in net:named_parameters() do names[#names + 1] = name end
expect.equal(names, {"scale", "second.weight", "second.bias", "first.weight"})  -- its own first, as in PyTorch
assert(#net:parameters() == 4 and #net:buffers() == 1 and #net:children() == 2 and #net:modules() == 3)
expect.equal(net(lg.ones(5, 2)):size(), {5, 1})
expect.equal(tostring(net), [[
Net(  # 13 parameters
  (second): Linear(2, 3)  # 9 parameters
  (first): Linear(3, 1, bias = false)  # 3 parameters
)]])

-- Gradients are accumulated and reset.
net(lg.ones(5, 2)):sum():backward()
for _, p in net:named_parameters() do assert(p.grad) end
net:zero_grad {set_to_none = false}
expect.equal(net.scale.grad:tolist(), {0.0})
net:zero_grad()
assert(net.scale.grad == nil)

-- State dicts have PyTorch's keys and share memory; loading reports mismatches.
local state = net:state_dict()
local keys = {}
for key in pairs(state) do keys[#keys + 1] = key end
table.sort(keys)
expect.equal(keys, {"first.weight", "mean", "scale", "second.bias", "second.weight"})
local other = Net(3)
other:load_state_dict(state)
expect.equal(other.second.weight:detach(), net.second.weight:detach())
other.scale.grad = nil
state.extra, state.scale, state.mean = lg.zeros(1), nil, lg.zeros(2)
local message = expect.raises("the state does not fit Net:", function() other:load_state_dict(state) end)
for _, line in ipairs {
  "scale is missing (shape [1])", "mean has shape [1] here and [2] in the state", "extra is not in the module",
} do
  assert(message:find(line, 1, true), message)
end
state.mean = nil
local missing, unexpected = other:load_state_dict(state, {strict = false})
expect.equal(missing, {"scale", "mean"})
expect.equal(unexpected, {"extra"})

-- A frozen parameter remains a parameter; a field set to nil is removed.
net.second:requires_grad_(false)
assert(#net:parameters() == 4 and not net.second.weight.requires_grad)
net.second:requires_grad_()
net.scale = nil
assert(#net:parameters() == 3)

-- train and eval reach every module; apply visits children before parents.
net:eval()
assert(not net.training and not net.first.training)
net:train()
assert(net.training and net.first.training)
local order = {}
net:apply(function(m) order[#order + 1] = m.__name end)
expect.equal(order, {"Linear", "Linear", "Net"})

-- Casting keeps requires_grad.
net:to("f64")
assert(net.first.weight:dtype() == "f64" and net.mean:dtype() == "f64" and net.first.weight.requires_grad)

-- Containers name their items from "0"; positions count from 1.
local sequence = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
assert(#sequence == 3 and sequence[3].out_features == 2)
assert(sequence:state_dict()["2.weight"] and sequence:state_dict()["0.bias"])
expect.equal(sequence(lg.ones(3, 4)):size(), {3, 2})
expect.equal(tostring(sequence), [[
Sequential(  # 58 parameters
  (0): Linear(4, 8)  # 40 parameters
  (1): ReLU()
  (2): Linear(8, 2)  # 18 parameters
)]])
expect.raises("Sequential: item 2 is a number, not a module", function() nn.Sequential(nn.ReLU(), 5) end)
expect.raises("Sequential: item 2 is the class Linear: make one with Linear(…)", function()
  nn.Sequential(nn.ReLU(), nn.Linear)
end)
expect.raises("ModuleList: item 1 is the class ReLU", function() nn.ModuleList {nn.ReLU} end)
expect.raises("Linear: in_features is the string \"3\", not a number", function() nn.Linear("3", 4) end)
for _, name in ipairs {"clip_grad_norm_", "clip_grad_value_"} do
  expect.raises(name .. ": a list of parameters expected, as model:parameters() gives", function()
    nn.utils[name](nn.Linear(2, 3), 1)
  end)
end
expect.close(lg.no_grad(nn.Identity(), lg.ones(2)), lg.ones(2))  -- a module is called like a function
local list = nn.ModuleList {nn.Linear(1, 1)}
list:append(nn.Linear(1, 2))
assert(#list == 2 and #list:parameters() == 4)
expect.raises("ModuleList has no forward", function() list(1) end)
expect.equal(nn.Sequential(nn.Identity(), function(x) return x + 1 end)(lg.zeros(1)):tolist(), {1.0})

-- A layer with a fused activation has the results of a separate activation module, and the same state names.
do
  local x = lg.randn(5, 4)
  for name, module in pairs {relu = nn.ReLU(), tanh = nn.Tanh(), sigmoid = nn.Sigmoid()} do
    local layer, plain = nn.Linear(4, 3, {activation = name}), nn.Linear(4, 3)
    plain:load_state_dict(layer:state_dict())
    local y, apart = layer(x), module(plain(x))
    assert(y.grad_fn == "linear" and apart.grad_fn == name)
    expect.equal(y, apart)
    y:sum():backward()
    apart:sum():backward()
    expect.equal(layer.weight.grad, plain.weight.grad)
    expect.equal(layer.bias.grad, plain.bias.grad)
  end
  expect.equal(F.linear(x, lg.ones(3, 4), {activation = "relu"}), F.relu(F.linear(x, lg.ones(3, 4))))
  expect.equal(tostring(nn.Linear(4, 3, {bias = false, activation = "tanh"})),
    'Linear(4, 3, bias = false, activation = "tanh")  # 12 parameters')
  expect.raises("Linear: activation must be 'none', 'relu', 'tanh' or 'sigmoid' (got 'gelu')", function()
    nn.Linear(4, 3, {activation = "gelu"})
  end)
  expect.raises("(one of 'none', 'relu', 'tanh', 'sigmoid' expected, got 'gelu')", function()
    F.linear(x, lg.ones(3, 4), {activation = "gelu"})
  end)
end

-- A shared layer is counted once and saved under both names.
local tied = nn.Sequential(sequence[1], sequence[1])
assert(#tied:parameters() == 2 and tied:state_dict()["1.weight"])

-- The tape has the modules and the names of parameters.
sequence:parameters()
local modules, parameters = {}, {}
for _, node in ipairs(lg.tape(sequence(lg.ones(3, 4)))) do
  if node.op == "leaf" then parameters[node.name or "?"] = true else modules[node.module or "?"] = node.op end
end
assert(modules["sequence.0"] and modules["sequence.1"] == "relu" and parameters["sequence.0.weight"]
  and parameters["sequence.2.bias"])
-- A ModuleList is not called itself: its modules carry its name, whether it is filled before or after it becomes a field.
-- A shared module carries the name by which it was called.
local Deep = nn.class("Deep")
function Deep:init()
  self.blocks = nn.ModuleList {nn.ReLU()}
  self.blocks:append(nn.Tanh())
  self.inner = nn.ModuleList {nn.ModuleList {nn.Sigmoid()}}
  self.shared = self.blocks[1]
end
function Deep:forward(x) return self.inner[1][1](self.blocks[2](self.shared(x))) end
local places = {}
for _, node in ipairs(lg.tape(Deep()(lg.ones(2, {requires_grad = true})))) do places[node.op] = node.module end
expect.equal(places, {relu = "Deep.shared", tanh = "Deep.blocks.1", sigmoid = "Deep.inner.0.0"})
local Broken = nn.class("Broken")
function Broken:forward() error("broken") end
assert(not pcall(Broken()))
assert(lg.tape(lg.ones(1, {requires_grad = true}) * 2)[1].module == nil)

-- Default initial values are PyTorch's: uniform within 1 / sqrt(fan_in).
lg.manual_seed(3)
local layer = nn.Linear(100, 400)
local bound = 1 / math.sqrt(100)
assert(layer.weight:abs():max():item() <= bound and layer.weight:abs():max():item() > 0.99 * bound)
expect.close(layer.weight:mean():item(), 0, 1e-3)
local conv = nn.Conv2d(4, 50, 5)
assert(conv.weight:abs():max():item() <= 0.1 and conv.weight:abs():max():item() > 0.099)
expect.equal(conv.weight:size(), {50, 4, 5, 5})
local table_of = nn.Embedding(1000, 20)
expect.close((table_of.weight * table_of.weight):mean():item(), 1, 0.05)

-- nn.init.
local w = lg.empty(64, 32, 3, 3)
local fan_in, fan_out = nn.init.fans(w)
assert(fan_in == 288 and fan_out == 576)
for init, limit in pairs {
  kaiming_uniform_ = math.sqrt(2) * math.sqrt(3 / 288), xavier_uniform_ = math.sqrt(6 / (288 + 576)),
} do
  local largest = nn.init[init](w):abs():max():item()
  assert(largest <= limit and largest > 0.99 * limit, init)
end
for init, std in pairs {kaiming_normal_ = math.sqrt(2 / 288), xavier_normal_ = math.sqrt(2 / (288 + 576))} do
  nn.init[init](w)
  expect.close((w * w):mean():sqrt():item(), std, 0.02 * std, init)
end
expect.equal(nn.init.zeros_(lg.empty(2)):tolist(), {0.0, 0.0})
expect.equal(nn.init.ones_(lg.empty(2)):tolist(), {1.0, 1.0})
expect.raises("nn.init: fans need at least 2 dims (got shape [3])", function() nn.init.xavier_uniform_(lg.zeros(3)) end)

-- Layers against their ops.
local x = lg.randn(2, 4, 12, 12)
expect.equal(conv(x):size(), {2, 50, 8, 8})
expect.equal(nn.Conv2d(4, 6, {3, 1}, {stride = 2, padding = {1, 0}, groups = 2})(x):size(), {2, 6, 6, 6})
expect.equal(nn.MaxPool2d(2)(x), F.max_pool2d(x, 2))
expect.equal(nn.MaxPool2d(3, {stride = 2, padding = 1})(x):size(), {2, 4, 6, 6})
expect.equal(nn.Flatten()(x):size(), {2, 576})
expect.equal(nn.LayerNorm({12, 12})(x):size(), {2, 4, 12, 12})
expect.close(nn.LayerNorm(4)(lg.tensor {{1, 2, 3, 4.0}}), {{-1.341635, -0.447212, 0.447212, 1.341635}}, 1e-5)
expect.equal(table_of(lg.tensor {0, 999}):size(), {2, 20})
expect.equal(nn.Linear(3, 2, false)(lg.ones(1, 3)):size(), {1, 2})

-- Every activation runs with its defaults, prints its name, and takes its parameters by name and by position.
for _, name in ipairs {
  "ReLU", "ReLU6", "Sigmoid", "Tanh", "GELU", "SiLU", "Mish", "LeakyReLU", "ELU", "SELU", "CELU", "Softplus",
  "Softsign", "Hardtanh", "Hardsigmoid", "Hardswish", "LogSigmoid", "Tanhshrink", "Softmax", "LogSoftmax", "Softmin",
  "PReLU",
} do
  local activation = nn[name]()
  expect.equal(activation(lg.randn(2, 3)):size(), {2, 3})
  assert(tostring(activation):find("^" .. name .. "%("))
end
expect.close(nn.LeakyReLU(0.5)(lg.tensor {-2.0}), {-1})
expect.close(nn.LeakyReLU {negative_slope = 0.25}(lg.tensor {-2.0}), {-0.5})
expect.close(nn.Softmax(1)(lg.zeros(4, 2)), lg.full({4, 2}, 0.25))
expect.close(nn.GLU()(lg.tensor {{2.0, 3, 0, 0}}), {{1, 1.5}})
expect.close(nn.PReLU {num_parameters = 2, init = 0.5}(lg.tensor {{-2.0, 3}}), {{-1, 3}})
-- A function of nn.functional is the op of that name, or is defined in Lua; the functions below take more than the op.
local wider = {ctc_loss = true, interpolate = true, unfold = true}
for _, name in ipairs {
  "relu", "relu6", "selu", "silu", "mish", "hardsigmoid", "hardswish", "leaky_relu", "elu", "celu", "hardtanh", "threshold",
  "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "rrelu",
} do
  wider[name] = true
end
for name, f in pairs(F) do
  assert(type(f) == "function" and (rawget(lg, name) == nil or f == lg[name] or wider[name]), name)
end

-- Losses.
local logits, labels = lg.tensor {{2.0, 1, 0}, {0.0, 0, 5}}, lg.tensor {0, 2}
expect.close(nn.CrossEntropyLoss()(logits, labels):item(), (0.407606 + 0.013386) / 2, 1e-5)
expect.close(nn.CrossEntropyLoss {reduction = "sum"}(logits, labels):item(), 0.407606 + 0.013386, 1e-5)
expect.close(nn.CrossEntropyLoss {ignore_index = 0}(logits, labels):item(), 0.013386, 1e-5)
expect.equal(nn.MSELoss()(lg.tensor {1.0, 2}, lg.tensor {3.0, 2}):item(), 2.0)
assert(tostring(nn.CrossEntropyLoss {reduction = "sum"}) == "CrossEntropyLoss(reduction = sum)")

-- Dropout is off in eval; p may be a function that is called each time.
local p = 0.5
local dropout = nn.Dropout(function() return p end)
local kept = dropout(lg.ones(10000)):gt(0):to("f32"):mean():item()
expect.close(kept, 0.5, 0.03)
p = 0.9
expect.close(dropout(lg.ones(10000)):gt(0):to("f32"):mean():item(), 0.1, 0.03)
expect.equal(dropout:eval()(lg.ones(3)):tolist(), {1.0, 1.0, 1.0})

-- Clipping returns the norm before clipping.
local a, b = lg.zeros(2, {requires_grad = true}), lg.zeros(1, {requires_grad = true})
a.grad, b.grad = lg.tensor {3.0, 0}, lg.tensor {4.0}
expect.close(nn.utils.clip_grad_norm_({a, b}, 1):item(), 5)
expect.close(a.grad, {0.6, 0}, 1e-5)
expect.close(b.grad, {0.8}, 1e-5)
expect.close(nn.utils.clip_grad_norm_({a, b}, 10):item(), 1, 1e-5)
expect.close(a.grad, {0.6, 0}, 1e-5)
nn.utils.clip_grad_value_({a, b}, 0.7)
expect.close(b.grad, {0.7}, 1e-5)

-- Arguments.
expect.raises("Linear: 'out_features' is missing", function() nn.Linear(3) end)
expect.raises("Linear: unknown option 'bais' (known: in_features, out_features, bias", function()
  nn.Linear(3, 4, {bais = false})
end)
expect.raises("Dropout: 3 arguments given, at most 2 taken", function() nn.Dropout(0.5, true, 1) end)
expect.raises("Conv2d: 4 and 6 channels do not divide into 3 groups", function() nn.Conv2d(4, 6, 3, {groups = 3}) end)
expect.raises("nn.Parameter: a tensor expected (got number)", function() nn.Parameter(1) end)
expect.raises("linear: ", function() nn.Linear(3, 4)(lg.ones(2, 5)) end)

-- Hooks see a module's inputs and output; a hook's result replaces the output.
do
  local layer, seen = nn.Linear(2, 3), {}
  local watch = layer:register_forward_hook(function(module, inputs, out) seen = {module, inputs[1], out} end)
  local x = lg.ones(1, 2)
  local out = layer(x)
  assert(seen[1] == layer and seen[2] == x and seen[3] == out)
  local twice = layer:register_forward_hook(function(_, _, given) return given * 2 end)
  expect.equal(layer(x), out * 2)
  twice:remove()
  twice:remove()
  seen = {}
  expect.equal(layer(x), out)
  assert(seen[1] == layer)
  watch:remove()
  seen = {}
  layer(x)
  assert(#seen == 0)
  expect.raises("register_forward_hook: a function expected (got nil)", function() layer:register_forward_hook() end)
end
