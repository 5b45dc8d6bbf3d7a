-- Known traps of compilers that trace a function. Each case is a function and a drive that calls it several times and
-- returns numbers. The compiled function must return the plain function's numbers; a captured graph returns the same
-- numbers or raises an error that names a line, never other numbers.
local lg = require "lunagrad"
local nn, F, test = lg.nn, lg.nn.functional, lg.test.it

-- name -> make(): the function, and drive(f), which returns a list of tensors and Lua values.
local traps = {}
local function trap(name, make) traps[#traps + 1] = {name = name, make = make} end
local function list(...) return {...} end

trap("results of two calls are separate tensors", function()
  return function(x) return x + 1 end, function(f)
    local a, b = f(lg.zeros(3)), f(lg.ones(3))
    return list(a, b)
  end
end)

trap("an argument may be returned", function()
  return function(x) return x, x * 2 end, function(f)
    local x, y = lg.ones(3), lg.full({3}, 5)
    local a, b = f(x)
    local c, d = f(y)
    x:add_(10)
    return list(a, b, c, d)
  end
end)

trap("one tensor may be two arguments, or not", function()
  return function(x, y) return x * 2 + y end, function(f)
    local x, y = lg.arange(4):to("f32"), lg.ones(4)
    return list(f(x, x), f(x, y), f(y, x), f(y, y))
  end
end)

trap("a result may be the next argument", function()
  return function(x) return x * 2 + 1 end, function(f)
    local x = lg.ones(3)
    local kept = {}
    for i = 1, 5 do
      x = f(x)
      kept[i] = x
    end
    return kept
  end
end)

trap("two results may share what they are made from", function()
  return function(x)
    local h = (x + 1):tanh()
    return h, h * 2, h:sum()
  end, function(f)
    local a, b, c = f(lg.arange(6):to("f32"))
    a:zero_()
    local d, e, g = f(lg.ones(6))
    return list(a, b, c, d, e, g)
  end
end)

trap("views of a result stay what they are", function()
  return function(x) return (x * 3):reshape(2, 3):t() end, function(f)
    local view = f(lg.arange(6):to("f32"))[2]
    for i = 1, 4 do f(lg.full({6}, i)) end
    return list(view)
  end
end)

trap("a captured tensor may be replaced", function()
  local weight = lg.ones(3)
  return function(x) return x * weight end, function(f)
    local a = f(lg.ones(3))
    weight = lg.full({3}, 7)
    return list(a, f(lg.ones(3)))
  end
end)

trap("a captured tensor may be changed in place", function()
  local weight = lg.ones(3)
  return function(x) return x * weight end, function(f)
    local kept = {}
    for i = 1, 4 do
      kept[i] = f(lg.ones(3))
      weight:add_(1)
    end
    return kept
  end
end)

trap("arguments may be parts of one memory", function()
  local data = lg.arange(12):to("f32")
  return function(x) return x * x end, function(f)
    return list(f(data:narrow(1, 1, 4)), f(data:narrow(1, 5, 4)), f(data:narrow(1, 9, 4)))
  end
end)

trap("arguments of one shape may have other strides", function()
  local square = lg.arange(9):to("f32"):reshape(3, 3)
  return function(x) return x * 2 + lg.arange(3):to("f32") end, function(f)
    return list(f(square), f(square:t()), f(square[1]:expand(3, 3)))
  end
end)

trap("captured numbers may change", function()
  local scale = 1
  return function(x) return x * scale end, function(f)
    local kept = {}
    for i = 1, 4 do
      scale = i * i
      kept[i] = f(lg.ones(2))
    end
    return kept
  end
end)

trap("numbers may be arguments", function()
  return function(x, power, name) return name == "pow" and x:pow(power) or x * power end, function(f)
    local x = lg.full({3}, 3)
    return list(f(x, 2, "pow"), f(x, 3, "pow"), f(x, 3, "mul"), f(x, 0.5, "pow"))
  end
end)

trap("a branch on a flag is taken anew", function()
  local deep = false
  return function(x) if deep then return x:exp() end return x end, function(f)
    local kept = {}
    for i = 1, 4 do
      deep = i % 2 == 0
      kept[i] = f(lg.ones(2))
    end
    return kept
  end
end)

trap("a branch on a value is taken anew", function()
  return function(x) if x:sum():item() > 0 then return x * 2 end return x * -1 end, function(f)
    return list(f(lg.ones(2)), f(-lg.ones(2)), f(lg.ones(2)))
  end
end)

trap("a loop may be as long as its data say", function()
  return function(x)
    local turns = 0
    while x:norm():item() < 100 do x, turns = x * 2, turns + 1 end
    return x, turns
  end, function(f)
    local kept = {}
    for i = 1, 5 do
      local x, turns = f(lg.full({2}, i * i + 0.5))
      kept[#kept + 1], kept[#kept + 2] = x, turns
    end
    return kept
  end
end)

trap("tensors made of numbers inside are made anew", function()
  local n = 0
  return function(x) return x + lg.tensor({n, n + 1, n + 2}) end, function(f)
    local kept = {}
    for i = 1, 4 do
      n = i
      kept[i] = f(lg.zeros(3))
    end
    return kept
  end
end)

trap("a table of tensors may have another length", function()
  return function(xs)
    local sum = lg.zeros(2)
    for _, x in ipairs(xs) do sum = sum + x end
    return sum
  end, function(f)
    local a, b = lg.ones(2), lg.full({2}, 3)
    return list(f{a}, f{a, b}, f{b, b, a}, f{}, f{b})
  end
end)

trap("fields of a table are found by name", function()
  return function(t) return t.first - t.second end, function(f)
    local a, b = lg.ones(2), lg.full({2}, 3)
    return list(f{first = a, second = b}, f{second = b, first = a}, f{first = b, second = a})
  end
end)

trap("a compiled function may call another", function()
  local scale = 2
  local inner = lg.compile(function(x) return x * scale end)
  return function(x) return inner(x) + inner(x + 1) end, function(f)
    local a = f(lg.ones(2))
    scale = 5
    return list(a, inner(lg.ones(2)), f(lg.ones(2)))
  end
end)

trap("one method may serve two objects", function()
  local class = {}
  class.__index = class
  function class:forward(x) return x * self.weight + self.bias end
  local a = setmetatable({weight = lg.full({2}, 2), bias = 1}, class)
  local b = setmetatable({weight = lg.full({2}, 5), bias = 7}, class)
  return class.forward, function(f)
    local x = lg.ones(2)
    local kept = list(f(a, x), f(b, x), f(a, x))
    a.bias = 100
    kept[4] = f(a, x)
    return kept
  end
end)

trap("side effects happen in each call", function()
  local calls, seen = 0, {}
  return function(x)
    calls = calls + 1
    seen[#seen + 1] = calls
    return x + calls
  end, function(f)
    local kept = {}
    for i = 1, 4 do kept[i] = f(lg.zeros(1)) end
    return list(kept[1], kept[4], calls, #seen)
  end
end)

trap("random numbers are drawn in each call", function()
  lg.manual_seed(11)
  return function(x) return F.dropout(x, 0.5) + lg.rand(4) end, function(f)
    return list(f(lg.ones(4)), f(lg.ones(4)), lg.rand(2), f(lg.ones(4)))
  end
end)

trap("a variable that a call replaces is the next call's", function()
  local hidden = lg.zeros(3)
  return function(x)
    hidden = (hidden + x):tanh()
    return hidden
  end, function(f)
    local kept = {}
    for i = 1, 4 do kept[i] = f(lg.full({3}, i)) end
    kept[5] = hidden
    return kept
  end
end)

trap("an argument may be changed in place", function()
  return function(x)
    local before = x * 2
    x:add_(1)
    return before, x * 2
  end, function(f)
    local x = lg.ones(3)
    local a, b = f(x)
    local c, d = f(x)
    return list(a, b, c, d, x)
  end
end)

trap("gradients add up over calls", function()
  local weight = lg.ones(3, {requires_grad = true})
  return function(x) return (x * weight):sum() end, function(f)
    local kept = {}
    for i = 1, 3 do
      f(lg.full({3}, i)):backward()
      kept[i] = weight.grad:clone()
    end
    return kept
  end
end)

trap("a value may be read in the middle", function()
  return function(x)
    local h = x:exp()
    local top = h:max():item()
    return h / top, top
  end, function(f)
    local a, p = f(lg.arange(3):to("f32"))
    local b, q = f(lg.zeros(3))
    return list(a, p, b, q)
  end
end)

trap("results that are no tensors come from the call", function()
  return function(x) return x:size(1), x:dtype(), x + 1 end, function(f)
    local n, kind, x = f(lg.ones(2))
    local m, other, y = f(lg.ones(5, {dtype = "f64"}))
    return list(n, kind, x, m, other, y)
  end
end)

trap("an error may be caught inside", function()
  return function(x)
    local ok = pcall(function() return x:matmul(x) end)
    return ok and x * 2 or x * 3
  end, function(f)
    return list(f(lg.ones(2, 2)), f(lg.ones(2, 3)), f(lg.ones(3, 3)))
  end
end)

trap("shapes may change at each call", function()
  return function(x) return (x * 2 + 1):mean() end, function(f)
    local kept = {}
    for n = 1, 12 do kept[n] = f(lg.arange(n):to("f32")) end
    return kept
  end
end)

trap("training and evaluation may alternate", function()
  lg.manual_seed(2)
  local net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
  return function(x) return net(x) end, function(f)
    lg.manual_seed(4)
    local x, kept = lg.randn(6, 3), {}
    for i = 1, 6 do
      net:train(i % 3 ~= 0)
      kept[i] = f(x)
    end
    return kept
  end
end)

local function plain(values)
  local numbers = {}
  for i = 1, #values do
    local value = values[i]
    numbers[i] = lg.is_tensor(value) and value:detach():flatten():tolist() or {value}
  end
  return numbers
end

local function equal(a, b, name)
  assert(#a == #b, ("%s: %d values, %d expected"):format(name, #b, #a))
  for i = 1, #a do
    assert(#a[i] == #b[i], ("%s: value %d has %d elements, %d expected"):format(name, i, #b[i], #a[i]))
    for k = 1, #a[i] do
      assert(a[i][k] == b[i][k], ("%s: value %d, element %d: %s, %s expected"):format(name, i, k, b[i][k], a[i][k]))
    end
  end
end

local function drive(case, wrap)
  lg.manual_seed(1)
  local f, calls = case.make()
  return plain(calls(wrap(f)))
end

for _, case in ipairs(traps) do
  test(case.name, function()
    local expected = drive(case, function(f) return f end)
    lg.set_deferred(true)
    equal(expected, drive(case, lg.compile), "deferred")
    local ok, result = pcall(drive, case, function(f) return lg.compile(f, {capture_graph = true}) end)
    if ok then
      equal(expected, result, "captured")
    else
      assert(tostring(result):find("test_compile_traps.lua:%d+"), result)
    end
  end)
end
