-- Recurrent layers on the default device against the CPU in f64: results and all gradients, for each kind of cell and layout.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local nn = lg.nn

-- The results and gradients of a layer, from the same numbers in any type and on any device. `used` says which results
-- the loss reads.
local function all_of(kind, case, dtype, device)
  lg.manual_seed(3)
  local layer = nn[kind](case.inputs, case.hidden, {num_layers = case.layers, bias = case.bias ~= false,
    batch_first = case.batch_first, bidirectional = case.bidirectional, nonlinearity = case.nonlinearity, dtype = "f64", device = "cpu"})
  local count = case.layers * (case.bidirectional and 2 or 1)
  local shape = case.batch_first and {case.batch, case.steps, case.inputs} or {case.steps, case.batch, case.inputs}
  local function given(...) return lg.randn(..., {dtype = "f64", device = "cpu"}):to(device, dtype):requires_grad_() end
  local x, states = given(shape), {}
  if case.started then
    for i = 1, kind == "LSTM" and 2 or 1 do states[i] = given {count, case.batch, case.hidden} end
  end
  layer:to(device, dtype)
  local results = {layer(x, states[1], states[2])}
  local loss
  for i, used in ipairs(case.used or {true, true, true}) do
    local y = results[i]
    if used and y then
      local weights = lg.linspace(-1, 1, y:numel(), {dtype = "f64", device = "cpu"}):view(y:size()):to(device, dtype)
      loss = (loss or 0) + (y * weights):sum()
    end
  end
  loss:backward()
  local found = {}
  for i, y in ipairs(results) do found["result " .. i] = y end
  found["gradient of x"] = x.grad
  for i, state in ipairs(states) do found["gradient of state " .. i] = state.grad end
  for name, p in layer:named_parameters() do found["gradient of " .. name] = p.grad end
  return found
end

local bounds = {f32 = 2e-5, f16 = 1e-2, bf16 = 6e-2}

local function compare(kind, case, dtype)
  local wanted = all_of(kind, case, "f64", "cpu")
  for name, y in pairs(all_of(kind, case, dtype, lg.device())) do
    local reference = wanted[name]
    assert(reference, name)
    local off = (y:detach():to("cpu", "f64") - reference:detach()):abs():max():item()
    local allowed = bounds[dtype] * (1 + reference:detach():abs():max():item())
    assert(off <= allowed, ("%s: %s is off by %g, %g is allowed"):format(kind, name, off, allowed))
  end
end

local cases = {
  {inputs = 5, hidden = 7, layers = 1, batch = 3, steps = 4, started = true},
  {inputs = 8, hidden = 16, layers = 2, batch = 5, steps = 6, bidirectional = true, started = true},
  {inputs = 4, hidden = 3, layers = 1, batch = 2, steps = 5, batch_first = true, bidirectional = true},
  {inputs = 6, hidden = 9, layers = 2, batch = 1, steps = 1, bias = false, batch_first = true, started = true},
  {inputs = 6, hidden = 9, layers = 1, batch = 70, steps = 3, used = {true, false, false}, started = true},
  {inputs = 3, hidden = 40, layers = 1, batch = 2, steps = 7, used = {false, true, true}},
}

describe("a recurrent layer equals the CPU's in f64", function()
  for _, kind in ipairs {"RNN", "LSTM", "GRU"} do
    for i, case in ipairs(cases) do
      for _, dtype in ipairs {"f32", "f16", "bf16"} do
        it(("%s, case %d, %s"):format(kind, i, dtype), function() compare(kind, case, dtype) end)
      end
    end
  end
  it("with relu", function()
    local case = {nonlinearity = "relu"}
    for key, value in pairs(cases[2]) do case[key] = value end
    compare("RNN", case, "f32")
  end)
end)

describe("the gradient of a gradient through a recurrent layer", function()
  for _, kind in ipairs {"RNN", "LSTM", "GRU"} do
    it("of " .. kind .. " equals the CPU's in f64", function()
      local function second(dtype, device)
        lg.manual_seed(4)
        local layer = nn[kind](3, 5, {dtype = "f64", device = "cpu"})
        local x = lg.randn(4, 2, 3, {dtype = "f64", device = "cpu"}):to(device, dtype):requires_grad_()
        layer:to(device, dtype)
        local slope = lg.grad((layer(x)):square():sum(), x, {create_graph = true})
        slope:square():sum():backward()
        return layer.weight_hh_l0.grad:to("cpu", "f64"), x.grad:to("cpu", "f64")
      end
      local wanted, found = {second("f64", "cpu")}, {second("f32", lg.device())}
      for i, y in ipairs(found) do
        local off = (y - wanted[i]):abs():max():item()
        assert(off <= 1e-4 * (1 + wanted[i]:abs():max():item()), off)
      end
    end)
  end
end)
