-- docs/find-the-bug.md: a click on the thin peak at step 148 repeats that step.
local real = dofile(arg[0]:match(".*/") .. "../real.lua")
ui.wait("state", "finished", 120)
ui.wait("curves.curve", "loss 400 points")
ui.click("panel", "Time")
ui.wait("panel", "Time in front")
real.begin()
local x, y, width, height = ui.rect("curves.chart", "loss")
-- The peak is the largest value, with a sixteenth of the height above it.
real.xdotool(("mousemove --window %s %.0f %.0f click --delay 1 1"):format(
  real.window, x + width * (148 - 1) / (400 - 1), y + height / 18))
ui.wait("time.step", "step 148", 60)
ui.wait("tape.summary", "step 148")
real.click("tape.node", "linear [64, 128]")
ui.wait("inspector.op", "linear")
ui.wait("inspector.value", "[64, 128] min", 60)
local least = tonumber(ui.texts("inspector.value")[1]:match("min (%S+)"))
assert(math.abs(least + 360) < 10, "the first linear goes down to -360, not " .. least)
ui.quit()
