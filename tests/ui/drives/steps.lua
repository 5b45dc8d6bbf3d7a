-- What several drives do: local steps = dofile(arg[0]:match(".*/") .. "steps.lua")
local steps = {}

function steps.pause()
  ui.key("F6")
  ui.wait("state", "paused")
end

-- Does something, if need be, and waits until the first item of that name says something else than before.
function steps.changes(name, act)
  local before, from = ui.texts(name)[1], os.time()
  if act then act() end
  while ui.texts(name)[1] == before do
    assert(os.time() - from < 60, name .. " stays as it is: " .. tostring(before))
    ui.frames(1)
  end
end

-- To the end of the step that is going on, or of the next one.
function steps.step()
  steps.changes("step", function() ui.key("F8") end)
  ui.wait("state", "paused")
end

-- Should the pause have fallen amid a step, the first one leads out of it; the second keeps its values.
function steps.capture()
  steps.step()
  steps.step()
end

function steps.select(node, op)
  ui.click("tape.node", node)
  ui.wait("inspector.op", op)
end

function steps.evaluate(code)
  ui.click("console.input")
  ui.type(code)
  ui.key("Enter")
end

-- Types over what a field holds.
function steps.fill(field, text)
  ui.click(field)
  ui.key("Ctrl+A")
  ui.type(text)
end

-- The titles of all panels, in front or behind.
function steps.panels()
  local titles, seen = {}, {}
  for _, text in ipairs(ui.texts("panel")) do
    local title = text:gsub(" in front.*", "")
    if not seen[title] then
      seen[title] = true
      titles[#titles + 1] = title
    end
  end
  return titles
end

-- As small as a window gets: nothing may end it.
function steps.smallest()
  ui.resize(200, 100)
  ui.frames(3)
end

return steps
