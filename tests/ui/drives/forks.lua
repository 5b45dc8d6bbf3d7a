-- Forks runs at some of their steps, by the real mouse and keys: without a change the curve is the same bit for bit;
-- Runs shows the tree, the track where it branches. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

local losses = dofile(arg[0]:match(".*/") .. "steps.lua").losses


-- The run has kept steps, and ends while the window goes on.
ui.wait("curves.curve", "loss")
ui.click("panel", "Time")
ui.reach {state = "ended", ended = 1}
real.begin()
real.click("panel", "Time")
real.key("Home")
ui.wait("time.cost", "step 1: its values are not kept: 1 step from the beginning")  -- its tape is kept
real.key("Return")
ui.wait("time.step", "step 1 (replayed)")
ui.show_step(200)
ui.wait("time.step", "step 200")

-- Without a change.
real.click("time.fork")
ui.wait("fork.title", "probes_script")
ui.expect("fork.step", "200")
ui.expect("fork.script", "Script as it was on")
ui.expect("fork.param", "lr 0.05")
ui.picture(arg[1] .. "/form.png")
real.click("fork.start")
ui.reach {state = "ended", ended = 2}
ui.wait("time.strip", "steps 201 to 400")
ui.wait("time.mark", "went on after step 200 of")
ui.wait("curves.curve", "this run")
ui.picture(arg[1] .. "/overlay.png")

-- With another rate, from a step of the fork.
ui.show_step(300)
ui.wait("time.step", "step 300")
real.click("time.fork")
ui.wait("fork.param", "lr 0.05")
ui.seconds(0.5)  -- the form takes its place
real.click("fork.param", "lr")
real.xdotool("key --delay 1 ctrl+a")
real.type("0.001")
ui.wait("fork.param", "lr 0.001")
ui.picture(arg[1] .. "/changed.png")
real.click("fork.start")
ui.reach {state = "ended", ended = 3}
ui.wait("time.strip", "steps 301 to 400")

-- The tree; and from Runs, the first run again, with the text as it is now.
real.click("panel", "Runs")
ui.wait("runs.forked", "from step 200, level 1")
ui.wait("runs.forked", "from step 300, level 2")
ui.wait("curves.curve", "loss")
ui.picture(arg[1] .. "/tree.png")
local runs = {}
for folder in io.popen("ls -d runs/*"):lines() do runs[#runs + 1] = folder end
assert(#runs == 3, #runs .. " run folders")
local order = {}
for _, folder in ipairs(runs) do
  local config = assert(io.open(folder .. "/config.json")):read("a")
  local step = config:match '"parent":%s*{.-"step":%s*(%d+)'
  order[tonumber(step or 0)] = folder
end
local parent, fork, changed = losses(order[0]), losses(order[200]), losses(order[300])
for step = 201, 400 do
  assert(fork[step] and fork[step] == parent[step], ("step %d: %s, was %s"):format(step, fork[step], parent[step]))
end
assert(not fork[200] and not changed[300] and changed[301], "the forks begin with another step")
assert(changed[400] ~= parent[400], "the rate changes nothing")
real.click("runs.run", order[0]:match("[^/]*$"))
real.click("runs.fork")
ui.wait("fork.step", "400")
ui.wait("fork.title", "probes_script")
ui.picture(arg[1] .. "/from-runs.png")
real.xdotool("key --delay 1 Escape")
-- An impossible fork is reported, and no run ends.
ui.fork(order[0], 401)
ui.wait("fork.problem", "has the steps 1 to 400")
ui.picture(arg[1] .. "/problem.png")
ui.fork(order[0], 390, {lr = 0.5}, true)
ui.reach {state = "ended", ended = 4}
real.click("panel", "Time")
ui.wait("time.strip", "steps 391 to 400")
ui.quit()
