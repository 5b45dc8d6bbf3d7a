-- A run whose loss becomes NaN (first_nan_script.lua), with real input: the badge and the mark appear without a request
-- and name the op, the end is not green, and running again pauses at that op with its operands. arg[1]: a folder for
-- pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("not_finite", "NaN since step 20: sqrt at first_nan_script.lua:8")
ui.wait("state", "finished, with NaN")
ui.wait("curves.mark", "NaN since step 20: sqrt at first_nan_script.lua:8")
ui.expect("step", "400")
ui.expect("curves.legend", "loss NaN")
for _, text in ipairs(ui.texts("curves.legend")) do assert(not text:find("-nan", 1, true), text) end
ui.picture(arg[1] .. "/badge.png")
real.begin()
real.click("not_finite")
ui.wait("not_finite.explanation", "the root of a negative number is NaN")
ui.picture(arg[1] .. "/popup.png")
real.click("not_finite.again")
ui.wait("state", "paused")
ui.wait("inspector.op", "sqrt")
ui.expect("inspector.place", "first_nan_script.lua:8")
ui.wait("inspector.not_finite", "1 NaN")
ui.picture(arg[1] .. "/again.png")
real.click("inspector.check_gradient")
ui.wait("inspector.verdict")
