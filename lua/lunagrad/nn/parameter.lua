-- nn.Parameter(tensor, requires_grad): a leaf tensor that a module trains.
local core = require "lunagrad.core"

return function(tensor, requires_grad)
  if not core.is_tensor(tensor) then core._fail("nn.Parameter: a tensor expected (got " .. type(tensor) .. ")") end
  local parameter = tensor.is_leaf and tensor or tensor:detach()
  return parameter:requires_grad_(requires_grad ~= false)
end
