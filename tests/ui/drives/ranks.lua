-- The window of rank 0 of two ranks: lanes, pauses longer than the timeout of a collective, stops, another run, and a
-- rank that fails. arg[1] is the folder for pictures.
local out = arg[1]
ui.layout("Watch")

-- The script stops at its own breakpoint: the other rank waits for longer than its timeout.
ui.wait("state", "paused")
ui.seconds(6)
ui.key("F5")
ui.wait("state", "running")

ui.click("panel", "Profiler")
ui.wait("profiler.view", "Ranks")
ui.click("profiler.view", "Ranks")
ui.wait("profiler.ranks", "Rank 1 is the slowest: ")
assert(ui.texts("profiler.ranks")[1]:find " of compute a step, the other ", "the sentence names both")
ui.click("profiler.scope")
ui.click("profiler.choice", "since reset")
ui.wait("profiler.rank", "rank 0")
ui.wait("profiler.rank", "rank 1, slowest")
for _, time in ipairs {"compute", "communication", "waiting"} do ui.expect("profiler.rank_time", time) end
ui.expect("profiler.rank_row", "rank 1 compute")
ui.click("profiler.scope")
ui.click("profiler.choice", "last step")
-- In the middle of most steps rank 0 waits for the slowest.
local said
for _ = 1, 100 do
  ui.click("profiler.freeze")
  ui.hover("profiler.rank", "rank 0")
  ui.frames(2)
  said = ui.texts("profiler.rank_tip")[1] or ""
  if said:find "^waiting, rank 0" and said:find "gradients of 4" then break end
  ui.click("profiler.freeze")
  ui.seconds(0.2)
end
ui.expect("profiler.rank_tip", "waiting, rank 0")
ui.expect("profiler.rank_tip", "until rank 1 came")
ui.expect("profiler.rank_tip", "bucket 1 of ")
ui.expect("profiler.rank_tip", "gradients of 4.")
ui.picture(out .. "/lanes-tip.png")
ui.hover("state")
ui.frames(3)
ui.picture(out .. "/lanes-dark.png")
ui.theme "light"
ui.frames(3)
ui.picture(out .. "/lanes-light.png")
ui.theme "dark"
ui.click("profiler.freeze")
for _, view in ipairs {"Operations", "Timeline", "Ranks"} do ui.click("profiler.view", view) end

-- A parameter has its bucket.
ui.click("panel", "Tape")
ui.key("F6")
ui.wait("state", "paused")
ui.wait("tape.node", "4.weight")
ui.click("tape.node", "4.weight")
ui.wait("inspector.field", "ranks = travelled in bucket ")
ui.expect("inspector.field", "all_reduce")
ui.wait("inspector.gradient", "[4, 64] min")
ui.click("tape.node", "relu")
ui.wait("inspector.value", "[64, 64] min")
ui.wait("inspector.gradient", "[64, 64] min")
ui.seconds(5)
ui.picture(out .. "/inspector.png")
ui.key("F8")
ui.wait("state", "paused")
ui.key("F5")
ui.wait("state", "running")
ui.seconds(1)
ui.expect("state", "running")

-- Stop, and run again.
ui.key("Shift+F5")
ui.wait("state", "stopped")
ui.key("F5")
ui.wait("state", "paused")  -- the breakpoint of the script
ui.key("Ctrl+F5")           -- in the middle of that run
while ui.texts("state")[1] == "paused" do ui.frames(1) end
ui.wait("state", "paused")
ui.key("F5")
ui.wait("state", "running")
ui.wait("curves.curve", "loss")

for _, line in ipairs(ui.texts("console.error")) do
  assert(not line:find "nothing arrived", "a pause was taken for a hang: " .. line)
end

-- Rank 1 fails: the run ends, and the window says why.
assert(io.open("fail", "w")):close()
ui.wait("state", "failed")
ui.wait("failure", "rank 1: ")
ui.expect("failure", "ranks_script.lua:21: rank 1 was asked to fail")
ui.picture(out .. "/failed.png")
os.remove "fail"

-- Rank 1 does not come in time: a report ends the run, and not the window. Another run waits until it comes.
ui.key("F5")
ui.wait("state", "paused")
assert(io.open("hang", "w")):close()
ui.key("F5")
ui.wait("state", "failed")
ui.wait("failure", "nothing arrived for 4 s")
ui.expect("failure", "rank 1 is at ")
os.remove "hang"

-- A run ends with an unfinished transfer.
ui.key("F5")
ui.wait("state", "paused")
assert(io.open("unsent", "w")):close()
ui.key("F5")
ui.wait("state", "failed")
ui.wait("failure", "rank 1: ")
ui.expect("failure", "rank 0 never came to a transfer: rank 1 was at ")
os.remove "unsent"
ui.key("F5")
ui.wait("state", "paused")
ui.key("F5")
ui.wait("state", "running")
ui.seconds(1)
ui.expect("state", "running")
ui.quit()
