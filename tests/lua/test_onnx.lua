local lg = require "lunagrad"
local expect = require "expect"
local nn, export = lg.nn, lg.io.onnx_export
local path = os.tmpname()
os.remove(path)

local x, linear = lg.randn(3, 4), nn.Linear(4, 2)
expect.raises("bad argument #1 to 'io.onnx_export' (string expected, got nil)", function() export(nil, linear, x) end)
expect.raises("bad argument #1 to 'io.onnx_export' (not a path)", function() export("", linear, x) end)
expect.raises("cannot write: No such file or directory", function() export("/nowhere/model.onnx", linear, x) end)

for _, case in ipairs {
  {"bad argument #2 to 'io.onnx_export' (module or function expected, got Tensor)", x, x},
  {"bad argument #3 to 'io.onnx_export' (at least one example input is needed)", linear, {}},
  {"bad argument #4 to 'io.onnx_export' (table of options expected, got number)", linear, x, 3},
  {"unknown option 'opset'; there are input_names, output_names, dynamic_batch", linear, x, {opset = 17}},
  {"bad option 'input_names' to 'io.onnx_export' ('a' is empty or given twice)", linear, x, {input_names = {"a", "a"}}},
  {"2 input names are given and there is 1 input", linear, x, {input_names = {"a", "b"}}},
  {"2 output names are given and there is 1 output", linear, x, {output_names = {"a", "b"}}},
  {"'a' is the name of an input and of an output", linear, x, {input_names = {"a"}, output_names = {"a"}}},
  {"in dim 3 (got shapes [3, 4] and [3, 4])", linear, x, {dynamic_batch = 3}},
  {"linear: input of shape [3, 5]", linear, lg.randn(3, 5)},
  {"the model returned a number", function(t) return t:sum():item() end, x},
  {"the model returned no tensor", function() end, x},
  {"randn: random numbers cannot be exported; the model draws them in evaluation, too (",
    function(t) return t + lg.randn(4) end, x},
  {"nonzero: this operation cannot be exported to ONNX (", function(t) return t:nonzero() end, x},
  {"a constant that it reads depends on the size of the batch (", function(t) return t + lg.ones(t:size()) end, x,
    {dynamic_batch = true}},
} do
  local call = function() export(path, table.unpack(case, 2)) end
  expect.raises(case[1], call)
  assert(not io.open(path), "a file was left behind")
end

-- Errors name the line of the model.
local _, message = pcall(export, path, function(t)
  return t:nonzero()
end, x)
assert(message:find("test_onnx.lua:%d+%)"), message)

-- The model runs in evaluation mode; its mode is restored afterwards, also on an error. Its inputs are unchanged.
local seen
local Net = nn.class("Net")
function Net:init() self.drop, self.frozen = nn.Dropout(0.5), nn.Dropout(0.5):eval() end
function Net:forward(t)
  seen = {self.training, self.drop.training}
  return self.frozen(self.drop(t)):add_(1)
end
local net = Net()
local before = x:clone()
export(path, net, x)
expect.equal(seen, {false, false})
assert(net.training and net.drop.training and not net.frozen.training)
expect.equal(x, before)
function Net:forward() error("on purpose") end
expect.raises("on purpose", function() export(path, net, x) end)
assert(net.training and net.drop.training and not net.frozen.training)

function Net:forward(t) return t + self.count:add_(1) end
net:register_buffer("count", lg.zeros(1))
expect.raises("the model changes 'count' in evaluation, by add (", function() export(path, net, x) end)

-- Gradients and the current tape are unchanged.
local w = lg.ones(4, {requires_grad = true})
local y = (w * 2):sum()
export(path, function(t) return t * w end, x)
y:backward()
expect.equal(w.grad, lg.full({4}, 2.0))
os.remove(path)
