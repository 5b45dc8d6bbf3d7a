-- Compares what lua/pytorch/ says of PyTorch's public names with the library, by asking the library for each name. A module
-- for dofile: exists(name), and check(folder) -> faults, shares.
local lg = require "lunagrad"

-- PyTorch's prefixes and ours; longer ones first.
local prefixes = {
  {"torch.Tensor.", "x:"}, {"torch.nn.Module.", "Module:"}, {"torch.optim.Optimizer.", "Optimizer:"},
  {"torch.utils.data.", "lg.data."}, {"torch.", "lg."},
}
local roots = {x = lg.methods, Module = lg.nn.Module, Optimizer = lg.optim.Optimizer}
local sample = lg.ones(2, 2)

local function field(holder, name)
  if type(holder) ~= "table" and type(holder) ~= "userdata" then return nil end
  local ok, value = pcall(function() return holder[name] end)
  if ok then return value end
end

-- Whether "lg.nn.Linear", "x:size", "x.grad" or "Module:parameters" exists.
local function exists(name)
  local class, method = name:match "^(%a+)[:.]([%w_]+)$"
  if class == "x" then return (pcall(function() return sample[method] end)) end
  if roots[class] then return field(roots[class], method) ~= nil end
  local value = lg
  for part in name:match "^lg%.(.*)$":gmatch "[%w_]+" do
    value = field(value, part)
    if value == nil then return false end
  end
  return true
end

local function counterpart(name)
  for _, pair in ipairs(prefixes) do
    if name:sub(1, #pair[1]) == pair[1] then return pair[2] .. name:sub(#pair[1] + 1) end
  end
end

-- "torch.sparse_*" -> a Lua pattern; `*` does not cross a dot.
local function pattern_of(glob)
  return "^" .. glob:gsub("[%.%-%+%?%[%]%(%)%%%^%$]", "%%%0"):gsub("%*", "[^.]*") .. "$"
end

-- The notes of a file by name, and those with a pattern as a list: {kind, name, here}.
local function read_notes(path, fault)
  local exact, patterns, kind = {}, {}, nil
  for line in io.lines(path) do
    kind = line:match "^%[(%a+)%]" or kind
    local names, rest = line:match "^(torch%..-) | (.*)$"
    for name in (names or ""):gmatch "%S+" do
      local note = {kind = kind, name = name, here = kind == "differs" and rest:match "^(.-) | ." or ""}
      if not note.here then fault("%s: the note does not say what differs", name) end
      if name:find("*", 1, true) then
        patterns[#patterns + 1] = note
      else
        if exact[name] then fault("%s has two notes", name) end
        exact[name] = note
      end
    end
  end
  return exact, patterns
end

-- The faults of the notes in a folder as sentences; for each group of names, as "nn.functional", the share that exists here.
local function check(folder)
  local faults, counts = {}, {}
  local function fault(...) faults[#faults + 1] = (...):format(select(2, ...)) end
  local exact, patterns = read_notes(folder .. "/notes.txt", fault)
  for name in io.lines(folder .. "/names.txt") do
    local present = exists(counterpart(name))
    local note = exact[name]
    for _, entry in ipairs(patterns) do
      if not note and name:find(pattern_of(entry.name)) then
        note = entry
        if present then fault("%s exists, but fits the pattern %s", name, entry.name) end
      end
    end
    if note then note.used = true end
    if not note and not present then fault("%s neither exists nor has a note", name) end
    if note and note.kind == "missing" and present then fault("%s exists, but has a note that it is missing", name) end
    if note and note.kind == "differs" then
      for code in note.here:gmatch "`([^`]*)`" do
        local path = code:match "^lg%.[%w_.]+" or code:match "^%a+[:.][%w_]+"
        if path and (path:sub(1, 3) == "lg." or roots[path:match "^%a+"]) and not exists(path) then
          fault("%s: %s does not exist", name, path)
        end
      end
    end
    local group = name:match "^torch%.(.*)%.[^.]+$" or "torch"
    local count = counts[group] or {all = 0, here = 0}
    counts[group] = count
    count.all = count.all + 1
    -- A refused name answers with an error.
    if present and (not note or note.kind == "differs") then count.here = count.here + 1 end
  end
  for _, notes in ipairs {exact, patterns} do
    for _, note in pairs(notes) do
      if not note.used then fault("the note on %s is of no name", note.name) end
    end
  end
  table.sort(faults)
  local shares = {}
  for group, count in pairs(counts) do shares[group] = count.here / count.all end
  return faults, shares
end

return {check = check, exists = exists}
