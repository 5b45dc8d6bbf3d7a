-- A user watches the digits example: pauses, inspects a node, steps, changes the view, and lets it finish.
-- arg[1]: a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")
ui.wait("curves.curve", "loss")
steps.pause()
ui.expect("curves.chart", "loss")
ui.wait("tape.node", "linear")
ui.expect("tape.node", "cross_entropy")
ui.expect("tape.node", "fc1.weight [256, 64]")

steps.select("linear [64, 256]", "linear")
ui.expect("inspector.place", "04_digits_mlp.lua:28")
ui.expect("inspector.field", "module = model.fc1")
ui.expect("inspector.input", "fc1.weight [256, 64]")
steps.capture()
ui.wait("inspector.value", "[64, 256] min")
ui.wait("inspector.gradient", "[64, 256] min")
ui.wait("state", "paused")
ui.hover("inspector.value")
ui.picture(arg[1] .. "/paused.png")

-- From an input to the node that made it.
ui.click("inspector.input", "weight")
ui.wait("inspector.op", "leaf")
ui.wait("inspector.value", "[256, 64] min")

-- The console works while the run is paused.
steps.evaluate("6 * 7")
ui.wait("console.line", "42")
ui.type("nothing.at.all")
ui.key("Enter")
ui.wait("console.error", "attempt to index a nil value")

-- Search, zoom, pan and fit.
ui.click("tape.search")
ui.type("relu")
ui.wait("tape.summary", "1 of")
ui.key("Escape")
ui.hover("tape.node", "relu")
ui.wheel("tape.node", 3)
ui.drag("tape.fit", 0, 0)
ui.click("curves.log")
ui.expect("curves.log", "log")
ui.click("curves.log")
ui.click("curves.log")
ui.expect("curves.log", "linear")
ui.theme("light")
ui.picture(arg[1] .. "/light.png")
ui.theme("dark")

-- It continues, and ends.
ui.key("F5")
ui.wait("state", "finished")
ui.wait("console.line", "test accuracy")
ui.expect("curves.chart", "accuracy")
ui.absent("console.error", "stack")
ui.picture(arg[1] .. "/finished.png")

-- Starting over and stopping.
ui.key("F5")
ui.wait("state", "running")
ui.key("Shift+F5")
ui.wait("state", "stopped")

-- Small and large windows.
ui.resize(640, 420)
ui.expect("panel", "Inspector")
ui.picture(arg[1] .. "/small.png")
ui.resize(200, 100)
ui.frames(3)
ui.resize(1600, 900)
ui.frames(3)
ui.quit()
