# Two sweeps of a script: one beside it, which the panel Runs finds, and one that is opened as a folder.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
get_filename_component(programs ${WORKBENCH} DIRECTORY)
set(LUNAGRAD ${programs}/lunagrad)
file(WRITE ${WORK}/train.lua [[
local lg = require "lunagrad"
local lr, width = lg.run.param("lr", 0.1), lg.run.param("width", 8)
local optimizer = lg.run.param("optimizer", "sgd")
for step in lg.run.steps(20) do
  lg.run.log {loss = math.abs(math.log(lr / 1e-2, 10)) + 8 / width + (optimizer == "sgd" and 0.3 or 0) + 1 / step}
end
]])
expect(new 0 "24 trials" ${LUNAGRAD} sweep new near train.lua --grid width=8,16,64 --random lr=1e-4..1:log
       --random optimizer=sgd,adam,lion --trials 24 --seed 5)
expect(join 0 "trial 24: finished" ${LUNAGRAD} sweep join near)
expect(new 0 "64 trials" ${LUNAGRAD} sweep new far/away train.lua --random lr=1e-3..9e-3:log --grid width=8,16
       --trials 64 --asha loss --smallest 2)
expect(join 0 "trial 64: waits" ${LUNAGRAD} sweep join far/away)

expect(near 0 "" ${display} ${WORKBENCH} ${WORK}/train.lua ${VALIDATION} --size 1280x800
       --drive ${SOURCE}/tests/ui/drives/sweep.lua ${WORK} near)
expect(far 0 "" ${display} ${WORKBENCH} far/away ${VALIDATION} --size 1280x800 --light
       --drive ${SOURCE}/tests/ui/drives/sweep.lua ${WORK} away)

# A sweep that maximises a metric other than the loss: brushes.
file(WRITE ${WORK}/score.lua [[
local lg = require "lunagrad"
local lr, optimizer = lg.run.param("lr", 0.1), lg.run.param("optimizer", "sgd")
for step in lg.run.steps(20) do
  local score = 1 - math.abs(math.log(lr / 1e-2, 10)) / 4 + ({adam = 0.01, lion = 0.02, sgd = 0})[optimizer]
  lg.run.log {loss = 1 / step, score = score - 1 / step}
end
]])
expect(new 0 "12 trials" ${LUNAGRAD} sweep new best score.lua --grid lr=0.0001,0.001,0.01,0.1
       --grid optimizer=sgd,adam,lion --trials 12 --maximize score)
expect(join 0 "trial 12: finished" ${LUNAGRAD} sweep join best)
expect(best 0 "" ${display} ${WORKBENCH} best ${VALIDATION} --size 1280x800
       --drive ${SOURCE}/tests/ui/drives/brush.lua ${WORK})
finish()
