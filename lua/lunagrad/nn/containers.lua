-- Containers of modules. list[1] is the first module of a ModuleList; its name in a state dict is "0", as in PyTorch. The
-- modules of a ModuleDict have names.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local named = require "lunagrad.nn.named"

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
named.extend(ModuleDict, "module", function(value, name)
  if not is_module(value) then fail(("ModuleDict: '%s' is a %s, not a module"):format(name, type(value))) end
  return value
end)

return {ModuleList = ModuleList, Sequential = Sequential, ModuleDict = ModuleDict}
