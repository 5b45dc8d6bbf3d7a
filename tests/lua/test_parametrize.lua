-- nn.utils: parametrizations, weight and spectral norm, pruning, fusing, clipping.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn, utils = lg.nn, lg.nn.utils
local parametrize, parametrizations = utils.parametrize, utils.parametrizations

local function keys(t)
  local list = {}
  for key in pairs(t) do list[#list + 1] = key end
  table.sort(list)
  return list
end

local Symmetric = nn.class "Symmetric"
function Symmetric:forward(x) return x:triu() + x:triu(1):t() end
local Double = nn.class "Double"
Double.calls = 0
function Double:forward(x)
  Double.calls = Double.calls + 1
  return x * 2
end
function Double:right_inverse(x) return x / 2 end

-- A parametrized weight is computed at each access, trained through its original, and stored under PyTorch's names.
do
  local layer = nn.Linear(3, 3)
  local weight, x = layer.weight, lg.randn(2, 3)
  local optimizer = lg.optim.SGD(layer:parameters(), {lr = 0.1})
  assert(parametrize.register_parametrization(layer, "weight", Symmetric()) == layer)
  assert(layer.weight:equal(layer.weight:t()) and layer.weight.grad_fn and layer.parametrizations.weight.original == weight)
  expect.equal(keys(layer:state_dict()), {"bias", "parametrizations.weight.original"})
  assert(parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    and not parametrize.is_parametrized(layer, "bias"))
  expect.equal(layer.__name, "ParametrizedLinear")
  assert(parametrize.type_before_parametrizations(layer) == nn.Linear)
  local before = weight:detach():clone()
  optimizer:zero_grad()
  layer(x):sum():backward()
  optimizer:step()
  assert(not before:equal(weight:detach()) and layer.weight:equal(layer.weight:t()))
  -- A second one comes after the first; both are undone.
  parametrize.register_parametrization(layer, "weight", Double())
  expect.close(layer.weight, (weight:triu() + weight:triu(1):t()) * 2)
  expect.raises("Symmetric has no right_inverse", function() layer.weight = lg.eye(3) end)
  layer:double()
  assert(layer.weight:dtype() == "f64")
  local value = layer.weight:detach()
  parametrize.remove_parametrizations(layer, "weight")
  assert(getmetatable(layer) == nn.Linear and layer.weight == weight and layer.weight:equal(value))
  expect.equal(keys(layer:state_dict()), {"bias", "weight"})
end

-- With a right inverse the value stays, and setting the tensor sets the original. Inside cached() it is computed once.
do
  local layer = nn.Linear(2, 2, {bias = false})
  local value = layer.weight:detach():clone()
  parametrize.register_parametrization(layer, "weight", Double())
  expect.close(layer.weight, value)
  layer.weight = lg.ones(2, 2)
  expect.equal(layer.parametrizations.weight.original:tolist(), {{0.5, 0.5}, {0.5, 0.5}})
  Double.calls = 0
  parametrize.cached(function() return layer.weight + layer.weight end)
  assert(Double.calls == 1)
  do
    local _ <close> = parametrize.cached()
    assert(layer.weight == layer.weight and Double.calls == 2)
  end
  assert(layer.weight ~= layer.weight)
  parametrize.remove_parametrizations(layer, "weight", {leave_parametrized = false})
  expect.equal(layer.weight:tolist(), {{0.5, 0.5}, {0.5, 0.5}})
  expect.raises("remove_parametrizations: 'weight' of Linear is not parametrized", function()
    parametrize.remove_parametrizations(layer, "weight")
  end)
  expect.raises("register_parametrization: Linear has no parameter or buffer 'wieght'", function()
    parametrize.register_parametrization(layer, "wieght", Double())
  end)
  local Cut = nn.class "Cut"
  function Cut:forward(x) return x:narrow(1, 1, 1) end
  expect.raises("Cut turns f32 [2, 2] into f32 [1, 2]; {unsafe = true} permits it", function()
    parametrize.register_parametrization(layer, "weight", Cut())
  end)
  expect.equal(parametrize.register_parametrization(layer, "weight", Cut(), {unsafe = true}).weight:size(), {1, 2})
end

-- weight_norm in both forms: the value stays; the gradients are the gradients of g v / |v|.
local function check_norm(make, remove, g_name, v_name)
  for _, case in ipairs {{nn.Linear(3, 2), 1}, {nn.Conv2d(2, 3, 2), 1}, {nn.Linear(3, 2), 2}, {nn.Linear(3, 2), false}} do
    local layer, dim = case[1]:double(), case[2]
    local value = layer.weight:detach():clone()
    make(layer, "weight", dim)
    expect.close(layer.weight:detach(), value, 1e-12)
    local g, v = layer:get_parameter(g_name), layer:get_parameter(v_name)
    assert(g:dim() == value:dim() or dim == false)
    assert(#layer:parameters() == 3)
    local x = layer.__name:find "Linear" and lg.randn(4, 3, {dtype = "f64"}) or lg.randn(1, 2, 4, 4, {dtype = "f64"})
    layer(x):pow(2):sum():backward()
    -- Scaling v changes nothing: its gradient is orthogonal to it.
    expect.close((v * v.grad):sum():item(), 0, 1e-9)
    lg.no_grad(function() g:mul_(2) end)
    layer(x)
    expect.close(layer.weight:detach(), value * 2, 1e-12)
    remove(layer, "weight")
    expect.close(layer.weight:detach(), value * 2, 1e-12)
    assert(#layer:parameters() == 2 and layer.weight.requires_grad)
    layer(x)
  end
end
check_norm(utils.weight_norm, utils.remove_weight_norm, "weight_g", "weight_v")
check_norm(parametrizations.weight_norm, parametrize.remove_parametrizations, "parametrizations.weight.original0",
  "parametrizations.weight.original1")
expect.raises("weight_norm: 'weight' has a weight_norm already", function()
  local layer = utils.weight_norm(nn.Linear(2, 2))
  layer._kinds.weight = "parameter"
  utils.weight_norm(layer)
end)
expect.raises("weight_norm: Linear has no parameter 'w'", function() utils.weight_norm(nn.Linear(2, 2), "w") end)
expect.raises("weight_norm: dim 3 is out of range for a weight of 2 dims", function()
  utils.weight_norm(nn.Linear(2, 2), "weight", 3)
end)

-- spectral_norm: the largest singular value is 1.
for _, make in ipairs {utils.spectral_norm, parametrizations.spectral_norm} do
  for _, layer in ipairs {nn.Linear(4, 3), nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2)} do
    make(layer, {n_power_iterations = 40})
    local x = layer.__name:find "Linear" and lg.randn(2, 4) or lg.randn(1, 2, 5, 5)
    layer(x):sum():backward()
    local w = layer.weight:detach()
    if layer.__name:find "Transpose" then w = w:transpose(1, 2) end
    w = w:reshape(3, -1)
    local gram, v = w:matmul(w:t()), lg.ones(3)
    for _ = 1, 300 do
      v = gram:mv(v)
      v = v / v:norm()
    end
    expect.close((v * gram:mv(v)):sum():item(), 1, 1e-3)
    layer:eval()
    expect.equal(layer.weight:tolist(), layer.weight:tolist())
  end
end
expect.equal(keys(utils.spectral_norm(nn.Linear(2, 2)):state_dict()), {"bias", "weight_orig", "weight_u", "weight_v"})
expect.equal(keys(utils.remove_spectral_norm(utils.spectral_norm(nn.Linear(2, 2))):state_dict()), {"bias", "weight"})
expect.raises("remove_spectral_norm: 'weight' has no spectral_norm", function() utils.remove_spectral_norm(nn.Linear(2, 2)) end)

-- orthogonal: rows or columns stay orthonormal while the weight is trained.
for _, shape in ipairs {{3, 3}, {5, 2}, {2, 5}} do
  local layer = parametrizations.orthogonal(nn.Linear(shape[2], shape[1], {dtype = "f64"}))
  local optimizer = lg.optim.SGD(layer:parameters(), {lr = 0.01})
  local first = layer.weight:detach()
  for _ = 1, 5 do
    optimizer:zero_grad()
    layer(lg.randn(6, shape[2], {dtype = "f64"})):pow(3):sum():backward()
    optimizer:step()
    local w = layer.weight:detach()
    local gram = shape[1] < shape[2] and w:matmul(w:t()) or w:t():matmul(w)
    expect.close(gram, lg.eye(math.min(shape[1], shape[2])), 1e-10)
  end
  assert(not lg.equal(first, layer.weight:detach()))
  local target = layer.weight:detach()
  layer.weight = target
  expect.close(layer.weight, target, 1e-10)
end
do
  local layer = parametrizations.orthogonal(nn.Linear(2, 3, {bias = false, dtype = "f64"}))
  local map = layer.parametrizations.weight[1]
  assert(lg.grad.check(function(a) return map(a) end, {lg.randn(3, 2, {dtype = "f64", requires_grad = true})}))
end
expect.raises("orthogonal: orthogonal_map is 'matrix_exp'", function()
  parametrizations.orthogonal(nn.Linear(2, 2), {orthogonal_map = "cayley"})
end)

-- Pruning: the least elements are zero, masks add up, remove makes it final.
do
  local layer = nn.Linear(4, 1, {bias = false})
  lg.no_grad(function() layer.weight:copy_(lg.tensor {{4.0, -1, 3, -2}}) end)
  local weight = layer.weight
  utils.prune.l1_unstructured(layer, "weight", 1)
  expect.equal(layer.weight:tolist(), {{4.0, -0.0, 3.0, -2.0}})
  utils.prune.l1_unstructured(layer, "weight", 1 / 3)
  expect.equal(keys(layer:state_dict()), {"weight_mask", "weight_orig"})
  expect.equal(layer(lg.ones(1, 4)):tolist(), {{7.0}})
  assert(utils.prune.is_pruned(layer) and layer:get_parameter("weight_orig") == weight)
  layer(lg.ones(1, 4)):sum():backward()
  expect.equal(weight.grad:tolist(), {{1.0, 0.0, 1.0, 0.0}})
  utils.prune.remove(layer, "weight")
  assert(layer.weight == weight and not utils.prune.is_pruned(layer))
  expect.equal(weight:detach():abs():tolist(), {{4.0, 0.0, 3.0, 0.0}})
  utils.prune.random_unstructured(layer, "weight", 0.5)
  assert(layer.weight_mask:sum():item() == 2)
  expect.raises("amount is an integer from 0 to 2 or a share", function() utils.prune.l1_unstructured(layer, "weight", 5) end)
  expect.raises("remove: 'bias' of Linear is not pruned", function() utils.prune.remove(nn.Linear(1, 1), "bias") end)
end

-- fuse_conv_bn_eval computes the same in one layer; the original stays as it was.
for _, bias in ipairs {true, false} do
  local conv, bn = nn.Conv2d(2, 3, 3, {bias = bias}), nn.BatchNorm2d(3)
  bn(lg.randn(4, 3, 5, 5) * 2 + 1)
  lg.no_grad(function() nn.init.uniform_(bn.weight, 0.5, 2) end)
  expect.raises("must be in evaluation; call eval() first", function() utils.fuse_conv_bn_eval(conv, bn) end)
  conv:eval()
  bn:eval()
  local x, weight = lg.randn(2, 2, 6, 6), conv.weight:detach():clone()
  local fused = utils.fuse_conv_bn_eval(conv, bn)
  expect.close(fused(x), bn(conv(x)), 1e-5)
  expect.equal(conv.weight:detach(), weight)
  assert(#fused:parameters() == 2)
end

-- A deep copy shares nothing with the original, and keeps the sharing among its own modules.
do
  local model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
  model[2].weight = model[1].weight
  local copy = utils.deepcopy(model)
  assert(copy[1].weight == copy[2].weight and copy[1].weight ~= model[1].weight and copy[1] ~= model[1])
  lg.no_grad(function() copy[1].weight:zero_() end)
  assert(model[1].weight:abs():sum():item() > 0 and copy[1].weight.requires_grad and #copy:parameters() == 3)
end
assert(utils.skip_init(nn.Linear, 3, 4, {bias = false}).weight:size(1) == 4)

-- clip_grad_norm_: norm types, and the check before anything changes.
do
  local p = lg.zeros(2, {requires_grad = true})
  local function set(a, b) p.grad = lg.tensor {a, b} end
  set(3.0, -4.0)
  expect.close(utils.clip_grad_norm_({p}, 10), 5, 1e-5)
  expect.close(utils.clip_grad_norm_({p}, 1.5, {norm_type = math.huge}), 4, 1e-5)
  expect.close(p.grad, {1.125, -1.5}, 1e-5)
  set(3.0, -4.0)
  expect.close(utils.clip_grad_norm_(p, 3.5, 1), 7, 1e-5)
  expect.close(p.grad, {1.5, -2}, 1e-5)
  expect.close(utils.get_total_norm({p.grad}), 2.5, 1e-5)
  utils.clip_grads_with_norm_({p}, 1, utils.get_total_norm({p.grad}))
  expect.close(p.grad, {0.6, -0.8}, 1e-5)
  set(0 / 0, 1.0)
  expect.raises("clip_grad_norm_: the norm of the gradients is", function()
    utils.clip_grad_norm_({p}, 1, {error_if_nonfinite = true})
  end)
  assert(p.grad[2]:item() == 1)
  expect.raises("clip_grad_norm_: max_norm must be a number (got table)", function() utils.clip_grad_norm_({p}, {1}) end)
end
