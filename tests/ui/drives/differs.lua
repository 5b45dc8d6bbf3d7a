-- A replay that differs from the run, since the file that its script reads has changed, and one that is cancelled.
-- arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local function write_points(scale)
  local file <close> = assert(io.open("points.tmp", "w"))
  for i = 1, 64 do
    local a, b = math.sin(i), math.cos(3 * i)
    file:write(("%.4f,%.4f,%.4f\n"):format(a, b, scale * (a - b)))
  end
  file:close()
  assert(os.rename("points.tmp", "points.csv"))
end

write_points(1)
ui.wait("curves.curve", "loss")
ui.click("panel", "Time")
ui.wait("time.keyframes", "keyframe")
while (real.step_in("time.step") or 0) < 1500 do ui.seconds(0.2) end

real.begin()
real.click("panel", "Time")

-- The script reads other data than the run did.
write_points(2)
for step = 100, 120 do  -- the values of some steps are kept: these are not replayed
  ui.show_step(step)
  ui.wait("time.step", "step " .. step)
  if ui.texts("time.step")[1]:find("replayed", 1, true) then break end
end
ui.wait("time.differs", "points.csv")
ui.expect("state", "running")
ui.picture(arg[1] .. "/differs.png")
real.click("time.live")
ui.wait("time.live", "on")
ui.absent("time.differs")

-- A replay ends immediately when it is cancelled; the run continues.
io.open("slow", "w"):close()
for step = 500, 520 do
  ui.show_step(step)
  ui.seconds(0.3)
  if #ui.texts("time.cancel") > 0 then break end
end
ui.picture(arg[1] .. "/replaying.png")
local before = real.step_in("step")
real.click("time.cancel")
for _ = 1, 100 do
  if #ui.texts("time.replay") == 0 then break end
  ui.seconds(0.1)
end
ui.absent("time.replay")
ui.absent("time.problem")
ui.expect("state", "running")
ui.seconds(0.5)
assert(real.step_in("step") > before, "the run stands still")
ui.quit()
