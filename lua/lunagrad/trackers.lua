-- The living objects besides models that change with every step: optimizers, schedules, averages, scalers. Saving a
-- checkpoint reports which of them it does not contain.
local trackers = {}

local alive = setmetatable({}, {__mode = "k"})

-- The object must have a method _in_use(): whether a checkpoint must contain it.
function trackers.add(object)
  alive[object] = true
  return object
end

function trackers.is(object) return alive[object] ~= nil end
function trackers.all() return alive end

return trackers
