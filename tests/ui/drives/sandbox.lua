-- Each run of a window with --sandbox --memory 64 --timeout 3. arg[1]: a folder for pictures.
ui.layout("Watch")
local ended = 0
local function run(word)
  ui.set_arguments {word}
  ui.clear_console()
  ui.action("Clean run")
  ended = ended + 1
  ui.reach {state = "ended", ended = ended}
end

ended = 1
ui.reach {state = "ended", ended = 1}
ui.wait("limits", "sandbox, 64 MiB, 3 s")
ui.expect("state", "finished")
ui.expect("console.line", "boxed")
ui.picture(arg[1] .. "/finished.png")

-- A step again, and from there a new run: the same limits.
ui.show_panel("Time")
ui.show_step(10)
ui.wait("time.step", "step 10")
ui.repeat_step(10)
ui.wait("time.step", "step 10 (replayed)")
ui.fork("", 10)
ended = 2
ui.reach {state = "ended", ended = 2}
ui.wait("time.strip", "steps 11 to 30")
ui.expect("limits", "sandbox, 64 MiB, 3 s")
ui.picture(arg[1] .. "/fork.png")

run("read")
ui.wait("failure", "a sandboxed script reads files of its own folder alone")
run("fill")
ui.wait("failure", "out of memory")
ui.expect("state", "failed")
run("loop")
ui.wait("notice", "Time limit reached: the run was stopped after 3 s")
ui.expect("state", "stopped: time limit")
ui.hover("limits")
ui.seconds(0.7)
ui.picture(arg[1] .. "/time-limit.png")
ui.click("notice.dismiss")

-- A pause takes none of the time.
ui.set_arguments {"long"}
ui.action("Clean run")
ui.wait("state", "running")
ui.action("Pause")
ui.wait("state", "paused")
ui.seconds(4)
ui.expect("state", "paused")
ui.action("Run or continue")
ui.wait("state", "running")
ended = ended + 1
ui.reach {state = "ended", ended = ended}
ui.wait("state", "stopped: time limit")
ui.click("notice.dismiss")

-- The window goes on.
run("steps")
ui.expect("state", "finished")
ui.quit()
