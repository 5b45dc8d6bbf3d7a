-- The internal functions behind the library check their arguments like public ones: a wrong argument is an error, and
-- the next call is right. tests/fuzz/hostile_calls calls all of them with random arguments.
local lg = require "lunagrad"
local core = require "lunagrad.core"
local expect = require "expect"

local function refuses(part, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error: " .. part)
  assert(tostring(message):find(part, 1, true), ("'%s' does not contain '%s'"):format(tostring(message), part))
end
local function events(object) return debug.getmetatable(object) end

-- Internal functions that take tables.
refuses("table expected", lg.run._tell_surgery)
refuses("table expected", lg.run._tell_surgery, "text", 3)
refuses("table expected", lg.run._go_on, 1)
refuses("table expected", lg.run._resume_at, "missing", 1, 1)
refuses("table expected", core._kernel, "k", "", "inputs", {}, {}, {1, 1, 1})
refuses("table expected", core._kernel, "k", "", nil, {}, {}, {1, 1, 1})
refuses("number of an argument", core._dtype, "f32", "f", 1 << 40)
refuses("number of an argument", core._dtype, "f32", "f", -3)
refuses("function expected", core._live)
refuses("not a mask", core._step_list, {lg.ones(2)}, -1)
refuses("1 columns of states", core._step_list, {lg.ones(2)}, 1)
refuses("values", core._ema_step, {lg.ones(2)}, {}, 0.5)
core._call_module(1 << 30, function() return lg.ones(1) + 1 end, {})  -- a label that was never issued

-- Metamethods, called with other values.
local context
local double = lg.custom_op {name = "double", forward = function(ctx, x)
  context = ctx
  ctx._saved = "text"  -- a field like any other
  ctx:save_for_backward(x)
  return x * 2
end, backward = function(ctx, g) return g * 2 * #ctx._saved / 4 end}
local x = lg.ones(3):requires_grad_()
double(x):sum():backward()
expect.equal(x.grad, lg.tensor({2.0, 2.0, 2.0}))
refuses("expected", events(context).__index, {}, "name")
refuses("expected", events(context).__newindex, 1, "name", 2)
local store = (x * 2):sum():gradients()
local get = store.get
refuses("GradStore expected", events(store).__index, {}, "get")
local shape = x.shape
for _, event in ipairs {"__index", "__tostring", "__eq"} do refuses("table expected", events(shape)[event], 5, 5) end
refuses("table expected", shape.numel, "text")

refuses("attempt to call a string value", events("").__call, {}, x)
for _, event in ipairs {"__index", "__newindex", "__eq", "__len", "__tostring"} do pcall(events(x)[event], "text", {}, 5) end

-- Finalizers, with other values, twice, and while a function works on the object.
local plan = core._data_plan(2, {{rows = lg.zeros({2, 3}, {device = "cpu"})}}, {})
local capture = core._capture_graph(function(y) return y + 1 end)
local compiled = core._compiled()
local list = core._step_list({x}, 0)
for _, object in ipairs {plan, capture, compiled, list, store, lg.autocast("bf16")} do
  local finalize = events(object).__gc
  for _, other in ipairs {"text", 5, {}, x, plan == object and list or plan} do finalize(other) end
  finalize()
  finalize(object)
  finalize(object)
end
refuses("was finalized", core._plan_batch, plan, lg.tensor({0}), 1, 1)
refuses("was finalized", core._run_captured, capture, x)
refuses("was finalized", core._same_grads, list)
refuses("was finalized", get, store, x)
refuses("was finalized", core._explain, compiled)
for _, make in ipairs {core._compiled, function() return core._capture_graph(function() end) end} do
  local object = make()
  local function finalize() events(object).__gc(object) end
  if make == core._compiled then core._defer(object, finalize) end
end
local again
again = core._capture_graph(function(y)
  events(again).__gc(again)
  return y + 1
end)
expect.equal(core._run_captured(again, lg.ones(1)):item(), 2.0)

-- A captured graph that is called by the Lua code that it keeps.
local captured
local depth = 0
local function inner(y)
  core._live(function()
    depth = depth + 1
    if depth % 5 == 1 then for _ = 1, 3 do core._run_captured(captured, y) end end
  end)
  return y * 2
end
captured = core._capture_graph(inner)
for _ = 1, 12 do expect.equal(core._run_captured(captured, lg.ones(2)):tolist(), {2.0, 2.0}) end

-- A module that deletes, during its call, what the library noted about that call.
local Forgetful = lg.nn.class("Forgetful")
function Forgetful:forward(y)
  self._seen = nil
  collectgarbage()
  local many = {}
  for i = 1, 100 do many[i] = {i} end
  return y + 1
end
local forgetful = Forgetful()
expect.equal(forgetful(lg.ones(1)):item(), 2.0)

-- Tables that hold themselves.
local loop = {1}
loop[2] = loop
refuses("within each other", lg.data.default_collate, {loop, loop})
local tape = lg.tape(double(x))
tape[1].attrs = tape
refuses("within each other", tape.json, tape)
tape[1] = {attrs = print}
refuses("a tape holds no function", tape.json, tape)

-- Functions that the engine calls with internal objects, kept by a callback and called later.
local found = {}
(x * 2):sum():backward()
x:register_hook(function(g)
  for level = 1, 20 do
    local frame = debug.getinfo(level, "f")
    if frame then found[#found + 1] = frame.func end
  end
  return g
end);
(x * 2):sum():backward()
assert(#found > 0)
for _, f in ipairs(found) do
  if debug.getinfo(f, "S").what == "C" then pcall(f) end
end

-- Errors of a callback whose conversion to text fails, too.
local y = lg.ones(2):requires_grad_()
y:register_hook(function() error(setmetatable({}, {__tostring = function() error "twice" end})) end)
local co = coroutine.create(function() (y * 2):sum():backward() end)
local ok, message = coroutine.resume(co)
assert(not ok and tostring(message):find("an error of type table", 1, true), tostring(message))
assert(coroutine.status(co) == "dead")

expect.equal((lg.ones(3) * 2):sum():item(), 6.0)
print "ok"
