-- Our side of tests/bench/compare: a workload's name on standard input gives one timed round on standard output,
-- "<seconds of the best call> <calls>".
local bench = require "lunagrad.bench"

local ready, call
for name in io.lines() do
  local workload = bench.find(name)
  local _, count, setup = table.unpack(workload)
  if name ~= ready then
    call = nil  -- frees its tensors before the next workload allocates
    collectgarbage()
    ready, call = name, setup()
    bench.time(call, 0.2, workload.calls, workload.host)
  end
  local best, _, calls = bench.time(call, 0.25, workload.calls, workload.host)
  io.stdout:write(("%.9g %d\n"):format(best / count, calls))
  io.stdout:flush()
end
