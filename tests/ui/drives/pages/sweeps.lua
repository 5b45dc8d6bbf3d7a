-- docs/sweeps.md: a sweep opens with the parallel coordinates of its trials.
ui.wait("panel", "Runs in front")
ui.wait("runs.count", "4 of ", 60)
ui.expect("runs.parallel", "on")
ui.expect("runs.parallel.axis", "lr logarithmic")
ui.quit()
