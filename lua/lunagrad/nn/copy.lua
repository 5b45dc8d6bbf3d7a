-- A deep copy of a module. Its tables and tensors are copied; a tensor that the module uses in several places stays
-- shared in the copy. Functions and other values are not copied. Parameters keep requires_grad, gradients are not
-- copied.
local core = require "lunagrad.core"
local init = require "lunagrad.nn.initialize"
local tree = require "lunagrad.nn.tree"

local function copied(value, known)
  if core.is_tensor(value) then
    if known[value] then return known[value] end
    local made = core.no_grad(function() return value:detach():clone() end)
    if value.requires_grad and value.is_leaf then made:requires_grad_() end
    init._note_copy(made, value)
    known[value] = made
    return made
  end
  if type(value) ~= "table" then return value end
  if rawget(value, "super") ~= nil and rawget(value, "__name") ~= nil then return value end  -- a class
  if known[value] then return known[value] end
  if rawget(value, "_fully_shard") then
    core._fail("deepcopy: a fully sharded model is no copy of its own; build another one and load model:state_dict(), or average "
      .. "its weights with lg.optim.EMA(model)")
  end
  local made = {}
  known[value] = made
  for key, item in next, value do
    -- the shapes of the module's own calls
    if key ~= "_seen" then rawset(made, copied(key, known), copied(item, known)) end
  end
  return setmetatable(made, getmetatable(value))
end

return function(value)
  local copy = copied(value, {})
  if tree.is_module(copy) then  -- it has no place yet
    rawset(copy, "_placed", nil)
    rawset(copy, "_shared", nil)
    rawset(copy, "_label", 0)
  end
  return copy
end
