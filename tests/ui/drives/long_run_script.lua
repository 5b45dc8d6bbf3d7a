-- A run of more steps than it will ever take: for long_run.lua.
local lg = require "lunagrad"
for step in lg.run.steps(123456789012) do lg.run.log {loss = 1 / step} end
