-- A user edits the digits example while it trains: an error is marked while typing, a corrected text is saved and reloaded by
-- the run, a line outlines its nodes, a node marks its line, names are completed and searched.
-- Started by editor.cmake on a copy of examples/04_digits_mlp.lua; arg[1] is a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")
ui.wait("panel", "Editor")
ui.click("panel", "Editor")
ui.wait("editor.line", "1: -- Classifies")
ui.expect("editor.tab", "04_digits_mlp.lua")
-- The number of the script's first line with this text.
local function line_of(text)
  local number = 0
  for line in io.lines(arg[0]:match(".*/") .. "../../../examples/04_digits_mlp.lua") do
    number = number + 1
    if line:find(text, 1, true) then return number end
  end
end
local function shows(name, prefix)
  for _, text in ipairs(ui.texts(name)) do
    if text:sub(1, #prefix) == prefix then return true end
  end
end
-- Scrolls down to line 28. On a slow machine the panel gets its size after the first notches of the wheel, and hides the line
-- again.
local function reach_costs()
  local from = os.time()
  repeat
    assert(os.time() - from < 60, "no costs of line 28 are shown")
    if not shows("editor.line", "28:   return self.fc2") then ui.wheel("editor.line", -1) end
    ui.frames(1)
  until shows("editor.cost", "28:")
end
reach_costs()
ui.picture(arg[1] .. "/editor_running.png")

-- A line that does not compile is marked, and corrected.
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

-- After saving, the run reloads it at the end of a step, and the curves continue.
ui.wheel("editor.line", 20)
ui.wait("editor.line", "1: -- Classifies")
ui.click("editor.line", "1: -- Classifies")
ui.type(", edited,")
ui.expect("editor.tab", "modified")
ui.key("Ctrl+S")
ui.wait("console.line", "reloaded")
ui.absent("editor.tab", "modified")

-- A line outlines its nodes; a node marks its line.
ui.key("F6")
ui.wait("state", "paused")
ui.wait("editor.stands")  -- the editor follows the pause
ui.wheel("editor.line", 20)
reach_costs()
ui.click("editor.line", "28:   return")
ui.wait("editor.caret", "28:")
ui.wait("editor.lit", "nodes")
ui.click("tape.node", "linear [64, 256]")
ui.wait("editor.marked", "28")
ui.picture(arg[1] .. "/editor_paused.png")

-- Back and forward in the selection history.
steps.select("relu", "relu")
ui.key("Alt+Left")
ui.wait("inspector.op", "linear")
ui.key("Alt+Right")
ui.wait("inspector.op", "relu")

-- Step line by line, into the script's own functions and over the library's.
steps.step()
for _, text in ipairs {"local x, y =", "optimizer:zero_grad", "local loss =", "return self.fc2", "loss:backward", "optimizer:step"} do
  local line = line_of(text)
  ui.key("F10")
  ui.wait("editor.stands", tostring(line))
  ui.expect("editor.caret", line .. ":1")
end
ui.picture(arg[1] .. "/editor_stands.png")

-- To a definition, and to the help of a library name.
ui.click("editor.line", line_of "if step" .. ":   if step")
ui.key("End")
for _ = 1, 21 do ui.key("Left") end
ui.key("F12")
ui.wait("editor.caret", line_of "local function accuracy" .. ":16")
ui.key("F12")
ui.wait("editor.caret", line_of "local function accuracy" .. ":16")

-- Completion and help.
ui.key("Home")  -- the line may be longer than the panel is wide
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

-- Escape closes the list, and typing continues: no key is lost, and the list stays closed for this name.
ui.click("editor.line", "4:")
ui.type("nn.Lin")
ui.wait("editor.proposal", "Linear (in_features, out_features")
ui.key("Escape")
ui.type("e = 1")
ui.wait("editor.line", "4: nn.Line = 1")
ui.absent("editor.proposal")
ui.expect("editor.caret", "4:12")
for _ = 1, 11 do ui.key("Backspace") end
ui.wait("editor.line", "4: ")
ui.key("Escape")

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
