-- A user changes the model at a pause with real mouse and keys: by the menus of the tape, of Gradients and of the inspector; then
-- undoes, redoes and goes through the history. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")

local function right_click(name, text)
  real.xdotool(real.aim(name, text) .. "click --delay 1 3")
  ui.seconds(0.3)
end

local function change(name, text, item)
  right_click(name, text)
  ui.wait("change.item", item)
end

-- Replaces the text of the field that an item opens, and applies it.
local function complete(text)
  ui.wait("change.typing")
  real.key("ctrl+a")
  real.type(text)
  ui.wait("change.field", text)
end

ui.wait("curves.curve", "loss")
real.begin()
real.pause()
ui.wait("tape.node", "linear [64, 256]")

-- A parameter of the tape: the line is shown before it runs, and the console echoes it. Ctrl+Z in the field is the field's.
change("tape.node", "fc1.weight", "Rescale...")
ui.expect("change.path", "model.fc1.weight")
ui.picture(arg[1] .. "/menu.png")
real.click("change.item", "Rescale...")
complete("0.25")
real.key("ctrl+z")
ui.absent("change.field", "0.25")
complete("0.125")
ui.expect("change.line", 'lg.surgery.rescale("model.fc1.weight", 0.125)')
ui.picture(arg[1] .. "/field.png")
real.key("Return")
ui.wait("console.line", 'lg.surgery.rescale("model.fc1.weight", 0.125)')
ui.wait("console.line", "rescale model.fc1.weight by 0.125")

-- A module of the tape. What does not fit is an error in the console, and no change.
change("tape.node", "linear [64, 256]", "Insert after...")
ui.expect("change.path", "model.fc1")
real.click("change.item", "Insert after...")
complete("lg.nn.Linear(3, 3)")
real.click("change.apply")
ui.wait("console.error", "which must stay")
change("tape.node", "linear [64, 256]", "Insert after...")
real.click("change.item", "Insert after...")
ui.wait("change.typing")
real.type("LayerNorm(256)")
ui.wait("change.line", 'lg.surgery.insert("model.fc1", lg.nn.LayerNorm(256), "after")')
real.key("Return")
ui.wait("console.line", "insert LayerNorm after")
change("tape.node", "linear [64, 10]", "Freeze")
real.click("change.item", "Freeze")
ui.wait("console.line", "freeze model.fc2")

-- The next step runs the changed model.
real.key("F8")
ui.wait("tape.node", "layer_norm", 30)
ui.wait("state", "paused")
ui.wait("tape.node", "linear [64, 256]")  -- the picture is fitted again: the first layer is still in it
-- A frozen layer is not meant to learn, so it is no alarm that it has no gradient.
ui.frames(10)
for _ = 1, 3 do
  steps.changes("step", function() real.key("F8") end)
  ui.wait("state", "paused")
end
ui.absent("alarm_badge")

-- The history: three changes; the last one is in effect.
real.click("panel", "History")
ui.wait("history.entry", "freeze model.fc2 (now)")
ui.expect("history.entry", "rescale model.fc1.weight by 0.125")
ui.picture(arg[1] .. "/history.png")
real.key("ctrl+z")
ui.wait("history.entry", "freeze model.fc2 (undone)")
ui.wait("history.entry", "insert LayerNorm after model.fc1 (now)")
real.key("ctrl+shift+z")
ui.wait("history.entry", "freeze model.fc2 (now)")
real.click("history.undo")
ui.wait("history.entry", "freeze model.fc2 (undone)")
real.click("history.redo")
ui.wait("history.entry", "freeze model.fc2 (now)")
real.click("history.entry", "as the script made it")
ui.wait("history.entry", "as the script made it (now)")
real.click("history.entry", "rescale model.fc1.weight")
ui.wait("history.entry", "rescale model.fc1.weight by 0.125 (now)")
ui.picture(arg[1] .. "/history-undone.png")

-- The script runs the model that is in effect.
real.key("F8")
while #ui.texts("tape.node") == 0 or table.concat(ui.texts("tape.node"), "\n"):find("layer_norm", 1, true) do ui.frames(1) end

-- An element in the inspector.
real.click("tape.node", "fc2.bias")
ui.expect("tape.node", "model.fc1.weight")  -- the name from before the insertion
ui.wait("inspector.value", "[10] min", 30)
real.click("inspector.cells")
ui.wait("inspector.picked", "] = ")
real.click("inspector.edit")
complete("2.5")
ui.expect("change.line", 'lg.surgery.edit("model.fc2.bias", {')
ui.picture(arg[1] .. "/edit.png")
real.key("Return")
ui.wait("history.entry", "edit model.fc2.bias[")

-- A parameter in Gradients.
real.click("panel", "Gradients")
ui.wait("gradients.parameter", "fc1.1.bias")  -- the rows of the step with the inserted module have come
ui.seconds(1)
change("gradients.parameter", "fc1.bias", "Freeze")
ui.picture(arg[1] .. "/gradients.png")
real.click("change.item", "Freeze")
ui.wait("history.entry", "freeze model.fc1.bias (now)")
-- Ctrl+Z in the editor is the editor's.
real.click("panel", "Editor")
ui.wait("history.entry", "freeze model.fc1.bias (now)")
real.key("ctrl+z")
ui.seconds(0.3)
ui.expect("history.entry", "freeze model.fc1.bias (now)")
ui.quit()
