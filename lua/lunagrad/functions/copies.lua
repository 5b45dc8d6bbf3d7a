-- The copying forms of views: lg.permute_copy(x, dims) has the elements of lg.permute(x, dims) in memory of its own.
local core = require "lunagrad.core"

local functions = {detach_copy = function(x) return x:detach():clone() end}

for _, view in ipairs {"as_strided", "diagonal", "expand", "narrow", "permute", "select", "slice", "squeeze", "t", "transpose",
  "unfold", "unsqueeze", "view", "view_as_complex", "view_as_real"} do
  local op = assert(core[view], view)
  functions[view .. "_copy"] = function(...) return op(...):clone() end
end

for _, splitter in ipairs {"split", "unbind"} do
  local op = assert(core[splitter], splitter)
  functions[splitter .. "_copy"] = function(...)
    local parts = op(...)
    for i, part in ipairs(parts) do parts[i] = part:clone() end
    return parts
  end
end
functions.split_with_sizes_copy = functions.split_copy

return {functions = functions, methods = {narrow_copy = functions.narrow_copy}}
