-- The history of changes. Each entry has a snapshot of the state before it, which undo restores: the training since
-- then is undone, too. An undone entry has a snapshot of the state before the undo, which redo restores. All copies
-- together stay within a budget of bytes: the oldest entries are dropped first.
local core = require "lunagrad.core"
local names = require "lunagrad.nn.names"
local snapshot = require "lunagrad.surgery.snapshot"

local history = {}

local entries = {}   -- oldest first: {title =, line =, step =, before =, after =}
local position = 0   -- entries up to here are in effect, later ones are undone
local budget = 512 << 20

local function bytes_text(bytes)
  if bytes < 1024 then return ("%d bytes"):format(bytes) end
  if bytes < 1 << 20 then return ("%.1f KiB"):format(bytes / 1024) end
  return ("%.1f MiB"):format(bytes / (1 << 20))
end

local function counted(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

-- The bytes of each entry, and their sum. A copy that several entries share counts for the oldest.
local function measure()
  local seen, sizes, total = {}, {}, 0
  for i, entry in ipairs(entries) do
    sizes[i] = snapshot.bytes(entry.before, seen) + (entry.after and snapshot.bytes(entry.after, seen) or 0)
    total = total + sizes[i]
  end
  return sizes, total
end

local function listed()
  local sizes, total = measure()
  local list = {}
  for i, entry in ipairs(entries) do
    list[i] = {title = entry.title, line = entry.line, step = entry.step, bytes = sizes[i], undone = i > position}
  end
  return list, total
end

local function tell(text)
  if not core.run then return end
  local list, total = listed()
  core.run._tell_surgery(text, list, total, budget)
end

local function warn(text)
  if core.run then core.run._warn(text) else io.stderr:write("warning: ", text, "\n") end
end

-- Drops entries until the copies fit into the budget: the oldest first, or the latest first if all entries are undone.
local function keep_to_budget()
  local dropped = {}
  local _, total = measure()
  while total > budget and #entries > 0 do
    local entry = table.remove(entries, position > 0 and 1 or #entries)
    if position > 0 then position = position - 1 end
    dropped[#dropped + 1] = ("'%s'"):format(entry.title)
    _, total = measure()
  end
  if #dropped == 0 then return end
  local others = #dropped > 1 and (" and %s"):format(counted(#dropped - 1, "other change")) or ""
  warn(("surgery: the copies for undo are more than the budget of %s, so %s%s can no longer be %s; lg.surgery.budget(bytes) raises it")
    :format(bytes_text(budget), dropped[1], others, position == 0 and #entries > 0 and "redone" or "undone"))
end

-- Makes a change: takes a snapshot, then calls run(). If run() throws, restores the snapshot and throws the error
-- again. `change` is {run =, affected =, gradients =}.
function history.make(title, line, change)
  if core._world.size() > 1 then
    core._fail(("surgery: the model is trained by %d ranks, and a change of one of them would make it differ from the others; "
      .. "change the script instead"):format(core._world.size()))
  end
  local before = snapshot.take(change.affected, change.gradients)
  local ok, message = pcall(change.run)
  if not ok then
    snapshot.restore(before)
    error(message, 0)
  end
  snapshot.refresh(before.optimizers)
  names.again()
  for i = #entries, position + 1, -1 do entries[i] = nil end
  entries[#entries + 1] = {title = title, line = line, step = before.step, before = before}
  position = #entries
  keep_to_budget()
  tell(title)
end

-- Restores the snapshot `to`, and returns a snapshot of the state before. On an error nothing changes.
local function go(to)
  local leaving = snapshot.take(to.objects)
  local ok, message = pcall(snapshot.restore, to)
  if not ok then
    snapshot.restore(leaving)
    error(message, 0)
  end
  names.again()
  return leaving
end

-- Says how many steps of training are undone by going from one state to the other.
local function taken_back(leaving, to)
  local steps = leaving.step - to.step
  if steps == 0 then return "" end
  return ("; %s of training %s taken back"):format(counted(steps, "step"), steps == 1 and "is" or "are")
end

local function report(text)
  tell(text)
  return text
end

function history.undo()
  local entry = entries[position]
  if not entry then core._fail("surgery.undo: there is nothing to undo") end
  local leaving = go(entry.before)
  entry.after = leaving
  position = position - 1
  keep_to_budget()
  return report(("undid '%s'%s"):format(entry.title, taken_back(leaving, entry.before)))
end

function history.redo()
  local entry = entries[position + 1]
  if not entry then core._fail("surgery.redo: there is nothing to redo") end
  local leaving = go(entry.after)
  local back = taken_back(leaving, entry.after)
  entry.before, entry.after = leaving, nil
  position = position + 1
  keep_to_budget()
  return report(("redid '%s'%s"):format(entry.title, back))
end

-- Undoes or redoes until `count` entries are in effect.
function history.go_to(count)
  if math.type(count) ~= "integer" or count < 0 or count > #entries then
    core._fail(("surgery.go_to: a number from 0 to %d, the changes in the history, expected (got %s)"):format(#entries,
      tostring(count)))
  end
  local text
  while position > count do text = history.undo() end
  while position < count do text = history.redo() end
  return text
end

local List = {}

function List:__tostring()
  if #self == 0 then return "no changes yet" end
  local lines = {}
  for i, entry in ipairs(self) do
    lines[i] = ("%3d  step %-6d %-9s %s%s"):format(i, entry.step, bytes_text(entry.bytes), entry.line,
      entry.undone and "  (undone)" or "")
  end
  return table.concat(lines, "\n")
end

-- The entries, oldest first: {title =, line =, step =, bytes =, undone =}.
function history.list() return setmetatable((listed()), List) end

-- The budget in bytes; sets it first when it is given.
function history.budget(bytes)
  if bytes ~= nil then
    if type(bytes) ~= "number" or not math.tointeger(bytes) or bytes < 0 then
      core._fail(("surgery.budget: a whole number of bytes expected (got %s)"):format(tostring(bytes)))
    end
    budget = math.tointeger(bytes)
    keep_to_budget()
    tell("budget of " .. bytes_text(budget))
  end
  return budget
end

return history
