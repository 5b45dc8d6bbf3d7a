-- Fields of modules that hold other tensors during a call, as in functional_call. A checkpoint inside the call runs
-- again in backward, after the call, and needs the same tensors again.
local core = require "lunagrad.core"

local rebinding = {}

-- rebind(f, …) calls f with the fields that the running call replaced; nil outside a call.
local rebind

-- Calls f(…) while, for each of the places, the field `key` of `owner` is `value`. Afterwards all fields have their
-- former values.
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
