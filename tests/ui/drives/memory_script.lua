-- A run with 32 MiB of values and gradients per step. It prints the memory of its process.
local lg = require "lunagrad"

local function resident()
  for line in io.lines("/proc/self/status") do
    local kib = line:match("^VmRSS:%s*(%d+)")
    if kib then return kib // 1024 end
  end
end

local w = lg.ones(1 << 20, {requires_grad = true})
local x = lg.randn(1 << 20)
for step in lg.run.steps(100000) do
  w.grad = nil
  local loss = (w * x):tanh():sigmoid():sum()
  loss:backward()
  lg.run.log {loss = loss}
  if step == 50 then print(("resident %d MiB"):format(resident())) end
  if arg[1] == "alone" and step == 50 then break end
end
