-- A long session in short time: many runs of a short script, with panels opened and closed, the tape searched and zoomed,
-- pauses and steps. Memory must not grow after the first runs. arg[1]: the number of runs.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local rounds = tonumber(arg[1])
ui.layout("Watch")
ui.frame_rate(0)

local function round()
  ui.key("Ctrl+F5")
  ui.wait("state", "running")
  ui.click("panel", "Tape")
  ui.wait("tape.node", "relu")
  steps.pause()
  ui.seconds(0.3)  -- the picture of the step in which the run paused may still arrive
  steps.select("relu", "relu")
  steps.step()
  steps.fill("tape.search", "relu")
  ui.key("Escape")
  ui.wheel("tape.node", 2)
  ui.click("tape.fit")
  for _, title in ipairs(steps.panels()) do steps.open(title) end
  ui.theme("light")
  ui.theme("dark")
  ui.resize(700, 500)
  ui.resize(900, 640)
  ui.click("panel", "Console")
  steps.evaluate("1 + 1")
  ui.key("Escape")
  ui.key("F5")
  ui.wait("state", "running")
  ui.frames(60)
  ui.key("Shift+F5")
  ui.wait("state", "stopped")
end

-- The least memory after `count` runs, in MiB: garbage that no collection has freed yet does not count.
local function least(count)
  local resident, heap = math.huge, math.huge
  for _ = 1, count do
    round()
    ui.seconds(0.5)
    resident = math.min(resident, ui.memory("resident") / 2 ^ 20)
    heap = math.min(heap, ui.memory("heap") / 2 ^ 20)
  end
  return resident, heap
end

for _ = 1, 8 do round() end  -- what is kept of earlier runs and steps reaches its budgets
local resident, heap = least(6)
for _ = 1, rounds - 6 do round() end
local resident_after, heap_after = least(6)
print(("%d runs: resident %.1f -> %.1f MiB, heap %.1f -> %.1f MiB"):format(rounds, resident, resident_after, heap,
  heap_after))
-- Per run at most the memory of its console lines and its folder names.
assert(resident_after - resident < 8 + 0.1 * rounds, "resident memory grows")
assert(heap_after - heap < 2 + 0.05 * rounds, "the heap grows")
