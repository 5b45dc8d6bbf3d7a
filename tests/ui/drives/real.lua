-- The display's own mouse and keyboard, for drives: local real = dofile(arg[0]:match(".*/") .. "real.lua")
local real = {}

local function xdotool(command)
  local pipe <close> = assert(io.popen("xdotool " .. command))
  return pipe:read("a")
end

local window

function real.begin()
  ui.real_input()
  window = assert(xdotool("search --class lunagrad-workbench"):match("%d+"), "xdotool does not find the window")
  xdotool("windowfocus " .. window)
  ui.seconds(0.2)
end

-- Pressed and released in different frames: Dear ImGui polls mouse and keys once a frame.
local function press(kind, what)
  xdotool(kind .. "down " .. what)
  ui.seconds(0.12)
  xdotool(kind .. "up " .. what)
  ui.seconds(0.12)
end

function real.key(name)
  press("key", name)
end

function real.click(name, text)
  local x, y, width, height = ui.rect(name, text)
  xdotool(("mousemove --window %s %.0f %.0f"):format(window, x + width / 2, y + height / 2))
  ui.seconds(0.12)
  press("mouse", "1")
end

function real.type(text) xdotool(("type --delay 40 '%s'"):format(text)) end

-- The number of the step that an item names.
function real.step_in(name)
  local text = ui.texts(name)[1]
  return text and tonumber(text:match("step (%d+)"))
end

-- Clicks the node and waits for its value and gradient; both must be there without a further step. All numbers of
-- the step are equal.
function real.look(node)
  real.click("tape.node", node)
  ui.wait("inspector.value", " min", 20)
  ui.wait("inspector.gradient", " min", 20)
  local tape, inspector = real.step_in("tape.summary"), real.step_in("inspector.step")
  assert(tape == inspector, ("the tape is of step %s, the inspector of step %s"):format(tape, inspector))
  return tape
end

return real
