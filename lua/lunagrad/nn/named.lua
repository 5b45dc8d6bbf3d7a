-- Shared by ModuleDict and ParameterDict: items by name, in the order of their first assignment, which `_names` keeps.
local core = require "lunagrad.core"
local tree = require "lunagrad.nn.tree"

local M = {}

-- The {name, value} pairs of a table (sorted by name), of a list of pairs, or of another dict.
function M.entries(list)
  local names = rawget(list, "_names")
  local entries = {}
  if names then
    for i, name in ipairs(names) do entries[i] = {name, list[name]} end
    return entries
  elseif #list > 0 then
    return list
  end
  for name, value in pairs(list) do entries[#entries + 1] = {name, value} end
  table.sort(entries, function(a, b) return tostring(a[1]) < tostring(b[1]) end)
  return entries
end

-- Adds the methods to a class. `noun` is for errors: "module". `check(value, name)` returns the value to store, or
-- throws.
function M.extend(Dict, noun, check)
  function Dict:init(items)
    rawset(self, "_names", {})
    self:update(items or {})
  end

  function Dict:set(name, value)
    if type(name) ~= "string" or name == "" or name:find(".", 1, true) then
      core._fail(("%s: '%s' is no name for a %s"):format(Dict.__name, tostring(name), noun))
    end
    value = check(value, name)
    if not self:contains(name) then
      if tree.has(self, name) then
        core._fail(("%s: '%s' is the name of a field or method"):format(Dict.__name, name))
      end
      self._names[#self._names + 1] = name
    end
    self[name] = value
    return self
  end

  -- Adds all items of a table, of a list of pairs or of another dict.
  function Dict:update(items)
    for _, entry in ipairs(M.entries(items)) do self:set(entry[1], entry[2]) end
    return self
  end

  function Dict:contains(name)
    for _, known in ipairs(self._names) do
      if known == name then return true end
    end
    return false
  end

  function Dict:keys() return {table.unpack(self._names)} end

  function Dict:values()
    local list = {}
    for i, name in ipairs(self._names) do list[i] = self[name] end
    return list
  end

  -- for name, value in dict:items() do
  function Dict:items()
    local i, names = 0, self:keys()
    return function()
      i = i + 1
      if names[i] then return names[i], self[names[i]] end
    end
  end

  -- Removes an item and returns it.
  function Dict:pop(name)
    for i, known in ipairs(self._names) do
      if known == name then
        local value = self[name]
        table.remove(self._names, i)
        self[name] = nil
        return value
      end
    end
    core._fail(("%s: there is no %s '%s'"):format(Dict.__name, noun, tostring(name)))
  end

  function Dict:clear()
    for _, name in ipairs(self:keys()) do self:pop(name) end
    return self
  end

  function Dict:__len() return #self._names end
end

return M
