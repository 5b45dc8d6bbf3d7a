-- The shown tape is compared with an earlier step, with the tape before a reload that adds a layer, and with a file that the
-- window has written. arg[1]: a folder for pictures and files.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local function script_with(layer)
  local file <close> = assert(io.open(arg[0]:match(".*/") .. "compare_tapes_script.lua"))
  return (file:read("a"):gsub("nn%.Tanh%(%),", "nn.Tanh()," .. layer))
end

local script = arg[1] .. "/net.lua"
local file = assert(io.open(script, "w"))
file:write(script_with(""))
file:close()
ui.open(script)
ui.action("Run or continue")
ui.wait("curves.curve", "loss")
steps.pause()
steps.capture()
local first = real.step_in("tape.summary")
ui.export_tape(arg[1] .. "/tape.json")
steps.step()
steps.step()
real.begin()

-- Another step: nothing but values differs, and a leaf or an input comes first.
real.click("tape.compare")
ui.wait("tape.compare.tapes", "another step")
ui.picture(arg[1] .. "/menu.png")
real.click("tape.compare.tapes", "another step")
ui.wait("tape.compare.tape", "step " .. first)
real.click("tape.compare.tape", "step " .. first)
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
ui.wait("tape.diff.finding", "cause value moved")
ui.wait("tape.legend", "moved on its own")
ui.frames(3)
ui.picture(arg[1] .. "/step.png")
real.click("tape.diff.finding", "cause value moved")
ui.wait("tape.node", "selected")

-- The page for a browser; an existing file is refused.
ui.save_tape_comparison(arg[1] .. "/diff.html")
ui.wait("tape.diff.told", "wrote " .. arg[1] .. "/diff.html")
assert(io.open(arg[1] .. "/diff.html")):close()
ui.save_tape_comparison(arg[1] .. "/diff.html")
ui.wait("tape.diff.told", "exists")
ui.picture(arg[1] .. "/saved.png")
ui.close_tape_comparison()
real.gone("tape.diff.counts")

-- A run in a folder: the latest tape that it keeps.
local listing <close> = assert(io.popen("ls -d runs/*net*"))
ui.compare_tape {run = listing:read("l")}
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
ui.expect("tape.diff.time", "time of all nodes")
ui.close_tape_comparison()
real.gone("tape.diff.counts")

-- A file that the window wrote is the tape of its step.
ui.compare_tape {file = arg[1] .. "/tape.json"}
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
ui.compare_tape {file = arg[1] .. "/none.json"}
ui.wait("tape.compare.problem", "none.json")
ui.close_tape_comparison()

-- A layer that a reload adds is marked on the tape, and what it changes is listed.
real.key("F5")
ui.wait("state", "running")
ui.set_text(script, script_with(" nn.Linear(32, 32), nn.ReLU(),"))
ui.wait("tape.node", "relu")
real.pause()
ui.compare_tape {before_reload = true}
ui.wait("tape.diff.finding", "cause added")
ui.wait("tape.node", "added")
ui.frames(3)
ui.picture(arg[1] .. "/reload.png")
ui.theme("light")
ui.frames(3)
ui.picture(arg[1] .. "/light.png")
ui.quit()
