-- The optimizers and schedulers against PyTorch's values in tests/reference/optimizers.lua, written by generate.py.
local lg = require "lunagrad"

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$")
local reference = dofile(here .. "/../reference/optimizers.lua")

local function nested(dtype, list) return lg.tensor(list, {dtype = dtype}) end

local function check_close(got, expected, tolerance, what)
  local largest = 0
  for _, value in ipairs(expected) do largest = math.max(largest, math.abs(value)) end
  for i, value in ipairs(expected) do
    assert(math.abs(got[i] - value) <= tolerance * largest,
      ("%s: element %d is %.17g, expected %.17g"):format(what, i, got[i], value))
  end
end

local function describe(case)
  local parts = {}
  for name, value in pairs(case.options) do
    parts[#parts + 1] = name .. " = " .. (type(value) == "table" and "{" .. table.concat(value, ", ") .. "}" or tostring(value))
  end
  table.sort(parts)
  return ("%s{%s}"):format(case.name, table.concat(parts, ", "))
end

-- Optimizers whose steps need gradients only.
local covered = {LBFGS = true}  -- needs a closure
for _, case in ipairs(reference.optimizers) do
  covered[case.name] = true
  for dtype, tolerance in pairs(lg.optim[case.name] and {f64 = 1e-9, f32 = 1e-5} or {}) do
    local params = {}
    for i in ipairs(case.result) do params[i] = nested(dtype, reference.start[i]):requires_grad_() end
    local optimizer = lg.optim[case.name](params, case.options)
    for _, gradients in ipairs(reference.gradients) do
      for i, parameter in ipairs(params) do parameter.grad = nested(dtype, gradients[i]) end
      optimizer:step()
    end
    for i, expected in ipairs(case.result) do
      check_close(params[i]:detach():flatten():tolist(), expected, tolerance, describe(case) .. " " .. dtype)
    end
  end
end

for name, class in pairs(lg.optim) do
  local meta = getmetatable(class)
  local is_optimizer = meta and meta.__index == lg.optim.Optimizer
  assert(not is_optimizer or covered[name], ("%s has no case in tests/reference"):format(name))
end

local schedulers = lg.optim.lr_scheduler
for _, case in ipairs(schedulers and reference.schedulers or {}) do
  local optimizer = lg.optim.SGD({lg.zeros(1, {requires_grad = true})}, {lr = 0.2, momentum = 0.9})
  local scheduler = schedulers[case.name](optimizer, case.options)
  local rates = {}
  for i = 1, #case.rates do
    rates[i] = optimizer.param_groups[1].lr
    if case.metrics then scheduler:step(case.metrics[i]) else scheduler:step() end
  end
  check_close(rates, case.rates, 1e-9, describe(case))
end
