-- One drag of a live slider, by the real mouse during a run, is one edit: one line of the console, one step of undo.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

ui.wait("curves.curve", "loss")
ui.click("panel", "Parameters")
ui.wait("params.value.dropout", nil, 10)
ui.frames(5)
real.begin()
local x, y, width, height = ui.rect("params.value.dropout")
local function to(part)
  return ("mousemove --window %s %.0f %.0f "):format(real.window, x + width * part, y + height / 2)
end
real.xdotool(to(0.3) .. "mousedown 1")
for part = 31, 60 do
  real.xdotool(to(part / 100))
  ui.seconds(0.03)
end
real.xdotool("mouseup 1")
ui.seconds(0.3)
local value = ui.texts("params.value.dropout")[1]
assert(value ~= "0.2", "the slider has not moved")
real.click("panel", "Console")
ui.wait("console.line", "dropout = " .. value, 5)
local edits = 0
for _, line in ipairs(ui.texts("console.line")) do edits = edits + (line:find("dropout = ", 1, true) and 1 or 0) end
assert(edits == 1, edits .. " lines tell of one drag")
