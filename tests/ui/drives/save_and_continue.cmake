# A script that is saved in a pause and continued immediately.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(WRITE ${WORK}/counts.lua [=[
print("version", version)
local lg = require "lunagrad"
local count = lg.run.state("count", function() return {steps = 0} end)
local x = lg.ones(64, 64)
for step in lg.run.steps(1000000000) do
  count.steps = count.steps + 1
  x:matmul(x)
  assert(count.steps == step, "the run began anew")
end
]=])
expect(save_and_continue 0 "" ${display} ${WORKBENCH} ${WORK}/counts.lua ${VALIDATION} --size 1280x800
       --drive ${SOURCE}/tests/ui/drives/save_and_continue.lua)
finish()
