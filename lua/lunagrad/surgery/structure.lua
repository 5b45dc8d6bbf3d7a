-- Changes of a model's structure: a module is replaced, inserted or removed in its owner, which is a list (ModuleList, Sequential),
-- a module with a field for it, or a plain table.
local core = require "lunagrad.core"
local containers = require "lunagrad.nn.containers"
local copy = require "lunagrad.nn.copy"
local fits = require "lunagrad.surgery.fits"
local holders = require "lunagrad.optim.holders"
local hook_list = require "lunagrad.nn.hook_list"
local is_plain = require("lunagrad.arguments").is_plain
local members = require "lunagrad.surgery.members"
local parts = require "lunagrad.surgery.parts"
local places = require "lunagrad.surgery.places"
local tree = require "lunagrad.nn.tree"

local is_module = tree.is_module
local structure = {}

local function fail(owner, text, ...) core._fail(("surgery.%s: "):format(owner) .. text:format(...)) end

-- Whether the place is an item of a ModuleList, of a Sequential or of a list in a plain table: items are inserted and removed.
local function in_list(place)
  local owner = place.owner
  if is_plain(owner) then return math.type(place.key) == "integer" end
  local kind = getmetatable(owner)
  return kind == containers.ModuleList or kind == containers.Sequential
end

-- The place of a module that has an owner; error for any other place.
local function module_place(owner, path)
  local place = places.find(owner, path)
  if not is_module(place.value) then
    fail(owner, "'%s' is %s, not a module", places.name(place), core.is_tensor(place.value) and "a tensor" or "an object")
  elseif not place.owner and place.path then
    fail(owner, "'%s' is a variable of the script or a state; name a module inside of it, as '%s.%s'", place.path, place.path,
      place.value:named_children()() or "fc")
  elseif not place.owner then
    fail(owner, "no variable of the script leads to this %s; give its path, or make its model a global or a state of lg.run.state",
      place.value.__name)
  end
  return place
end

local function holds(module, wanted)
  for _, inner in ipairs(module:modules()) do
    if inner == wanted then return true end
  end
  return false
end

local function check_module(owner, module, place)
  if type(module) == "table" and rawget(module, "super") ~= nil then
    fail(owner, "%s is a class; make a module of it, as lg.nn.%s(…)", module.__name, module.__name)
  elseif not is_module(module) then
    fail(owner, "a module expected, as lg.nn.Linear(64, 10) (got %s)", core.is_tensor(module) and "a tensor" or type(module))
  elseif place.model == module or is_module(place.value) and place.value == module then
    fail(owner, "'%s' is this module already", place.value == module and place.path or place.path:match "^[^.]*")
  end
  if is_module(place.owner) and holds(module, place.owner) then
    fail(owner, "the new module holds the module that has '%s', so it cannot be put into it", place.path)
  end
end

local function entries_of(module)
  return tree.collect(module, "parameter", true)
end

-- The script's modules and `model`, without `old` and the modules inside it: a variable may still hold `old`.
local function models(model, old)
  local list, inside = {}, {}
  for _, module in ipairs(old and old:modules() or {}) do inside[module] = true end
  for _, part in ipairs(parts.collect {model}.list) do
    if part.kind == "module" and not inside[part.value] then list[#list + 1] = part.value end
  end
  return list
end

-- The parameters near a place: of the module itself, of its siblings, nearest first, and of the model.
local function neighbours(place)
  local list = entries_of(place.value)
  local siblings, at = {}, 1
  if is_module(place.owner) then
    for _, child in place.owner:named_children() do
      siblings[#siblings + 1] = child
      if child == place.value then at = #siblings end
    end
  end
  local function add(module)
    for _, entry in ipairs(module and entries_of(module) or {}) do list[#list + 1] = entry end
  end
  for away = 1, #siblings do
    add(siblings[at - away])
    add(siblings[at + away])
  end
  add(place.model)
  local tensors = {}
  for i, entry in ipairs(list) do tensors[i] = entry.tensor end
  return tensors
end

-- Moves a new module to the device and the type of the model that it joins.
local function adapt(module, place)
  local first = (entries_of(place.value)[1] or entries_of(place.model)[1] or {}).tensor
  if first then module:to(first:device()):to(first:dtype()) end
end

-- A change of the structure, not made yet: {place =, run =, affected =}. run() calls change_owner(place, module) for
-- the model and for each averaged copy of it.
local function change(place, module, old, change_owner)
  local function change_one(where, its)
    if its then its:train(where.value.training) end
    change_owner(where, its)
    if is_module(where.owner) and in_list(where) then where.owner:_name_children() end
  end
  local copies = place.model and holders.copies_of(place.model) or {}
  local function run()
    local before = neighbours(place)
    local new = module and entries_of(module) or {}
    for _, model in ipairs(copies) do
      local there = places.inside(model, place.inner)
      if there and there.owner then change_one(there, module and copy(module)) end
    end
    change_one(place, module)
    local model = place.model ~= old and place.model or module
    members.follow {
      models = models(model, old), model = model, old = old and entries_of(old) or {}, new = new,
      neighbours = before,
    }
  end
  return {place = place, run = run, affected = copies}
end

-- Puts a module under a key that already holds one.
local function put(owner, key, module)
  if is_plain(owner) then
    owner[key] = module
  else
    owner:_put(key, module)
  end
end

-- The new module takes over the old module's hooks, unless it contains the old module.
function structure.replace(path, module)
  local place = module_place("replace", path)
  check_module("replace", module, place)
  adapt(module, place)
  fits.replace("replace", place.path, place.value, module)
  return change(place, module, place.value, function(where, new)
    if not holds(new, where.value) then hook_list.carry(where.value, new) end
    put(where.owner, where.key, new)
  end)
end

-- A name that an owner has neither as a field nor as a method.
local function free_name(owner)
  local name, n = "inserted", 1
  while tree.has(owner, name) do
    n = n + 1
    name = "inserted" .. n
  end
  return name
end

local function insert_into_list(place, module, offset)
  local owner, key = place.owner, place.key
  if is_plain(owner) then
    table.insert(owner, key + offset, module)
  elseif rawget(owner, "_named") then
    local name, fields = free_name(owner), owner._fields
    for i, field in ipairs(fields) do
      if field == key then
        owner._kinds[name] = "field"
        table.insert(fields, i + offset, name)
        break
      end
    end
    put(owner, name, module)
  else
    owner:insert(key + offset, module)
  end
end

-- In a list the module becomes an item of its own; a field gets a Sequential of both modules.
function structure.insert(path, module, where)
  where = where == nil and "after" or where
  if where ~= "before" and where ~= "after" then
    fail("insert", "the third argument is \"before\" or \"after\" (got %s)", type(where) == "string" and ("%q"):format(where) or type(where))
  end
  local place = module_place("insert", path)
  check_module("insert", module, place)
  adapt(module, place)
  fits.insert("insert", place.path, place.value, module, where)
  return change(place, module, nil, function(there, new)
    if in_list(there) then return insert_into_list(there, new, where == "after" and 1 or 0) end
    local first, second = there.value, new
    if where == "before" then first, second = second, first end
    local both = containers.Sequential(first, second)
    rawset(both, "training", there.value.training)
    put(there.owner, there.key, both)
  end), where
end

local function remove_from_list(place)
  local owner, key = place.owner, place.key
  if is_plain(owner) then
    table.remove(owner, key)
  elseif rawget(owner, "_named") then
    rawset(owner, key, nil)
    owner._kinds[key] = nil
    for i, field in ipairs(owner._fields) do
      if field == key then table.remove(owner._fields, i) end
    end
  else
    owner:pop(key)
  end
end

-- Removes an item from a list; a field gets an Identity.
function structure.remove(path)
  local place = module_place("remove", path)
  fits.remove("remove", place.path, place.value)
  local identity = not in_list(place) and require("lunagrad.nn").Identity() or nil
  return change(place, identity, place.value, function(where, new)
    if new then put(where.owner, where.key, new) else remove_from_list(where) end
  end)
end

return structure
