-- Padding of the last 1 to 3 dims by `padding` elements on all sides, or by a list of the widths before and after each
-- dim, the last dim first: ConstantPadNd(padding, value), ZeroPadNd, ReflectionPadNd, ReplicationPadNd,
-- CircularPadNd(padding).
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local sizes = require "lunagrad.nn.sizes"
local reader = require("lunagrad.arguments").reader

local modules = {}

local function define(kind, dims, mode)
  local name = ("%sPad%dd"):format(kind, dims)
  local Pad = class(name)
  local read = kind == "Constant" and reader(name, "padding", "value") or reader(name, "padding")

  function Pad:init(...)
    local a = read(...)
    self.padding = sizes.expand(a.padding, 2 * dims)
    if #self.padding ~= 2 * dims then
      core._fail(("%s: padding must be one number or %d (got %d)"):format(name, 2 * dims, #self.padding))
    end
    self.value = a.value
  end

  function Pad:forward(x)
    local count = x:dim()
    if mode == "constant" then
      if count < dims then
        core._fail(("%s: an input of %d or more dims expected (got shape [%s])"):format(name, dims,
          table.concat(x:size(), ", ")))
      end
      return core.pad(x, self.padding, "constant", self.value or 0)
    end
    if count ~= dims + 1 and count ~= dims + 2 then
      core._fail(("%s: an input of %d or %d dims expected (got shape [%s])"):format(name, dims + 1, dims + 2,
        table.concat(x:size(), ", ")))
    end
    return core.pad(x, self.padding, mode)
  end

  function Pad:extra_repr()
    local text = sizes.text(self.padding)
    return self.value and ("padding = %s, value = %s"):format(text, tostring(self.value)) or text
  end

  modules[name] = Pad
end

for dims = 1, 3 do
  define("Constant", dims, "constant")
  define("Zero", dims, "constant")
  define("Reflection", dims, "reflect")
  define("Replication", dims, "replicate")
  define("Circular", dims, "circular")
end

return modules
