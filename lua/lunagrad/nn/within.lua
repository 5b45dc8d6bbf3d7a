-- The activation of a layer whose op computes the activation in the same pass as the output.
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
