-- The known name that is nearest to a misspelt one, for error messages.

-- The number of letters to insert, remove, replace or swap with a neighbour (optimal string alignment).
local function distance(a, b)
  local before, last, row = {}, {}, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    row = {[0] = i}
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same and 0 or 1))
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
    before, last = last, row
  end
  return last[#b]
end

-- The nearest of the names, or nil if none is near. Case and underscores count little.
return function(name, names)
  if type(name) ~= "string" or #name > 60 then return nil end
  local function plain(text) return (text:lower():gsub("_", "")) end
  local best, found = math.max(1, #name // 3) + 1, nil
  table.sort(names)
  for _, known in ipairs(names) do
    local away = plain(name) == plain(known) and 0 or distance(name:lower(), known:lower())
    if away < best then best, found = away, known end
  end
  return found
end
