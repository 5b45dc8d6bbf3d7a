-- Every error is a string "file.lua:line: …", in the form of Lua's own argument errors.
local lg = require "lunagrad.core"

local here = debug.getinfo(1, "S").source:sub(2)

-- f raises, at its own line, an error whose message contains `part`.
local function raises(part, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error, where one was expected: " .. part)
  assert(type(message) == "string", "the error is a " .. type(message))
  assert(message:find(part, 1, true), ("%q has no %q"):format(message, part))
  return message
end

local x = lg.tensor { { 1., 2., 3. }, { 4., 5., 6. } }
local y = lg.zeros(4)

-- The error names the line with the mistake.
local message = raises("add: shapes [2, 3] and [4] do not broadcast", function()
  return x + y
end)
local line = debug.getinfo(1, "l").currentline - 2
assert(message:sub(1, #here + 10):find(here .. ":" .. line .. ": ", 1, true), message)

-- Arguments.
raises("bad argument #2 to 'add' (Tensor or number expected, got string)", function() return lg.add(x, "1") end)
raises("bad argument #1 to 'add' (Tensor or number expected, got string)", function() return x:add("1") end)
raises("bad argument #2 to 'matmul' (Tensor expected, got number)", function() return lg.matmul(x, 1) end)
raises("bad argument #1 to 'add' (Tensor expected, got number)", function() return lg.add(1, 2) end)
raises("bad argument #2 to 'add' (Tensor expected for 'other', got no value)", function() return lg.add(x) end)
raises("bad argument #3 to 'mul' (at most 2 arguments expected)", function() return lg.mul(x, x, x) end)
raises("bad argument #1 to 'exp' (Tensor expected, got number)", function() return x.exp(1) end)
raises("calling 'sum' on bad self (Tensor expected, got table)", function() return ({ sum = lg.sum }):sum(1) end)
raises("bad argument #2 to 'add' (Tensor expected for 'other', got nil)", function() return x + nil end)
raises("bad argument #1 to 'exp' (Tensor expected, got number)", function() return lg.exp(3) end)
raises("Tensor", function() return x + {} end)
raises("Tensor", function() return x .. "text" end)

-- Options.
raises("unknown option 'keep_dim'; there are input, dim, keepdim", function() return x:sum(1, { keep_dim = true }) end)
raises("bad option 'keepdim' to 'sum' (boolean expected, got number)", function() return x:sum(1, { keepdim = 1 }) end)
raises("'dim' is given twice", function() return x:sum(1, { dim = 2 }) end)
raises("unknown option 'dtpye'; there are size, dtype, device, requires_grad",
  function() return lg.zeros(2, { dtpye = "f64" }) end)
raises("unknown dtype 'float7'; there are bool, u8, i32, i64, f16, bf16, f32, f64",
  function() return lg.zeros(2, { dtype = "float7" }) end)
raises("no_such", function() return lg.zeros(2, { device = "no_such" }) end)
raises("unknown option", function() return lg.tensor({ 1 }, { grad = true }) end)

-- Positions.
raises("positions count from 1", function() return x:sum(0) end)
raises("positions count from 1", function() return x[0] end)
raises("positions count from 1", function() return x:transpose(0, 1) end)
raises("softmax: dim 3 is out of range for shape [2, 3]", function() return x:softmax(3) end)
raises("position 3 is out of range for dim 1 of shape [2, 3]", function() return x[3] end)
raises("{2, 5} is out of range for dim 2 of shape [2, 3]", function() return x[{ 1, { 2, 5 } }] end)
raises("index", function() return x[{ 1, 1, 1 }] end)
raises("number has no integer representation", function() return x[1.5] end)
raises("out of range", function() return x[lg.tensor { 2 }] end)
raises("integers (from 0) or booleans", function() return x[lg.tensor { 0.5 }] end)
raises("a Tensor expected, got boolean", function() return x[true] end)
raises("scalar", function() return #lg.tensor(1) end)

-- Names.
raises("Tensor has no field or method 'cuda'; PyTorch's torch.Tensor.cuda is x:to", function() return x.cuda end)
raises("PyTorch's torch.Tensor.to_sparse is not offered: there are no sparse tensors", function() return x:to_sparse() end)
raises("Tensor has no field or method 'sofmax'", function() return x:sofmax(1) end)
raises("'is_leaf' cannot be set", function() x.is_leaf = true end)
raises("'weight' cannot be set", function() x.weight = 1 end)
raises("x:gt(y) and x:ge(y) compare elements", function() return x > 2 end)
raises("x:gt(y) and x:ge(y) compare elements", function() return 2 <= x end)
raises("write x:item() or tostring(x)", function() return "loss " .. x end)

local leaf = lg.ones(2, {requires_grad = true})
raises(": x[…] = v: a view of a leaf tensor that requires grad", function() leaf[1] = 5 end)

-- Values.
raises("one element", function() return x:item() end)
raises("ragged", function() return lg.tensor { { 1, 2 }, { 3 } } end)
raises("ragged", function() return lg.tensor { 1, { 2 } } end)
raises("ragged", function() return lg.tensor { { 1 }, 2 } end)
raises("do not mix", function() return lg.tensor { 1, true } end)
raises("numbers or booleans expected, got string", function() return lg.tensor { "1" } end)
raises("numbers or booleans expected, got nil", function() return lg.tensor(nil) end)
local loop = {}
loop[1] = loop
raises("deeper than 8 dims", function() return lg.tensor(loop) end)
raises("negative", function() return lg.zeros(-1) end)
raises("neither a dtype nor a device", function() return x:to("flaot") end)
raises("more elements than can be counted", function() return lg.zeros(1 << 40, 1 << 40) end)
raises("at most 8", function() return lg.zeros(1, 1, 1, 1, 1, 1, 1, 1, 1) end)

-- Gradients.
local p = lg.zeros(2, 3, { requires_grad = true })
raises("scalar", function() (p * 2):backward() end)
raises("does not require grad", function() lg.zeros(1):register_hook(print) end)
raises("floating", function() lg.tensor({ 1 }):requires_grad_() end)
raises("in place", function() p:add_(1) end)
raises("in place", function() p[1] = 0 end)
raises("function expected", function() p:register_hook(1) end)
raises("shape", function() p.grad = lg.zeros(3) end)
local loss = (p * p):sum()
loss:backward()
raises("retain_graph", function() loss:backward() end)
local q = p * 2
local r = (q * q):sum()
q:add_(1)
raises("mul", function() r:backward() end)

-- An error in a hook names its own line and the line of backward, and leaves the engine usable.
p.grad = nil
p:register_hook(function()
  error("no such luck")
end)
local hook_line = debug.getinfo(1, "l").currentline - 2
message = raises("no such luck", function() p:sum():backward() end)
assert(message:find(":" .. hook_line .. ": ", 1, true), message)
assert(message:find(":" .. hook_line + 3 .. ": ", 1, true), message)
assert(p.grad == nil and lg.is_grad_enabled())
local other = lg.zeros(1, { requires_grad = true })
other:sum():backward()
assert(other.grad:item() == 1)
p = lg.zeros(1, { requires_grad = true })
p:register_hook(function() return 5 end)
raises("Tensor expected, got number", function() p:sum():backward() end)

-- A coroutine cannot yield across the engine.
p = lg.zeros(1, { requires_grad = true })
p:register_hook(function() coroutine.yield() end)
raises("yield", function() coroutine.wrap(function() p:sum():backward() end)() end)

-- Errors that are not strings are reported as one error.
p = lg.zeros(1, { requires_grad = true })
p:register_hook(function() error { code = 1 } end)
raises("hook", function() p:sum():backward() end)

-- Using a finalized tensor in another object's finalizer is an error, not a crash.
local report
do
  local holder = setmetatable({}, { __gc = function(self) report = pcall(self.x.sum, self.x) end })
  holder.x = lg.zeros(1)
end
collectgarbage()
collectgarbage()
assert(report ~= nil)

-- The metatable of tensors is hidden; a missing module of the library is an error.
assert(getmetatable(x) == "Tensor")
raises("no module", require, "lunagrad.no_such_module")

-- Everything works after ten thousand errors.
for i = 1, 10000 do pcall(lg.add, x, y) end
assert((x + 1):sum():item() == 27)
