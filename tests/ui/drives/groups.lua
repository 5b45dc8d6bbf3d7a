-- The tape shows which calls are computed together when no value is looked at, and the Inspector says so of a node.
-- arg[1]: a folder for pictures.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.wait("curves.curve", "loss")
ui.wait("tape.groups", "off")  -- as in the first start
ui.absent("tape.computed_together")
ui.click("tape.groups")
ui.wait("tape.groups", "on")
steps.open_modules()
steps.pause()
steps.step()
ui.wait("tape.computed_together", "group of 6")
ui.click("tape.fit")
ui.expect("tape.legend", "computed together")
ui.frames(3)
ui.picture(arg[1] .. "/groups.png")

-- The members of one module, and a call that is no member.
steps.select("tanh [512, 10]", "tanh")
ui.wait("inspector.field", "plan = member of a group of 5 calls: sub, mul, add, tanh, mul; its result was written")
ui.wait("tape.computed_together", "lit")
ui.picture(arg[1] .. "/groups-selected.png")
steps.select("cross_entropy scalar", "cross_entropy")
ui.wait("inspector.field", "plan = computed alone: it runs at once, since an index may be out of range")
-- A value of a member is recomputed: the step that ended had not kept it.
steps.select("sub [512, 10]", "sub")
ui.wait("inspector.field", "its result never left the caches")
ui.wait("inspector.value", "[512, 10] min")

ui.click("tape.groups")
ui.wait("tape.groups", "off")
assert(#ui.texts("tape.computed_together") == 0, "groups are still shown")
ui.frames(3)
ui.picture(arg[1] .. "/groups-off.png")
ui.click("tape.groups")
ui.wait("tape.groups", "on")

-- The profiler: the same plan beside what the calls take one by one.
ui.click("panel", "Profiler")
ui.key("F5")
ui.wait("profiler.deferred", "MiB not written")
ui.click("profiler.view", "Groups")
ui.wait("profiler.group", "group (sub, mul, add, tanh, mul)")
ui.wait("profiler.gain", "one by one")
ui.expect("profiler.alone", "matmul, backward: not an elementwise op")
ui.frames(3)
ui.picture(arg[1] .. "/groups-profiler.png")
ui.quit()
