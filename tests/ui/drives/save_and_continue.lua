-- In a pause the script is edited and saved, and F5 follows within milliseconds: the run continues with the new text,
-- whatever the state of the reload. The same holds when F5 directly follows a single step or a pause.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")
local function count() return tonumber(ui.texts("step")[1]:match("%d+")) end

-- Waits until the run has made some steps. A run that paused again would make none.
local function goes_on(what)
  local from, deadline = count(), os.time() + 15
  while count() < from + 200 do
    assert(os.time() < deadline, what .. ": the run stands at step " .. count() .. ", " .. ui.texts("state")[1])
    ui.frames(2)
  end
end

ui.wait("state", "running")
goes_on("the start")
for round = 1, 10 do
  steps.pause()
  ui.click("panel", "Editor")
  ui.wait("editor.line", "version")
  ui.click("editor.line", "version")
  ui.key("Ctrl+Home")
  ui.type("version = (version or 0) + 1 ")
  ui.key("Ctrl+S")
  ui.frames(round - 1)  -- from immediately to well after the reload
  ui.key("F5")
  ui.wait("console.line", "version " .. round)
  goes_on("round " .. round .. ", after the save")
  ui.key("F8")
  ui.key("F5")
  goes_on("round " .. round .. ", after a step")
  ui.key("F6")
  ui.key("F5")
  goes_on("round " .. round .. ", after a pause")
end
ui.quit()
