-- One drag of a live slider, by the real mouse during a run, is one edit: one line of the console, one step of undo.
local function xdotool(command)
  local pipe <close> = assert(io.popen("xdotool " .. command))
  return pipe:read("a")
end

ui.wait("curves.curve", "loss")
ui.click("panel", "Parameters")
ui.wait("params.value.dropout", nil, 10)
ui.frames(5)
ui.real_input()
local window = assert(xdotool("search --class lunagrad-workbench"):match("%d+"), "xdotool does not find the window")
xdotool("windowfocus " .. window)
local x, y, width, height = ui.rect("params.value.dropout")
local at = "mousemove --window " .. window .. " %.0f %.0f "
xdotool(at:format(x + width * 0.3 // 1, y + height / 2) .. "mousedown 1")
for part = 31, 60 do
  xdotool(at:format(x + width * part // 100, y + height / 2))
  ui.seconds(0.03)
end
xdotool("mouseup 1")
ui.seconds(0.3)
local value = ui.texts("params.value.dropout")[1]
assert(value ~= "0.2", "the slider has not moved")
xdotool(at:format(0, 0))
local x, y, width, height = ui.rect("panel", "Console")
xdotool(at:format(x + width / 2 // 1, y + height / 2 // 1) .. "click 1")
ui.wait("console.line", "dropout = " .. value, 5)
local edits = 0
for _, line in ipairs(ui.texts("console.line")) do edits = edits + (line:find("dropout = ", 1, true) and 1 or 0) end
assert(edits == 1, edits .. " lines tell of one drag")
