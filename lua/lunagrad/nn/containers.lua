-- Containers of modules. list[1] is the first module of a ModuleList; its name in a state dict is "0", as in PyTorch. The
-- modules of a ModuleDict have names.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local named = require "lunagrad.nn.named"
local is_plain = require("lunagrad.arguments").is_plain

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

local function items(...)
  local first = ...
  return is_plain(first) and first or {...}
end

-- ModuleList{a, b} or ModuleList(a, b)
function ModuleList:init(...) self:extend(items(...)) end

-- Throws unless an item is a module; Sequential also accepts functions.
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

local function refuse_names(self, owner)
  if rawget(self, "_named") then
    fail(("%s: items of this %s have names; make another one of them"):format(owner, self.__name))
  end
end

-- Inserts a module at a position and moves the later ones up.
function ModuleList:insert(position, module)
  refuse_names(self, "insert")
  local count = #self
  if math.type(position) ~= "integer" or position < 1 or position > count + 1 then
    fail(("%s: position %s is out of range for %d modules"):format(self.__name, tostring(position), count))
  end
  self:check(module, position)
  self[count + 1] = module  -- the new module gets the new place, so that no other one seems to have two
  for i = count, position, -1 do self[i + 1] = self[i] end
  self[position] = module
  self:_name_children()
  return self
end

-- Removes the module at a position (default: the last) and returns it.
function ModuleList:pop(position)
  refuse_names(self, "pop")
  local count = #self
  position = position or count
  local module = self[position]
  if not module then
    fail(("%s: position %s is out of range for %d modules"):format(self.__name, tostring(position), count))
  end
  for i = position, count do self[i] = self[i + 1] end
  self:_name_children()
  return module
end

-- Other keys than 1 to #list: list[-1] is the last module, list[{2, -1}] a list of modules 2 to the last.
local function at(self, position)
  local count = #self
  if type(position) == "table" then
    local first, last = position[1], position[2] or position[1]
    if math.type(first) ~= "integer" or math.type(last) ~= "integer" then
      fail(("%s: {first, last} expected, as list[{1, 2}]"):format(self.__name))
    end
    if first < 0 then first = first + count + 1 end
    if last < 0 then last = last + count + 1 end
    local names = rawget(self, "_named") and self:_names_of_items()
    local part = {}
    for i = math.max(first, 1), math.min(last, count) do part[#part + 1] = names and {names[i], self[i]} or self[i] end
    return getmetatable(self)(table.unpack(part))
  end
  if math.type(position) ~= "integer" or position > 0 then return nil end
  if position == 0 then fail(("%s: positions count from 1, or from -1 at the end; got 0"):format(self.__name)) end
  return position >= -count and self[count + 1 + position] or nil
end
ModuleList._at = at

-- Sequential(a, b, c): the output of each is the input of the next. Items are modules or functions. Sequential{{"conv", a},
-- {"act", b}} names them, as PyTorch's OrderedDict does: seq.conv, and "conv.weight" in a state dict.
local Sequential = class("Sequential", ModuleList)

-- The {name, module} pairs of a list; nil if the list holds modules.
local function pairs_in(list)
  local first = is_plain(list) and list[1]
  return is_plain(first) and type(first[1]) == "string" and list or nil
end

function Sequential:init(...)
  local list = items(...)
  local named = pairs_in(list) or pairs_in {...}
  if not named then
    local name = next(list)
    if type(name) == "string" then
      fail(("Sequential: a table by name has no order; write Sequential{{%q, …}, …}"):format(name))
    end
    return self:extend(list)
  end
  for i, pair in ipairs(named) do
    if not is_plain(pair) or type(pair[1]) ~= "string" then
      fail(("Sequential: item %d is no {name, module} as the first is"):format(i))
    end
    self:check(pair[2], i)
    self:add_module(pair[1], pair[2])
  end
end

-- For a container with named items: the fields that hold the items, in the order of the items.
local function fields_of(self)
  local list = {}
  for _, field in ipairs(self._fields) do
    if type(field) == "number" or is_module(rawget(self, field)) then list[#list + 1] = field end
  end
  return list
end

-- The names of the items in a state dict.
function Sequential:_names_of_items()
  local names = fields_of(self)
  for i, field in ipairs(names) do names[i] = type(field) == "number" and tostring(field - 1) or field end
  return names
end

-- A module with a name runs after the modules added before it: seq.head = m, seq:add_module("head", m).
function Sequential:__newindex(name, value)
  local field = rawget(self, "_named") and math.type(name) == "integer" and fields_of(self)[name]
  if field then return rawset(self, field, value) end
  ModuleList.__newindex(self, name, value)
  if type(name) == "string" and name:byte() ~= 95 and is_module(value) then rawset(self, "_named", true) end
end

-- list[i] and #list count named items too.
function Sequential:_at(position)
  local field = rawget(self, "_named") and fields_of(self)[position]
  if field then return rawget(self, field) end
  return at(self, position)
end

function Sequential:__len()
  return rawget(self, "_named") and #fields_of(self) or rawlen(self)
end

function Sequential:check(module, position)
  local callable = type(module) == "function" or type(module) == "table" and getmetatable(module)
  if not callable or is_class(module) then
    fail(("Sequential: item %d is %s"):format(position, describe(module)))
  end
end

function Sequential:forward(x)
  if rawget(self, "_named") then
    for _, field in ipairs(fields_of(self)) do x = rawget(self, field)(x) end
  else
    for i = 1, rawlen(self) do x = self[i](x) end
  end
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
