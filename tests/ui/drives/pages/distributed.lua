-- docs/distributed.md: the Profiler names the slowest rank, and a parameter says how its gradient was sent.
ui.wait("state", "running")
ui.click("panel", "Profiler")
ui.wait("profiler.view", "Ranks")
ui.click("profiler.view", "Ranks")
ui.wait("profiler.ranks", "is the slowest: ")
for _, rank in ipairs {"rank 0", "rank 1"} do ui.expect("profiler.rank", rank) end
for _, time in ipairs {"compute", "communication", "waiting"} do ui.expect("profiler.rank_time", time) end
ui.click("panel", "Tape")
ui.wait("tape.node", "4.weight")
ui.click("tape.node", "4.weight")
ui.wait("inspector.field", "ranks = travelled in bucket")
ui.quit()
