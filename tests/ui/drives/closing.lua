-- The window is closed amid a run.
ui.wait("curves.curve", "loss")
ui.quit()
