-- Probes of a run that goes on, by the real mouse and keys: a new one has the values of earlier steps too, bit for bit
-- those that the script logged. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local function fill(field, text)
  real.click("probes." .. field)
  real.xdotool("key --delay 1 ctrl+a BackSpace")
  real.type(text)
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

-- Each logged value up to `last` stands in the probe's curve, and nothing else.
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
while (real.step_in("time.step") or 0) < 500 do ui.seconds(0.1) end
real.begin()
ui.wait("time.section", "Probes")
real.click("time.section", "Probes")
ui.wait("probes.expression")
ui.picture(arg[1] .. "/form.png")

-- At the end of each step, while the run goes on.
fill("expression", "norm of model.fc1.weight.grad")
fill("name", "gradient")
real.key("Return")
ui.wait("probes.state", "gradient: live since step", 60)
ui.wait("probes.state", "repeated steps 1 to", 120)
ui.expect("state", "running")
ui.expect("time.section", "Probes (1)")
ui.wait("curves.curve", "gradient (probe)")
ui.picture(arg[1] .. "/filled.png")

-- An expression that writes is an error beside the probe, and changes nothing.
fill("expression", "model.fc1.weight:zero_()")
fill("name", "writes")
real.click("probes.add")
ui.wait("probes.error", "writes: step")
ui.expect("state", "running")
ui.picture(arg[1] .. "/error.png")
real.click("probes.remove", "writes")
ui.wait("time.section", "Probes (1)")
-- One that is no Lua, and a place that is no line, stay in the form.
fill("expression", "model.")
real.click("probes.add")
ui.wait("probes.problem", "")
fill("expression", "model.fc1.bias:norm()")
fill("place", "train.lua:none")
real.click("probes.add")
ui.wait("probes.problem", "is no line")
fill("place", "")

-- During a pause earlier steps come at once.
real.key("F6")
ui.wait("state", "paused")
fill("expression", "mean of loss")
fill("place", "20")
fill("name", "line")
real.click("probes.add")
ui.wait("probes.state", "line: from the next step on, repeated steps 1 to", 120)
ui.wait("curves.curve", "line (probe)")
ui.picture(arg[1] .. "/paused.png")
-- One step more: no step is left out between the repeated ones and those of the run.
local stopped = real.step_in("time.step")
real.key("F8")
ui.reach {state = "paused"}
real.key("F8")
ui.reach {state = "paused"}
ui.wait("probes.state", "line: live since step", 60)
compare("gradient", "fc1", stopped)
compare("line", "loss", stopped + 1)

-- From the menu of a parameter on the tape.
ui.right_click("tape.node", "weight")
ui.wait("probes.item", "fc")
ui.picture(arg[1] .. "/menu.png")
ui.click("probes.item")
ui.wait("probes.expression", "norm of lg.surgery.get(\"fc")
ui.picture(arg[1] .. "/proposed.png")
ui.click("probes.add")
ui.wait("time.section", "Probes (3)")
ui.wait("probes.state", "gradient norm: from the next step on, repeated steps 1 to", 120)

-- A reload keeps the values and goes on; another run evaluates them from its first step.
ui.remove_probe("line")
ui.action("Clean run")
ui.reach {state = "running", step = 50}
ui.wait("probes.state", "gradient: live")
ui.key("F6")
ui.wait("state", "paused")
compare("gradient", "fc1", real.step_in("time.step") - 1)
ui.action("Stop")
ui.wait("state", "stopped")
-- An ended run is repeated.
ui.add_probe {expression = "max of model.fc2.weight", name = "late"}
ui.wait("probes.state", "late: repeated steps 1 to", 120)
ui.picture(arg[1] .. "/ended.png")
ui.quit()
