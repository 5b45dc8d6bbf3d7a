# A run and a bundle of another owner: their curves are shown immediately, and a question comes before their code.
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
real.click("panel", "Console")
ui.wait("console.line", "free")
ui.absent("trust")
ui.quit()
]])
expect(own 0 "" ${display} ${mine} ${WORKBENCH} own ${VALIDATION} --size 1280x800
       --drive ${WORK}/own.lua ${SOURCE}/tests/ui/drives/real.lua)

# The steps of another owner's run are repeated, and new runs continue from them: with its module, and for a bundle with
# the data in it, which no longer exist here. --sandbox and --trust answer for the user.
file(WRITE ${WORK}/points.csv "1,2\n3,4\n")
file(WRITE ${WORK}/fit.lua [[
local lg = require "lunagrad"
local scale = require "lib.scale"
local points = arg[1] and lg.io.csv.load(arg[1]) or lg.ones(2, 2)
print(io and "free" or "boxed")
local w = lg.run.state("w", function() return lg.zeros(2, 2, {requires_grad = true}) end)
local rate = lg.run.live("rate", 0.1)
for step in lg.run.steps(20) do
  local loss = ((w * scale - points) ^ 2):mean()
  if w.grad then w.grad:zero_() end
  loss:backward()
  lg.no_grad(function() w:sub_(w.grad * rate()) end)
  lg.run.log {loss = loss}
end
]])
expect(made 0 "" ${theirs} ${LUNAGRAD} run fit.lua --run-dir fitted)
expect(made 0 "" ${theirs} ${LUNAGRAD} run fit.lua --run-dir read -- points.csv)
expect(bundled 0 "" ${theirs} ${LUNAGRAD} bundle read -o data.run)
file(REMOVE_RECURSE ${WORK}/points.csv ${WORK}/fit.lua ${WORK}/lib ${WORK}/read)
foreach(opened fitted data.run)
  foreach(answer sandbox trust)
    file(REMOVE_RECURSE ${WORK}/runs)
    file(REMOVE ${WORK}/mine/lunagrad/trust/trusted)
    expect("${opened} --${answer}" 0 "" ${display} ${mine} ${WORKBENCH} ${opened} --${answer} ${VALIDATION} --size 1280x800
           --drive ${SOURCE}/tests/ui/drives/trust_time.lua ${WORK} ${opened} ${answer})
    if(answer STREQUAL "trust" AND NOT EXISTS ${WORK}/mine/lunagrad/trust/trusted)
      message("${opened}: --trust was not remembered")
      math(EXPR faults "${faults} + 1")
    endif()
    # The new runs are the user's own, also without this window: their steps are repeated from their folders.
    file(GLOB new LIST_DIRECTORIES true ${WORK}/runs/*)
    list(LENGTH new count)
    if(NOT count EQUAL 3)
      message("${opened} --${answer}: ${count} runs instead of 3: ${new}")
      math(EXPR faults "${faults} + 1")
    endif()
    if(opened STREQUAL "fitted")
      foreach(run ${new})
        expect("probe of ${run}" 0 "20" ${mine} ${LUNAGRAD} probe ${run} w:sum\(\) --from 16)
      endforeach()
    endif()
  endforeach()
endforeach()
finish()
