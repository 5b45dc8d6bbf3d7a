-- compare.lua ONE OTHER TOLERANCE: whether two files of tensors, or the states of two checkpoints, are equal, with tolerance 0 bit
-- for bit.
local lg = require "lunagrad"
local tolerance, count = tonumber(arg[3]), 0

local function compare(x, y, name)
  if type(x) == "table" then
    for key, value in pairs(x) do compare(value, y[key], name .. "." .. tostring(key)) end
    return
  elseif not lg.is_tensor(x) then
    assert(x == y, name .. " differs")
    return
  end
  count = count + 1
  if tolerance == 0 then
    assert(x:equal(y), name .. " differs")
  elseif lg.is_floating_point(x) then
    local apart = (x - y):abs():max():item() / math.max(x:abs():max():item(), 1e-3)
    assert(apart <= tolerance, ("%s differs by %g"):format(name, apart))
  end
end

local one, other = lg.io.load(arg[1]), lg.io.load(arg[2])
if one.states then one, other = {one.states, one.rng}, {other.states, other.rng} end
compare(one, other, "it")
assert(count > 0)
