-- Control flow as functions, and functions in Lua of each element.
local core = require "lunagrad.core"

local fail = core._fail
local functions, methods = {}, {}

local function need_function(name, what, f)
  if type(f) ~= "function" then fail(("%s: %s must be a function (got %s)"):format(name, what, type(f))) end
end

local function truth(name, value)
  if type(value) == "boolean" then return value end
  if core.is_tensor(value) and value:numel() == 1 then return value:ne(0):item() end
  fail(("%s: the condition must be a boolean or a tensor of one element (got %s)"):format(name, type(value)))
end

-- cond(pred, true_fn, false_fn, {operands…})
function functions.cond(pred, true_fn, false_fn, operands)
  need_function("cond", "true_fn", true_fn)
  need_function("cond", "false_fn", false_fn)
  return (truth("cond", pred) and true_fn or false_fn)(table.unpack(operands or {}))
end

-- while_loop(cond_fn, body_fn, {values…}): body_fn returns as many values as it takes.
function functions.while_loop(cond_fn, body_fn, carried)
  need_function("while_loop", "cond_fn", cond_fn)
  need_function("while_loop", "body_fn", body_fn)
  if type(carried) ~= "table" then fail("while_loop: the carried values must be a table") end
  local values = table.pack(table.unpack(carried))
  while truth("while_loop", cond_fn(table.unpack(values, 1, values.n))) do
    local made = table.pack(body_fn(table.unpack(values, 1, values.n)))
    if made.n ~= values.n then
      fail(("while_loop: body_fn returned %d values of %d"):format(made.n, values.n))
    end
    values = made
  end
  return table.unpack(values, 1, values.n)
end

function functions.vmap(...) return require "lunagrad.func.vmap" (...) end

-- The elements in one list, in the order of a contiguous tensor.
local function elements(x) return x:detach():reshape(-1):tolist() end
local function write(name, x, value_of)
  local values = elements(x)
  for i, before in ipairs(values) do
    local value = value_of(before, i)
    if type(value) ~= "number" and type(value) ~= "boolean" then
      fail(("%s: the function must return a number (got %s for element %d)"):format(name, type(value), i))
    end
    values[i] = value
  end
  if #values == 0 then return x end
  local dtype = x:dtype():find "^[iu]" and "i64" or x:dtype() == "bool" and "bool" or "f64"
  return x:copy_(core.tensor(values, {dtype = dtype, device = "cpu"}):reshape(x:size()):to(x:dtype()):to(x:device()))
end

-- apply_(f): every element becomes f(element).
function methods.apply_(x, f)
  need_function("apply_", "the argument", f)
  return write("apply_", x, f)
end

-- map_(other, f): every element a becomes f(a, b) with the element b of other, which broadcasts.
function methods.map_(x, other, f)
  need_function("map_", "the second argument", f)
  local others = elements(other:expand(x:size()))
  return write("map_", x, function(a, i) return f(a, others[i]) end)
end

return {functions = functions, methods = methods}
