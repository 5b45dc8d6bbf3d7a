-- A user explores a transformer's tape: finds its blocks collapsed, opens them, searches, colours, plays, exports.
-- arg[1]: a folder for pictures and files.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local folder = arg[1]
local function choose(list, name)
  ui.click(list)
  ui.click(list .. "_choice", name)
end
local function exists(path)
  local file <close> = io.open(path, "rb")
  return file and #file:read "a" > 0
end

ui.wait("tape.group", "×6 6 × 32 nodes")
ui.expect("tape.legend", "closed modules")
steps.pause()
ui.picture(folder .. "/tape-folded.png")

-- Everything closed; a click opens a module, a click on a frame's title closes it.
choose("tape.open", "all closed")
ui.wait("tape.group", "model ")
ui.absent("tape.group", "×6")
ui.click("tape.group", "model ")
ui.wait("tape.frame", "model")
ui.click("tape.group", "×6")
ui.wait("tape.frame", "×6")
ui.wait("tape.group", "blocks.3")
ui.click("tape.frame", "×6")
ui.wait("tape.group", "×6")
ui.absent("tape.group", "blocks.3")

-- A search counts hits in closed modules, and Enter opens the modules around a hit.
ui.click("tape.search")
ui.type("_attention blocks.2")
ui.wait("tape.summary", "1 of 205 nodes")
ui.expect("tape.group", "(1 hit)")
ui.key("Enter")
ui.wait("inspector.op", "_attention")
ui.expect("tape.summary", "1: 1 of 205 nodes")
ui.wait("tape.node", "selected")
ui.expect("tape.map")
ui.frames(10)
ui.picture(folder .. "/tape-search.png")
ui.key("Ctrl+A")
ui.key("Delete")
ui.wait("tape.summary", "205 nodes, step")

-- Arrows move along the edges; a node's menu outlines its operands.
ui.click("tape.node", "attention [16")
ui.key("Right")  -- the panel is wide: data flows to the right
ui.wait("inspector.op", "transpose")
ui.key("Left")
ui.wait("inspector.op", "_attention")
ui.right_click("tape.node", "attention [16")
ui.wait("tape.menu", "Go to line")
ui.expect("tape.menu", "Copy name model.blocks.2.scaled_dot_product_attention")
ui.click("tape.menu", "Select inputs")
ui.wait("tape.node", "lit")
ui.absent("tape.menu")

-- Everything open: the map moves the view.
choose("tape.open", "all open")
while #ui.texts("tape.group") > 0 do ui.frames(1) end
ui.click("tape.fit")
ui.absent("tape.map")
ui.picture(folder .. "/tape-whole.png")
ui.wheel("tape.node", 16)
ui.wait("tape.map")
ui.picture(folder .. "/tape-map.png")
local before = table.concat(ui.texts("tape.node"), "\n")
ui.drag("tape.map", -30, 0)
assert(table.concat(ui.texts("tape.node"), "\n") ~= before, "the map did not move the view")
choose("tape.color", "backward time")
ui.wait("tape.legend", "backward time, logarithmic")
choose("tape.open", "few boxes")
ui.wait("tape.group", "×6")
ui.expect("tape.group", "s)")
ui.frames(3)
ui.picture(folder .. "/tape-time.png")

-- The order of execution, step by step and played, and in reverse.
ui.click("tape.next")
ui.wait("tape.playhead", "1 / ")
ui.click("tape.next")
ui.wait("tape.playhead", "2 / ")
ui.wait("tape.group", "playhead")
ui.click("tape.stop")
ui.absent("tape.playhead")
ui.click("tape.order")
ui.wait("tape.order", "backward")
ui.click("tape.play")
ui.wait("tape.play", "playing")
steps.changes("tape.playhead")
ui.click("tape.play")
ui.absent("tape.play", "playing")
ui.picture(folder .. "/tape-play.png")
ui.click("tape.stop")
ui.absent("tape.playhead")

-- Exports, and a path that cannot be written.
ui.click("tape.export")
ui.wait("tape.path", "tape-")
steps.fill("tape.path", folder .. "/nowhere/tape")
ui.click("tape.write", "DOT")
ui.wait("tape.written", "nowhere")
steps.fill("tape.path", folder .. "/tape")
for _, kind in ipairs {"DOT", "SVG", "JSON"} do
  ui.click("tape.write", kind)
  ui.wait("tape.written", "wrote " .. folder .. "/tape." .. kind:lower())
end
ui.picture(folder .. "/tape-export.png")
ui.click("tape.write", "PNG")
ui.frames(3)
ui.click("panel", "Console")
ui.wait("console.line", "tape.png")
for _, kind in ipairs {"dot", "svg", "json", "png"} do assert(exists(folder .. "/tape." .. kind), kind) end

ui.theme("light")
ui.frames(3)
ui.picture(folder .. "/tape-light.png")
ui.resize(640, 420)
ui.frames(3)
ui.picture(folder .. "/tape-small.png")
steps.smallest()
ui.quit()
