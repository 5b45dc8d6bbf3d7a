-- A long session, fast-forwarded: run after run of a short script, with the panels opened and closed, the tape searched and
-- zoomed, pauses and steps between. Memory must stay where it was after the first runs. arg[2]: the number of rounds.
local rounds = tonumber(arg[2])
ui.frame_rate(0)
local frames = 0
local function pass(n)
  ui.frames(n)
  frames = frames + n
end

local function round()
  ui.key("Ctrl+F5")
  ui.wait("state", "running")
  ui.wait("tape.node", "linear")
  ui.key("F6")
  ui.wait("state", "paused")
  ui.click("tape.node", "linear")
  ui.wait("inspector.op", "linear")
  ui.key("F8")
  pass(20)
  ui.wait("state", "paused")
  ui.click("tape.search")
  ui.type("relu")
  pass(5)
  ui.key("Escape")
  ui.wheel("tape.node", 2)
  ui.click("tape.fit")
  local opened = {}
  for _, text in ipairs(ui.texts("panel")) do
    local title = text:gsub(" in front.*", "")
    if not opened[title] then
      opened[title] = true
      ui.click("panel", title)
      pass(5)
    end
  end
  ui.theme("light")
  pass(5)
  ui.theme("dark")
  ui.resize(700, 500)
  pass(5)
  ui.resize(900, 640)
  ui.click("console.input")
  ui.type("1 + 1")
  ui.key("Enter")
  ui.key("Escape")
  ui.key("F5")
  pass(150)
  ui.key("Shift+F5")
  ui.wait("state", "stopped")
end

local function settle()
  ui.seconds(0.5)
  return ui.memory("resident") / 2 ^ 20, ui.memory("heap") / 2 ^ 20
end

for _ = 1, math.max(4, rounds // 5) do round() end
local resident, heap = settle()
frames = 0
for _ = 1, rounds do round() end
local resident_after, heap_after = settle()
print(("%d runs, %d frames and those of the input: resident %.1f -> %.1f MiB, heap %.1f -> %.1f MiB"):format(
  rounds, frames, resident, resident_after, heap, heap_after))
-- Per run at most what its lines in the console and the names of its folder take.
assert(resident_after - resident < 8 + 0.1 * rounds, "resident memory grows")
assert(heap_after - heap < 2 + 0.05 * rounds, "the heap grows")
