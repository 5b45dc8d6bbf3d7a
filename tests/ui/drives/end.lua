-- The end of a run is like a pause; one step from there begins a new run, shows its first step with values, and the
-- picture never disappears. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")
ui.wait("state", "finished", 120)
ui.wait("tape.node", "linear [64, 256]")
real.begin()
local last = real.look("linear [64, 256]")
assert(last == real.step_in("step"), "the tape does not belong to the last step but to step " .. tostring(last))
ui.picture(arg[1] .. "/end.png")
real.key("F8")
ui.wait("console.line", "to the end of its first step")
local from = os.time()
while real.step_in("step") ~= 1 or real.step_in("tape.summary") ~= 1 or ui.texts("state")[1] ~= "paused" do
  assert(#ui.texts("tape.node") > 0, "the tape is blank")
  assert(os.time() - from < 60, "the new run does not pause in step 1 but is at " .. tostring(ui.texts("step")[1]))
  ui.frames(1)
end
ui.wait("tape.summary", "step 1")
assert(real.look("relu") == 1)
ui.picture(arg[1] .. "/first.png")
ui.quit()
