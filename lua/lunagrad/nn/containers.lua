-- Containers of modules. list[1] is the first module of a ModuleList; its name in a state dict is "0", as in PyTorch. The
-- modules of a ModuleDict have names.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"

local fail = core._fail

local ModuleList = class("ModuleList")

local function is_module(value)
  local kind = type(value) == "table" and getmetatable(value)
  return kind and kind._is_module == true
end

local function is_class(value) return type(value) == "table" and rawget(value, "super") ~= nil end

local function describe(value)
  if is_class(value) then
    return ("the class %s: make one with %s(…)"):format(value.__name, value.__name)
  end
  return ("a %s, not a module"):format(type(value))
end

local function is_plain(value) return type(value) == "table" and getmetatable(value) == nil end

local function items(...)
  local first = ...
  return is_plain(first) and first or {...}
end

-- ModuleList{a, b} or ModuleList(a, b)
function ModuleList:init(...) self:extend(items(...)) end

-- Checks an item of a ModuleList; Sequential also takes functions.
function ModuleList:check(module, position)
  if not is_module(module) then
    fail(("%s: item %d is %s"):format(self.__name, position, describe(module)))
  end
end

function ModuleList:append(module)
  self:check(module, #self + 1)
  self[#self + 1] = module
  return self
end

-- Appends all modules of a table or of another ModuleList.
function ModuleList:extend(list)
  for i = 1, #list do self:append(list[i]) end
  return self
end

-- Inserts a module at a position and moves the later ones up.
function ModuleList:insert(position, module)
  local count = #self
  if math.type(position) ~= "integer" or position < 1 or position > count + 1 then
    fail(("%s: position %s is out of range for %d modules"):format(self.__name, tostring(position), count))
  end
  self:check(module, position)
  for i = count, position, -1 do self[i + 1] = self[i] end
  self[position] = module
  return self
end

-- Removes the module at a position (default: the last) and returns it.
function ModuleList:pop(position)
  local count = #self
  position = position or count
  local module = self[position]
  if not module then
    fail(("%s: position %s is out of range for %d modules"):format(self.__name, tostring(position), count))
  end
  for i = position, count do self[i] = self[i + 1] end
  return module
end

-- Sequential(a, b, c): the output of each is the input of the next. Items are modules or functions.
local Sequential = class("Sequential", ModuleList)

function Sequential:check(module, position)
  local callable = type(module) == "function" or type(module) == "table" and getmetatable(module)
  if not callable or is_class(module) then
    fail(("Sequential: item %d is %s"):format(position, describe(module)))
  end
end

function Sequential:forward(x)
  for i = 1, #self do x = self[i](x) end
  return x
end

-- ModuleDict{conv = a, pool = b} (sorted by name) or ModuleDict{{"conv", a}, {"pool", b}} (in the given order). A module is
-- read by its name: dict.conv, dict["conv"].
local ModuleDict = class("ModuleDict")

function ModuleDict:init(modules)
  rawset(self, "_names", {})
  self:update(modules or {})
end

local function named(list)
  if list._names then
    local entries = {}
    for i, name in ipairs(list._names) do entries[i] = {name, list[name]} end
    return entries
  elseif #list > 0 then
    return list
  end
  local entries = {}
  for name, module in pairs(list) do entries[#entries + 1] = {name, module} end
  table.sort(entries, function(a, b) return tostring(a[1]) < tostring(b[1]) end)
  return entries
end

function ModuleDict:set(name, module)
  if type(name) ~= "string" or name == "" or name:find(".", 1, true) then
    fail(("ModuleDict: '%s' is no name for a module"):format(tostring(name)))
  elseif not is_module(module) then
    fail(("ModuleDict: '%s' is a %s, not a module"):format(name, type(module)))
  elseif not self:contains(name) and self[name] ~= nil then
    fail(("ModuleDict: '%s' is the name of a field or method"):format(name))
  end
  if not self:contains(name) then self._names[#self._names + 1] = name end
  self[name] = module
  return self
end

-- Adds all modules of a table, of a list of pairs or of another ModuleDict.
function ModuleDict:update(modules)
  for _, entry in ipairs(named(modules)) do self:set(entry[1], entry[2]) end
  return self
end

function ModuleDict:contains(name)
  for _, known in ipairs(self._names) do
    if known == name then return true end
  end
  return false
end

function ModuleDict:keys() return {table.unpack(self._names)} end

function ModuleDict:values()
  local list = {}
  for i, name in ipairs(self._names) do list[i] = self[name] end
  return list
end

-- for name, module in dict:items() do
function ModuleDict:items()
  local i, names = 0, self:keys()
  return function()
    i = i + 1
    if names[i] then return names[i], self[names[i]] end
  end
end

-- Removes a module and returns it.
function ModuleDict:pop(name)
  for i, known in ipairs(self._names) do
    if known == name then
      local module = self[name]
      table.remove(self._names, i)
      self[name] = nil
      return module
    end
  end
  fail(("ModuleDict: there is no module '%s'"):format(tostring(name)))
end

function ModuleDict:clear()
  for _, name in ipairs(self:keys()) do self:pop(name) end
  return self
end

function ModuleDict:__len() return #self._names end

return {ModuleList = ModuleList, Sequential = Sequential, ModuleDict = ModuleDict}
