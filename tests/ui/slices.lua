-- Tensors of four dims, of NaN, and a wrong gradient. Runs slices_script.lua; arg[1]: a folder for pictures.
ui.wait("console.line", "step 3")
ui.key("F6")
ui.wait("state", "paused")
for _ = 1, 2 do
  local before = ui.texts("step")[1]
  ui.key("F8")
  while ui.texts("step")[1] == before do ui.frames(1) end
  ui.wait("state", "paused")
end
ui.click("tape.node", "conv2d")
ui.wait("inspector.value", "[4, 6, 14, 14] min")
ui.wait("inspector.slice", "dim 1")
ui.drag("inspector.slice", 60, 0)
ui.wait("inspector.slice", "dim 1: 4")
ui.click("inspector.mode", "Images")
ui.wait("inspector.images", "Value 24 of 24")
ui.picture(arg[1] .. "/inspector-images.png")
ui.click("inspector.show", "weight [6, 3, 3, 3]")
ui.wait("inspector.images", "Value 18 of 18")
ui.click("inspector.mode", "Cells")
ui.click("tape.node", "log")
ui.wait("inspector.not_finite", "NaN")
ui.picture(arg[1] .. "/inspector-nan.png")
ui.click("tape.node", "twice")
ui.wait("inspector.op", "twice")
ui.click("inspector.check_gradient")
ui.wait("inspector.verdict", "The gradient is wrong")
ui.quit()
