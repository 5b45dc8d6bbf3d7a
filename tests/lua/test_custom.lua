local lg = require "lunagrad"
local expect = require "expect"

local raises = expect.call_raises

local function leaf(values) return lg.tensor(values, {requires_grad = true, dtype = "f64"}) end
local function line() return debug.getinfo(2, "l").currentline end

local scaled_exp = lg.custom_op {
  name = "scaled_exp",
  forward = function(ctx, x, factor, label)
    assert(label == "label" and not lg.is_grad_enabled())
    local y = (x * factor):exp()
    ctx:save(x, y)
    ctx.factor = factor
    return y
  end,
  backward = function(ctx, gradient)
    local x, y = ctx:saved()
    assert(x:size(1) == 2)
    return gradient * y * ctx.factor, nil, nil
  end,
}

-- It is a node of the tape with its name and the line of the call.
local x = leaf {0.5, 1}
local y, here = scaled_exp(x, 2, "label"), line()
expect.close(y, {math.exp(1), math.exp(2)}, 1e-12)
assert(y.grad_fn == "scaled_exp" and y.requires_grad)
local node = lg.tape(y)[1]
assert(node.op == "scaled_exp" and node.line == here and node.file:find "test_custom.lua$" and #node.inputs == 1)
assert(node.inputs[1].name == "input[1]")
y:sum():backward()
expect.close(x.grad, {2 * math.exp(1), 2 * math.exp(2)}, 1e-12)
raises("retain_graph", function() y:sum():backward() end)
assert(not lg.no_grad(function() return scaled_exp(x, 2, "label") end).requires_grad)
assert(not scaled_exp(x:detach(), 2, "label").requires_grad)

-- It can be differentiated twice, since backward is composed of ops.
local function f(t) return scaled_exp(t, 1.5, "label") end
assert(lg.grad.check(f, {leaf {0.5, -1}}))
assert(lg.grad.checkgrad2(f, {leaf {0.5, -1}}))

-- Several inputs and outputs; missing output gradients are zeros; needs_input_grad.
local needs
local pair = lg.custom_op {
  name = "pair",
  forward = function(ctx, a, b)
    ctx:save(a, nil, b)
    return a + b, a * b, "extra"
  end,
  backward = function(ctx, sum, product)
    needs = ctx.needs_input_grad
    local a, none, b = ctx:saved()
    assert(none == nil and sum:sum():item() == 0)
    return sum + product * b, sum + product * a
  end,
}
local a, b = leaf {1, 2}, leaf {3, 4}
local _, product, extra = pair(a, b)
assert(extra == "extra")
product:sum():backward()
expect.close(a.grad, {3, 4}, 1e-12)
expect.close(b.grad, {1, 2}, 1e-12)
expect.equal(needs, {true, true})
a.grad = nil
local _, half = pair(a, b:detach())
half:sum():backward()
expect.equal(needs, {true, false})
expect.close(a.grad, {3, 4}, 1e-12)

-- Returned inputs and views are results of the op.
local identity = lg.custom_op {
  name = "reversed",
  forward = function(_, t) return t end,
  backward = function(_, gradient) return -gradient end,
}
local r = leaf {1, 2}
local same = identity(r)
assert(same.grad_fn == "reversed" and r.is_leaf)
same:sum():backward()
expect.close(r.grad, {-1, -1}, 0)

-- Saved tensors are version-checked: inputs, outputs and others.
for what, change in pairs {
  input = function(ctx, t) ctx:save(t) return t * 1 end,
  output = function(ctx, t) local o = t * 1 ctx:save(o) return o end,
} do
  local op = lg.custom_op {name = "keeps_" .. what, forward = change, backward = function(ctx, g) return g * ctx:saved() end}
  local t = leaf {1, 2}
  local middle = t * 1
  local o = op(middle)
  local target = what == "input" and middle or o:detach()
  target:add_(1)
  local message = raises("needs its saved value 1 of shape [2], which add_ changed in place at",
    function() o:sum():backward() end)
  assert(message:find("backward of keeps_" .. what .. " (made at", 1, true))
end

-- An error in backward names its own line and the line of the call.
local failing = lg.custom_op {
  name = "failing",
  forward = function(_, t) return t * 2 end,
  backward = function() error "not today" end,
}
local made = line() + 1
local z = failing(leaf {1})
local message = raises("backward of failing (made at ", function() z:sum():backward() end)
assert(message:find("test_custom.lua:" .. made .. "): ", 1, true))
assert(message:find("test_custom.lua:" .. (made - 3) .. ": not today", 1, true), message)

-- Errors for a wrong number of gradients, wrong shapes and wrong types.
local function returning(...)
  local results = table.pack(...)
  local op = lg.custom_op {
    name = "wrong",
    forward = function(_, t, u) return t * u end,
    backward = function() return table.unpack(results, 1, results.n) end,
  }
  local t, u = leaf {1, 2}, leaf {3, 4}
  return function() op(t, u):sum():backward() end
end
local good = lg.ones(2, {dtype = "f64"})
raises("it returned 1 gradient for 2 arguments", returning(good))
raises("it returned 3 gradients for 2 arguments", returning(good, good, good))
raises("its gradient of input 2 has shape [3] where the input has [2]", returning(good, lg.ones(3)))
raises("its gradient of argument 1 is a number, not a tensor", returning(3, good))
raises("is i64, not floating", returning(lg.tensor {1, 2}, good))
returning(nil, good)()
local odd = lg.custom_op {
  name = "odd",
  forward = function(_, t, n) return t * n end,
  backward = function(_, g) return g, g end,
}
raises("gradient of argument 2, which is no tensor", function() odd(leaf {1}, 2):sum():backward() end)

-- The name may stand before the table, which stays as it is.
local definition = {forward = function(_, t) return t * 2 end, backward = function(_, g) return g * 2 end}
assert(lg.custom_op("twice", definition)(leaf {1}):item() == 2 and definition.name == nil)
raises("custom_op: 'backward' of half is missing", lg.custom_op, "half", {forward = print})
raises("custom_op: the name is given twice", lg.custom_op, "half", {name = "f", forward = print, backward = print})

-- Errors in the definition.
raises("custom_op: 'name' is missing", lg.custom_op, {forward = print, backward = print})
raises("custom_op: 'backward' of f is missing", lg.custom_op, {name = "f", forward = print})
raises("bad option 'forward' to 'custom_op' (function expected, got number)", lg.custom_op,
  {name = "f", forward = 3, backward = print})
raises("unknown option 'vjp'", lg.custom_op, {name = "f", vjp = print})
local late
lg.custom_op {name = "late", forward = function(ctx, t) late = ctx return t * 1 end, backward = print}(leaf {1})
raises("only a forward function saves", function() late:save(leaf {1}) end)
raises("in forward and backward alone", function() return late:saved() end)

-- An error in forward keeps its line.
local inner = lg.custom_op {name = "inner", forward = function(_, t) return t + lg.ones(7) end, backward = print}
raises("add: ", inner, leaf {1, 2})
