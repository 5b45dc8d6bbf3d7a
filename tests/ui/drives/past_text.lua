-- A step before a reload shows the text of then, by the real mouse and keys: on the tape, in the Inspector and in the
-- editor, which is then only read and shows the difference; text that was not saved comes back as it was. A fork with the
-- script of then shows that script. arg[1]: a folder for pictures and the script.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local function line(op) return ("local function act(x) return x:%s() end"):format(op) end

local script = arg[1] .. "/model.lua"
local file = assert(io.open(script, "w"))
file:write([[
local lg = require "lunagrad"
local nn = lg.nn
]] .. line "relu" .. [[

local net = lg.run.state("net", function() return nn.Linear(16, 8) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(net:parameters(), {lr = 1e-2}) end)
for _ in lg.run.steps(10000000) do
  local loss = (act(net(lg.ones(64, 16))) - 1):square():mean()
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log {loss = loss}
end
]])
file:close()

local function shows(name, part)
  for _, text in ipairs(ui.texts(name)) do
    if text:find(part, 1, true) then return true end
  end
end

local function wait_until(problem, holds)
  local from = os.time()
  while not holds() do
    assert(os.time() - from < 60, problem)
    ui.frames(1)
  end
end

-- Presses the key until the tape has the node.
local function press_until(key, node)
  for _ = 1, 20 do
    real.key(key)
    ui.seconds(0.3)
    if shows("tape.node", node) then return end
  end
  error("no " .. node .. " on the tape after 20 times " .. key)
end

ui.open(script)
ui.action("Run or continue")
ui.wait("curves.curve", "loss")
ui.key("F6")
ui.wait("state", "paused")
ui.click("panel", "Editor")
ui.wait("editor.line", "3: " .. line "relu")
real.begin()
real.key("F8")
real.key("F8")
real.click("tape.node", "relu")
ui.wait("inspector.line", line "relu")
local past = real.step_in("tape.summary")
real.key("F8")

-- Another op, saved while the run is paused; then text that is not saved.
real.click("editor.line", "3: local")
real.key("Home")
real.key("shift+End")
real.type(line "gelu")
ui.wait("editor.line", "3: " .. line "gelu")
real.key("Escape")
real.key("ctrl+s")
wait_until("the text is not saved", function() return not shows("editor.tab", "modified") end)
real.click("editor.line", "9: ")
real.key("ctrl+End")
real.type("local mine = 1")
ui.wait("editor.line", "13: local mine = 1")
ui.expect("editor.tab", "modified")
real.key("Escape")
real.click("panel", "Tape")
press_until("F8", "gelu")
real.click("tape.node", "gelu")
ui.wait("inspector.line", line "gelu")
real.key("F8")
ui.absent("editor.past")

-- A step before the reload.
press_until("comma", "relu")
ui.wait("cursor", "(past)")
ui.wait("editor.past", "model.lua as of step ")
ui.expect("editor.past", "before the reload at step ")
ui.wait("editor.line", "3: " .. line "relu")
ui.absent("editor.line", "gelu")
real.click("tape.node", "relu")
ui.wait("inspector.line", line "relu")
ui.wait("editor.marked", "3")
ui.picture(arg[1] .. "/past.png")

-- Keys change nothing, and the editor says why.
ui.absent("editor.refused")
real.click("editor.line", "3: local")
real.type("no")
ui.wait("editor.refused", "Nothing was changed")
real.key("BackSpace")
real.key("ctrl+s")
ui.expect("editor.line", "3: " .. line "relu")
ui.expect("editor.status", "read-only")
local saved <close> = assert(io.open(script))
assert(saved:read("a"):find("gelu", 1, true), "the old text was written to the file")

-- The difference to now, with the text that is not saved.
real.click("editor.past.difference")
ui.wait("editor.difference", "1 line removed (-), 2 lines added (+)")
ui.expect("editor.difference.line", "- " .. line "relu")
ui.expect("editor.difference.line", "+ " .. line "gelu")
real.xdotool(real.aim("editor.difference.line", "loss:backward()") .. "click --repeat 9 --delay 20 5")
ui.wait("editor.difference.line", "+ local mine = 1")
ui.picture(arg[1] .. "/difference.png")
ui.theme("light")
ui.frames(3)
ui.picture(arg[1] .. "/difference-light.png")
ui.theme("dark")
real.click("editor.past.difference")
real.gone("editor.difference")

-- Live again: the edited text as it was, with its undo.
real.click("editor.past.back", "Live")
real.gone("editor.past")
ui.wait("cursor", "live")
ui.wait("editor.line", "3: " .. line "gelu")
ui.expect("editor.line", "13: local mine = 1")
ui.expect("editor.tab", "modified")
wait_until("undo does nothing", function()
  real.key("ctrl+z")  -- word by word
  return not shows("editor.line", "mine")
end)

-- A fork with the script of then.
ui.fork("", past)
ui.wait("editor.past", "model.lua as this fork runs it")
ui.wait("editor.line", "3: " .. line "relu")
ui.wait("tape.node", "relu")
ui.picture(arg[1] .. "/fork.png")
ui.seconds(1)  -- the row below the toolbar has gone
real.click("editor.past.back", "Text of now")
real.gone("editor.past")
ui.wait("editor.line", "3: " .. line "gelu")
ui.quit()
