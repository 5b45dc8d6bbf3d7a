-- The network of why_script.lua is dead from step 1 on. In the layout with which the window opens, with real input: a badge
-- says so, and two clicks lead to the cause, the update of step 1. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")
ui.wait("alarm_badge", "dead")
ui.absent("gradients.alarm")  -- the panel that lists alarms is not shown
ui.wait("tape.node", "relu")
real.begin()

real.click("alarm_badge")
ui.wait("alarms.item", "! dead: ")
ui.expect("alarms.advice", "LeakyReLU")
ui.expect("alarms.select")
ui.expect("alarms.gradients")
local _, badge, _, height = ui.rect("alarm_badge")
local _, top = ui.rect("alarms.item")
assert(top > badge + height, "the list of alarms covers its button")
ui.picture(arg[1] .. "/alarms.png")
real.click("alarms.why")
ui.wait("why.link", "gives only zeros")
ui.frames(2)
ui.absent("alarms.item")
ui.expect("why.link", "bias is about -")
ui.expect("why.link", "is so since step 1.")
ui.expect("why.link", "The update of step 1 at why_script.lua:18 moved it by")
ui.picture(arg[1] .. "/why.png")

-- Each cause leads to its node, also when the tape has gone on by many steps.
ui.seconds(1)
real.click("why.link", "gives only zeros")
ui.wait("inspector.op", "relu")
real.click("why.link", "bias is about -")
ui.wait("inspector.op", "leaf")

-- The last cause leads to the line of the optimizer.
real.click("why.line", "why_script.lua:18")
ui.wait("editor.caret", "18:")
real.click("why.close")
real.gone("why.link")

-- The nodes have a tint and a word in the legend.
ui.wait("tape.node", "dead")
ui.wait("tape.legend", "dead")

-- A node asks by itself, and so does a parameter; a drive can ask, too.
ui.select_node{op = "relu"}
ui.wait("inspector.op", "relu")
ui.wait("inspector.break_here")  -- the tools of an op have a row of their own
ui.frames(3)
real.click("inspector.why")
ui.wait("why.link", "gives only zeros")
ui.wait("why.subject", "Why? relu")
ui.why{op = "linear", nth = 1}
ui.wait("why.link", "The gradient of linear")
ui.close_why()
ui.frames(2)
ui.absent("why.link")
ui.why{alarm = "dead"}
ui.wait("why.link", "gives only zeros")
ui.close_why()
ui.frames(2)

-- The list leads to the panel with all figures.
real.click("alarm_badge")
ui.wait("alarms.gradients")
real.click("alarms.gradients")
ui.wait("gradients.alarm", "! dead: ")
ui.wait("gradients.why", "Why?")
ui.frames(3)
real.click("gradients.why")
ui.wait("why.link", "gives only zeros")

-- In a narrow window the badge stays, and the answer scrolls.
ui.resize(900, 600)
ui.frames(3)
ui.expect("alarm_badge", "dead")
ui.expect("why.link", "gives only zeros")
ui.picture(arg[1] .. "/why-900.png")
