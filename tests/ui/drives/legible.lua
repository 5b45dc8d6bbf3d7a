-- The first start shows tape, inspector, editor and curves. A chain of 200 layers is fitted as parts in rows whose texts can be
-- read; what the user opens stays. Real mouse and keys. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local function least() return tonumber((ui.texts("tape.least_text")[1])) or 0 end
-- Waits until the tape is fitted at a legible size.
local function fitted(what)
  local from = os.time()
  while least() < 10 or #ui.texts("tape.map") > 0 or #ui.texts("tape.collapsed") == 0 do
    assert(os.time() - from < 20, ("%s: the smallest text has %d pixels"):format(what, least()))
    ui.frames(1)
  end
end

ui.wait("tape.group", " 1 of ")
for _, panel in ipairs {"Tape", "Inspector", "Editor", "Curves"} do ui.expect("panel", panel .. " in front") end
ui.expect("preset", "Inspect")
ui.expect("tape.groups", "off")
ui.wait("curves.curve", "loss")
ui.wait("editor.line", "2: local lg")
fitted("at first")
local parts = #ui.texts("tape.group")
assert(parts >= 8, "only " .. parts .. " parts are shown")
ui.expect("tape.collapsed", parts .. " boxes collapsed to fit: expand all")
local heights, rows = {}, 0
for _, part in ipairs(ui.texts "tape.group") do
  local _, y = ui.rect("tape.group", part)
  if not heights[math.floor(y + 0.5)] then rows = rows + 1 end
  heights[math.floor(y + 0.5)] = true
end
assert(rows >= 2 and rows < parts, "the chain has " .. rows .. " rows")
ui.picture(arg[1] .. "/parts.png")

-- A part that the user opens stays open when the tape is fitted again.
real.begin()
real.key("F6")
ui.wait("state", "paused")
real.click("tape.group", " 1 of ")
ui.wait("tape.node", "tanh")
ui.wait("tape.frame", "linear")
ui.wait("tape.collapsed", (parts - 1) .. " boxes")
ui.picture(arg[1] .. "/opened.png")
real.click("tape.fit")
ui.seconds(1)
ui.expect("tape.frame", "linear")
ui.expect("tape.node", "tanh")

-- Everything, and again what fits.
real.click("tape.collapsed")
ui.wait("tape.open", "all open")
real.gone("tape.group")
ui.absent("tape.collapsed")
real.click("tape.open")
ui.wait("tape.open_choice", "few boxes")
ui.frames(5)
real.click("tape.open_choice", "few boxes")
ui.wait("tape.collapsed", parts .. " boxes")
fitted("few boxes")

-- A smaller window collapses more, and stays usable.
ui.resize(900, 600)
ui.wait("tape.collapsed", " collapsed to fit")
fitted("at 900 x 600")
real.click("tape.group", " 1 of ")
ui.wait("tape.frame", "linear")
ui.picture(arg[1] .. "/small.png")
ui.quit()
