# The cost of an open window without input: a window without a drive, which would make it draw. light.sh says how.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(WRITE ${WORK}/light_script.lua [=[
local lg = require "lunagrad"
local w = lg.run.state("w", function() return {lg.ones(64, 64, {requires_grad = true})} end)
lg.run.live("lr", 0.1, {min = 0, max = 1})
for step in lg.run.steps(100000000) do
  local loss = (w[1] * 2):sum()
  w[1].grad = nil
  loss:backward()
  lg.run.log {loss = loss}
  if step == 300 then lg.run.breakpoint() end
end
]=])
expect(light 0 "idle" ${display} sh ${SOURCE}/tests/ui/drives/light.sh ${WORKBENCH} ${WORK}/light_script.lua)
message("${said}")
finish()
