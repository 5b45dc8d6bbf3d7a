-- An error in step 10 is marked on the tape of step 10, with the shapes of that step and its values.
-- arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("console.error", "matmul")
ui.wait("tape.summary", "step 10")
ui.wait("tape.node", "failed")
real.begin()
ui.expect("tape.node", "relu [7, 8]")
real.click("tape.node", "relu [7, 8]")
ui.wait("inspector.value", "[7, 8] min")
ui.wait("inspector.gradient", "backward() has not run")
ui.expect("inspector.step", "step 10")
ui.picture(arg[1] .. "/error.png")
ui.quit()
