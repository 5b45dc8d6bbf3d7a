-- The checks that load_state_dict of optimizers, schedules, scalers and averages share: a state with a missing or an unknown key
-- is refused as a whole, so that a misspelt key cannot leave a value as it was.
local core = require "lunagrad.core"
local nearest = require "lunagrad.nearest"

local strict = {}

-- The greatest number of lines in a report: a state of another model would produce a line for each parameter.
local most = 8

function strict.sorted(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    if type(a) == type(b) and type(a) ~= "boolean" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- Adds a line to `report` for each needed key that is not found, and for each found key that is neither known nor
-- ignored. The sets are tables with names as keys; `where` begins each line.
function strict.keys(found, needed, known, ignored, report, where)
  local names = {}
  for name in pairs(known) do
    if found[name] == nil then names[#names + 1] = name end
  end
  for _, name in ipairs(strict.sorted(needed)) do
    if found[name] == nil then report[#report + 1] = ("%s'%s' is missing"):format(where, name) end
  end
  for _, name in ipairs(strict.sorted(found)) do
    if not known[name] and not ignored[name] then
      local near = nearest.of(name, names)
      report[#report + 1] = ("%sunknown key '%s'%s"):format(where, tostring(name), near and ("; did you mean '%s'?"):format(near) or "")
    end
  end
end

-- Error unless the report is empty.
function strict.refuse(name, report)
  if #report == 0 then return end
  local more = #report - most
  local lines = table.concat(report, "\n  ", 1, math.min(#report, most))
  core._fail(("load_state_dict: the state does not fit %s:\n  %s%s"):format(name, lines,
    more > 0 and ("\n  and %d more"):format(more) or ""))
end

return strict
