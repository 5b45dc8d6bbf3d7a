-- The objects that change with every step, beside models: optimizers, schedules, averages, scalers. A checkpoint says which of them
-- it lacks, as long as they live.
local trackers = {}

local alive = setmetatable({}, {__mode = "k"})

-- An object has a method _in_use(): whether a checkpoint without it would lack something.
function trackers.add(object)
  alive[object] = true
  return object
end

function trackers.is(object) return alive[object] ~= nil end
function trackers.all() return alive end

return trackers
