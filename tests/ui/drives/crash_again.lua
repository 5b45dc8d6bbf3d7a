-- The start after crash.lua, with real input. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")
local function last_end()
  for _, line in ipairs(ui.texts("console.line")) do
    local value = line:match("end 8000 (%S+)")
    if value then return value end
  end
end
ui.wait("notice", "Lunagrad closed unexpectedly. Layout and script were restored.")
ui.expect("notice.action", "Resume run")
ui.picture(arg[1] .. "/crashed.png")
real.begin()
real.click("notice.action")
ui.wait("state", "running")
ui.wait("console.line", "end 8000", 120)
ui.absent("notice")
local resumed = last_end()
local first = tonumber(ui.texts("curves.curve")[1]:match("(%d+) points"))
assert(first < 8000, "the run began anew: its curve has " .. first .. " points")
real.click("console.clear")
real.key("ctrl+F5")
ui.wait("console.line", "end 8000", 120)
assert(last_end() == resumed, "the resumed run ended differently")
ui.quit()
