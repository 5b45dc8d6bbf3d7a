-- compare.lua ONE OTHER TOLERANCE: whether two files of tensors are equal, with tolerance 0 bit for bit.
local lg = require "lunagrad"
local one, other, tolerance = lg.io.load(arg[1]), lg.io.load(arg[2]), tonumber(arg[3])
local count = 0
for name, x in pairs(one) do
  local y = assert(other[name], name .. " is missing")
  count = count + 1
  if tolerance == 0 then
    assert(x:equal(y), name .. " differs")
  elseif lg.is_floating_point(x) then
    local apart = (x - y):abs():max():item() / math.max(x:abs():max():item(), 1e-3)
    assert(apart <= tolerance, ("%s differs by %g"):format(name, apart))
  end
end
assert(count > 0)
