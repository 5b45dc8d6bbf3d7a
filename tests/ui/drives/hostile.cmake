# Scripts that fail, hang, or log unusual names and values: the window survives and reports what happened.
include(${CMAKE_CURRENT_LIST_DIR}/harness.cmake)

function(hostile name script played)
  file(WRITE ${WORK}/${name}.lua "${script}")
  file(WRITE ${WORK}/${name}_drive.lua "ui.layout('Watch')\n${played}")
  expect(${name} 0 "" ${display} ${WORKBENCH} ${WORK}/${name}.lua ${VALIDATION} --size 1000x700 --drive
         ${WORK}/${name}_drive.lua ${WORK})
  set(faults ${faults} PARENT_SCOPE)
endfunction()

hostile(syntax [=[
print("never")
local x = = 3
]=] [=[
ui.wait("state", "failed")
ui.expect("console.error", "syntax.lua:2:")
ui.absent("console.line", "never")
ui.click("console.input")
ui.type("6 * 7")
ui.key("Enter")
ui.wait("console.line", "42")
]=])

hostile(late [=[
local lg = require "lunagrad"
local w = lg.ones(2, {requires_grad = true})
for step in lg.run.steps(600) do
  w.grad = nil
  local loss = (w ^ 2):sum()
  loss:backward()
  lg.run.log {loss = loss}
  if step == 500 then w:matmul(lg.ones(3, 3)) end
end
]=] [=[
ui.wait("state", "failed")
ui.expect("console.error", "late.lua:8:")
ui.expect("console.error", "matmul")
ui.expect("curves.curve", "loss")
ui.wait("tape.node", "sum")
local step = ui.texts("step")[1]
assert(step:find("499") or step:find("500"), step)
ui.key("Ctrl+F5")
ui.seconds(0.5)
ui.wait("state", "failed")
assert(#ui.texts("console.error") > 1)
]=])

hostile(endless [=[
print("begin")
while true do end
]=] [=[
ui.wait("console.line", "begin")
ui.expect("state", "running")
ui.frames(30)
ui.key("F6")
ui.wait("state", "paused", 5)
ui.key("F5")
ui.wait("state", "running", 5)
ui.key("Shift+F5")
ui.key("Shift+F5")
ui.wait("state", "stopped", 15)
]=])

# A call that cannot be interrupted: the window names it, stays responsive, and closes without waiting for it.
string(TIMESTAMP before "%s")
hostile(hangs [=[
print("begin")
os.execute("exec sleep 100 >/dev/null 2>&1")
]=] [=[
ui.wait("console.line", "begin")
ui.key("F6")
ui.wait("silence", "os.execute, called at hangs.lua:2", 30)
ui.picture(arg[1] .. "/hangs.png")
ui.key("Ctrl+Q")
ui.wait("closing", "asks")
ui.click("closing.now")
ui.seconds(60)
]=])
string(TIMESTAMP after "%s")
math(EXPR took "${after} - ${before}")
if(took GREATER 60)
  message("hangs: took ${took} s")
  math(EXPR faults "${faults} + 1")
endif()

# The restart: unsaved text is saved, and the window restarts with the script, which does not run.
file(WRITE ${WORK}/restarts.lua "print('begin')\nio.popen('exec sleep 100 2>/dev/null'):read()\n")
file(WRITE ${WORK}/restarts_drive.lua [=[
local begun = io.open(arg[1] .. "/restarted")
if not begun then
  ui.click("panel", "Console")
  ui.wait("console.line", "begin")
  io.open(arg[1] .. "/restarted", "w"):close()
  ui.click("panel", "Editor")
  ui.click("editor.line", "1: print")
  ui.key("End")
  ui.type(" -- typed")
  ui.key("Ctrl+N")
  ui.frames(3)
  ui.type("loose text")
  ui.key("Shift+F5")
  ui.wait("silence", "file:read, called at restarts.lua:2", 30)
  ui.click("silence.restart")
  ui.seconds(60)
end
ui.wait("notice", "1 text that had not been saved")
ui.click("notice.dismiss")
ui.wait("notice", "Layout and script were restored")
ui.expect("state", "ready")
ui.click("panel", "Editor")
ui.wait("editor.line", "1: print('begin') -- typed")
ui.expect("editor.tab", "untitled 1 modified")
]=])
expect(restarts 0 "" ${display} ${WORKBENCH} ${WORK}/restarts.lua --state ${WORK}/restart-state --size 1000x700 --drive
       ${WORK}/restarts_drive.lua ${WORK})
file(STRINGS ${WORK}/restarts.lua saved REGEX "-- typed")
if(NOT saved)
  message("restarts: what was typed was not saved")
  math(EXPR faults "${faults} + 1")
endif()

hostile(deep [=[
local lg = require "lunagrad"
local w = lg.ones(1, {requires_grad = true})
local y = w
for _ = 1, 100000 do y = y + 1 end
y:backward()
print("walked")
while true do local z = w * 2; z = nil end
]=] [=[
ui.wait("console.line", "walked")
ui.wait("tape.summary", "100,001 nodes")
ui.wait("tape.group", nil, 30)
ui.drag("tape.fit", 0, 40)
ui.click("tape.search")
ui.type("leaf")
ui.wait("tape.summary", "1 of")
]=])

hostile(sizes [=[
local lg = require "lunagrad"
local none = lg.ones(0, 3, {requires_grad = true})
local w = lg.ones(1, {requires_grad = true})
for step in lg.run.steps(1000) do
  w.grad = nil
  local loss = w:expand(1 << 30):sum() + (none * 2):sum()
  loss:backward()
end
]=] [=[
ui.wait("tape.node", "expand", 60)
ui.key("F6")
ui.wait("state", "paused")
for _, node in ipairs {"expand", "mul", "[0, 3]"} do
  ui.click("tape.node", node)
  ui.wait("inspector.op")
  ui.key("F8")
  ui.seconds(1)
  ui.wait("state", "paused")
  ui.wait("inspector.value")
end
]=])

hostile(text [=[
print("zero\0byte", "bad \xff\xfe\xc3(", "\27[31mred\27[0m\r\n", "\u{202e}back")
print(("long "):rep(40000))
for i = 1, 3000 do io.write(i % 2 == 0 and "\r" or "", i, i % 100 == 0 and "\n" or "") end
error("bad \xff\0 message")
]=] [=[
ui.wait("state", "failed")
local lines = table.concat(ui.texts("console.line"), "\n")
assert(utf8.len(lines), "the console shows what is no UTF-8")
assert(not lines:find("%z"), "the console shows a zero byte")
ui.expect("console.error", "message")
ui.resize(200, 100)
ui.frames(5)
]=])

# The display disappears during a run, with unsaved text.
file(WRITE ${WORK}/gone.lua [=[
local lg = require "lunagrad"
local w = lg.run.state("w", function() return {lg.ones(4)} end)
for step in lg.run.steps(1000000000) do w[1] = w[1] + 1 end
]=])
file(WRITE ${WORK}/gone_drive.lua [=[
ui.wait("state", "running")
ui.click("panel", "Editor")
ui.wait("editor.line", "1: local lg")
ui.click("editor.line", "1: local lg")
ui.type(" -- not saved")
ui.wait("editor.tab", "modified")
os.execute("kill -9 " .. arg[1])
ui.seconds(30)
]=])
file(WRITE ${WORK}/gone.sh "Xvfb -displayfd 1 -screen 0 1280x800x24 >number & while ! [ -s number ]; do sleep 0.1; done
DISPLAY=:$(cat number) exec \"$@\" $!")
expect(gone 5 "unsaved text is kept" sh ${WORK}/gone.sh ${WORKBENCH} ${WORK}/gone.lua --state ${WORK}/gone-state --run-dir
       ${WORK}/gone-run --drive ${WORK}/gone_drive.lua)
file(GLOB kept ${WORK}/gone-state/autosave/*)
file(GLOB checkpoints ${WORK}/gone-run/checkpoints/* ${WORK}/gone-run/*/checkpoints/*)
if(NOT kept OR NOT checkpoints)
  message("gone: unsaved text kept: ${kept}; checkpoints: ${checkpoints}")
  math(EXPR faults "${faults} + 1")
endif()

# Names that a script gives, and texts that it logs.
hostile(names [=[
local lg = require "lunagrad"
local nn = lg.nn
local net = nn.Sequential(nn.Linear(2, 1))
net["a\0b\xff\n"] = nn.Linear(1, 1)
for step in lg.run.steps(3) do
  local loss = net["a\0b\xff\n"](net[1](lg.ones(4, 2))):sum()
  loss:backward()
  lg.run.log {["lo\0ss\xfe"] = loss, ["\u{202e}back"] = 1, [("long"):rep(300)] = 2}
  lg.run.text("te\0xt\xc3", "zero\0byte, bad \xff\xc3(, \27[31mred\27[0m, \u{202e}back " .. ("word "):rep(2000))
end
]=] [=[
ui.wait("state", "finished")
ui.wait("curves.curve", "lo")
for _, panel in ipairs {"Media", "Gradients", "Profiler", "Tape", "Curves"} do
  ui.click("panel", panel)
  ui.frames(5)
  ui.picture(arg[1] .. "/names_" .. panel .. ".png")
end
ui.click("panel", "Media")
ui.expect("media.text", "zero")
for _, name in ipairs {"curves.curve", "media.text", "tape.node", "console.line", "gradients.parameter"} do
  local shown = table.concat(ui.texts(name), "\n")
  assert(utf8.len(shown), name .. " shows what is no UTF-8")
  assert(not shown:find("%z"), name .. " shows a zero byte")
end
ui.resize(200, 100)
ui.frames(5)
]=])

# A disk where no file can exceed 32 KiB: errors are visible to the user, and nothing is lost.
string(REPEAT "-- a line of a long text whose file has to stay as it was\n" 1000 long)
file(WRITE ${WORK}/full.lua [=[
local lg = require "lunagrad"
local held = lg.run.state("held", function() return {w = lg.zeros(64, 1024)} end)
for step in lg.run.steps(3000) do
  lg.run.log {loss = 1 / step, held = held.w:sum()}
  if step == 10 then lg.run.checkpoint() end
end
print("through")
]=] "${long}")
file(WRITE ${WORK}/full_drive.lua [=[
ui.layout("Watch")
ui.wait("console.line", "through", 60)
ui.wait("failure", "metrics.jsonl")
ui.frames(3)
ui.expect("console.line", "metrics.jsonl")
ui.expect("console.line", "checkpoint")
ui.expect("curves.curve", "loss 3000 points")
ui.click("curves.export")
ui.click("curves.export.as", "CSV")
ui.wait("curves.exported", "File too large")
ui.key("Escape")
ui.click("panel", "Editor")
ui.click("editor.line", "1: local lg")
ui.key("End")
ui.type(" -- typed")
ui.wait("editor.status", "unsaved text cannot be kept", 20)
ui.key("Ctrl+S")
ui.wait("console.error", "not saved")
ui.expect("editor.line", "1: local lg = require \"lunagrad\" -- typed")
ui.expect("editor.tab", "full.lua modified")
]=])
expect(full 0 "" ${display} sh -c "ulimit -f 64 && exec \"$@\"" sh ${WORKBENCH} ${WORK}/full.lua ${VALIDATION} --size 1280x800
       --state ${WORK}/full-state --run-dir ${WORK}/full-run --drive ${WORK}/full_drive.lua ${WORK})
file(STRINGS ${WORK}/full.lua typed REGEX "-- typed")
if(typed)
  message("full: the file was written over with what did not fit")
  math(EXPR faults "${faults} + 1")
endif()
finish()
