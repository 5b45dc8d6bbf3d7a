-- Writes what the window shows of a paused run to the file arg[1].
local shown = {}
local function note(name)
  for _, text in ipairs(ui.texts(name)) do shown[#shown + 1] = name .. ": " .. text end
end
ui.wait("inspector.value", " min")
ui.frames(5)
for _, name in ipairs {"preset", "region", "state", "step", "inspector.op", "inspector.step", "inspector.value",
                       "inspector.gradient", "tape.summary", "console.tab"} do
  note(name)
end
ui.show_actions(false)
for _, text in ipairs(ui.texts("console.line")) do
  if text:find("42", 1, true) or text:find("dropout = ", 1, true) then shown[#shown + 1] = text end
end
ui.show_panel("Parameters")
ui.frames(2)
note "params.value.dropout"
note "params.value.lr"
ui.show_panel("Breakpoints")
ui.frames(2)
note "breakpoints.item"
note "breakpoints.hits"
local file <close> = assert(io.open(arg[1], "w"))
file:write(table.concat(shown, "\n"), "\n")
