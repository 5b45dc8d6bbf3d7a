-- A user looks at the trials of a sweep: a table of them, and parallel coordinates whose lines can be pointed at and chosen.
local name = arg[2]

if name == "near" then
  ui.wait("state", "finished")
  ui.click("panel", "Runs")
  ui.wait("runs.count", "25 runs")  -- with the script's own run
  ui.key("Ctrl+M")
  ui.click("runs.sweep")
  ui.click("runs.sweep.choice", "sweep near")
  ui.wait("runs.count", "24 of 25 runs")
else
  ui.wait("panel", "Runs in front")  -- nothing was clicked yet
  ui.click("panel", "Runs")
  ui.key("Ctrl+M")
  ui.wait("runs.count", "64 of 89 runs", 60)
end
ui.expect("runs.sweep", "sweep " .. name)
ui.expect("runs.parallel", "on")
ui.expect("runs.parallel.axis", "lr logarithmic")
ui.expect("runs.parallel.axis", "loss")
ui.wait("runs.run", name .. "/000")
local axes = ui.texts("runs.parallel.axis")
assert(#axes == (name == "near" and 4 or 3), table.concat(axes, ", "))
ui.picture(arg[1] .. "/sweep_" .. name .. ".png")

-- The line under the pointer stands out; a click selects its run, also in the table.
ui.hover("runs.parallel.line", name .. "/00002")
ui.wait("runs.parallel.line", name .. "/00002 under the pointer")
ui.picture(arg[1] .. "/sweep_" .. name .. "_hover.png")
ui.click("runs.parallel.line", name .. "/00002")
ui.wait("runs.parallel.line", name .. "/00002 chosen")
ui.wait("runs.run", name .. "/00002 ok  selected")
ui.picture(arg[1] .. "/sweep_" .. name .. "_chosen.png")

-- Words filter the lines, too.
ui.click("runs.filter")
ui.type("00001")
ui.wait("runs.count", "1 of")
ui.frames(2)
assert(#ui.texts("runs.parallel.line") <= 1)
ui.key("Ctrl+A")
ui.key("Delete")
ui.click("runs.parallel")
ui.wait("runs.parallel", "off")
ui.absent("runs.parallel.axis")

-- A narrow panel among the others.
ui.click("runs.parallel")
ui.key("Ctrl+M")
ui.frames(5)
ui.expect("runs.parallel.line", name .. "/00002")
ui.expect("runs.run", name .. "/000")  -- beside the lines, since the panel is low
ui.picture(arg[1] .. "/sweep_" .. name .. "_small.png")

-- The menu of a row; opening a run shows its curves, and Run then starts its script.
ui.right_click("runs.run", name .. "/000")
ui.wait("runs.menu", "Fork...")
ui.picture(arg[1] .. "/sweep_" .. name .. "_menu.png")
ui.click("runs.menu", "Open")
ui.wait("curves.curve", "loss")
ui.click("panel", "Console")
ui.wait("console.line", "Run starts its script from the beginning")
ui.quit()
