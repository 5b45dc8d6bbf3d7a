-- Reads arguments in PyTorch's style: by position, or by name in a table that comes last.
--
--   local read = arguments.reader("Linear", "in_features", "out_features", {"bias", true})
--   local a = read(64, 10, {bias = false})     --> {in_features = 64, out_features = 10, bias = false}
--
-- "name" is required; {"name", default} is optional; {"name"} is optional with default nil.
local core = require "lunagrad.core"

local arguments = {}

-- A table that is not an object: a list, or names with values.
local function is_plain(value) return type(value) == "table" and not getmetatable(value) end
arguments.is_plain = is_plain

-- A table with string keys holds options. A table with positions, or an empty one, is a list.
function arguments.is_options(value)
  return is_plain(value) and type((next(value))) == "string"
end

-- Whether an argument that cannot be a list is a table of options; an empty table is one.
function arguments.holds_options(value) return is_plain(value) and (next(value) == nil or arguments.is_options(value)) end

-- Returns the list; error for a list whose metatable defines a length, which may differ from its entries.
function arguments.list(owner, value)
  local metatable = type(value) == "table" and getmetatable(value)
  if type(metatable) == "table" and rawget(metatable, "__len") ~= nil then
    core._fail(owner .. ": plain table expected, got one with a metatable that has __len")
  end
  return value
end

-- reader -> the set of the names that it takes, and the set of the names that may be nil.
local taken, absent = setmetatable({}, {__mode = "k"}), setmetatable({}, {__mode = "k"})
function arguments.names_of(read) return taken[read] or {} end
function arguments.may_be_absent(read) return absent[read] or {} end

local function names(specs)
  local list = {}
  for i, spec in ipairs(specs) do list[i] = spec.name end
  return table.concat(list, ", ")
end

function arguments.reader(owner, ...)
  local specs = {}
  for i, given in ipairs {...} do
    local required = type(given) == "string"
    local spec = {name = required and given or given[1], required = required}
    if not required then spec.default = given[2] end
    specs[i], specs[spec.name] = spec, spec
  end

  local function read_all(...)
    local count = select("#", ...)
    local values, options = {...}, nil
    local last, spec = values[count], specs[count]
    -- An empty table in the place of a required argument is a list.
    local empty = is_plain(last) and next(last) == nil and not (spec and spec.required)
    if count > 0 and (empty or arguments.is_options(last)) then
      options = values[count]
      values[count] = nil
      count = count - 1
    end
    if count > #specs then
      core._fail(("%s: %d arguments given, at most %d taken: %s"):format(owner, count, #specs, names(specs)))
    end
    local read = {}
    for i, spec in ipairs(specs) do
      if values[i] ~= nil then
        read[spec.name] = values[i]
      else
        read[spec.name] = spec.default
      end
    end
    for name, value in pairs(options or {}) do
      if not specs[name] then
        core._fail(("%s: unknown option '%s' (known: %s)"):format(owner, name, names(specs)))
      end
      read[name] = value
    end
    for _, spec in ipairs(specs) do
      local value = read[spec.name]
      if spec.required and value == nil then
        core._fail(("%s: '%s' is missing"):format(owner, spec.name))
      elseif type(value) == "string" and tonumber(value) then
        core._fail(("%s: %s is the string \"%s\", not a number"):format(owner, spec.name, value))
      end
    end
    return read
  end
  local set, without = {}, {}
  for _, spec in ipairs(specs) do
    set[spec.name] = true
    without[spec.name] = not spec.required and spec.default == nil or nil
  end
  taken[read_all], absent[read_all] = set, without
  return read_all
end

return arguments
