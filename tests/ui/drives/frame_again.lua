-- The second start: layout, theme, scripts and scale are restored; nothing crashed.
ui.wait("help.recent", "04_digits_mlp")
local lower_right
for _, text in ipairs(ui.texts("region")) do lower_right = lower_right or text:match "^lower right: .*" end
assert(lower_right:find("Curves,", 1, true), lower_right)
ui.expect("window", "light theme")
ui.absent("notice")
ui.quit()
