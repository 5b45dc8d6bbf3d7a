-- Rank 0 prints the host names of all ranks.
local lg = require "lunagrad"
local dist = lg.distributed

dist.init()
assert(dist.local_rank() == 0, "each rank is the first of its machine")
local name = io.popen("hostname"):read("l")
local names = {}
for _, byte in ipairs(dist.all_gather(lg.tensor({name:byte(1, -1)}, {dtype = "i64"})):tolist()) do names[#names + 1] = string.char(byte) end
if dist.rank() == 0 then print((table.concat(names):gsub("(%d)m", "%1 m"))) end
