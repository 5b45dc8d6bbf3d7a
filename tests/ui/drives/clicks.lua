-- How many clicks of the real mouse lead to what a person wants to know, from the layout with which the window opens.
-- arg[1]: which figure; arg[2]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

local clicks = 0
local function click(name, text)
  clicks = clicks + 1
  real.click(name, text)
end

-- A figure: how many clicks it may take, what is there before the first click, and the clicks with what they show.
local figures = {}

figures.value_of_a_node = {1,
  function() ui.wait("tape.node", "relu") end,
  function()
    click("tape.node", "relu")
    ui.wait("inspector.op", "relu")
    ui.wait("inspector.place", "why_script.lua:14")
    ui.wait("inspector.value", "[64, 16] min")
    ui.wait("inspector.gradient", "[64, 16]")
  end}

figures.cause_of_a_zero_gradient = {2,
  function() ui.wait("alarm_badge", "dead") end,
  function()
    click("alarm_badge")
    ui.wait("alarms.why")
    click("alarms.why")
    ui.wait("why.link", "gives only zeros")
    ui.expect("why.link", "bias is about -")
    ui.expect("why.link", "The update of step 1 at why_script.lua:18 moved it by")
  end}

figures.first_nan = {1,
  function() ui.wait("not_finite") end,
  function()
    click("not_finite")
    ui.wait("not_finite.explanation", "the root of a negative number is NaN")
    ui.expect("not_finite", "NaN since step 20: sqrt at first_nan_script.lua:8")
  end}

figures.live_again = {1,
  function()
    ui.reach {state = "running", step = 100}
    ui.show_step(20)
    ui.wait("cursor", "step 20 (past)")
  end,
  function()
    click("cursor.live")
    ui.wait("cursor", "live")
    ui.absent("cursor.live")
    ui.expect("state", "running")
  end}

local most, before, look = table.unpack((assert(figures[arg[1]], "no figure " .. arg[1])))
ui.wait("tape.node")
real.begin()
before()
ui.picture(arg[2] .. "/" .. arg[1] .. "-before.png")
look()
ui.picture(arg[2] .. "/" .. arg[1] .. ".png")
local figure = ("%s: %d %s"):format((arg[1]:gsub("_", " ")), clicks, clicks == 1 and "click" or "clicks")
print(figure)
assert(clicks <= most, figure .. " instead of " .. most)
ui.quit()
