-- Times of gradients of embeddings and of sums and writes by index, on the default device:
--   lunagrad run tests/bench/by_index.lua --device vulkan [-- FACTOR]
-- FACTOR (default 1) multiplies the numbers of ids.
local lg = require "lunagrad"
local timed = dofile((arg[0]:match ".*/" or "") .. "show.lua")

local factor = tonumber(arg and arg[1]) or 1
local function show(name, call) timed(name, call, 10) end
local function ids_of(count, rows) return (lg.rand(count) * rows):floor():clamp(0, rows - 1):to("i64") end

for _, case in ipairs {{50000, 768, 8192}, {50000, 768, 65536}, {1000000, 64, 4096}, {100, 256, 262144}, {2, 4096, 8192},
                       {50000, 1, 65536}, {30000, 300, 1024}} do
  local rows, width, count = table.unpack(case)
  count = math.floor(count * factor)
  for _, kind in ipairs {"random ids", "equal ids"} do
    local ids = kind == "equal ids" and lg.zeros(count, {dtype = "i64"}) or ids_of(count, rows)
    local weight = lg.zeros(rows, width):requires_grad_()
    local g = lg.randn(count, width)
    local y = lg.embedding(ids, weight)
    show(("gradient of embedding %d x %d, %d %s"):format(rows, width, count, kind), function()
      weight.grad = nil
      y:backward(g, {retain_graph = true})
    end)
  end
end
local count = math.floor(2^20 * factor)
local index, source = ids_of(count, 4096), lg.randn(count)
local line = lg.zeros(4096)
show(("scatter_add of %d into 4096"):format(count), function() return line:scatter_add(1, index, source) end)
show(("scatter of %d into 4096"):format(count), function() return line:scatter(1, index, source) end)
local columns = lg.randn(64, math.floor(8192 * factor))
local which = ids_of(columns:size(2), 1000)
local target = lg.zeros(64, 1000)
show(("index_add along the last dim, 64 x %d into 1000"):format(columns:size(2)), function()
  return target:index_add(2, which, columns)
end)
