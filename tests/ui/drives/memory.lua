-- arg[2]: MiB that the run uses without a window.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local own = tonumber(arg[2])
ui.layout("Watch")

ui.wait("tape.node", "tanh")
steps.select("tanh", "tanh")
ui.click("panel", "Time")
ui.click("time.section", "Memory")
-- A selected node has steps captured, until the oldest are dropped.
local deadline = os.time() + 120
while tonumber(ui.texts("time.memory")[1]:match("^(%d+)")) < 160 do
  assert(os.time() < deadline, "the budget is not used: " .. ui.texts("time.memory")[1])
  ui.frames(5)
end
for _, panel in ipairs(steps.panels()) do
  ui.click("panel", panel)
  ui.frames(2)
end
for _, panel in ipairs {"Tape", "Inspector", "Time"} do ui.click("panel", panel) end
steps.pause()
steps.capture()
ui.wait("inspector.cells")
ui.frames(10)
ui.picture(arg[1] .. "/memory.png")

local shown = ui.texts("time.memory")[1]
local held, budget, pictures = shown:match("^([%d.]+) MiB of (%d+) MiB, pictures ([%d.]+) MiB")
assert(tonumber(held) <= tonumber(budget), "more is kept than the budget: " .. shown)
assert(tonumber(pictures) > 0, "no pictures are counted: " .. shown)
ui.expect("memory.window", budget .. " MiB")
local above = ui.memory("resident") / (1 << 20) - own
print(("the window holds %.0f MiB above the run's own %d MiB; it shows %s"):format(above, own, shown))
assert(above < 512e6 / (1 << 20), ("the window holds %.0f MiB above the run's own"):format(above))
ui.quit()
