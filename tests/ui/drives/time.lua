-- Goes back to steps that are no longer kept, by the real mouse and keys: by the track, by a key, and by a click on
-- a curve. The run goes on meanwhile. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")
local kMostKept = 1000

local function shown() return real.step_in("time.step") end
local function press_track(part) real.xdotool(real.aim("time.strip", nil, part) .. "mousedown 1") end

ui.wait("curves.curve", "loss")
ui.click("panel", "Time")
ui.wait("time.keyframes", "keyframe")
while (shown() or 0) < kMostKept + 500 do ui.seconds(0.2) end

-- Dragging shows the cost of a step before anything is repeated.
real.begin()
ui.seconds(0.5)  -- the panel takes its place
press_track(0.1)
ui.wait("time.cost", "from the")
ui.expect("time.live", "on")
ui.picture(arg[1] .. "/cost.png")
real.xdotool("mouseup 1")
ui.wait("time.step", "(replayed)")
ui.expect("time.live", "off")
ui.expect("state", "running")
ui.absent("time.differs")
local first = shown()
local latest = tonumber(ui.texts("time.strip")[1]:match("to (%d+)"))
assert(first > 1 and first < latest / 5, ("the track of %d steps has led to step %d"):format(latest, first))
ui.wait("tape.summary", "step " .. first)
assert(real.look("linear [64, 256]") == first, "the node is of another step")
ui.picture(arg[1] .. "/replayed.png")

-- One step further by keys; it begins at the replay's position.
real.click("panel", "Time")
real.key("Right")
ui.wait("time.cost", "1 step from the replayed step " .. first)
real.key("Return")
ui.wait("time.step", "step " .. first + 1 .. " (replayed)")
ui.wait("tape.summary", "step " .. first + 1)

-- The run has continued, and one click leads back to it.
real.click("time.live")
ui.wait("time.live", "on")
local tries = 0
while (shown() or 0) <= kMostKept and tries < 100 do
  ui.seconds(0.1)
  tries = tries + 1
end
assert(shown() > kMostKept, "the run stands still at step " .. shown())

-- A click on a curve, while the run is paused.
real.key("F6")
ui.wait("state", "paused")
real.xdotool(real.aim("curves.chart", "loss", 0.2) .. "click 1")
ui.wait("time.step", "(replayed)")
ui.absent("time.problem")
ui.wait("tape.summary", "step " .. shown())
ui.picture(arg[1] .. "/curve.png")

-- Home and Enter: the first step, from the beginning.
real.click("panel", "Time")
real.key("Home")
ui.wait("time.cost", "1 step from the beginning")
real.key("Return")
ui.wait("time.step", "step 1 (replayed)")
real.key("End")
ui.wait("time.live", "on")
ui.quit()
