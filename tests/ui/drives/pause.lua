-- A pause shows value and gradient of every node at the first click, and one number of the step everywhere.
-- arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("curves.curve", "loss")
real.begin()
for round = 1, 3 do
  real.key("F6")
  ui.wait("state", "paused")
  ui.wait("tape.node", "linear [64, 256]")
  for _, node in ipairs {"linear [64, 256]", "relu", "linear [64, 10]", "fc1.weight", "cross_entropy"} do
    local step = real.look(node)
    assert(step == real.step_in("step"), ("the run is at step %s, the tape at %s"):format(real.step_in("step"), step))
    for _, name in ipairs {"inspector.value", "inspector.gradient"} do
      for _, text in ipairs(ui.texts(name)) do
        assert(text:find("min", 1, true), node .. " has no " .. name .. ": " .. text)
      end
    end
  end
  ui.picture(arg[1] .. "/paused-" .. round .. ".png")
  real.key("F5")
  ui.wait("state", "running")
  ui.seconds(0.3)
end
ui.quit()
