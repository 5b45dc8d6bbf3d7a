-- With text of 1.6 in a window of 1280 x 800: the inspector shows the picture of a value at the first click, the panel of the
-- runs shows its table, and the measured steps of Gradients can be read. arg[1]: a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")

-- The item is shown with at least this size in pixels.
local function shows(item, width, height)
  local x, y, w, h = ui.rect(item)
  assert(w >= width and h >= height and x + w <= 1280 and y + h <= 800,
    ("%s is at %.0f, %.0f and has the size %.0f x %.0f"):format(item, x, y, w, h))
end

ui.wait("tape.summary", " nodes")
ui.wait("curves.curve", "loss")
steps.pause()
ui.select_node {op = "linear"}
ui.wait("inspector.op", "linear")
ui.wait("inspector.value", " min")
ui.wait("inspector.cells")
shows("inspector.cells", 300, 30)
ui.picture(arg[1] .. "/large-inspector.png")
steps.open("Runs")
ui.wait("runs.run", "digits")
shows("runs.run", 30, 15)
ui.picture(arg[1] .. "/large-runs.png")
steps.open("Gradients")
shows("gradients.cadence", 50, 20)
ui.picture(arg[1] .. "/large-gradients.png")
ui.quit()
