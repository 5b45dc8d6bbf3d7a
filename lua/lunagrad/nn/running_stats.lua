-- Resets the running statistics of a module, if it has any; returns whether it has.
local core = require "lunagrad.core"

return function(module)
  if not core.is_tensor(rawget(module, "running_mean")) then return false end
  local _ <close> = core.no_grad()
  module.running_mean:zero_()
  module.running_var:fill_(1)
  module.num_batches_tracked:zero_()
  return true
end
