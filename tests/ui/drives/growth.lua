-- The heap of the window while a run logs three metrics in each of many steps: it must not grow once the curves hold
-- their maximum of exact points. Twenty minutes at 500 steps a second are 600,000 steps.
local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
ui.layout("Watch")
local function count() return tonumber(ui.texts("step")[1]:match("%d+")) end

-- In a pause, when the events that were waiting have been taken over: the least of several pauses, as garbage that no
-- collection has freed yet does not count.
local function heap_at(step)
  local deadline, heap = os.time() + 180, math.huge
  while count() < step do
    assert(os.time() < deadline, "the run is too slow: step " .. count())
    ui.frames(5)
  end
  for _ = 1, 4 do
    steps.pause()
    ui.seconds(2)
    heap = math.min(heap, ui.memory("heap") / 2 ^ 20)
    ui.key("F5")
    ui.wait("state", "running")
    ui.frames(5)
  end
  print(("step %d: heap %.1f MiB"):format(count(), heap))
  return heap
end

ui.wait("state", "running")
ui.click("panel", "Curves")
ui.wait("curves.x")
ui.click("curves.x")  -- over time: another copy of the curves
local before = heap_at(200000)
local after = heap_at(600000)
-- Each step has three points of at least 40 bytes, which were 46 MiB.
assert(after - before < 12, "the heap grows with the number of steps")
ui.wait("curves.curve", "loss")
local shown = tonumber(ui.texts("curves.curve")[1]:match("(%d+) points"))
assert(shown > 600000, "points are missing: " .. shown)
ui.quit()
