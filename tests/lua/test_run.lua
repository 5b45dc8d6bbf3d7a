-- lg.run as a script sees it. Run by a session with --set width=32 and a run folder.
local lg = require "lunagrad"
local expect = require "expect"
local run = lg.run

-- Parameters: the current value, with the type of the default; the same name gives the same parameter.
assert(run.param("lr", 0.5, {min = 0, max = 1}) == 0.5)
assert(math.type(run.param("width", 8)) == "integer" and run.param("width", 8) == 32)
assert(run.param("name", "adam") == "adam" and run.param("fast", true) == true)
expect.raises("the default 2 of 'steep' is outside [0, 1]", function() run.param("steep", 2.0, {min = 0, max = 1}) end)
expect.raises("'lr' was declared as a number", function() run.param("lr", "high") end)
expect.raises("bad argument #2 to 'param' (number, boolean or string expected, got no value)",
  function() run.param("empty") end)

-- A live handle is called for its value; optimizers take it.
local momentum = run.live("momentum", 0.9)
assert(momentum() == 0.9 and tostring(momentum) == "0.9")
expect.raises("", function() getmetatable(momentum).__call() end)

-- State: built once, returned as it is.
local model = run.state("model", function() return {weight = lg.zeros(2)} end)
assert(lg.is_tensor(model.weight))
expect.raises("run.state: 'model' is registered already", function() run.state("model", function() return 1 end) end)
expect.raises("run.state: the function for 'none' returned nothing", function() run.state("none", function() end) end)

-- A state that no checkpoint could hold is an error immediately.
do
  local function refused(part, made)
    expect.raises("run.state: " .. part, function() run.state("wrong", function() return made end) end)
  end
  local around = {inner = {}}
  around.inner.again = around
  refused("wrong.inner.again is wrong itself", around)
  refused("wrong is the class Linear; an object of it is made by calling it", lg.nn.Linear)
  refused("wrong.lr is no value that a checkpoint can hold; values of lg.run.param and lg.run.live are in it already", {lr = momentum})
  refused("wrong has a Tensor as a key; strings, numbers and booleans can be stored", {[lg.zeros(1)] = 1})
  refused("wrong has no state_dict", setmetatable({}, {}))
  refused("wrong has no load_state_dict", setmetatable({}, {__index = {state_dict = function() return {} end}}))
  refused("the state_dict of wrong returned nothing",
    setmetatable({}, {__index = {state_dict = function() end, load_state_dict = function() end}}))
  refused("wrong.f is a function, which no checkpoint can hold", {f = print})
  expect.raises("run.state: 'wrong' needs the function that builds it", function() run.state("wrong", lg.nn.Linear(1, 1)) end)
end

-- Images and histograms.
run.image("sample", lg.zeros(2, 2))
run.image("batch", lg.rand(3, 1, 4, 5):gt(0.5), {normalize = true})
run.histogram("weights", model.weight)
run.histogram("complex", lg.complex(lg.ones(2), lg.ones(2)))
expect.raises("bad argument #2 to 'image' (Tensor expected, got no value)", function() run.image("x") end)
expect.raises("run.image: [channels, height, width] with 1 to 4 channels", function() run.image("x", lg.zeros(5, 2, 2)) end)
expect.raises("run.image: dtype i64 is none of u8, bool", function() run.image("x", lg.zeros(2, 2):long()) end)
expect.raises("unknown option 'size'", function() run.image("x", lg.zeros(2, 2), {size = 1}) end)
expect.raises("a name expected, got an empty string", function() run.image("", lg.zeros(2, 2)) end)
expect.raises("bad argument #2 to 'histogram' (Tensor expected, got number)", function() run.histogram("x", 1) end)
expect.raises("bad argument #2 to 'text' (string expected, got nil)", function() run.text("x", nil) end)

-- Watching.
local net = lg.nn.Sequential(lg.nn.Linear(3, 4), lg.nn.ReLU(), lg.nn.Linear(4, 1))
expect.raises("run.watch: a module expected (got table)", function() run.watch(model) end)
expect.raises("run.watch: a module expected (got Tensor)", function() run.watch(model.weight) end)
expect.raises("run.watch: unknown option 'each' (known: every,", function() run.watch(net, {each = 1}) end)
expect.raises("run.watch: every must be a whole number from 1 on (got 0)", function() run.watch(net, {every = 0}) end)
expect.raises("run.watch: option 'histograms' must be a boolean (got number)", function() run.watch(net, {histograms = 1}) end)
run.watch(net, {every = 2})
expect.raises("a model is watched already; give this one a name", function() run.watch(net) end)
local sgd = lg.optim.SGD(net:parameters(), {lr = 0.1})

run.breakpoint(true)
run.breakpoint(false)

-- Metrics: numbers and scalar tensors, which are read when logged.
expect.raises("run.log: 'matrix' has shape [2, 2]; a metric is one number", function() run.log {matrix = lg.zeros(2, 2)} end)
expect.raises("run.log: 'word' is a string; a metric is a number or a scalar tensor", function() run.log {word = "x"} end)
expect.raises("run.log: a metric needs a name", function() run.log {1} end)
expect.raises("bad argument #1 to 'log' (table expected, got number)", function() run.log(1) end)

-- Steps from 1 to n, once per run.
local seen = {}
local total = lg.zeros(1)
for step in run.steps(4) do
  seen[#seen + 1] = step
  total:add_(1)
  sgd:zero_grad()
  net(lg.ones(2, 3)):sum():backward()
  sgd:step()
  run.log {total = total, step_squared = step * step, broken = step == 2 and 0 / 0 or step == 3 and -1 / 0 or 0}
end
expect.equal(seen, {1, 2, 3, 4})
expect.raises("run.steps: a run has one loop of steps; the first began at", function() run.steps(2) end)
run.text("note", "all \"well\"\n")

-- The guard of logged values.
run.assert_finite(true)
run.log {loss = 1}
expect.raises("run.log: loss is NaN at step 4", function() run.log {loss = lg.tensor(0 / 0)} end)
run.assert_finite(false)
print("test_run is through")
