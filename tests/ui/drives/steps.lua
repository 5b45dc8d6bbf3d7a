-- Functions that several drives use: local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local steps = {}

function steps.pause()
  ui.key("F6")
  ui.wait("state", "paused")
end

-- Calls `act`, if given, and waits until the text of the first item of that name has changed.
function steps.changes(name, act)
  local before, from = ui.texts(name)[1], os.time()
  if act then act() end
  while ui.texts(name)[1] == before do
    assert(os.time() - from < 60, name .. " stays as it is: " .. tostring(before))
    ui.frames(1)
  end
end

-- To the end of the current step, or of the next one.
function steps.step()
  steps.changes("step", function() ui.key("F8") end)
  ui.wait("state", "paused")
end

-- If the pause was within a step, the first call ends that step; the second one keeps its values.
function steps.capture()
  steps.step()
  steps.step()
end

function steps.select(node, op)
  ui.click("tape.node", node)
  ui.wait("inspector.op", op)
end

-- Opens every module of the tape, and shows all of it.
function steps.open_modules()
  ui.click("tape.open")
  ui.wait("tape.open_choice", "all open")
  ui.click("tape.open_choice", "all open")
  while #ui.texts("tape.group") > 0 do ui.frames(1) end
  ui.click("tape.fit")
  ui.frames(3)
end

function steps.evaluate(code)
  ui.click("console.input")
  ui.type(code)
  ui.key("Enter")
end

-- Replaces the content of a field.
function steps.fill(field, text)
  ui.click(field)
  ui.key("Ctrl+A")
  ui.type(text)
end

-- The losses of a run by step, as its folder has them.
function steps.losses(folder)
  local found = {}
  for line in io.lines(folder .. "/metrics.jsonl") do
    local step, loss = line:match '"step":(%d+).*"loss":([^,}]+)'
    if step then found[tonumber(step)] = loss end
  end
  return found
end

-- The titles of all panels, visible or hidden.
function steps.panels()
  local titles, seen = {}, {}
  for _, text in ipairs(ui.texts("panel")) do
    local title = text:gsub(" in front.*", ""):gsub(" behind .*", "")
    if not seen[title] then
      seen[title] = true
      titles[#titles + 1] = title
    end
  end
  return titles
end

-- Brings a panel to the front, also from the list of panels without room.
function steps.open(panel)
  ui.click("panel", panel)
  ui.frames(2)
  if #ui.texts("panel.more.choice") > 0 then ui.click("panel.more.choice", panel) end
  ui.frames(3)
end

-- The smallest size of the window: it must not crash.
function steps.smallest()
  ui.resize(200, 100)
  ui.frames(3)
end

return steps
