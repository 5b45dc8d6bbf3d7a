# The window with --sandbox and limits: they hold in each of its runs, in the steps that it repeats, in forks and after a crash.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)
file(WRITE ${WORK}/train.lua [=[
local lg = require "lunagrad"
local does = {
  read = function() lg.io.load("/etc/hostname") end,
  loop = function() while true do end end,
  fill = function()
    local kept = {}
    for i = 1, 100 do kept[i] = lg.ones(1 << 20) end
  end,
  crawl = function() for i = 1, 1000 do lg.zeros(64, 64):matmul(lg.zeros(64, 64)) end end,
}
print(io and "free" or "boxed")
if does[arg[1]] then does[arg[1]]() end
local w = lg.run.state("w", function() return lg.zeros(4, {requires_grad = true}) end)
for step in lg.run.steps(arg[1] == "long" and 100000 or 30) do
  local loss = ((w - step) ^ 2):mean()
  if w.grad then w.grad:zero_() end
  loss:backward()
  lg.no_grad(function() w:sub_(w.grad * 0.1) end)
  lg.run.log {loss = loss}
  if arg[1] == "long" then does.crawl() end
end
]=])
set(limits --sandbox --memory 64 --timeout 3)
expect(sandbox 0 "" ${display} ${WORKBENCH} train.lua ${limits} ${VALIDATION} --size 1280x800 --state ${WORK}/kept
       --drive ${SOURCE}/tests/ui/drives/sandbox.lua ${WORK})
# Killed during a run: the next start has the limits without the flags.
expect(killed 137 "" ${display} ${WORKBENCH} train.lua --sandbox --memory 64 --timeout 60 --checkpoint-every 0.1 --size 1280x800
       --state ${WORK}/kept ${VALIDATION} --drive ${SOURCE}/tests/ui/drives/crash.lua ${WORK} -- long)
file(WRITE ${WORK}/again.lua [[
ui.wait("notice", "closed unexpectedly")
ui.expect("limits", "sandbox, 64 MiB, 60 s")
ui.click("notice.action", "Resume run")
ui.wait("state", "running")
ui.expect("limits", "sandbox, 64 MiB, 60 s")
ui.action("Stop")
ui.reach {state = "ended", ended = 1}
ui.set_arguments {"read"}
ui.action("Clean run")
ui.wait("failure", "a sandboxed script reads files of its own folder alone")
ui.quit()
]])
expect(again 0 "" ${display} ${WORKBENCH} --size 1280x800 --state ${WORK}/kept ${VALIDATION} --drive ${WORK}/again.lua)
expect(both 2 "leave one of them out" ${WORKBENCH} train.lua --trust --sandbox)
expect(small 2 "--memory takes MiB from 8" ${WORKBENCH} train.lua --memory 7)
expect(never 2 "--timeout takes seconds above 0" ${WORKBENCH} train.lua --timeout 0)
finish()
