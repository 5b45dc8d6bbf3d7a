-- The profiler during a run on Vulkan: the device's times in the table and on a lane. arg[1]: a folder for pictures.
ui.layout("Watch")
ui.wait("curves.curve", "loss")
ui.click("panel", "Profiler")
ui.wait("profiler.row", "conv2d")
ui.click("profiler.heading", "GPU")
ui.frames(3)
ui.expect("profiler.part", "waiting for the device")
ui.picture(arg[1] .. "/profiler-gpu.png")
ui.click("profiler.view", "Timeline")
ui.wait("profiler.lane", "vulkan")
assert(tonumber((ui.texts("profiler.lane")[#ui.texts("profiler.lane")]:match("vulkan ([%d,]+)"):gsub(",", ""))) > 10,
       "the device's lane is empty")
-- The middle of the lane may lie between two kernels: then another moment is frozen.
for _ = 1, 50 do
  ui.click("profiler.freeze")
  ui.hover("profiler.lane", "vulkan")
  if #ui.texts("profiler.kernel") > 0 then break end
  ui.click("profiler.freeze")
  ui.frames(7)
end
ui.expect("profiler.kernel", "kernel ")
ui.picture(arg[1] .. "/timeline-gpu.png")
ui.quit()
