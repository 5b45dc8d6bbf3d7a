-- Tooltips are beside what they explain, within the window: of a button, a node, a chart, a cell, a line's costs, a table.
-- arg[1]: a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local function sides(name)
  local x, y, width, height = ui.rect(name)
  return x, y, x + width, y + height
end
local function beside(name, text, picture)
  ui.hover(name, text)
  ui.frames(3)
  ui.wait("tip.subject")
  ui.frames(2)
  local left, top, right, bottom = sides("tip")
  local l, t, r, b = sides("tip.subject")
  local what = ("the tooltip of %s %s at %.0f, %.0f to %.0f, %.0f"):format(name, text or "", left, top, right, bottom)
  assert(left >= r or right <= l or top >= b or bottom <= t,
    ("%s lies over its subject at %.0f, %.0f to %.0f, %.0f"):format(what, l, t, r, b))
  local _, _, width, height = ui.rect("window")
  assert(left >= 0 and top >= 0 and right <= width + 1 and bottom <= height + 1, what .. " leaves the window")
  if picture then ui.picture(arg[1] .. "/" .. picture .. ".png") end
end

ui.wait("tape.node", "linear [64, 256]")
ui.wait("curves.curve", "loss")
steps.pause()
steps.capture()
steps.select("linear [64, 256]", "linear")
ui.wait("inspector.value", "[64, 256] min")
for _, size in ipairs {{1280, 800}, {900, 600}} do
  ui.resize(size[1], size[2])
  ui.frames(10)
  local name = "tips-" .. size[1]
  beside("stop")
  beside("menu")
  beside("tape.node", "linear [64, 256]", name .. "-node")
  beside("inspector.cells", nil, name .. "-cell")
  beside("inspector.mode", "Histogram")
  steps.open("Gradients")
  ui.wait("gradients.chart")
  ui.frames(3)
  beside("gradients.chart", nil, name .. "-chart")
  beside("gradients.view", "Norms")
  steps.open("Inspector")
end
ui.quit()
