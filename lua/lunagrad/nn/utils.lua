-- nn.utils: functions of all parameters, or of all gradients, at once.
local core = require "lunagrad.core"

local fail = core._fail
local utils = {}

for _, file in ipairs {"clip", "weight_hooks", "fuse"} do
  for name, f in pairs(require("lunagrad.nn." .. file)) do utils[name] = f end
end
utils.rnn = require "lunagrad.nn.sequences"
utils.parametrize = require "lunagrad.nn.parametrize"
utils.parametrizations = require "lunagrad.nn.parametrizations"
utils.prune = require "lunagrad.nn.prune"
utils.deepcopy = require "lunagrad.nn.copy"

-- Makes a module whose parameters are not initialized: their values are undefined until they are loaded.
function utils.skip_init(class, ...)
  local initialize = require "lunagrad.nn.initialize"
  local before = initialize._skip
  initialize._skip = true
  local results = table.pack(pcall(class, ...))
  initialize._skip = before
  if not results[1] then error(results[2], 0) end
  return results[2]
end

local function list_of(parameters) return core.is_tensor(parameters) and {parameters} or parameters end

-- Concatenates all parameters into one vector. Gradients flow through it.
function utils.parameters_to_vector(parameters)
  local pieces = {}
  for i, parameter in ipairs(list_of(parameters)) do pieces[i] = parameter:reshape(-1) end
  if #pieces == 0 then fail("parameters_to_vector: the list of parameters is empty") end
  return core.cat(pieces)
end

-- Copies the elements of a vector into the parameters, in the same order.
function utils.vector_to_parameters(vector, parameters)
  local total = 0
  for _, parameter in ipairs(list_of(parameters)) do total = total + parameter:numel() end
  if not core.is_tensor(vector) or vector:dim() ~= 1 or vector:numel() ~= total then
    fail(("vector_to_parameters: a vector of %d elements expected (got %s)"):format(
      total, core.is_tensor(vector) and ("shape [%s]"):format(table.concat(vector:size(), ", ")) or type(vector)))
  end
  local _ <close> = core.no_grad()
  local at = 1
  for _, parameter in ipairs(list_of(parameters)) do
    local n = parameter:numel()
    parameter:copy_(vector:narrow(1, at, n):reshape(parameter:size()))
    at = at + n
  end
end

return utils
