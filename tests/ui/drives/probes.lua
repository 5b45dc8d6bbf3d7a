-- Probes of a running script, by the real mouse and keys: a new probe has the values of earlier steps too, with the
-- bits that the script logged. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

-- Fills in the open form, and adds the probe.
local function add(expression, place, name)
  ui.wait("probes.name")
  for field, text in pairs {expression = expression, place = place, name = name} do
    real.click("probes." .. field)
    real.xdotool("key --delay 1 ctrl+a BackSpace")
    real.type(text)
  end
  real.key("Return")
end

local function look(name)  -- a picture without a tooltip
  real.xdotool(real.aim("state", nil, 0.5))
  ui.seconds(0.3)
  ui.picture(arg[1] .. "/" .. name .. ".png")
end

-- The points of each metric in a CSV file: {[name] = {[step] = value}} as text.
local function points(path)
  local metrics = {}
  for line in io.lines(path) do
    local metric, step, value = line:match '^[^,]*,"?([^,"]*)"?,([%d.e+]+),[^,]*,([^,]*),'
    if metric and metric ~= "metric" then
      metrics[metric] = metrics[metric] or {}
      metrics[metric][tonumber(step)] = value
    end
  end
  return metrics
end

-- The probe's curve has each logged value up to `last`, and nothing else.
local function compare(probe, logged, last)
  local path = ("%s/%s-%d.csv"):format(arg[1], probe:gsub("%W", "_"), last)
  ui.export_curves(path)
  ui.wait("curves.exported", "wrote " .. path)
  local metrics = points(path)
  local mine, theirs = assert(metrics[probe], "no curve of the probe " .. probe), assert(metrics[logged])
  for step = 1, last do
    assert(mine[step] == theirs[step], ("step %d of %s: %s, logged %s"):format(step, probe, mine[step], theirs[step]))
  end
end

ui.wait("curves.curve", "loss")
ui.click("panel", "Time")
ui.wait("time.section", "Probes")
ui.click("time.section", "Probes")
ui.reach {state = "running", step = 200}

-- While the run continues.
ui.add_probe {expression = "norm of model.fc1.weight.grad", name = "gradient"}
ui.wait("probes.state", "gradient: live, steps 1 to", 120)
ui.expect("state", "running")
ui.wait("curves.curve", "gradient (probe)")

-- During a pause earlier steps come immediately.
real.begin()
real.key("F6")
ui.wait("state", "paused")
ui.wait("probes.new")
real.click("probes.new")
ui.wait("probes.expression")
look("form")
add("mean of loss", "20", "line")
ui.wait("probes.state", "line: from the next step on, steps 1 to", 120)
ui.wait("curves.curve", "line (probe)")
look("paused")

-- An expression that writes is an error beside the probe, and changes nothing.
real.click("probes.new")
add("model.fc1.weight:zero_()", "", "writes")
ui.wait("probes.error", "writes: step", 120)
look("error")
real.click("probes.remove", "writes")
ui.wait("time.section", "Probes (2)")
-- An invalid place and invalid Lua stay in the form.
real.click("probes.new")
add("model.fc1.bias:norm()", "train.lua:none", "")
ui.wait("probes.problem", "is no line")
add("model.", "", "")
ui.wait("probes.problem", "<name> expected")
look("wrong")
real.key("Escape")

-- One step more: no step is left out between the repeated steps and the run's.
local stopped = tonumber(ui.texts("time.strip")[1]:match("to (%d+)"))
for _ = 1, 3 do
  local pauses = ui.texts("step")[1]
  real.key("F8")
  while ui.texts("step")[1] == pauses do ui.seconds(0.1) end
end
ui.wait("probes.state", "line: live, steps 1 to", 60)
compare("gradient", "fc1", stopped + 1)
compare("line", "loss", stopped + 1)

-- From the menu of a parameter on the tape.
real.xdotool(real.aim("tape.node", "weight") .. "click 3")
ui.wait("probes.item", "fc")
ui.picture(arg[1] .. "/menu.png")
real.click("probes.item")
ui.wait("probes.expression", "norm of lg.surgery.get(\"model.fc")
look("proposed")
real.click("probes.add")
ui.wait("time.section", "Probes (3)")
ui.wait("probes.state", "gradient norm: from the next step on, steps 1 to", 120)
look("three")

-- A reload keeps the values and goes on; another run evaluates them from its first step.
ui.remove_probe("line")
ui.action("Clean run")
local at
repeat
  ui.seconds(0.05)
  at = tonumber((ui.texts("time.strip")[1] or ""):match("to (%d+)"))
until at and at >= 50 and at < stopped
ui.wait("probes.state", "gradient: live")
ui.action("Pause")
ui.wait("state", "paused")
compare("gradient", "fc1", tonumber(ui.texts("time.strip")[1]:match("to (%d+)")))
ui.action("Stop")
ui.reach {state = "ended", ended = 2}
-- An ended run is repeated.
ui.add_probe {expression = "max of model.fc2.weight", name = "late"}
ui.wait("probes.state", "late: steps 1 to", 120)
look("ended")
ui.quit()
