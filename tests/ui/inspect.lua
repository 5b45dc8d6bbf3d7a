-- A user looks into a step of the digits example: values, an element, a file, the node's gradient, the steps before.
-- arg[1]: a folder for pictures.
-- To the end of the next step; the tape is then that one's.
local function step()
  local before = ui.texts("step")[1]
  ui.key("F8")
  while ui.texts("step")[1] == before do ui.frames(1) end
  ui.wait("state", "paused")
end

ui.wait("curves.curve", "loss")
ui.key("F6")
ui.wait("state", "paused")
ui.wait("tape.node", "linear [64, 256]")
for _ = 1, 5 do step() end
ui.click("tape.node", "linear [64, 256]")
ui.wait("inspector.op", "linear")
ui.wait("inspector.value", "[64, 256] min")
ui.wait("inspector.gradient", "[64, 256] min")
ui.expect("inspector.place", "04_digits_mlp.lua:28")
ui.expect("inspector.statistics", "Value min")

-- An element, by mouse and by key, and a part of the slice.
ui.hover("inspector.cells")
ui.click("inspector.cells")
ui.wait("inspector.picked", "] = ")
ui.key("Right")
ui.wait("inspector.picked", "] = ")
ui.wheel("inspector.cells", 3)
ui.wait("inspector.all")
ui.picture(arg[1] .. "/inspector.png")
ui.click("inspector.all")

-- Any tensor of the node.
ui.click("inspector.show", "weight [256, 64]")
ui.wait("inspector.value", "[256, 64] min")
ui.wait("inspector.gradient", "[256, 64] min")
ui.click("inspector.mode", "Histogram")
ui.frames(3)
ui.picture(arg[1] .. "/inspector-histogram.png")
ui.click("inspector.mode", "Images")
ui.wait("inspector.images", "Value")
ui.click("inspector.mode", "Cells")
ui.click("inspector.scale", "Value")
ui.wait("inspector.logarithmic", "off")
ui.click("inspector.logarithmic")
ui.wait("inspector.logarithmic", "on")
ui.key("Escape")
while #ui.texts("inspector.logarithmic") > 0 do ui.frames(1) end
ui.expect("inspector.op", "linear")

-- Saved and copied.
ui.click("inspector.save", "Value")
ui.wait("inspector.save_now", "linear-fc1.weight.npy")
ui.click("inspector.save_now")
ui.wait("inspector.told", "saved")
ui.click("inspector.copy", "Gradient")
ui.click("inspector.copy_as", "as CSV")
ui.wait("inspector.told", "copied")

-- Is it right?
ui.click("inspector.check_gradient")
ui.wait("inspector.verdict", "The gradient is right")
ui.expect("inspector.checked", "weight [256, 64] right")
ui.picture(arg[1] .. "/inspector-check.png")
ui.click("inspector.compare_devices")
ui.wait("inspector.verdict")
ui.picture(arg[1] .. "/inspector-devices.png")
ui.click("inspector.back")

-- Three steps back in time, and forth again.
ui.click("panel", "Time")
ui.wait("time.kept", "tape and values")
ui.expect("time.live", "on")
ui.key(",")
ui.wait("time.live", "off")
ui.wait("inspector.step", "(kept)")
ui.key(",")
ui.key(",")
ui.wait("inspector.value", "[256, 64] min")
ui.picture(arg[1] .. "/time.png")
ui.theme("light")
ui.frames(2)
ui.picture(arg[1] .. "/time-light.png")
ui.theme("dark")
ui.key(".")
ui.click("time.live")
ui.wait("time.live", "on")
ui.resize(640, 420)
ui.expect("panel", "Time")
ui.resize(200, 100)
ui.frames(3)
ui.quit()
