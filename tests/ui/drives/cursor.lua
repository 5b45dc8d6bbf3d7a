-- One time cursor, by the real mouse: a click on a curve turns it amber everywhere, Live turns it green; at each pause
-- the gradients and the compared tapes are of its step. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

-- The step that an item names, written with commas.
local function step_in(name, part)
  for _, text in ipairs(ui.texts(name)) do
    if not part or text:find(part, 1, true) then
      local digits = text:match "step ([%d,]+)"
      return digits and tonumber((digits:gsub(",", "")))
    end
  end
end

-- Waits until `holds` does.
local function wait_for(what, holds)
  local from = os.time()
  while not holds() do
    assert(os.time() - from < 60, what)
    ui.frames(1)
  end
end

ui.wait("curves.curve", "loss")
ui.wait("cursor", "live")
ui.absent("cursor.live")
wait_for("the run stands still", function() return (real.step_in("step") or 0) > 1500 end)
local theme = ui.rect("theme")
real.begin()

-- A click on a curve while the script runs.
real.xdotool(real.aim("curves.chart", "loss", 0.2) .. "click 1")
ui.wait("cursor", "(past)", 60)
local past = step_in("cursor")
assert(past < real.step_in("step"), "the cursor is not in the past but at step " .. past)
ui.expect("state", "running")
ui.wait("tape.summary", "step " .. past)
for _, panel in ipairs {"Curves", "Gradients"} do
  real.click("panel", panel)
  local name = panel:lower() .. ".cursor"
  ui.wait(name, "(past)")
  assert(step_in(name) == past, name .. " is at another step: " .. ui.texts(name)[1])
end
-- A kept step that was not measured shows the gradients measured before it, and says so.
assert((step_in("panel.step", "Gradients") or 0) < past, "Gradients shows a later step")
real.click("tape.node", "linear [64, 256]")
ui.wait("inspector.step", "step " .. past)
-- What has only the values of now says so.
real.click("panel", "Parameters")
ui.wait("panel.step", "Parameters: step ")
assert(step_in("panel.step", "Parameters") > past)
ui.picture(arg[1] .. "/past.png")
-- A chart's legend has the values of the past step, though the run goes on.
real.click("panel", "Curves")
real.xdotool(real.aim("theme"))
ui.wait("curves.legend")
ui.seconds(0.3)
local legend, then_at = ui.texts("curves.legend")[1], real.step_in("step")
wait_for("the run stands still", function() return real.step_in("step") > then_at + 200 end)
assert(ui.texts("curves.legend")[1] == legend, "the legend at a past step follows the run: " .. legend)

-- Live again, with one click.
real.click("cursor.live")
ui.wait("cursor", "live")
ui.absent("cursor.live")
ui.absent("panel.step", "Parameters")
real.click("panel", "Curves")
wait_for("a chart is not live", function() return not (ui.texts("curves.cursor")[1] or "past"):find("past", 1, true) end)

-- A click on the curve of a gradient does the same.
real.click("panel", "Gradients")
ui.wait("gradients.chart", "norm of the gradient")
real.xdotool(real.aim("gradients.chart", nil, 0.5) .. "click 1")
ui.wait("cursor", "(past)", 60)
real.click("cursor.live")
ui.wait("cursor", "live")

-- At each pause all panels agree, and the row of the toolbar has not moved.
local compared
for round = 1, 3 do
  real.key("F6")
  ui.wait("state", "paused")
  assert(ui.rect("theme") == theme, "the theme button has moved")
  wait_for("Gradients shows another step", function()
    return #ui.texts("gradients.parameter") > 0 and not step_in("panel.step", "Gradients")
  end)
  ui.expect("cursor", "live")
  local step = real.look("linear [64, 256]")
  assert(#ui.texts("panel.step") == 0, "at a pause: " .. tostring(ui.texts("panel.step")[1]))
  ui.wait("inspector.field", "gradient = norm")
  -- The step of the pause before was measured, too.
  if compared then
    ui.compare_tape {step = compared}
    ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
    wait_for("a side holds no values", function()
      for _, note in ipairs(ui.texts("tape.diff.note")) do
        if note:find("no values", 1, true) then return false end
      end
      return true
    end)
    ui.close_tape_comparison()
    real.gone("tape.diff.counts")
  end
  compared = step
  ui.picture(arg[1] .. "/paused-" .. round .. ".png")
  real.click("panel", "Gradients")
  real.key("F5")
  ui.wait("state", "running")
  ui.seconds(0.3)
end
ui.quit()
