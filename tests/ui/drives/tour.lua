-- Shows every panel, in both themes, while a run is paused with a node selected. arg[1]: a folder for pictures, one per
-- panel.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.wait("curves.curve", "loss")
steps.pause()
ui.wait("tape.node", "linear [64, 10]")
steps.select("linear [64, 10]", "linear")
steps.capture()
local titles = steps.panels()
assert(#titles >= 12, "panels are missing: " .. table.concat(titles, ", "))
for i, theme in ipairs {"light", "dark"} do
  ui.theme(theme)
  for j, title in ipairs(titles) do
    ui.click("panel", title)
    ui.wait("panel", title .. " in front")
    ui.frames(4)
    if (i + j) % 2 == 0 then ui.picture(("%s/%s-%s.png"):format(arg[1], title:gsub("%W", "_"), theme)) end
  end
end

-- The cost of a frame while the run continues.
ui.key("F5")
ui.wait("state", "running")
local times = {}
for i = 1, 40 do
  ui.frames(1)
  times[i] = ui.frame_time()
end
table.sort(times)
print(("CPU time to build a frame: %.2f ms (median of 40), at most %.2f ms"):format(times[20], times[40]))
assert(times[20] < 8, "a frame takes too long to build")
steps.smallest()
