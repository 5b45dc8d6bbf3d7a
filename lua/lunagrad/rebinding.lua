-- Fields of modules that hold other tensors for the time of a call: those of functional_call. A checkpoint inside of the call runs
-- again in backward, when the call is over, and needs the same tensors again.
local core = require "lunagrad.core"

local rebinding = {}

-- rebind(f, …) calls f with the fields that the running call replaced; nil outside of one.
local rebind

-- Calls f(…) while the field `key` of `owner` is `value`, for each of the places. At the end all are as before.
function rebinding.call(places, f, ...)
  local before, outer = {}, rebind
  for i, place in ipairs(places) do
    before[i] = rawget(place.owner, place.key)
    if place.value then rawset(place.owner, place.key, place.value) end
  end
  rebind = function(g, ...)
    if outer then return outer(rebinding.call, places, g, ...) end
    return rebinding.call(places, g, ...)
  end
  local _ <close> = setmetatable({}, {__close = function()
    rebind = outer
    for i, place in ipairs(places) do rawset(place.owner, place.key, before[i]) end
  end})
  return f(...)
end

local checkpoint = core.checkpoint
function core.checkpoint(f, ...)
  local again = rebind
  if not again or type(f) ~= "function" and type(f) ~= "table" then return checkpoint(f, ...) end
  return checkpoint(function(...) return again(f, ...) end, ...)
end

return rebinding
