-- The objects that hold lists of parameters, as optimizers and averages do, as long as they live: when a parameter is replaced
-- in a model, they have to follow.
local holders = {}

local alive = setmetatable({}, {__mode = "k"})  -- object -> its number
local count = 0

function holders.add(object)
  count = count + 1
  alive[object] = count
  return object
end

function holders.is(object) return alive[object] ~= nil end

-- Those that live, oldest first.
function holders.all()
  local list = {}
  for object in pairs(alive) do list[#list + 1] = object end
  table.sort(list, function(a, b) return alive[a] < alive[b] end)
  return list
end

return holders
