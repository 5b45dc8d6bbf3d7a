-- Reading an unknown field of lg or of its tables is an error that suggests the name that was probably meant. rawget
-- and lg.has ask whether a field exists. Classes and objects are not tables of the library: they have their own rules.
local core = require "lunagrad.core"
local elsewhere = require "lunagrad.elsewhere"
local names = require "lunagrad.nearest"

local fields = {}

-- "; did you mean lg.nn.Linear?" for a name close to a field of the table; "" when none is close.
local function nearest(holder, path, name)
  local wanted, least, found = name:lower(), math.max(#name // 3, 1) + 1, {}
  for field in next, holder do
    if type(field) == "string" and field:sub(1, 1) ~= "_" then
      local distance = core._edits(wanted, field:lower())
      if distance < least then least, found = distance, {} end
      if distance == least then found[#found + 1] = path .. "." .. field end
    end
  end
  table.sort(found)
  if #found == 0 or #found > 3 then return "" end
  return "; did you mean " .. table.concat(found, " or ") .. "?"
end

-- PyTorch's tables and classes without a counterpart of the same name.
local elsewhere_of = {
  F = "the functions of networks are lg.nn.functional",
  Generator = "lg.manual_seed seeds all; random_split and DataLoader take {seed = 42}",
  Tensor = "a tensor is made by lg.tensor, lg.zeros, …",
  Size = "a size is a table of numbers",
  FloatTensor = "write lg.tensor(values, {dtype = lg.float})",
  LongTensor = "write lg.tensor(values, {dtype = lg.long})",
  BoolTensor = "write lg.tensor(values, {dtype = lg.bool})",
}

-- Functional forms of modules from earlier versions of PyTorch.
local functional = "write lg.func.functional_call(net, params, {x}), with a table of parameters by name"
local former = {make_functional = functional, make_functional_with_buffers = functional,
  combine_state_for_ensemble = "write lg.func.stack_module_state(nets)"}

-- Fields of the same name in other tables come first: lg.save is lg.io.save.
local function advice(holder, path, name)
  if elsewhere_of[name] and (path == "lg" or name == "F") then return "; " .. elsewhere_of[name] end
  if former[name] and path == "lg.func" then return "; " .. former[name] end
  if rawget(holder, name .. "_") then return ("; write %s.%s_"):format(path, name) end
  local instead = core._pytorch(path .. "." .. name)
  if instead ~= "" then return "; " .. instead end
  -- For lg itself, names in its tables are suggested too: lg.Conv2d is lg.nn.Conv2d.
  local near, further = nearest(holder, path, name), core._suggest(name, ".")
  if near == "" or path == "lg" and further ~= "" then near = further end
  return near
end

local function refuse(holder, path, name)
  names.end_if_asked()
  if type(name) ~= "string" then
    core._fail(("%s: a field is a name (got a %s); lg.has asks whether there is one"):format(path, type(name)))
  end
  core._check_built(path .. "." .. name)
  core._fail(("%s.%s does not exist%s"):format(path, name, advice(holder, path, name)))
end

-- Whether reading the table runs code of a class or an object.
local function is_table_of_library(value)
  if type(value) ~= "table" or rawget(value, "__name") or rawget(value, "__index") then return false end
  local meta = getmetatable(value)
  return meta == nil or type(meta) == "table" and meta.__index == nil and meta.__name == nil
end

-- Makes the table and the tables in it strict; `path` is its name in scripts. Returns it.
function fields.strict(holder, path)
  if not is_table_of_library(holder) then return holder end
  local meta = getmetatable(holder) or {}
  meta.__index = function(t, name)
    -- Names with a leading underscore are internal: the library itself asks whether they are there.
    if type(name) ~= "string" or name:sub(1, 1) ~= "_" then refuse(t, path, name) end
  end
  setmetatable(holder, meta)
  for name, value in next, holder do
    if type(name) == "string" and name:sub(1, 1) ~= "_" then fields.strict(value, path .. "." .. name) end
  end
  return holder
end

local function read(holder, name) return holder[name] end

-- has(holder, name): whether the field exists, for the tables of lg, tensors, modules and any other table.
function fields.has(holder, name)
  local kind = type(holder)
  if kind ~= "table" and kind ~= "userdata" then
    core._fail(("lg.has: a table or an object expected (got %s)"):format(kind))
  end
  names.asked = true
  local ok, value = pcall(read, holder, name)
  names.asked = false
  return ok and value ~= nil and not elsewhere.is_guide(value)
end

fields.refuse = refuse
return fields
