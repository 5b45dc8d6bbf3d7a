-- The second start: layout, theme, scripts and scale are restored; nothing crashed.
ui.wait("help.recent", "04_digits_mlp")
ui.expect("region", "lower right: Inspector, Environment, Curves,")
ui.expect("window", "light theme")
ui.absent("notice")
ui.quit()
