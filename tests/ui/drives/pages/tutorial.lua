-- docs/tutorial.md, from "Looking at the tape" on. It fixes the script, a copy of examples/14_find_the_bug.lua.
local steps = dofile(arg[0]:match(".*/") .. "../steps.lua")
local function count() return tonumber(ui.texts("step")[1]:match("%d+")) end
local function loss() return tonumber(ui.texts("curves.legend")[1]:match("loss%s+([%d.e+-]+)")) end
local function left(node) return (ui.rect("tape.node", node)) end

-- Looking at the tape.
ui.wait("state", "running")
ui.wait("curves.curve", "loss")
ui.seconds(20)
steps.pause()
assert(loss() > 0.4 and loss() < 0.8, "the loss is about 0.6, not " .. loss())
ui.wait("tape.node", "linear [64, 1]")
ui.wait("tape.node", "square [64, 64]")
assert(left("linear [64, 1]") < left("sub [64, 64]") and left("sub [64, 64]") < left("square [64, 64]")
  and left("square [64, 64]") < left("mean"), "the tape goes from left to right")

-- Finding the line.
steps.select("sub [64, 64]", "sub")
local paused = count()
steps.step()
steps.step()
assert(count() >= paused + 1 and count() <= paused + 2, "two steps")
ui.wait("inspector.value", "[64, 64]")
ui.expect("inspector.input", "[64, 1]")
ui.expect("inspector.input", "[64]")
ui.click("inspector.place", "find_the_bug.lua:28")
ui.wait("editor.marked", "28")
ui.wait("editor.cost", "27:")
local function shape(line)
  for _, text in ipairs(ui.texts("editor.cost")) do
    if text:match("^" .. line .. ":") then return text:match("%[.-%]") end
  end
end
assert(shape(27) == "[64, 1]" and shape(28) == "[64, 64]", "the gutter shows the shapes")

-- Fixing it while the script runs.
local before = count()
ui.key("Up")
ui.key("End")
ui.type(":squeeze(2)")
ui.key("Ctrl+S")
ui.key("F5")
ui.wait("state", "running")
ui.frames(3)
ui.click("panel", "Console")
ui.wait("console.line", "reloaded: kept loader, model, optimizer")
ui.click("panel", "Curves")
ui.wait("curves.mark", "reload")
ui.wait("tape.node", "sub [64]")
while count() < before + 3000 or loss() > 0.01 do ui.frames(1) end
steps.pause()
ui.wait("tape.node", "sub [64]")
ui.click("panel", "Editor")
steps.step()
while shape(27) ~= "[64]" or shape(28) ~= "[64]" do ui.frames(1) end
ui.quit()
