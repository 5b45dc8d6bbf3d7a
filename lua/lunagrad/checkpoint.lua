-- lg.checkpoint_sequential(list, segments, x, …): runs x through the layers (a list of functions or modules, or an
-- nn.Sequential) in `segments` segments. Each is a checkpoint except the last, whose values backward needs immediately.
local core = require "lunagrad.core"

return function(list, segments, ...)
  local layers = list
  if type(layers) ~= "table" or #layers == 0 then
    core._fail("checkpoint_sequential: a list of layers or an nn.Sequential expected")
  end
  if math.type(segments) ~= "integer" or segments < 1 or segments > #layers then
    core._fail(("checkpoint_sequential: segments must be 1 … %d, the number of layers (got %s)"):format(
      #layers, tostring(segments)))
  end

  local function run(first, last, ...)
    if first == last then return layers[first](...) end
    return run(first + 1, last, layers[first](...))
  end

  local size = #layers // segments
  local function from(segment, ...)
    local first = (segment - 1) * size + 1
    if segment == segments then return run(first, #layers, ...) end
    return from(segment + 1, core.checkpoint(function(...) return run(first, first + size - 1, ...) end, ...))
  end
  return from(1, ...)
end
