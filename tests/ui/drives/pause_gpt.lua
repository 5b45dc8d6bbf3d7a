-- A pause inside the long step of a small GPT shows value and gradient of every node, from the loss upwards. Runs
-- transformer.lua; arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("curves.curve", "loss")
real.begin()
real.key("F6")
ui.wait("state", "paused")
real.look("cross_entropy")
for _ = 1, 6 do
  local before = table.concat(ui.texts("inspector.field"))
  -- The first one: to the node that made it. A click between two slow frames is lost, so that it is repeated.
  local tries = 0
  while table.concat(ui.texts("inspector.field")) == before do
    tries = tries + 1
    assert(tries < 6, "the inspector stays where it is")
    real.click("inspector.input", "")
    ui.seconds(0.6)
  end
  ui.wait("inspector.value", " min", 30)
  ui.wait("inspector.gradient", " min", 30)
  assert(real.step_in("tape.summary") == real.step_in("inspector.step"))
  assert(real.step_in("tape.summary") == real.step_in("step"), "the tape is not of the step that ended last")
end
ui.picture(arg[1] .. "/gpt.png")
ui.quit()
