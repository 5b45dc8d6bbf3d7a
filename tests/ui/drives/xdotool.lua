-- Input through the display's own mouse and keyboard, as a person does it.
local function xdotool(command)
  local pipe <close> = assert(io.popen("xdotool " .. command))
  return pipe:read("a")
end

ui.wait("curves.curve", "loss")
ui.real_input()
local window = xdotool("search --class lunagrad-workbench"):match("%d+")
assert(window, "xdotool does not find the window")

-- Pressed and released in different frames, since Dear ImGui polls mouse and keys once per frame; the display has latency.
local function press(kind, what)
  xdotool(kind .. "down " .. what)
  ui.seconds(0.2)
  xdotool(kind .. "up " .. what)
  ui.seconds(0.2)
end

local function click(name, text)
  local x, y, width, height = ui.rect(name, text)
  xdotool(("mousemove --window %s %.0f %.0f"):format(window, x + width / 2, y + height / 2))
  ui.seconds(0.2)
  press("mouse", "1")
end

xdotool("windowfocus " .. window)
ui.seconds(0.2)
click("pause")
ui.wait("state", "paused")
click("tape.node", "linear [64, 10]")
ui.wait("inspector.op", "linear")
click("console.input")
xdotool("type --delay 40 '6 * 7'")
ui.wait("console.input", "6 * 7")
press("key", "Return")
ui.wait("console.line", "42")
press("key", "Escape")
press("key", "F5")
ui.wait("state", "running")
press("key", "shift+F5")
ui.wait("state", "stopped")
