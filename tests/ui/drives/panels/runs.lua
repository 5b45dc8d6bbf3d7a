-- Runs: the row of the window's own run says that it is paused, however long ago its files changed. arg[1]: a folder for pictures.
ui.layout("Watch")
ui.wait("curves.curve", "loss")
ui.key("F6")
ui.wait("state", "paused")
ui.click("panel", "Runs")
ui.wait("runs.run", "paused")
ui.seconds(32)  -- a run whose files are older counts as cut off
ui.expect("runs.run", "paused")
ui.picture(arg[1] .. "/runs.png")
ui.key("F5")
ui.wait("runs.run", "running")
ui.quit()
