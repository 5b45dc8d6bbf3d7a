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
  real.click("inspector.input", "")  -- the first one: to the node that made it
  local began = os.time()
  while table.concat(ui.texts("inspector.field")) == before do
    assert(os.time() - began < 30, "the inspector stays where it is")
    ui.frames(1)
  end
  ui.wait("inspector.value", " min", 30)
  ui.wait("inspector.gradient", " min", 30)
  assert(real.step_in("tape.summary") == real.step_in("inspector.step"))
  assert(real.step_in("tape.summary") == real.step_in("step"), "the tape is not of the step that ended last")
end
ui.picture(arg[1] .. "/gpt.png")
ui.quit()
