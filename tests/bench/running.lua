-- Times of running sums, products, extremes and log-sum-exps, on the default device:
--   lunagrad run tests/bench/running.lua --device vulkan [-- FACTOR]
-- FACTOR (default 1) multiplies the lengths.
local lg = require "lunagrad"
local timed = dofile((arg[0]:match ".*/" or "") .. "show.lua")

local factor = tonumber(arg and arg[1]) or 1
local function show(name, call) timed(name, call, 10) end

for _, case in ipairs {{1, 2^24, 2}, {64, 2^18, 2}, {1024, 16384, 2}, {16384, 1024, 2}, {262144, 64, 2}, {16384, 1024, 1}} do
  local rows, columns, dim = math.tointeger(case[1]), math.floor(case[2] * factor), case[3]
  local x = lg.randn(rows, columns)
  local whole = (x * 100):to("i32")
  local where = (" of %d x %d along dim %d"):format(rows, columns, dim)
  show("cumsum f32" .. where, function() return x:cumsum(dim) end)
  show("cumsum i32" .. where, function() return whole:cumsum(dim) end)
  show("cumprod f32" .. where, function() return x:cumprod(dim) end)
  show("cummax f32" .. where, function() return x:cummax(dim) end)
  show("logcumsumexp f32" .. where, function() return x:logcumsumexp(dim) end)
end
