-- Mouse and keyboard of the display itself, for drives: local real = dofile(arg[0]:match(".*/") .. "real.lua")
local real = {}

local function xdotool(command)
  local pipe <close> = assert(io.popen("xdotool " .. command))
  return pipe:read("a")
end

local window

function real.begin()
  ui.real_input()
  window = xdotool("search --class lunagrad-workbench"):match("%d+")
  assert(window, "xdotool does not find the window")
  xdotool("windowfocus " .. window)
  ui.seconds(0.2)
end

-- Pressed and released in different frames, since Dear ImGui polls mouse and keys once per frame; the display has latency.
local function press(kind, what)
  xdotool(kind .. "down " .. what)
  ui.seconds(0.2)
  xdotool(kind .. "up " .. what)
  ui.seconds(0.2)
end

function real.key(name) press("key", name) end

function real.click(name, text)
  local x, y, width, height = ui.rect(name, text)
  xdotool(("mousemove --window %s %.0f %.0f"):format(window, x + width / 2, y + height / 2))
  ui.seconds(0.2)
  press("mouse", "1")
end

function real.type(text) xdotool(("type --delay 40 '%s'"):format(text)) end

return real
