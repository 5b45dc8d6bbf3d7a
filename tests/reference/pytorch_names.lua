-- Makes docs/pytorch-names.md: for each public name of PyTorch 2 (torch2_names.txt) whether Lunagrad has it, by asking
-- the library, and its note in torch2_notes.lua.
--
--   build/lunagrad run tests/reference/pytorch_names.lua       writes the page
--
-- As a module (dofile) it returns a function page() -> text, faults: a name that neither exists nor has a note, or a
-- note that does not fit, is a fault.
local lg = require "lunagrad"

local here = debug.getinfo(1, "S").source:match "^@(.*)pytorch_names%.lua$"

-- PyTorch's prefixes and ours; longer ones first.
local prefixes = {
  {"torch.Tensor.", "x:"}, {"torch.nn.Module.", "Module:"}, {"torch.optim.Optimizer.", "Optimizer:"},
  {"torch.utils.data.", "lg.data."}, {"torch.", "lg."},
}
local roots = {x = lg.methods, Module = lg.nn.Module, Optimizer = lg.optim.Optimizer}
local sample = lg.ones(2, 2)

-- The title of each group of names, and the names' prefix.
local groups = {
  {"torch", "torch."}, {"Tensor", "torch.Tensor."}, {"nn", "torch.nn."}, {"nn.Module", "torch.nn.Module."},
  {"nn.functional", "torch.nn.functional."}, {"nn.init", "torch.nn.init."}, {"nn.utils", "torch.nn.utils."},
  {"nn.utils.rnn", "torch.nn.utils.rnn."}, {"nn.utils.parametrize", "torch.nn.utils.parametrize."},
  {"nn.utils.parametrizations", "torch.nn.utils.parametrizations."}, {"optim", "torch.optim."},
  {"optim.Optimizer", "torch.optim.Optimizer."}, {"optim.lr_scheduler", "torch.optim.lr_scheduler."},
  {"optim.swa_utils", "torch.optim.swa_utils."}, {"linalg", "torch.linalg."}, {"fft", "torch.fft."},
  {"special", "torch.special."}, {"func", "torch.func."}, {"autograd", "torch.autograd."},
  {"autograd.functional", "torch.autograd.functional."}, {"utils.data", "torch.utils.data."},
  {"distributions", "torch.distributions."}, {"distributions.transforms", "torch.distributions.transforms."},
  {"signal.windows", "torch.signal.windows."},
}

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

-- Calls f(names, cells…) for each line of a part of the notes.
local function each_note(text, f)
  for line in text:gmatch "[^\n]+" do
    local cells = {}
    for cell in (line .. " | "):gmatch "(.-) | " do cells[#cells + 1] = cell end
    f(table.unpack(cells))
  end
end

local function read_notes(faults)
  local notes = dofile(here .. "torch2_notes.lua")
  local exact, patterns = {}, {}
  local function add(kind, names, note)
    for name in names:gmatch "%S+" do
      local entry = {kind = kind, name = name, here = note.here, why = note.why}
      if name:find("*", 1, true) then
        entry.pattern = pattern_of(name)
        patterns[#patterns + 1] = entry
      else
        if exact[name] then faults[#faults + 1] = name .. " has two notes" end
        exact[name] = entry
      end
    end
  end
  each_note(notes.differs, function(names, ours, why) add("differs", names, {here = ours, why = why}) end)
  each_note(notes.missing, function(names, why) add("missing", names, {why = why}) end)
  each_note(notes.refused, function(names, why) add("refused", names, {why = why}) end)
  return exact, patterns
end

local function codes(names) return "`" .. table.concat(names, "`, `") .. "`" end

local function page()
  local faults = {}
  local exact, patterns = read_notes(faults)
  local function fault(...) faults[#faults + 1] = (...):format(select(2, ...)) end

  -- The note that decides about a name: its own, or a pattern's if the name does not exist.
  local function note_of(name, present)
    local note = exact[name]
    if note then return note end
    for _, entry in ipairs(patterns) do
      if not present and name:find(entry.pattern) then return entry end
    end
  end

  local named = {}
  for name in io.lines(here .. "torch2_names.txt") do
    local prefix = name:match "^(.*%.)[^.]+$"
    named[prefix] = named[prefix] or {}
    table.insert(named[prefix], name)
  end

  local lines = {
    "# Names of PyTorch", "",
    "PyTorch 2 has these public names (2.11; the list stands in tests/reference/torch2_names.txt). *same* means that `torch.x`,",
    "`torch.nn.x` and `Tensor.x` are `lg.x`, `lg.nn.x` and `x:x()`, with the differences of [pytorch.md](pytorch.md) that concern",
    "everything, such as dims that count from 1. `lunagrad help torch.NAME` answers from this page. It is generated:",
    "`build/lunagrad run tests/reference/pytorch_names.lua`.", "",
    "| group | names | exist here | under another name | missing |", "|---|---|---|---|---|",
  }
  local sections = {}
  for _, group in ipairs(groups) do
    local title, prefix = group[1], group[2]
    local same, rows, reasons, order = {}, {}, {}, {}
    local total, present_count, elsewhere, missing = 0, 0, 0, 0
    local together = {}
    for _, name in ipairs(named[prefix] or {}) do
      local ours = counterpart(name)
      local present = exists(ours)
      local note = note_of(name, present)
      if note then note.used = true end
      total = total + 1
      if not note and not present then
        fault("%s neither exists nor has a note", name)
      elseif not note then
        present_count = present_count + 1
        same[#same + 1] = name
      elseif note.kind == "differs" then
        for code in note.here:gmatch "`([^`]*)`" do
          local path = code:match "^lg%.[%w_.]+" or code:match "^%a+[:.][%w_]+"
          if path and (path:sub(1, 3) == "lg." or roots[path:match "^%a+"]) and not exists(path) then
            fault("%s: %s does not exist", name, path)
          end
        end
        if present then present_count = present_count + 1 else elsewhere = elsewhere + 1 end
        local row = together[note.here .. note.why]
        if not row then
          row = {here = note.here, why = note.why}
          together[note.here .. note.why] = row
          rows[#rows + 1] = row
        end
        row[#row + 1] = name
      else
        if present and note.kind == "missing" then fault("%s exists, but has the note '%s'", name, note.why) end
        missing = missing + 1
        if not reasons[note.why] then
          reasons[note.why] = {}
          order[#order + 1] = note.why
        end
        table.insert(reasons[note.why], name)
      end
    end
    if total == 0 then fault("there are no names %s…", prefix) end
    local percent = 100 * present_count / math.max(total, 1)
    lines[#lines + 1] = ("| [%s](#%s) | %d | %d (%.1f %%) | %d | %d |"):format(title, title:lower():gsub("%.", ""), total,
      present_count, percent, elsewhere, missing)
    local text = {"", "## " .. title, "",
      ("%d of %d names (%.1f %%) exist here, %d more under another name."):format(present_count, total, percent, elsewhere), "",
      "| PyTorch | Lunagrad | what differs |", "|---|---|---|"}
    if #same > 0 then text[#text + 1] = ("| %s | same | |"):format(codes(same)) end
    for _, row in ipairs(rows) do text[#text + 1] = ("| %s | %s | %s |"):format(codes(row), row.here, row.why) end
    for _, why in ipairs(order) do text[#text + 1] = ("| %s | missing | %s |"):format(codes(reasons[why]), why) end
    sections[#sections + 1] = table.concat(text, "\n")
    named[prefix] = nil
  end
  for prefix in pairs(named) do fault("no group has the names %s…", prefix) end
  for _, entry in pairs(exact) do
    if not entry.used then fault("the note on %s is of no name that needs it", entry.name) end
  end
  for _, entry in ipairs(patterns) do
    if not entry.used then fault("the note on %s is of no name that needs it", entry.name) end
  end
  table.sort(faults)
  return table.concat(lines, "\n") .. "\n" .. table.concat(sections, "\n") .. "\n", faults
end

-- Run as a script, and not by dofile.
if arg and arg[0] and arg[0]:find "pytorch_names%.lua$" then
  local text, faults = page()
  if #faults > 0 then error(table.concat(faults, "\n"), 0) end
  local file = assert(io.open(here .. "../../docs/pytorch-names.md", "w"))
  file:write(text)
  file:close()
end
return {page = page, exists = exists}
