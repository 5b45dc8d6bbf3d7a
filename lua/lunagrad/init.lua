-- require "lunagrad": the functions of the engine, and the parts written in Lua, which are loaded on first use.
local core = require "lunagrad.core"
require "lunagrad.tensor"
require "lunagrad.functions"
require "lunagrad.rebinding"
local elsewhere = require "lunagrad.elsewhere"
local fields = require "lunagrad.fields"

local library = {
  nn = "lunagrad.nn", optim = "lunagrad.optim", data = "lunagrad.data", grad = "lunagrad.grad",
  test = "lunagrad.test", kernel = "lunagrad.kernel", func = "lunagrad.func",
  distributions = "lunagrad.distributions",
  checkpoint_sequential = "lunagrad.checkpoint", compile = "lunagrad.compile", GradScaler = "lunagrad.optim.grad_scaler", special = "lunagrad.special",
  run = core.run and "lunagrad.run",
}
-- The fields of optional parts: modules, and functions such as "io.onnx_export", whose module returns the function.
for path, module in pairs(core._part_fields) do
  local holder, name = path:match "^(.+)%.(.+)$"
  if holder then
    core[holder][name] = function(...) return require(module)(...) end
  else
    library[path] = module
  end
end

-- The public functions of the core, and `run` inside a session. Names with a leading underscore are internal.
local function find(lg, name)
  local value
  if library[name] then
    value = fields.strict(require(library[name]), "lg." .. name)
  elseif type(name) == "string" and name:sub(1, 1) ~= "_" then
    value = core[name]
    if name ~= "methods" then fields.strict(value, "lg." .. name) end
  end
  local guide = value == nil and elsewhere.of(name)
  if guide then return guide end
  if value == nil and (type(name) ~= "string" or name:sub(1, 1) ~= "_") then fields.refuse(lg, "lg", name) end
  rawset(lg, name, value)
  return value
end

-- Python's names of constants and types. In Lua they would be nil, so that {bias = False} would set no option.
local python = {
  True = "true", False = "false", None = "nil", float = "lg.float, or x + 0.0 of a number",
  int = "lg.int, or math.floor(x) of a number", bool = "lg.bool",
}
if not getmetatable(_G) then
  setmetatable(_G, {__index = function(_, name)
    if python[name] then core._fail(("%s is Python's; write %s"):format(name, python[name])) end
  end})
end

local lg = setmetatable({has = fields.has}, {__index = find, __parts = library})
for name in pairs(core) do
  if type(name) == "string" and name:sub(1, 1) ~= "_" and not library[name] then find(lg, name) end
end
for name, dtype in pairs(core._dtypes) do
  if not core[name] then rawset(lg, name, dtype) end
end
return lg
