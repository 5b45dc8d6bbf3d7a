-- A user looks for the settings that make a sweep's metric large: the metric that it maximises is chosen, settings are columns
-- that sort, and brushes on the axes of the parallel coordinates select rows and curves. arg[1] is a folder for pictures.

-- Runs fills the window, or Curves is in front.
local function to_runs()
  ui.click("panel", "Runs")
  ui.key("Ctrl+M")
  ui.frames(3)
end
local function to_curves()
  ui.key("Ctrl+M")
  ui.click("panel", "Curves")
end

-- How many items of that name have a text that matches.
local function count(item, pattern)
  local found = 0
  for _, text in ipairs(ui.texts(item)) do found = found + (text:find(pattern) and 1 or 0) end
  return found
end

ui.wait("panel", "Runs in front")
to_runs()
ui.wait("runs.count", "12 of ", 60)

-- The metric of the sweep, with the best trial first.
ui.wait("runs.metric", "score")
ui.frames(3)
local columns = ui.texts("runs.column")
assert(columns[3] == "best score" and columns[4] == "lr" and columns[5] == "optimizer", table.concat(columns, ", "))
local function first(item, what) return tonumber(ui.texts(item)[1]:match(what .. " (%S+)$")) end
assert(math.abs(first("runs.best", "") - 0.97) < 1e-6, ui.texts("runs.best")[1])
ui.picture(arg[1] .. "/sweep_best.png")

-- A setting sorts by its numbers.
ui.click("runs.column", "lr")
ui.frames(3)
assert(first("runs.setting", "lr") == 0.0001, ui.texts("runs.setting")[1])
ui.click("runs.column", "lr")
ui.frames(3)
assert(first("runs.setting", "lr") == 0.1, ui.texts("runs.setting")[1])

-- Dragging along an axis selects: half of the learning rates, then of these one optimizer.
local function pale() return count("runs.parallel.line", " out") end
local _, _, _, height = ui.rect("runs.parallel.track", "lr")
ui.drag("runs.parallel.track", "lr", 0, -height / 2)
ui.wait("runs.count", "6 of ")
ui.expect("runs.parallel.brush", "lr")
assert(pale() == 6, pale() .. " lines are pale")
ui.drag("runs.parallel.axis", "optimizer", 0, height * 0.3)
ui.wait("runs.count", "2 of ")
assert(pale() == 10, pale() .. " lines are pale")
for _, cell in ipairs(ui.texts("runs.setting")) do
  assert(cell:find("optimizer sgd", 1, true) or tonumber(cell:match("lr (%S+)$")) >= 0.01, cell)
end
ui.picture(arg[1] .. "/sweep_brushed.png")

-- The curves follow the brushes.
to_curves()
local function curves() return count("curves.curve", "^score") end
for _ = 1, 600 do
  if curves() == 2 then break end
  ui.frames(1)
end
assert(curves() == 2, curves() .. " curves")
ui.picture(arg[1] .. "/sweep_followed.png")

-- A click on an axis clears its brush, without choosing a run.
to_runs()
ui.click("runs.parallel.axis", "optimizer")
ui.wait("runs.count", "6 of ")
ui.click("runs.parallel.track", "lr")
ui.wait("runs.count", "12 of ")
ui.absent("runs.parallel.brush")
for _, line in ipairs(ui.texts("runs.parallel.line")) do assert(not line:find("chosen", 1, true), line) end

-- The brush on the metric's axis goes with the metric; then no curves are left, as before.
ui.drag("runs.parallel.axis", "score", 0, height * 0.4)
ui.frames(3)
ui.expect("runs.parallel.brush", "score")
to_curves()
ui.wait("curves.curve", "score")
to_runs()
ui.click("runs.parallel.axis", "score")
ui.wait("runs.count", "12 of ")
to_curves()
ui.frames(3)
ui.absent("curves.curve")
ui.quit()
