-- A user freezes a layer and thaws one of its parameters, in the layout with which the window opens: the console, which was
-- behind the editor, says that it happened, and what is frozen on purpose is no alarm. arg[1]: a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.wait("curves.curve", "loss")
ui.wait("tape.node", "linear [64, 256]")
steps.pause()
ui.expect("panel", "Editor in front")
ui.right_click("tape.node", "linear [64, 256]")
ui.wait("tape.menu", "Go to line 04_digits_mlp.lua:28")
ui.click("change.item", "Freeze")
ui.wait("panel", "Console in front")
ui.wait("console.line", "freeze model.fc1")
for _ = 1, 3 do steps.step() end
steps.select("linear [64, 256]", "linear")
ui.wait("inspector.field", "gradient = none")
ui.absent("alarm_badge")
ui.picture(arg[1] .. "/frozen.png")

steps.select("fc1.weight", "leaf")
ui.action("Model: unfreeze")
ui.wait("console.line", "unfreeze model.fc1.weight")
for _ = 1, 3 do steps.step() end
ui.wait("inspector.field", "gradient = norm")
ui.absent("alarm_badge")

-- History shows the next change itself.
ui.click("panel", "History")
ui.right_click("tape.node", "fc2.weight")
ui.wait("change.item", "Freeze")
ui.click("change.item", "Freeze")
ui.wait("history.entry", "freeze model.fc2.weight (now)")
ui.quit()
