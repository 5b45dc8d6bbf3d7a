-- The numbers of the toolbar have room for all of their digits. Played with long_run_script.lua.
ui.layout("Watch")
ui.wait("state", "running")
ui.wait("step", "/ 123456789012")
ui.frames(3)
local x, y, width, height = ui.rect("step")
-- "step 000000000000 / 123456789012", whose digits are wider than 6 pixels.
assert(width > 32 * 6 + 8, ("the step has %.0f pixels"):format(width))
-- The items beside it begin behind it, and none lies over the next one.
local end_before, before = x + width, "step"
for _, name in ipairs {"elapsed", "rate", "memory", "run.settings"} do
  if ui.texts(name)[1] then
    local left, top, wide = ui.rect(name)
    assert(left >= end_before and top < y + height,
      ("%s begins at %.0f, %s ends at %.0f"):format(name, left, before, end_before))
    end_before, before = left + wide, name
  end
end
ui.key("Shift+F5")
ui.wait("state", "stopped")
ui.quit()
