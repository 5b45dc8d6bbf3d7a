-- A user reads the charts of a GAN: its losses are first and share a chart, which got an automatic log scale, sections collapse, a
-- peak of one step is where it was logged, and no chart shows places beyond a share. Played with charts_script.lua; arg[1] is
-- a folder for pictures.
ui.layout("Watch")
ui.wait("state", "paused")
ui.wait("curves.curve", "loss/d 200 points")
ui.click("panel", "Curves")
ui.key("Ctrl+M")
ui.frames(3)

local function order()
  local titles = {}
  for _, text in ipairs(ui.texts("curves.chart")) do titles[#titles + 1] = text:match("^(.-): ") end
  return table.concat(titles, " ")
end
assert(order() == "loss other_loss accuracy grad/d grad/g", order())
ui.expect("curves.section", "grad, 2 charts")
ui.picture(arg[1] .. "/charts.png")

-- The losses span decades: their chart says that its scale is its own choice; the others are linear.
ui.expect("curves.log", "automatic")
ui.expect("curves.chart", "loss: x linear 1 to 200, y log")
local function scales(title)
  for _, text in ipairs(ui.texts("curves.chart")) do
    local found = text:match("^" .. title .. ": (.*)$")
    if found then return found end
  end
end
assert(scales("loss"):find(", automatic", 1, true), scales("loss"))
assert(scales("other_loss"):find("y linear", 1, true), scales("other_loss"))
assert(not scales("other_loss"):find("automatic", 1, true), scales("other_loss"))
-- An accuracy from 0 to 1.
local low, high = scales("accuracy"):match("y linear (%S+) to (%S+)")
assert(tonumber(low) >= 0 and tonumber(high) <= 1, scales("accuracy"))

-- The user's choice replaces it, and the way round leads back.
ui.key("Y")
ui.key("Y")
ui.key("Y")
ui.frames(2)
ui.expect("curves.log", "linear")
assert(scales("loss"):find("y linear", 1, true), scales("loss"))
ui.key("Y")
ui.frames(2)
ui.expect("curves.log", "automatic")
assert(scales("loss"):find("y log", 1, true), scales("loss"))

-- A section collapses to its title, and expands again.
ui.click("curves.section", "grad")
ui.wait("curves.section", "grad, 2 charts, collapsed")
assert(order() == "loss other_loss accuracy", order())
ui.picture(arg[1] .. "/charts_collapsed.png")
ui.click("curves.section", "grad")
ui.frames(2)
assert(order() == "loss other_loss accuracy grad/d grad/g", order())

-- The legend gives a logged value near the mouse, where the smoothed curve has another one.
ui.expect("curves.smoothing", "0.6")
ui.hover("curves.chart", "loss")
ui.frames(2)
local shown = tonumber(ui.texts("curves.legend")[1]:match("loss/d%s+([%d.e+-]+)"))
local least = math.huge
for step = 80, 120 do least = math.min(least, math.abs(shown - math.exp(-step / 40))) end
assert(least < 1e-7, "the legend shows " .. shown)

-- A loss that is new in the second half goes to the end of its section: the other charts stay.
ui.key("F5")
ui.wait("state", "finished")
ui.frames(2)
assert(order() == "loss other_loss accuracy late_loss grad/d grad/g", order())
ui.quit()
