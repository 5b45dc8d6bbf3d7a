-- Times of sort, topk and unique of long rows, on the default device:
--   lunagrad run tests/bench/sorting.lua --device vulkan [-- FACTOR]
-- FACTOR (default 1) multiplies the lengths.
local lg = require "lunagrad"
local timed = dofile((arg[0]:match ".*/" or "") .. "show.lua")

local factor = tonumber(arg and arg[1]) or 1
local function show(name, call) timed(name, call, 4) end
local function long(power) return math.floor(2^power * factor) end

for _, power in ipairs {14, 17, 20, 24} do
  local x = lg.randn(long(power))
  show(("sort of %d f32"):format(x:numel()), function() return x:sort() end)
  for _, k in ipairs {10, 1000} do
    show(("topk %d of %d f32"):format(k, x:numel()), function() return x:topk(math.min(k, x:numel())) end)
  end
end
local x = lg.randn(long(22))
for _, dtype in ipairs {"u8", "f16", "i32", "i64"} do
  local y = (x * 1000):to(dtype)
  show(("sort of %d %s"):format(y:numel(), dtype), function() return y:sort() end)
  show(("topk 100 of %d %s"):format(y:numel(), dtype), function() return y:topk(100) end)
end
for _, rows in ipairs {64, 1024} do
  local many = lg.randn(rows, long(22) // rows)
  show(("sort of %d rows of %d f32"):format(rows, many:size(2)), function() return many:sort(2) end)
  show(("topk 50 of %d rows of %d f32"):format(rows, many:size(2)), function() return many:topk(math.min(50, many:size(2)), 2) end)
end
local vocabulary = lg.randn(32, long(15))
show(("topk 50 of 32 rows of %d f32"):format(vocabulary:size(2)), function() return vocabulary:topk(50, 2) end)
local numbers = (lg.rand(long(20)) * 1000):to("i64")
show(("unique of %d i64"):format(numbers:numel()), function() return numbers:unique() end)
show(("unique with inverse of %d i64"):format(numbers:numel()), function()
  return numbers:unique({return_inverse = true})
end)
