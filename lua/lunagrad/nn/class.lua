-- Classes of modules:
--
--   local Net = nn.class("Net")
--   function Net:init(width) self.fc = nn.Linear(width, 10) end
--   function Net:forward(x) return self.fc(x) end
--   local net = Net(64)
--
-- A missing field of an object of a script's class is nil, as in any table of Lua; calling or indexing that nil ends
-- the run with an error that suggests the nearest name (script/lua/missing.cpp). In objects of the library's classes,
-- reading a missing field is an error, unless nil was assigned to it.
local core = require "lunagrad.core"
local Module = require "lunagrad.nn.module"
local nearest = require "lunagrad.nearest"

local function construct(class, ...)
  return Module._new(class, ...)
end

local function describe(class)
  return ("class %s"):format(class.__name)
end

-- The names that a script may read: the object's fields, and the methods of its class and of the classes above.
local function names_of(self, class)
  local names, seen = {}, {}
  local function add(name)
    if type(name) ~= "string" or name:sub(1, 1) == "_" or seen[name] then return end
    seen[name] = true
    names[#names + 1] = name
  end
  for name in next, self do add(name) end
  for _, name in ipairs(self._fields) do add(name) end
  while class do
    for name in next, class do add(name) end
    class = rawget(class, "super")
  end
  return names
end

-- Method names that Python uses to copy a module.
local copies = {copy = true, deepcopy = true, clone = true}

local function refuse(self, class, name)
  nearest.end_if_asked()
  if copies[name] then
    core._fail(("%s has no field or method '%s'; a copy is lg.nn.utils.deepcopy(net)"):format(class.__name, name))
  end
  local near = nearest.of(name, names_of(self, class))
  core._fail(("%s has no field or method '%s'%s"):format(class.__name, name, near and ("; did you mean '%s'?"):format(near)
    or "; rawget(object, name) and lg.has(object, name) ask for one that may be missing"))
end

-- The __index of the library's classes: a missing field is an error.
local function strict_index(class)
  return function(self, name)
    local value = class[name]
    if value ~= nil then return value end
    if type(name) ~= "string" then return class._at and class._at(self, name) end
    if name:byte() == 95 then return nil end  -- internal
    if self._kinds[name] == nil and not class._optional[name] then refuse(self, class, name) end
  end
end

-- The __index of scripts' classes: a missing field is nil. A container finds its modules at negative positions.
local function lenient_index(class, parent)
  if not parent._at then return class end
  return function(self, name)
    local value = class[name]
    if value ~= nil or type(name) == "string" then return value end
    return class._at(self, name)
  end
end

-- Methods of Python's classes that would never be called here.
local python = {__init__ = "function %s:init(…)", __call__ = "function %s:forward(…)"}

local function set(class, name, value)
  if python[name] then
    core._fail(("class %s: %s is Python's; write %s"):format(class.__name, name, python[name]:format(class.__name)))
  end
  rawset(class, name, value)
end

local function derive(name, parent, index_of)
  if type(name) ~= "string" then
    core._fail(("nn.class: a name expected (got %s)"):format(type(name)))
  end
  parent = parent or Module
  local class = {__name = name, super = parent}
  -- Metamethods are not inherited through __index: copy them.
  for key, value in pairs(parent) do
    if type(key) == "string" and key:sub(1, 2) == "__" and key ~= "__name" then class[key] = value end
  end
  class.__index = index_of(class, parent)
  -- Fields that may be nil in some objects of the class.
  class._optional = setmetatable({}, {__index = parent._optional})
  return setmetatable(class, {__index = parent, __newindex = set, __call = construct, __tostring = describe})
end

-- A class derived from `parent` (default nn.Module). Class.super is the parent.
local classes = {}
function classes.of_library(name, parent) return derive(name, parent, strict_index) end
function classes.of_scripts(name, parent)
  local class = derive(name, parent, lenient_index)
  rawset(class, "_of_script", true)  -- for error messages (script/lua/missing.cpp)
  return class
end
return classes
