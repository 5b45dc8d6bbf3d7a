-- Prints a heading, and returns show(name, call, calls): a line with the best and the median time of a call.
local bench = require "lunagrad.bench"

print(("%-56s %13s %13s"):format("", "best", "median"))
return function(name, call, calls)
  local best, median = bench.time(call, 0.5, calls)
  print(("%-56s %10.1f µs %10.1f µs"):format(name, best * 1e6, median * 1e6))
end
