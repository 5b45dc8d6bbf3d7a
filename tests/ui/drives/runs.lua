-- A user finds a few runs among a thousand, sorts them, and compares dozens of them: no frame takes more than 16 ms of
-- CPU time.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")
local slowest = {}

local function measured(what, frames)
  for _ = 1, frames do
    ui.frames(1)
    slowest[what] = math.max(slowest[what] or 0, ui.frame_time())
  end
end

ui.wait("state", "finished")
ui.click("panel", "Runs")
ui.key("Ctrl+M")
ui.wait("runs.count", "1001 runs", 120)
ui.expect("runs.run", "run-")
measured("list", 10)
ui.picture(arg[1] .. "/runs_many.png")
for _, column in ipairs {"last", "steps", "differences", "run"} do
  ui.click("runs.column", column)
  measured("sort", 3)
end
ui.wheel("runs.run", -30)
measured("scroll", 10)

ui.click("runs.filter")
for letter in ("run-1"):gmatch "." do
  ui.type(letter)
  measured("filter", 3)
end
ui.wait("runs.count", "113 of 1001 runs")
ui.key("Ctrl+A")
ui.type("run-8")
ui.wait("runs.count", "111 of 1001 runs")
ui.wheel("runs.run", 60)
ui.wait("runs.run", "run-8 unfinished")
ui.picture(arg[1] .. "/runs_torn.png")
ui.key("Ctrl+A")
ui.type("run-10")
ui.wait("runs.count", "13 of 1001 runs")
for _, run in ipairs(ui.texts("runs.show")) do ui.click("runs.show", run) end
measured("show", 20)
ui.key("Ctrl+M")
ui.click("panel", "Curves")
ui.wait("curves.curve", "loss")
measured("overlay", 20)
ui.picture(arg[1] .. "/runs_over.png")
for what, ms in pairs(slowest) do
  print(("%s: at most %.1f ms a frame"):format(what, ms))
  assert(ms < 16, what .. " takes too long")
end
ui.quit()
