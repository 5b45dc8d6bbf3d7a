-- A run or a bundle of another owner. arg[1]: the work folder; arg[2]: what is opened; arg[3]: the answer.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
local free = arg[1] .. "/free"
ui.layout("Watch")
local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

-- Its numbers are shown, and nothing asks.
ui.wait("curves.curve", "loss")
ui.absent("trust")
real.begin()

-- Run asks. Escape and the third button do not start it.
real.key("ctrl+F5")
ui.wait("trust", arg[2])
ui.expect("trust.script", "local lg = require")
ui.picture(arg[1] .. "/trust-" .. arg[2]:gsub("%W", "-") .. ".png")
real.key("Escape")
real.gone("trust")
real.key("ctrl+F5")
ui.wait("trust", arg[2])
real.click("trust.no")
real.gone("trust")
ui.seconds(0.5)
ui.absent("console.line", "boxed")
assert(not exists(free), "it ran without an answer")

-- In the sandbox it has its module, but no files.
local printed = arg[3] == "sandbox" and "boxed" or "free"
real.key("ctrl+F5")
ui.wait("trust." .. arg[3])
real.click("trust." .. arg[3])
ui.wait("console.line", printed)
ui.reach {state = "ended", ended = 1}
ui.wait("curves.curve", "this run")
assert(exists(free) == (arg[3] == "trust"))

-- The answer holds until the window closes.
real.click("console.clear")
real.key("ctrl+F5")
ui.wait("console.line", printed)
ui.reach {state = "ended", ended = 2}
ui.quit()
