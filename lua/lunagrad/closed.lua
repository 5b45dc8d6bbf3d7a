-- Objects whose fields are all known: reading or setting another field is an error that names the nearest field. rawget
-- and rawset work without an error.
local core = require "lunagrad.core"
local nearest = require "lunagrad.nearest"

local closed = {}

-- All names of an object: its own fields, and the fields of its class and of the classes above. Names with a leading
-- underscore are internal.
local function names_of(self, class)
  local names, seen = {}, {}
  local function add(from)
    for name in pairs(from) do
      if type(name) == "string" and name:sub(1, 1) ~= "_" and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  add(self)
  while class do
    add(class)
    local meta = getmetatable(class)
    class = meta and type(meta.__index) == "table" and meta.__index or nil
  end
  return names
end

local function refuse(self, class, advice, name, verb)
  nearest.end_if_asked()
  local advised = advice and advice(self, name)
  if advised then core._fail(("%s: %s"):format(class.__name, advised)) end
  local near = nearest.of(name, names_of(self, class))
  core._fail(("%s has no field or method '%s'%s%s"):format(class.__name, tostring(name),
    near and ("; did you mean '%s'?"):format(near) or "",
    verb == "set" and not near and "; rawset(object, name, value) adds a field of your own" or ""))
end

-- Makes the objects of a class closed. `advice(object, name)` may return a better text for the error. Names in
-- class.optional may be nil. With `open`, reading is guarded, and setting only the fields for which there is advice.
function closed.guard(class, advice, open)
  function class.__index(self, name)
    local value = class[name]
    if value ~= nil or type(name) ~= "string" or name:sub(1, 1) == "_" then return value end
    local optional = class.optional
    if optional and optional[name] then return nil end
    refuse(self, class, advice, name, "read")
  end
  function class.__newindex(self, name, value)
    local optional = class.optional
    local known = type(name) ~= "string" or name:sub(1, 1) == "_" or class[name] ~= nil or optional and optional[name]
    if not known and not (open and not (advice and advice(self, name))) then
      refuse(self, class, advice, name, "set")
    end
    rawset(self, name, value)
  end
end

return closed
