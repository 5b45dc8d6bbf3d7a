-- A step is compared with f64 by real mouse and keys: the op that is wrong by itself is named, marked and selected; the
-- others inherit its error. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
local function any(name, ...)
  for _, text in ipairs(ui.texts(name)) do
    local all = true
    for _, words in ipairs {...} do all = all and text:find(words, 1, true) ~= nil end
    if all then return true end
  end
  return false
end

ui.wait("curves.curve", "loss")
-- While the script runs, the sides are listed but cannot be chosen.
ui.wait("tape.compare")
ui.click("tape.compare")
ui.wait("tape.compare.side", "f64 not now")
ui.picture(arg[1] .. "/running.png")
ui.key("Escape")
real.begin()
real.pause()
ui.wait("tape.node", "nearly_square")
real.click("tape.compare")
ui.wait("tape.compare.side", "bf16")
assert(not any("tape.compare.side", "f32"), "the run computes in f32 itself")
ui.picture(arg[1] .. "/menu.png")
real.click("tape.compare.side", "f64")
ui.wait("tape.compare.summary", "first wrong: nearly_square at wrong_op_script.lua:16, forward, error ")
ui.frames(3)
assert(any("tape.node", "nearly_square", "wrong by itself"), "the wrong op is not marked")
assert(any("tape.node", "mean", "inherits an error"), "what reads it is not marked")
assert(not any("tape.node", "relu", "wrong by itself") and not any("tape.node", "relu", "inherits"),
  "the other branch reads nothing of it")
ui.expect("tape.legend", "wrong by itself, inherits an error, not compared, within rounding, equal")
real.xdotool(real.aim("step") .. "sleep 0.2")
ui.frames(3)
ui.picture(arg[1] .. "/wrong.png")
real.click("tape.compare.summary")
ui.wait("inspector.op", "nearly_square")
ui.expect("inspector.field", "with f64 = forward wrong by itself: output")
ui.wait("inspector.value", " min")
ui.picture(arg[1] .. "/inspector.png")
ui.theme("light")
ui.frames(3)
ui.picture(arg[1] .. "/light.png")
ui.theme("dark")

-- Another step has no colours of this one, and a run that goes on drops them.
local before = real.step_in("tape.summary")
real.key("F8")
while real.step_in("tape.summary") == before do ui.frames(1) end
ui.wait("state", "paused")
real.gone("tape.compare.summary")
ui.expect("tape.legend", "linear algebra")

-- A side that rounds computes the op as wrongly in its own dtype: no op is wrong by itself.
ui.compare_step("bf16")
ui.wait("tape.compare.summary")
ui.picture(arg[1] .. "/bf16.png")
ui.compare_step("nowhere")
ui.wait("tape.compare.problem", "nowhere")
ui.picture(arg[1] .. "/problem.png")
real.click("tape.compare.close")
real.gone("tape.compare.problem")
real.key("F5")
ui.wait("state", "running")
ui.quit()
