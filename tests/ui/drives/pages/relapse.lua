-- docs/find-the-bug.md: in a pause the gradient of the last standardize is wrong.
local steps = dofile(arg[0]:match(".*/") .. "../steps.lua")
ui.wait("state", "running")
ui.wait("curves.curve", "loss")
ui.seconds(20)
steps.pause()
ui.select_node {op = "standardize", nth = 4}
ui.wait("inspector.op", "standardize")
ui.wait("inspector.gradient", "[64, 64]")
repeat  -- until the values of the step stop changing
  ui.click("inspector.check_gradient")
  ui.frames(30)
until #ui.texts("inspector.verdict") > 0
ui.wait("inspector.verdict", "The gradient is wrong")
ui.quit()
