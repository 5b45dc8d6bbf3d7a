-- Two networks of one class are told apart on the tape, in the inspector, in Gradients and in the menu. A frozen layer stays on the
-- tape, pale, and is thawed by its menu. Real mouse and keys. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

local function change(text, item)
  real.xdotool(real.aim("tape.node", text) .. "click --delay 1 3")
  ui.seconds(0.3)
  ui.wait("change.item", item)
end

ui.wait("curves.curve", "fooled")
ui.wait("tape.open")
dofile(arg[0]:match(".*/") .. "steps.lua").open_modules()
ui.wait("tape.frame", "G")
ui.wait("tape.frame", "D")
real.begin()
real.pause()
ui.expect("tape.node", "G.0.weight")
ui.expect("tape.node", "D.0.weight")
ui.picture(arg[1] .. "/named.png")

-- The first layer of G: the name in the inspector and in the menu.
real.click("tape.node", "G.0.weight")
ui.wait("inspector.op", "leaf")
ui.wait("inspector.output", "G.0.weight")
change("linear [32, 16]", "Freeze")
local path = ui.texts("change.path")[1]
assert(path == "G.0" or path == "D.0", "the menu changes " .. path)
real.click("change.item", "Freeze")
ui.wait("console.line", "freeze " .. path)
ui.absent("console.error", "several models")

-- The layer and its parameters stay, without a gradient.
real.key("F8")
ui.wait("tape.node", "pale", 30)
ui.wait("state", "paused")
ui.expect("tape.node", path .. ".weight")
ui.picture(arg[1] .. "/frozen.png")
change(path .. ".weight", "Unfreeze")
ui.expect("change.path", path .. ".weight")
real.click("change.item", "Unfreeze")
ui.wait("console.line", "unfreeze " .. path .. ".weight")

real.click("panel", "Gradients")
ui.wait("gradients.parameter", "G.2.weight")
ui.expect("gradients.parameter", "D.2.weight")
ui.quit()
