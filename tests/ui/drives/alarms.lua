-- The alarms of alarms_script.lua, with real input: the variable whose graph grows is named, the NaN has its true step
-- and one line, the norms of the weights are NaN, and alarms that are over are collapsed. arg[1]: a folder for
-- pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("not_finite", "since step 2000: log at alarms_script.lua:11")
ui.wait("console.line", "'total' holds the graphs of 50 steps and grows from step to step, at alarms_script.lua:14")
real.begin()
real.click("panel", "Gradients")
ui.wait("gradients.alarm", "! Inf: log at alarms_script.lua:11")
ui.wait("gradients.alarm", "! growing graph: total")
ui.wait("gradients.parameter", "NaN, weights NaN")
ui.wait("state", "finished, with")
local alarms = ui.texts("gradients.alarm")
assert(#alarms == 2, "more than one line a cause:\n" .. table.concat(alarms, "\n"))
assert(alarms[1]:find("since step 2000", 1, true), "not the step of the NaN: " .. alarms[1])
ui.picture(arg[1] .. "/alarms.png")
