-- Looks into every panel, in both themes, while a run is paused at a node that was selected. arg[1]: a folder for pictures.
ui.wait("curves.curve", "loss")
ui.key("F6")
ui.wait("state", "paused")
ui.wait("tape.node", "linear [64, 10]")
ui.click("tape.node", "linear [64, 10]")
ui.wait("inspector.op", "linear")
for _ = 1, 2 do
  ui.key("F8")
  ui.seconds(0.3)
  ui.wait("state", "paused")
end
local seen, count = {}, 0
for _, text in ipairs(ui.texts("panel")) do
  local title = text:gsub(" in front.*", "")
  if not seen[title] then
    seen[title] = true
    ui.click("panel", title)
    ui.seconds(0.3)
    count = count + 1
    for i, theme in ipairs {"light", "dark"} do
      ui.theme(theme)
      if count % 2 + 1 == i then ui.picture(("%s/%s.png"):format(arg[1], title:gsub("%W", "_"))) end
    end
  end
end
for _, title in ipairs {"Curves", "Console", "Tape", "Inspector"} do
  assert(seen[title], "no panel " .. title)
end

-- What a frame costs while the run goes on.
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
ui.resize(200, 100)
ui.frames(5)
