-- require "lunagrad": the functions of the engine, and the parts written in Lua, which are loaded on first use.
local core = require "lunagrad.core"
require "lunagrad.tensor"

local library = {
  nn = "lunagrad.nn", optim = "lunagrad.optim", data = "lunagrad.data", grad = "lunagrad.grad",
  test = "lunagrad.test", kernel = "lunagrad.kernel", func = "lunagrad.func", distributions = "lunagrad.distributions",
  checkpoint_sequential = "lunagrad.checkpoint", special = "lunagrad.special", run = core.run and "lunagrad.run",
}

-- The public functions of the core, and `run` inside a session. Names with a leading underscore are internal.
local function find(lg, name)
  local value
  if library[name] then
    value = require(library[name])
  elseif type(name) == "string" and name:sub(1, 1) ~= "_" then
    value = core[name]
  end
  rawset(lg, name, value)
  return value
end

local lg = setmetatable({}, {__index = find, __parts = library})
for name in pairs(core) do
  if not library[name] then find(lg, name) end
end
function core.io.onnx_export(...) return require "lunagrad.onnx" (...) end
function core.io.onnx_import(...) return require "lunagrad.onnx_import" (...) end
return lg
