-- A user edits the digits while they train: an error is marked as it is typed, a repaired text is saved and taken over by the
-- run, a line lights its nodes, a node marks its line, names are proposed and found.
-- Started by editor.cmake on a copy of examples/04_digits_mlp.lua; arg[1] is a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.wait("panel", "Editor")
ui.click("panel", "Editor")
ui.wait("editor.line", "1: -- Handwritten")
ui.expect("editor.tab", "04_digits_mlp.lua")
-- A frame in which the panel moves loses a notch.
local function shows(prefix)
  for _, text in ipairs(ui.texts("editor.line")) do
    if text:sub(1, #prefix) == prefix then return true end
  end
end
for _ = 1, 30 do
  if shows "28:   return self.fc2" then break end
  ui.wheel("editor.line", -1)
end
ui.wait("editor.line", "28:   return self.fc2")
ui.wait("editor.cost", "28:")
ui.picture(arg[1] .. "/editor_running.png")

-- A line that does not compile is marked, and repaired.
ui.click("editor.line", "28:   return")
ui.type("= =")
ui.wait("editor.error", "line 28:")
ui.expect("editor.tab", "modified")
ui.picture(arg[1] .. "/editor_error.png")
ui.key("Ctrl+Z")
ui.key("Ctrl+Z")
ui.wait("editor.line", "28:   return self.fc2(self.dropout(self.fc1(x):relu()))")
ui.seconds(1)
ui.absent("editor.error")

-- Saved, it is taken over at the end of a step, and the curves go on.
ui.wheel("editor.line", 20)
ui.wait("editor.line", "1: -- Handwritten")
ui.click("editor.line", "1: -- Handwritten")
ui.type(", edited,")
ui.expect("editor.tab", "modified")
ui.key("Ctrl+S")
ui.wait("console.line", "reloaded")
ui.absent("editor.tab", "modified")

-- A line lights its nodes; a node marks its line.
ui.key("F6")
ui.wait("state", "paused")
ui.wheel("editor.line", -5)
ui.wait("editor.cost", "28:")
ui.click("editor.line", "28:   return")
ui.wait("editor.caret", "28:")
ui.wait("editor.lit", "nodes")
ui.click("tape.node", "linear [64, 256]")
ui.wait("editor.marked", "28")
ui.picture(arg[1] .. "/editor_paused.png")

-- Back and forward among the nodes that were selected.
steps.select("relu", "relu")
ui.key("Alt+Left")
ui.wait("inspector.op", "linear")
ui.key("Alt+Right")
ui.wait("inspector.op", "relu")

-- From line to line, into the script's own functions and over the library's.
steps.step()
for _, line in ipairs {53, 54, 55, 28, 56, 57} do
  ui.key("F10")
  ui.wait("editor.stands", tostring(line))
  ui.expect("editor.caret", line .. ":1")
end
ui.picture(arg[1] .. "/editor_stands.png")

-- To a definition, and to the help of what the library defines.
ui.click("editor.line", "59:   if step")
ui.key("End")
for _ = 1, 21 do ui.key("Left") end
ui.key("F12")
ui.wait("editor.caret", "38:16")
ui.key("F12")
ui.wait("editor.caret", "38:16")

-- Proposals and help.
ui.wheel("editor.line", 20)
ui.wait("editor.line", "4:")
ui.click("editor.line", "4:")
ui.type("nn.Lin")
ui.wait("editor.proposal", "Linear (in_features, out_features")
ui.picture(arg[1] .. "/editor_proposals.png")
ui.key("Enter")
ui.wait("editor.line", "4: nn.Linear")
ui.key("Ctrl+Z")
ui.key("Ctrl+Z")

-- Find.
ui.key("Ctrl+F")
ui.frames(3)
ui.type("fc2")
ui.wait("editor.found", "2 found")
ui.key("Enter")
ui.wait("editor.found", "1 of 2")
ui.key("Escape")
ui.theme("light")
ui.picture(arg[1] .. "/editor_light.png")
ui.theme("dark")
ui.resize(640, 420)
ui.frames(3)
ui.resize(200, 100)
ui.frames(3)
ui.quit()
