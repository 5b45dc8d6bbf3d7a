-- Where am I: after "Run again to the first NaN", at each step of one operation and at an error the row below the
-- toolbar, the tape, the editor, Breakpoints and the Inspector name the same line, op and step (where_script.lua), in
-- each layout, with real input. arg[1]: a folder for pictures.
local real = dofile(arg[0]:match(".*/") .. "real.lua")

-- All parts name this line and step.
local function agree(line, step, op)
  ui.wait("where.place", "where_script.lua:" .. line)
  ui.wait("where.reason", "step " .. step)
  ui.wait("where.op", op)
  ui.wait("tape.summary", "step " .. step)
  ui.wait("tape.node", "current")
  ui.wait("inspector.op", op)
  ui.expect("inspector.place", "where_script.lua:" .. line)
  ui.wait("inspector.step", "step " .. step)
end

ui.wait("state", "finished, with ")
real.begin()
real.click("not_finite")
ui.wait("not_finite.again")
real.click("not_finite.again")
ui.wait("state", "paused")
agree(10, 20, "div")
ui.expect("where.reason", "in step 20")
ui.expect("where.values", "other: i64 scalar, 0")
ui.expect("where.values", "-Inf")
ui.wait("where.action", "Why?")
ui.picture(arg[1] .. "/nan.png")
real.click("panel", "Breakpoints")
ui.wait("breakpoints.paused", "where_script.lua:10 step 20")
real.click("where.place")
ui.wait("editor.stands", "10")

-- Each press of F11 moves the position, the mark on the tape and the line in the editor.
local seen = {}
for press = 1, 4 do
  local before = ui.texts("where.op")[1] .. ui.texts("where.values")[1]
  real.key("F11")
  local from = os.time()
  while (ui.texts("where.op")[1] or "") .. (ui.texts("where.values")[1] or "") == before do
    assert(os.time() - from < 30, "press " .. press .. " of F11 changes nothing")
    ui.frames(1)
  end
  ui.wait("where.action", "Step op (F11)")
  ui.wait("tape.node", "current")
  seen[#seen + 1] = ui.texts("editor.stands")[1]
end
assert(seen[1] ~= seen[4], "the editor does not follow")
ui.picture(arg[1] .. "/step_op.png")

-- In every layout, and in a small window the toolbar and the row do not wrap.
for _, layout in ipairs {"Write", "Watch", "Inspect"} do
  ui.layout(layout)
  ui.wait("where.reason")
  ui.wait("where.action")
end
ui.resize(900, 600)
ui.frames(3)
local _, top, _, height = ui.rect("where.action")
local _, y = ui.rect("where.reason")
assert(y >= top - 2 and y < top + height, "the row has wrapped")
ui.picture(arg[1] .. "/small.png")
ui.resize(1280, 800)
ui.frames(3)

-- An error marks the line that failed; the run goes on behind the last good step.
ui.rerun_with {fails = true}
ui.wait("failure", "matmul")
ui.wait("where.reason", "Error in step 10")
agree(12, 10, "matmul")
ui.wait("tape.node", "failed")
ui.expect("where.values", "[8, 4]")
ui.expect("where.values", "[3, 2]")
ui.expect("where.action", "Go on from step 9")
ui.picture(arg[1] .. "/error.png")
real.click("panel", "Console")
real.click("where.action")
ui.wait("console.line", "the run goes on after step 9")
ui.quit()
