-- A script fails in step 40, then makes NaN there: with real input the error is seen while a panel fills the window,
-- and after the line was fixed the run continues from the last good step that was kept to the exact end of a run
-- without the fault. arg[1]: a folder for the script and pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
local path = arg[1] .. "/go_on_script.lua"
ui.layout("Watch")
local source = io.open(arg[0]:match(".*/") .. "go_on_script.lua"):read("a")

local function write(planted)
  local file <close> = assert(io.open(path, "w"))
  file:write((source:gsub(":mean%(%)", "%0" .. planted)))
end

local function last_end()
  local found = ui.texts("console.line")
  for i = #found, 1, -1 do
    local value = found[i]:match("end 60 (%S+)")
    if value then return value end
  end
end

-- Does `act`, waits for the end of the run and returns what it printed last.
local function end_after(act)
  act()
  ui.wait("console.line", "end 60")
  ui.wait("state", "finished")
  return last_end()
end

write("")
ui.key("Ctrl+P")
ui.wait("palette", "scripts")
ui.type(path)
ui.key("Enter")
ui.wait("console.line", "open")
local want = end_after(function() ui.key("F5") end)

real.begin()
for _, planted in ipairs {" + (step == 40 and missing.part or 0)", " * (step < 40 and 1 or 0 / 0)"} do
  write(planted)
  local wrong = planted:find("missing") and "failure" or "not_finite"
  real.click("panel", "Curves")
  real.key("ctrl+m")
  ui.wait("panel.back")
  real.key("F5")
  if wrong == "failure" then
    ui.wait("failure", "go_on_script.lua:10: attempt to index a nil value")
    ui.expect("state", "failed")
    ui.absent("panel", "Console")
    ui.picture(arg[1] .. "/failure.png")
    real.click("where.place")
    ui.wait("panel", "Editor")
    ui.expect("failure", "go_on_script.lua:10")
    ui.picture(arg[1] .. "/line.png")
  else
    ui.wait("not_finite", "NaN since step 40: mul at go_on_script.lua:10")
    ui.wait("state", "finished, with NaN")
  end
  if #ui.texts("panel.back") > 0 then real.click("panel.back") end
  ui.wait("panel", "Console")
  real.click("panel", "Console")
  write("")
  ui.wait("console.line", "changed on the disk")
  local got = end_after(function()
    real.click("console.clear")
    if wrong == "failure" then
      real.click("where.action")
    else
      real.click("not_finite")
      ui.wait("not_finite.go_on")
      real.click("not_finite.go_on")
    end
    ui.wait("console.line", "the last good one that was kept")
  end)
  assert(got == want, ("after %q the run ends with %s instead of %s"):format(planted, got, want))
  ui.absent("failure")
  ui.absent("not_finite")
end
