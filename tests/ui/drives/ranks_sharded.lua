-- The window of rank 0 of a sharded run: the group of a parameter and the rows that this rank keeps, the output of
-- another rank, and a stop, which needs the other ranks for a checkpoint and so writes none.
ui.wait("state", "paused")
ui.wait("console.line", "rank 1: a word of rank 1")
ui.wait("tape.node", "0.weight")
ui.click("tape.node", "0.weight")
ui.wait("inspector.field", "ranks = travelled in group 0 (")
ui.expect("inspector.field", "reduce_scatter")
ui.expect("inspector.field", "this rank keeps rows 1 to 17 of 33")
ui.picture(arg[1] .. "/sharded.png")
ui.seconds(6)  -- longer than the other rank waits for a rank that is not paused
ui.key("F5")
ui.wait("state", "running")
ui.seconds(1)
ui.expect("state", "running")
ui.key("Shift+F5")
ui.wait("state", "stopped")
ui.wait("console.line", "no checkpoint was written: the other ranks stop in other steps")
ui.quit()
