-- Sizes along several dims: one number for all of them, or a list with one for each.
local arguments = require "lunagrad.arguments"

local sizes = {}

function sizes.expand(value, dims)
  if type(value) == "table" then return arguments.list("size", value) end
  local list = {}
  for i = 1, dims do list[i] = value end
  return list
end

-- As text: "3" if all sizes are 3, else "{3, 5}".
function sizes.text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  for i = 2, #value do
    if value[i] ~= value[1] then return "{" .. table.concat(value, ", ") .. "}" end
  end
  return tostring(value[1])
end

return sizes
