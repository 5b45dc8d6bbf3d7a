-- The window is closed during a run.
ui.wait("curves.curve", "loss")
ui.quit()
