-- Commands are found by what they do, with real keys: words that are in no command's name, menu items of the selected node,
-- a node, a parameter, a view of a panel. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

-- Opens the palette with the typed words; `entry` must be among the first three and is chosen with the arrow keys.
local function command(words, entry)
  real.key("ctrl+shift+p")
  ui.wait("palette", "commands")
  real.type(words)
  ui.wait("palette.entry", entry)
  ui.frames(3)
  local at
  for i, text in ipairs(ui.texts("palette.entry")) do
    if text:sub(1, #entry) == entry then at = at or i end
  end
  assert(at and at <= 3, ("%s: %s is at place %s, after %s"):format(words, entry, at, ui.texts("palette.entry")[1]))
  for _ = 2, at do real.key("Down") end
  local function chosen()
    for _, text in ipairs(ui.texts("palette.entry")) do
      if text:sub(1, #entry) == entry and text:find(" chosen", 1, true) then return true end
    end
  end
  for _ = 1, 100 do
    if chosen() then return end
    ui.seconds(0.05)
  end
  error(entry .. " is not chosen")
end

local function run(words, entry)
  command(words, entry)
  real.key("Return")
  real.gone("palette")
end

ui.wait("curves.curve", "loss")
real.begin()
real.pause()
ui.wait("tape.node", "linear [64, 256]")

-- A node by its operation, then what its menu offers.
run("relu", "Node: model.relu")
ui.wait("inspector.op", "relu")
run("linear fc2", "Node: model.fc2.linear")
ui.wait("inspector.op", "linear")
command("freeze", "Model: freeze")
ui.picture(arg[1] .. "/palette_freeze.png")
real.key("Return")
ui.wait("console.line", "freeze model.fc2")
run("thaw", "Model: unfreeze")
ui.wait("console.line", "unfreeze model.fc2")
run("rescale", "Model: rescale...")
ui.wait("change.typing")
real.key("Escape Escape")

-- A command of a panel that is hidden behind another one shows its panel. A parameter gets the focus of its field.
run("dropout", "Parameter: dropout")
ui.wait("panel", "Parameters in front")
run("memory", "Profiler: memory")
ui.wait("panel", "Profiler in front")
run("leak", "Profiler: find what outlives its step")
ui.wait("profiler.find_owners")
run("diff", "Tape: compare")
ui.wait("tape.compare.tapes")
real.key("Escape")
run("fork", "Go on from here...")
ui.wait("fork.step")
real.key("Escape Escape")

-- "font" means the size of the text.
command("font", "Window: larger text")
for _, text in ipairs(ui.texts("palette.entry")) do assert(not text:find("Forward in time", 1, true)) end
real.key("Escape")
real.gone("palette")
run("seed", "Next run: device, seed and arguments")
ui.wait("run.device")
ui.picture(arg[1] .. "/palette_next_run.png")
real.key("Escape")
ui.quit()
