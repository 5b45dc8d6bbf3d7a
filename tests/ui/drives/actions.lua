-- What real mouse and keyboard do stands as lines of Lua in the console's tab Actions, and is saved as a script.
-- arg[1]: the folder. actions.cmake plays that script in a second window.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

ui.wait("curves.curve", "loss")
real.begin()
local function retype(name, text)
  real.click(name)
  real.key("ctrl+a")
  real.type(text)
  ui.wait(name, text, 10)
  real.key("Return")
end

-- A run that pauses at step 30.
real.click("panel", "Breakpoints")
real.click("breakpoints.condition")
real.click("breakpoints.condition_choice", "step")
real.click("breakpoints.text")
real.type("30")
ui.wait("breakpoints.text", "30", 10)
real.click("breakpoints.add")
ui.wait("breakpoints.item", "step 30")
real.key("ctrl+F5")
ui.wait("breakpoints.paused", "step 30")
for _ = 1, 2 do
  local before = ui.texts("step")[1]
  real.key("F8")
  while ui.texts("step")[1] == before do ui.frames(1) end
  ui.wait("state", "paused")
end

-- A parameter, a line of Lua, a node with its tensors, a kept step, a layout.
real.click("panel", "Parameters")
real.xdotool(real.aim("params.value.dropout", nil, 0.3) .. "mousedown 1")
for part = 31, 50 do
  real.xdotool(real.aim("params.value.dropout", nil, part / 100))
  ui.seconds(0.03)
end
real.xdotool("mouseup 1")
ui.seconds(0.3)
local dropout = ui.texts("params.value.dropout")[1]
assert(dropout ~= "0.2", "the slider has not moved")
real.click("panel", "Console")
retype("console.input", '"tab\\t" .. 6 * 7')
ui.wait("console.line", "42")
real.click("tape.node", "linear [64, 10]")
ui.wait("inspector.op", "linear")
real.click("preset")
real.click("preset.choice", "Inspect")
ui.wait("preset", "Inspect")

-- The lines: one for each action, in order; a drag is one.
real.click("panel", "Console")
real.click("console.tab", "Actions")
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
has 'ui.reach{pauses = 1, state = "paused"'
has 'ui.action("Step one iteration")'
has 'ui.action("Step one iteration")'
has(('ui.set_param("dropout", %s)'):format(dropout))
has [[ui.eval("\"tab\\t\" .. 6 * 7")]]
has 'ui.select_node{'
has 'ui.layout("Inspect")'
has 'ui.show_actions(true)'
local drags = select(2, table.concat(lines, "\n"):gsub("ui%.set_param", ""))
assert(drags == 1, drags .. " lines tell of one drag")
ui.picture(arg[1] .. "/actions.png")

real.click("actions.save")
retype("actions.path", "saved.lua")
while not io.open("saved.lua") do ui.frames(1) end
arg[1] = arg[1] .. "/first.txt"
dofile(arg[0]:match(".*/") .. "actions_shown.lua")
