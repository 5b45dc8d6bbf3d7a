-- Classes of modules:
--
--   local Net = nn.class("Net")
--   function Net:init(width) self.fc = nn.Linear(width, 10) end
--   function Net:forward(x) return self.fc(x) end
--   local net = Net(64)
-- A field that an object never had is an error with the nearest name; assigning nil in init makes a name known. rawget and
-- lg.has ask.
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

-- What Python writes to copy a module.
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

-- What reading a field of an object does that is not in its table.
local function index_of(class)
  return function(self, name)
    local value = class[name]
    if value ~= nil then return value end
    if type(name) ~= "string" then return class._at and class._at(self, name) end
    if name:byte() == 95 then return nil end  -- internal
    if self._kinds[name] == nil and not class._optional[name] then refuse(self, class, name) end
  end
end

-- Names that a class of Python has and that would never be called here.
local python = {__init__ = "function %s:init(…)", __call__ = "function %s:forward(…)"}

local function set(class, name, value)
  if python[name] then
    core._fail(("class %s: %s is Python's; write %s"):format(class.__name, name, python[name]:format(class.__name)))
  end
  rawset(class, name, value)
end

-- A class derived from `parent` (default nn.Module). Class.super is the parent.
return function(name, parent)
  if type(name) ~= "string" then
    core._fail(("nn.class: a name expected (got %s)"):format(type(name)))
  end
  parent = parent or Module
  local class = {__name = name, super = parent}
  -- Metamethods are not inherited through __index: copy them.
  for key, value in pairs(parent) do
    if type(key) == "string" and key:sub(1, 2) == "__" and key ~= "__name" then class[key] = value end
  end
  class.__index = index_of(class)
  -- Names that may be nil in some objects of the class.
  class._optional = setmetatable({}, {__index = parent._optional})
  return setmetatable(class, {__index = parent, __newindex = set, __call = construct, __tostring = describe})
end
