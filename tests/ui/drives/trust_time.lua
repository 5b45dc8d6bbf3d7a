-- Repeats steps of a run or a bundle of another owner, and starts new runs from there, without a question. arg[1]: the
-- work folder; arg[2]: what was opened; arg[3]: the flag that answers.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
local printed = arg[3] == "sandbox" and "boxed" or "free"
local name = arg[2]:gsub("%W", "-") .. "-" .. arg[3]
ui.layout("Watch")

local losses = dofile(arg[0]:match(".*/") .. "steps.lua").losses

-- From Runs, without a run of the window.
ui.wait("curves.curve", "loss")
real.begin()
real.click("panel", "Runs")
ui.wait("runs.run", arg[2]:match("^%w+"))
real.click("runs.run", arg[2]:match("^%w+"))
real.click("runs.fork")
ui.wait("fork.step", "20")
real.click("fork.step")
real.xdotool("key --delay 1 ctrl+a")
real.type("12")
real.key("Tab")
ui.wait("fork.step", "12")
real.click("fork.start")
ui.reach {state = "ended", ended = 1}
ui.absent("trust")
real.click("panel", "Console")
ui.wait("console.line", printed)
ui.picture(arg[1] .. "/fork-" .. name .. ".png")

-- Its script, and a step of that run again.
if arg[2] == "data.run" then ui.set_arguments {"points.csv"} end
real.key("ctrl+F5")
ui.reach {state = "ended", ended = 2}
ui.absent("trust")
real.click("panel", "Time")
ui.show_step(10)
ui.wait("time.step", "step 10")
ui.repeat_step(10)
ui.wait("time.step", "step 10 (replayed)")
ui.absent("time.problem")
ui.picture(arg[1] .. "/step-" .. name .. ".png")
real.click("time.fork")
ui.wait("fork.title")
ui.expect("fork.step", "10")
real.click("fork.start")
ui.reach {state = "ended", ended = 3}
ui.wait("time.strip", "steps 11 to 20")
ui.absent("failure")
ui.expect(arg[3] == "sandbox" and "limits" or "state", arg[3] == "sandbox" and "sandbox, 256 MiB" or "finished")

-- Both new runs have its numbers.
local runs = {}
for folder in io.popen("ls -d runs/*"):lines() do runs[#runs + 1] = folder end
local whole
for _, folder in ipairs(runs) do
  local found = losses(folder)
  if found[1] then whole = found end
end
assert(whole and whole[20], "no run of the window has all steps")
for _, folder in ipairs(runs) do
  for step, loss in pairs(losses(folder)) do
    assert(loss == whole[step], ("%s, step %d: %s instead of %s"):format(folder, step, loss, whole[step]))
  end
end
ui.quit()
