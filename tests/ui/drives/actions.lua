-- Actions of real mouse and keyboard appear as lines of Lua in the console's tab Actions, and are saved as a script.
-- arg[1]: the folder. actions.cmake plays that script in a second window.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

ui.wait("curves.curve", "loss")
real.begin()
-- Clicks, and waits until the item that the click leads to is shown in its final place.
local function press(name, text, shown, shown_text)
  real.click(name, text)
  ui.wait(shown, shown_text, 20)
  ui.frames(3)
end
local function enter(name, text)
  real.click(name)
  real.key("ctrl+a")
  real.type(text)
  ui.wait(name, text, 20)
  real.key("Return")
end

-- A run that pauses at step 30, and two steps more.
press("panel", "Breakpoints", "breakpoints.condition")
press("breakpoints.condition", nil, "breakpoints.condition_choice")
press("breakpoints.condition_choice", "step", "breakpoints.text")
enter("breakpoints.text", "30")
ui.wait("breakpoints.item", "step 30")
real.key("ctrl+F5")
ui.wait("breakpoints.paused", "step 30")
for step = 30, 31 do
  real.key("F8")
  ui.wait("step", ("step %d "):format(step))
  ui.wait("state", "paused")
end

-- A parameter, a line of Lua, a node with its tensors, a layout.
press("panel", "Parameters", "params.value.dropout")
real.xdotool(real.aim("params.value.dropout", nil, 0.3) .. "mousedown 1")
for part = 31, 50 do
  real.xdotool(real.aim("params.value.dropout", nil, part / 100))
  ui.seconds(0.03)
end
real.xdotool("mouseup 1")
ui.seconds(1)
local dropout = ui.texts("params.value.dropout")[1]
assert(dropout ~= "0.2", "the slider has not moved")
press("panel", "Console", "console.input")
enter("console.input", '"tab\\t" .. 42')
ui.wait("console.line", "42")
press("tape.node", "linear [64, 10]", "inspector.op", "linear")
press("preset", nil, "preset.choice")
press("preset.choice", "Inspect", "preset", "Inspect")
press("panel", "Console", "console.tab")
press("console.tab", "Actions", "actions.line")

-- The lines: one for each action, in order; a drag is one.
local lines = ui.texts("actions.line")
local at = 1
local function has(text)
  for i = at, #lines do
    if lines[i]:find(text, 1, true) then
      at = i + 1
      return
    end
  end
  error(text .. " is not among the lines, or not in order:\n" .. table.concat(lines, "\n"))
end
has 'ui.show_panel("Breakpoints")'
has 'ui.add_breakpoint{condition = "step", step = 30}'
has 'ui.action("Clean run")'
has 'pauses = 1, state = "paused"'
has 'ui.action("Step one iteration")'
has 'ui.action("Step one iteration")'
has(('ui.set_param("dropout", %s)'):format(dropout))
has [[ui.eval("\"tab\\t\" .. 42")]]
has 'ui.select_node{'
has 'ui.layout("Inspect")'
has 'ui.show_actions(true)'
local drags = select(2, table.concat(lines, "\n"):gsub("ui%.set_param", ""))
assert(drags == 1, drags .. " lines tell of one drag")
ui.picture(arg[1] .. "/actions.png")

press("actions.save", nil, "actions.path")
enter("actions.path", "saved.lua")
for _ = 1, 200 do
  if io.open("saved.lua") then break end
  ui.frames(5)
end
assert(io.open("saved.lua"), "the lines are not saved: " .. tostring(ui.texts("actions.path")[1]))
arg[1] = arg[1] .. "/first.txt"
dofile(arg[0]:match(".*/") .. "actions_shown.lua")
