-- The display's own mouse and keyboard, for drives: local real = dofile(arg[0]:match(".*/") .. "real.lua")
local real = {}

-- Runs xdotool and returns its output.
function real.xdotool(command)
  local pipe <close> = assert(io.popen("xdotool " .. command))
  return pipe:read("a")
end

-- From here on the window takes no injected input.
function real.begin()
  ui.real_input()
  real.window = assert(real.xdotool("search --class lunagrad-workbench"):match("%d+"), "xdotool does not find the window")
  real.xdotool("windowfocus " .. real.window)
  ui.seconds(0.2)
end

-- Where the item lies once it stays there: a popup, for one, takes its place in its second frame.
local function resting(name, text)
  local x, y, width, height = ui.rect(name, text)
  for _ = 1, 30 do
    local last_x, last_y = x, y
    ui.frames(1)
    x, y, width, height = ui.rect(name, text)
    if x == last_x and y == last_y then break end
  end
  return x, y, width, height
end

-- The arguments of xdotool that move the mouse to a part of an item, by default its middle.
function real.aim(name, text, part)
  local x, y, width, height = resting(name, text)
  return ("mousemove --window %s %.0f %.0f "):format(real.window, x + width * (part or 0.5), y + height / 2)
end

-- Taps of 1 ms, as fast as the display sends them.
function real.key(names)
  real.xdotool("key --delay 1 " .. names)
  ui.seconds(0.2)
end

function real.click(name, text)
  real.xdotool(real.aim(name, text) .. "click --delay 1 1")
  ui.seconds(0.3)
end

function real.pause()
  real.key("F6")
  ui.wait("state", "paused")
end

function real.type(text) real.xdotool(("type --delay 1 '%s'"):format(text)) end

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

-- Waits until no item of that name is shown.
function real.gone(name)
  local from = os.time()
  while #ui.texts(name) > 0 do
    assert(os.time() - from < 30, name .. " stays: " .. ui.texts(name)[1])
    ui.frames(1)
  end
end

return real
