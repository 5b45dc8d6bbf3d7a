-- Keeps the states that lg.run.state restored as they are until the first step. Between registration and the first step
-- a script may write to them: a schedule writes its first rate into the optimizer, a constructor initializes a shared
-- weight. The first run did this before its first step, and a resumed run must not repeat it. Writes of a lg.run.state
-- function to earlier states are undone as soon as its own state is restored. Writes of the script between two
-- lg.run.state calls are undone before the first step if the first run made them, too; a change that only the resumed
-- run makes is kept.
local core = require "lunagrad.core"
local shards = require "lunagrad.shards"
local trackers = require "lunagrad.trackers"
local tree = require "lunagrad.nn.tree"
local is_plain = require("lunagrad.arguments").is_plain

local is_tensor = core.is_tensor
local restored = {}

local entries = {}  -- of each registered state, until the first step: {name, object, marks, again}

-- Adds to `list` values that show whether an object was written to: tensors with their versions, and settings. Numbers
-- in plain tables and fields of a script's own objects belong to the script, which may change them.
local add_settings

local function add_fields(t, list, skip)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    if not skip[key] then
      list[#list + 1] = key
      add_settings(t[key], list)
    end
  end
end

function add_settings(value, list)
  if is_tensor(value) then
    list[#list + 1] = value:version()
  elseif is_plain(value) then
    add_fields(value, list, {})
  else
    list[#list + 1] = value
  end
end

local not_settings = {params = true, param_names = true}
local longest = 1000  -- a longer list in a script's own object holds data

local function add(value, list, seen)
  if is_tensor(value) then
    list[#list + 1] = value
    list[#list + 1] = value:version()
  elseif type(value) ~= "table" or seen[value] then
    return
  elseif tree.is_module(value) then
    for _, entry in ipairs(tree.collect(value, "any")) do add(entry.tensor, list, seen) end
  elseif trackers.is(value) and rawget(value, "param_groups") then
    for _, group in ipairs(value.param_groups) do add_fields(group, list, not_settings) end
  elseif trackers.is(value) then
    add_settings(shards.by_rank(value.state_dict, value), list)
  elseif rawlen(value) <= longest then
    seen[value] = true
    for _, item in next, value do add(item, list, seen) end
  end
end

local function marks(object)
  local list = {}
  add(object, list, {})
  return list
end

local function same(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if not rawequal(a[i], b[i]) then return false end
  end
  return true
end

-- Notes a registered object. `again()` loads its restored state once more; nil if it has none.
function restored.add(name, object, again)
  if entries then entries[#entries + 1] = {name = name, object = object, marks = marks(object), again = again} end
end

-- Calls build() of a further state. Returns its object, and a function that undoes what build() wrote into earlier
-- states.
function restored.build(build)
  local before = {}
  for i, entry in ipairs(entries or {}) do before[i] = entry.again and marks(entry.object) end
  local object = build()
  return object, function()
    for i, seen in ipairs(before) do
      local entry = entries[i]
      if seen and not same(seen, marks(entry.object)) then
        entry.again()
        entry.marks = marks(entry.object)
      end
    end
  end
end

-- Called before the first step. `changed` names the states that the first run had changed by then; nil in a first run
-- or if this is unknown. Returns the names for the next checkpoint.
function restored.begin(changed)
  local names = {}
  for _, entry in ipairs(entries or {}) do
    local now = not same(entry.marks, marks(entry.object))
    if entry.again and changed then
      names[entry.name] = changed[entry.name]
    else
      names[entry.name] = now or nil
    end
    if now and entry.again and names[entry.name] then entry.again() end
  end
  entries = nil
  return names
end

return restored
