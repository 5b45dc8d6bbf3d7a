-- Modules made of a list of modules. list[1] is the first; in a state dict it is called "0", as in PyTorch.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"

local ModuleList = class("ModuleList")

local function items(...)
  local first = ...
  return type(first) == "table" and getmetatable(first) == nil and first or {...}
end

-- ModuleList{a, b} or ModuleList(a, b)
function ModuleList:init(...)
  for _, module in ipairs(items(...)) do self:append(module) end
end

function ModuleList:append(module)
  self[#self + 1] = module
  return self
end

-- Sequential(a, b, c): the output of each is the input of the next. Functions may stand between modules.
local Sequential = class("Sequential", ModuleList)

function Sequential:init(...)
  for i, module in ipairs(items(...)) do
    local callable = type(module) == "function" or type(module) == "table" and getmetatable(module)
    if not callable then
      core._fail(("Sequential: item %d is a %s, not a module"):format(i, type(module)))
    end
    self:append(module)
  end
end

function Sequential:forward(x)
  for i = 1, #self do x = self[i](x) end
  return x
end

return {ModuleList = ModuleList, Sequential = Sequential}
