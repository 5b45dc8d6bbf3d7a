-- The activation of a layer that its op applies in the same pass as its output.
local core = require "lunagrad.core"

local within = {}
local known = {none = true, relu = true, tanh = true, sigmoid = true}

function within.checked(owner, activation)
  if not known[activation] then
    core._fail(("%s: activation must be 'none', 'relu', 'tanh' or 'sigmoid' (got '%s')"):format(
      owner, tostring(activation)))
  end
  return activation
end

return within
