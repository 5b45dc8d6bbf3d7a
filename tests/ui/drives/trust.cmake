# A run and a bundle of somebody else: their curves are there at once, and a question comes before their code.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
get_filename_component(programs ${WORKBENCH} DIRECTORY)
set(LUNAGRAD ${programs}/lunagrad)
set(mine ${CMAKE_COMMAND} -E env XDG_DATA_HOME=${WORK}/mine)
set(theirs ${CMAKE_COMMAND} -E env XDG_DATA_HOME=${WORK}/theirs)
file(WRITE ${WORK}/lib/scale.lua "return 2\n")
# Outside of the sandbox it leaves a file.
file(WRITE ${WORK}/train.lua [[
local lg = require "lunagrad"
local scale = require "lib.scale"
if io then io.open("free", "w"):close() end
print(io and "free" or "boxed")
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(20) do
  w:add_(scale)
  lg.run.log {loss = w:sum()}
end
]])
expect(made 0 "" ${theirs} ${LUNAGRAD} run train.lua --run-dir folder)
expect(bundled 0 "" ${theirs} ${LUNAGRAD} bundle folder -o sent.run)
expect(own 0 "" ${mine} ${LUNAGRAD} run train.lua --run-dir own)
foreach(opened folder sent.run)
  foreach(answer sandbox trust)
    file(REMOVE ${WORK}/free)
    expect("${opened} ${answer}" 0 "" ${display} ${mine} ${WORKBENCH} ${opened} ${VALIDATION} --size 1280x800
           --drive ${SOURCE}/tests/ui/drives/trust.lua ${WORK} ${opened} ${answer})
    if((EXISTS ${WORK}/free AND answer STREQUAL sandbox) OR (NOT EXISTS ${WORK}/free AND answer STREQUAL trust))
      message("${opened}: ${answer} gave it other rights")
      math(EXPR faults "${faults} + 1")
    endif()
  endforeach()
endforeach()
file(WRITE ${WORK}/own.lua [[
local real = dofile(arg[1])
ui.wait("curves.curve", "loss")
real.begin()
real.key("ctrl+F5")
ui.wait("console.line", "free")
ui.absent("trust")
ui.quit()
]])
expect(own 0 "" ${display} ${mine} ${WORKBENCH} own ${VALIDATION} --size 1280x800
       --drive ${WORK}/own.lua ${SOURCE}/tests/ui/drives/real.lua)
finish()
