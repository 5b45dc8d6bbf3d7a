-- The core of modules: moving, naming, hooks and state.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn, optim = lg.nn, lg.optim

-- A module that moves or changes its type keeps its parameters, and the optimizer trains them.
do
  lg.manual_seed(3)
  local model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
  local x, target = lg.randn(8, 3), lg.randn(8, 1)
  local optimizer = optim.Adam(model:parameters(), {lr = 0.05})
  local weight, state = model[1].weight, optimizer.state
  local function step()
    optimizer:zero_grad()
    local loss = nn.functional.mse_loss(model(x), target)
    loss:backward()
    optimizer:step()
    return loss:item()
  end
  local first = step()
  local grad = weight.grad:double()
  model:to("f64")
  x, target = x:double(), target:double()
  assert(model[1].weight == weight and weight:dtype() == "f64" and weight.is_leaf and weight.requires_grad)
  expect.equal(weight.grad, grad)
  assert(model[2].running_mean:dtype() == "f64" and model[2].num_batches_tracked:dtype() == "i64")
  local last
  for _ = 1, 60 do last = step() end
  assert(last < 0.7 * first, ("the loss fell from %g to %g"):format(first, last))
  assert(state[weight].exp_avg:dtype() == "f64" and state[weight].step == 61)
  assert(optimizer:state_dict().state[0].exp_avg:dtype() == "f64")
  model:half()
  assert(weight:dtype() == "f16")
  model:float():train()
  x, target = x:float(), target:float()
  last = step()
  assert(last == last and state[weight].exp_avg:dtype() == "f32")
end

-- Every optimizer follows: training in f32, then f64, ends where the f64 state continued.
for name, class in pairs(optim) do
  local meta = getmetatable(class)
  if meta and meta.__index == optim.Optimizer then
    local a = nn.Linear(3, 2, {bias = false})
    local optimizer = optim[name](a:parameters(), {lr = 0.01})
    local function step(model, o, x)
      o:step(function()
        o:zero_grad()
        local loss = (model(x) ^ 2):sum()
        loss:backward()
        return loss
      end)
    end
    step(a, optimizer, lg.ones(2, 3))
    step(a, optimizer, lg.ones(2, 3))
    local b = nn.Linear(3, 2, {bias = false, dtype = "f64"})
    b:load_state_dict(a:state_dict())
    local other = optim[name](b:parameters(), {lr = 0.01})
    other:load_state_dict(optimizer:state_dict())
    a:double()
    local x = lg.ones(2, 3, {dtype = "f64"})
    for _ = 1, 3 do step(a, optimizer, x) step(b, other, x) end
    expect.equal(a.weight:detach(), b.weight:detach(), name)
  end
end

-- Views, aliases and graphs from before the change: a view keeps the old memory, and a graph that was recorded before
-- is refused.
do
  local layer = nn.Linear(2, 2)
  local view = layer.weight:detach():view(4)
  local y = layer(lg.ones(1, 2)):sum()
  layer:double()
  assert(view:dtype() == "f32")
  expect.raises("after the forward pass that used it", function() y:backward() end)
  layer(lg.ones(1, 2, {dtype = "f64"})):sum():backward()
  assert(layer.weight.grad:dtype() == "f64")
  -- A view of a buffer no longer follows it, on the tape either.
  local owner = nn.Module._new(nn.class "Owner")
  owner:register_buffer("table", lg.zeros(2))
  local part = owner.table:narrow(1, 1, 1)
  owner:double()
  local scale = lg.ones(1, {requires_grad = true})
  part:add_(scale)
  assert(part.requires_grad and not owner.table.requires_grad)
  expect.equal(owner.table:tolist(), {0.0, 0.0})
end

-- Tied weights stay tied; they count once in parameters() and twice in the state dict.
do
  local model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
  model[2].weight = model[1].weight
  assert(#model:parameters() == 3)
  local names = {}
  for name in pairs(model:state_dict()) do names[#names + 1] = name end
  table.sort(names)
  expect.equal(names, {"0.bias", "0.weight", "1.bias", "1.weight"})
  local all = {}
  for name in model:named_parameters {remove_duplicate = false} do all[#all + 1] = name end
  expect.equal(all, {"0.weight", "0.bias", "1.weight", "1.bias"})
  model:double()
  assert(model[1].weight == model[2].weight and model[1].weight:dtype() == "f64")
end

-- The forms of to, and its errors.
do
  local layer, sample = nn.Linear(2, 2), lg.zeros(1, {dtype = "f64"})
  assert(layer:to {dtype = "bf16", device = "cpu"}.weight:dtype() == "bf16")
  assert(layer:to(sample).weight:dtype() == "f64" and layer:to("cpu", "f32").weight:dtype() == "f32")
  assert(layer:cpu() == layer and layer:type("f64").bias:dtype() == "f64" and layer:bfloat16().bias:dtype() == "bf16")
  expect.raises("to: a module takes a floating or complex dtype (got 'i64')", function() layer:to("i64") end)
  expect.raises("to: unknown option 'typ' (known: device, dtype)", function() layer:to {typ = "f64"} end)
  expect.raises("'gpu'", function() layer:to("gpu") end)
  expect.raises("write model:to('vulkan')", function() layer:cuda() end)
  assert(layer.weight:dtype() == "bf16")
  assert(layer:to_empty {device = "cpu"}.weight:size(1) == 2)
end

-- A parameter that was replaced without telling the optimizer: the step reports it, unless the new one is trained too.
do
  local model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
  local optimizer = optim.SGD(model:parameters(), {lr = 0.1})
  local function step()
    optimizer:zero_grad()
    model(lg.ones(1, 2)):sum():backward()
    optimizer:step()
  end
  step()
  model[2] = nn.Linear(2, 3)
  expect.raises("SGD: parameter 3, '1.weight', was replaced in the model by another tensor", step)
  optimizer:add_param_group {params = model[2]:parameters()}
  step()
end

-- Names: modules, parameters and buffers by path, and the nearest name in errors.
do
  local Net = nn.class "Net"
  function Net:init()
    self.encoder = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    self:register_buffer("scale", lg.ones(1))
    self:register_buffer("cache", lg.zeros(2), {persistent = false})
    self:add_module("head", nn.Linear(3, 1))
    self:register_parameter("none", nil)
  end
  function Net:forward(x) return self.head(self.encoder(x)) end
  local net = Net()
  local names = {}
  for name, module in net:named_modules() do names[#names + 1] = name .. ":" .. module.__name end
  expect.equal(names, {":Net", "encoder:Sequential", "encoder.0:Linear", "encoder.1:BatchNorm1d", "head:Linear"})
  assert(net:get_submodule("encoder.0") == net.encoder[1] and net:get_submodule("") == net)
  assert(net:get_parameter("encoder.0.weight") == net.encoder[1].weight and net:get_buffer("scale") == net.scale)
  expect.raises("get_submodule: Net has no module 'encodr'; did you mean 'encoder'?", function() net:get_submodule "encodr.0" end)
  expect.raises("get_parameter: Linear has no parameter 'wieght'; did you mean 'weight'?", function()
    net:get_parameter "head.wieght"
  end)
  expect.raises("get_buffer: Net has no buffer 'none'", function() net:get_buffer "none" end)
  expect.raises("add_module: 'forward' is the name of a field or method of Net", function()
    net:add_module("forward", nn.ReLU())
  end)
  expect.raises("register_buffer: 'a.b' is no name of a field", function() net:register_buffer("a.b", lg.ones(1)) end)
  expect.raises("add_module: 'x' is a number, not a module", function() net:register_module("x", 3) end)
  expect.raises("register_parameter: 'w' is a table, not a tensor", function() net:register_parameter("w", {}) end)
  assert(#net:parameters(false) == 0 and #net:buffers(false) == 2 and #net:parameters() == 6)
  -- A buffer that is not persistent moves with the module and is not stored.
  assert(net:state_dict().cache == nil and net:state_dict {prefix = "net."}["net.scale"])
  assert(net:double().cache:dtype() == "f64")
  assert(net:state_dict {keep_vars = true}["head.weight"] == net.head.weight)
  net:set_submodule("encoder.1", nn.Identity())
  assert(net.encoder[2].__name == "Identity")
  net:train(false)
  assert(not net.encoder[2].training and net:train().encoder[2].training)
  expect.raises("train: true or false expected (got number)", function() net:train(1) end)
end

-- Forward hooks: before and after, in order, removable.
do
  local layer, calls = nn.Linear(2, 2), {}
  local first = layer:register_forward_pre_hook(function(_, inputs)
    calls[#calls + 1] = "a"
    return inputs[1] * 2
  end)
  layer:register_forward_pre_hook(function() calls[#calls + 1] = "b" end, {prepend = true})
  local after = layer:register_forward_hook(function(_, inputs, out)
    calls[#calls + 1] = "c"
    assert(inputs[1]:item() ~= nil or true)
    return out + 1
  end)
  layer.weight:requires_grad_(false):fill_(1)
  layer.bias:requires_grad_(false):zero_()
  after:remove()
  expect.equal(layer(lg.ones(1, 2)):tolist(), {{4.0, 4.0}})
  expect.equal(calls, {"b", "a"})
  first:remove()
  expect.equal(layer(lg.ones(1, 2)):tolist(), {{2.0, 2.0}})
  expect.raises("register_forward_hook: a function expected (got nil)", function() layer:register_forward_hook() end)
  expect.raises("with_kwargs is not taken", function()
    layer:register_forward_pre_hook(function() end, {with_kwargs = true})
  end)
end

-- Backward hooks see and change the gradients of inputs and outputs, and leave the others alone.
do
  local layer = nn.Bilinear(2, 2, 1, {bias = false})
  lg.no_grad(function() layer.weight:fill_(1) end)
  local x, y = lg.ones(1, 2, {requires_grad = true}), lg.ones(1, 2)
  local seen
  local handle = layer:register_full_backward_hook(function(module, grad_inputs, grad_outputs)
    seen = {module, grad_inputs[1]:tolist(), grad_inputs[2], grad_outputs[1]:tolist()}
    return {grad_inputs[1] * 10}
  end)
  local pre = layer:register_full_backward_pre_hook(function(_, grads) return grads[1] * 3 end)
  layer(x, y):sum():backward()
  assert(seen[1] == layer and seen[3] == nil)
  expect.equal(seen[4], {{3.0}})
  expect.equal(seen[2], {{6.0, 6.0}})
  expect.equal(x.grad:tolist(), {{60.0, 60.0}})
  expect.equal(layer.weight.grad:tolist(), {{{3.0, 3.0}, {3.0, 3.0}}})
  handle:remove()
  pre:remove()
  x.grad = nil
  layer(x, y):sum():backward()
  expect.equal(x.grad:tolist(), {{2.0, 2.0}})
  -- Without an input that requires a gradient the hook is called with the gradient of the output.
  local count = 0
  handle = layer:register_full_backward_hook(function(_, inputs, outputs)
    count = count + 1
    assert(inputs[1] == nil and outputs[1]:item() == 1)
  end)
  layer(y, y):sum():backward()
  assert(count == 1)
  handle:remove()
  layer:register_full_backward_hook(function() return 3 end)
  expect.raises("a hook returns nil, a gradient or a list of gradients", function() layer(x, y):sum():backward() end)
end

-- Hooks of the state dict, extra state, and loading into moved and assigned modules.
do
  local Net = nn.class "Net"
  function Net:init()
    self.fc = nn.Linear(2, 1)
    self.count = 7
  end
  function Net:get_extra_state() return {count = self.count} end
  function Net:set_extra_state(state) self.count = state.count end
  local net, order = Net(), {}
  net.fc:register_state_dict_pre_hook(function(_, prefix) order[#order + 1] = "pre " .. prefix end)
  net.fc:register_state_dict_post_hook(function(_, state, prefix)
    order[#order + 1] = "post " .. prefix
    state[prefix .. "old"], state[prefix .. "weight"] = state[prefix .. "weight"], nil
  end)
  local state = net:state_dict()
  expect.equal(order, {"pre fc.", "post fc."})
  assert(state["fc.old"] and state["fc.weight"] == nil and state._extra_state.count == 7)
  local other = Net()
  other.count = 1
  expect.raises("fc.weight is missing (shape [1, 2])", function() other:load_state_dict(state) end)
  other.fc:register_load_state_dict_pre_hook(function(_, given, prefix)
    given[prefix .. "weight"], given[prefix .. "old"] = given[prefix .. "old"], nil
  end)
  local told
  other:register_load_state_dict_post_hook(function(_, keys) told = keys end)
  other:double()
  other:load_state_dict(state)
  assert(other.count == 7 and #told.missing_keys == 0 and state["fc.weight"] == nil)
  expect.close(other.fc.weight:detach(), state["fc.old"])
  assert(other.fc.weight:dtype() == "f64")
  -- assign takes the tensors of the state, and the optimizer keeps the same parameters.
  local weight = other.fc.weight
  other:load_state_dict(state, {assign = true})
  assert(other.fc.weight == weight and weight:dtype() == "f32" and weight.requires_grad)
  lg.no_grad(function() weight:fill_(5) end)
  expect.equal(state["fc.old"]:tolist(), {{5.0, 5.0}})
  expect.raises("load_state_dict: unknown option 'srict'", function() other:load_state_dict(state, {srict = false}) end)
  expect.raises("write load_state_dict(other:state_dict())", function() other:load_state_dict(net) end)
  expect.raises("fc.bias is missing (shape [1]); the state has fc.bais", function()
    nn.Sequential(nn.Identity()):load_state_dict({}, false)
    local plain = Net()
    plain:load_state_dict {["fc.weight"] = lg.ones(1, 2), ["fc.bais"] = lg.ones(1), _extra_state = {count = 1}}
  end)
end

-- zero_grad in PyTorch's positional form.
do
  local layer = nn.Linear(2, 1)
  local optimizer = optim.SGD(layer:parameters(), {lr = 0.1})
  for _, object in ipairs {layer, optimizer} do
    layer(lg.ones(1, 2)):sum():backward()
    object:zero_grad(false)
    expect.equal(layer.bias.grad:tolist(), {0.0})
    object:zero_grad(true)
    assert(layer.bias.grad == nil)
    expect.raises("zero_grad: unknown option 'set_to_nil'", function() object:zero_grad {set_to_nil = true} end)
    expect.raises("zero_grad: true, false or {set_to_none = …} expected (got number)", function() object:zero_grad(1) end)
  end
  expect.raises("zero_grad is called with a colon: optimizer:zero_grad()", function() optimizer.zero_grad() end)
  expect.raises("step is called with a colon: optimizer:step()", function() optimizer.step() end)
end
