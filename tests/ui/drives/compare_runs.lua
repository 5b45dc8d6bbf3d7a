-- The menu lists the other runs, although the Runs panel was never shown. A run with the same seed has an equal tape.
-- Of a run with another seed the list and the nodes give the same figures, and the list's columns show them whole. A
-- step that the other run does not keep, or another backward pass, accuses nothing. arg[1]: a folder for pictures and
-- files.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.layout("Watch")

local function write(name, text)
  local file <close> = assert(io.open(arg[1] .. "/" .. name, "w"))
  file:write(text)
  return arg[1] .. "/" .. name
end

local twice = write("twice.lua", [[
local lg = require "lunagrad"
local nn = lg.nn
local net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
local criterion = nn.CrossEntropyLoss()
local optimizer = lg.optim.SGD(net:parameters(), {lr = 1e-2})
for _ in lg.run.steps(12) do
  local loss = criterion(net(lg.randn(64, 16)), lg.randint(0, 4, {64}))
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end
]])
local passes = write("passes.lua", [[
local lg = require "lunagrad"
local nn = lg.nn
local large = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4))
local small = nn.Linear(8, 4)
for _ in lg.run.steps(11) do
  large(lg.randn(16, 8)):square():mean():backward()
  local loss = small(lg.randn(16, 8)):abs():sum()
  loss:backward()
  lg.run.log {loss = loss}
end
]])

local function run_with(seed)
  ui.set_seed(seed)
  ui.action("Clean run")
  ui.wait("state", "finished", 120)
  ui.seconds(1.1)  -- names of runs have seconds
end

-- The other kind of run comes first, so that a later one of the shown script has to be listed before it.
ui.open(passes)
run_with(3)
ui.open(twice)
run_with(4)
run_with(3)
-- One step from the end begins a new run with seed 3, and pauses in its first step.
ui.key("F8")
ui.wait("state", "paused")
ui.wait("tape.summary", "step 1")
real.begin()

-- `steps`: how the runs end in the list.
local function compare_with(number, steps, count)
  real.click("tape.compare")
  ui.wait("tape.compare.tapes", "another run")
  real.click("tape.compare.tapes", "another run")
  ui.wait("tape.compare.tape", steps)
  ui.frames(3)  -- the list takes its place
  local runs = {}
  for _, text in ipairs(ui.texts("tape.compare.tape")) do
    if text:find(" steps", 1, true) then runs[#runs + 1] = text end
  end
  assert(#runs == count, #runs .. " runs are listed")
  assert(runs[number]:find(steps, 1, true), runs[number] .. " is listed at " .. number)
  real.click("tape.compare.tape", runs[number])
end

-- The latest run of the shown script comes first.
compare_with(1, "12 steps", 3)
ui.wait("tape.diff.counts", "equal")
ui.absent("tape.diff.finding")
ui.picture(arg[1] .. "/equal.png")
ui.close_tape_comparison()
real.gone("tape.diff.counts")

compare_with(2, "12 steps", 3)
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
ui.wait("tape.diff.finding", "cause value moved")
ui.frames(3)
ui.picture(arg[1] .. "/moved.png")
for _, column in ipairs {"tape.diff.kind", "tape.diff.node", "tape.diff.figure"} do
  for _, text in ipairs(ui.texts(column)) do assert(not text:find("…", 1, true), column .. " is cut: " .. text) end
end
local checked = 0
for _, finding in ipairs(ui.texts("tape.diff.finding")) do
  local figure = finding:match("value moved .- (by %S+) of its norm")
  if figure then
    ui.wait("tape.node", "(" .. figure .. ")")
    checked = checked + 1
  end
end
assert(checked > 0, "no value of a node has moved")
ui.close_tape_comparison()
real.gone("tape.diff.counts")

-- No run keeps step 2. Its values differ from the values of step 1 in equal runs, too.
real.key("F8")
ui.wait("tape.summary", "step 2")
ui.wait("state", "paused")
compare_with(1, "12 steps", 3)
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed; values were not compared")
ui.wait("tape.diff.note", "keeps no tape of step 2")
ui.absent("tape.diff.finding")
ui.close_tape_comparison()
real.gone("tape.diff.counts")

-- A run keeps the largest pass of a step; the window shows the last one first.
real.key("shift+F5")
ui.wait("state", "stopped")
ui.open(passes)
ui.set_seed(3)
ui.action("Step one iteration")
ui.wait("tape.summary", "step 1")
ui.wait("state", "paused")
ui.wait("tape.pass", "sum, passes.lua:7")
compare_with(1, "11 steps", 4)
ui.wait("tape.compare.problem", "of the backward pass of mean, passes.lua:6, and the shown tape of sum, passes.lua:7")
ui.close_tape_comparison()
real.click("tape.pass", "sum, passes.lua:7")
ui.wait("tape.pass_choice", "mean, passes.lua:6")
ui.frames(3)  -- the list takes its place
real.click("tape.pass_choice", "mean, passes.lua:6")
ui.wait("tape.pass", "mean, passes.lua:6")
compare_with(1, "11 steps", 4)
ui.wait("tape.diff.counts", "0 nodes removed, 0 added, 0 changed")
ui.absent("tape.diff.finding")
ui.quit()
