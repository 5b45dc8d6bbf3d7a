-- Finds the known name nearest to a misspelt one, for error messages.
local core = require "lunagrad.core"

-- asked: lg.has is asking for a field. It catches the error, so the message, which takes long to build, is not needed.
local nearest = {asked = false}

-- The nearest of the names, or nil if none is near. Case and underscores count little.
function nearest.of(name, names)
  if type(name) ~= "string" or #name > 60 then return nil end
  local function plain(text) return (text:lower():gsub("_", "")) end
  local best, found = math.max(1, #name // 3) + 1, nil
  table.sort(names)
  for _, known in ipairs(names) do
    local away = plain(name) == plain(known) and 0 or core._edits(name:lower(), known:lower())
    if away < best then best, found = away, known end
  end
  return found
end

-- If lg.has asked for the missing field, throws a short error.
function nearest.end_if_asked()
  if nearest.asked then core._fail "no such field" end
end

return nearest
