-- Modules against PyTorch's (tests/reference/cases/modules.py): results and gradients in training and in evaluation, and the
-- names and shapes of their state. Then what the table cannot say: random layers, lazy layers, containers, errors.
local lg = require "lunagrad"
local expect = require "expect"

local nn, F = lg.nn, lg.nn.functional
local root = arg[0]:match("^(.*)tests/lua/")
local cases = dofile(root .. "tests/reference/modules.lua")

-- The numbers of the formula that the reference was made with.
local function numbers(shape, seed)
  local count = 1
  for _, size in ipairs(shape) do count = count * size end
  local list = {}
  for i = 0, count - 1 do list[i + 1] = ((i * 37 + 11 * seed + 5) % 61 * 2 - 60) / 40 end
  return lg.tensor(list, {dtype = "f64"}):reshape(shape)
end

local function build(case)
  local arguments = {}
  for i, value in ipairs(case.args) do
    arguments[i] = type(value) == "table" and value.layer and nn[value.layer](value.options) or value
  end
  if next(case.options) then arguments[#arguments + 1] = case.options end
  local module = nn[case.name](table.unpack(arguments)):to("f64")
  local state, names = module:state_dict(), {}
  for name in pairs(state) do names[#names + 1] = name end
  table.sort(names)
  for seed, name in ipairs(names) do
    if state[name]:dtype() == "f64" then
      local drawn = numbers(state[name]:size(), seed - 1)
      state[name]:copy_(name:find "running_var$" and drawn:abs() + 0.5 or drawn)
    end
  end
  return module
end

local function flat(tensor) return tensor:detach():to("f64"):reshape(-1):tolist() end

local function check_mode(module, case, mode, where)
  local wanted = case[mode]
  if not wanted then return end
  module:train(mode == "train")
  module:zero_grad()
  local given, call = {}, {}
  for i, input in ipairs(case.given) do
    given[i] = input.ids and lg.tensor(input.ids) or numbers(input.shape, 19 + i):requires_grad_()
  end
  for name, values in pairs(case.call) do
    local mask = lg.tensor(values)
    call[name] = mask:dtype() == "bool" and mask or mask:to("f64")
  end
  if next(call) then given[#given + 1] = call end
  local out = table.pack(module(table.unpack(given)))
  assert(out.n == #wanted.out or out[#wanted.out + 1] == nil, where .. ": too many results")
  expect.equal(out[1]:size(), wanted.shape, where .. " shape")
  for i, values in ipairs(wanted.out) do expect.close(flat(out[i]), values, 1e-9, where .. " result " .. i) end
  if not wanted.inputs then return end
  (out[1] * numbers(wanted.shape, 40)):sum():backward()
  for i, values in ipairs(wanted.inputs) do
    if values then expect.close(flat(given[i].grad), values, 1e-9, where .. " gradient of input " .. i) end
  end
  local seen = 0
  for name, parameter in module:named_parameters() do
    local values = wanted.parameters and wanted.parameters[name]
    if values then
      expect.close(flat(parameter.grad), values, 1e-8, where .. " gradient of " .. name)
      seen = seen + 1
    end
  end
  for _ in pairs(wanted.parameters or {}) do seen = seen - 1 end
  assert(seen == 0, where .. ": gradients are missing")
end

local names = {}
for i, case in ipairs(cases) do
  local where = ("%s (case %d)"):format(case.name, i)
  local module = build(case)
  local state = {}
  for name, tensor in pairs(module:state_dict()) do state[name] = tensor:size() end
  expect.equal(state, case.state, where .. " state")
  check_mode(module, case, "train", where .. " train")
  check_mode(module, case, "eval", where .. " eval")
  assert(tostring(module):find("^" .. case.name .. "%("), where)
  names[case.name] = true
end
assert(#cases > 80, #cases)
