-- Classes of modules:
--
--   local Net = nn.class("Net")
--   function Net:init(width) self.fc = nn.Linear(width, 10) end
--   function Net:forward(x) return self.fc(x) end
--   local net = Net(64)
local core = require "lunagrad.core"
local Module = require "lunagrad.nn.module"

local function construct(class, ...)
  return Module._new(class, ...)
end

local function describe(class)
  return ("class %s"):format(class.__name)
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
  class.__index = class
  return setmetatable(class, {__index = parent, __call = construct, __tostring = describe})
end
