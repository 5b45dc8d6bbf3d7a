-- Finds values by paths from the variables of a script, as "model.layers.2.weight". A path begins with the name of a model
-- as the tape, tables and errors show it (nn/names.lua), a state of lg.run.state, a local variable of the script's active
-- functions or a global. The rest is as in named_modules and named_parameters; in a plain table a name is a key.
local core = require "lunagrad.core"
local is_plain = require("lunagrad.arguments").is_plain
local names_of_models = require "lunagrad.nn.names"
local nearest = require "lunagrad.nearest"
local tree = require "lunagrad.nn.tree"

local fail, is_tensor, is_module = core._fail, core.is_tensor, tree.is_module
local places = {}

local widest = 256  -- plain tables with more entries are not searched
local deepest = 4   -- nesting of plain tables that is searched

local unwrapped, states = names_of_models.unwrapped, names_of_models.states

-- The tables of Lua and of this library, which are not variables of the script.
local function libraries()
  local set = {[_G] = true}
  local loaded = rawget(_G, "package") and package.loaded or {}
  for _, value in pairs(loaded) do
    if type(value) == "table" then set[value] = true end
  end
  return set
end

-- The variables, each value under its first name: states first, then locals, then globals. {name =, value =, state =}
function places.roots()
  local list, seen, skipped = {}, {}, libraries()
  local function add(named, state)
    for _, name in ipairs(names_of_models.sorted_names(named)) do
      local value = unwrapped(named[name])
      local kind = type(value)
      if (kind == "table" or is_tensor(value)) and not skipped[value] and not seen[value] then
        seen[value] = true
        list[#list + 1] = {name = name, value = value, state = state}
      end
    end
  end
  add(states(), true)
  add(core._script_locals(), false)
  local globals = {}
  for name, value in next, _G do globals[name] = value end
  add(globals, false)
  return list
end

local function is_object(value) return type(value) == "table" and not is_plain(value) end

-- The value of a variable; nil if there is no such variable.
local function variable(name)
  local value = states()[name]
  if value == nil then value = core._script_locals()[name] end
  if value == nil then value = rawget(_G, name) end
  return unwrapped(value)
end

-- The key and the value for a name in a path.
local function step_into(holder, name)
  if is_module(holder) then
    local key = tree.field_of(holder, name)
    return key, rawget(holder, key)
  end
  local key = rawget(holder, name) == nil and math.tointeger(tonumber(name)) or name
  return key, unwrapped(rawget(holder, key))
end

local function names_in(holder)
  local names = {}
  if is_module(holder) then
    for _, key in ipairs(holder._fields) do
      local value = rawget(holder, key)
      if is_module(value) or is_tensor(value) then names[#names + 1] = tree.name_of(key) end
    end
  elseif is_plain(holder) then
    for key in pairs(holder) do names[#names + 1] = tostring(key) end
  end
  return names
end

local function class_name(value)
  if is_module(value) then return value.__name end
  return is_plain(value) and "the table" or is_tensor(value) and "a tensor" or tostring(value)
end

-- Follows the names of `rest` from a place. If there is no such value, returns nil, the last place found and the
-- missing name.
local function follow(place, rest)
  for name in rest:gmatch "[^.]+" do
    local holder = place.value
    if type(holder) ~= "table" then return nil, place, name end
    local key, value = step_into(holder, name)
    if type(value) ~= "table" and not is_tensor(value) then return nil, place, name end
    local model = place.model or is_module(value) and value or nil
    place = {
      path = place.path .. "." .. name, owner = holder, key = key, value = value, model = model,
      inner = not place.model and "" or place.inner == "" and name or place.inner .. "." .. name,
    }
  end
  return place
end

local function root_place(root)
  return {path = root.name, value = root.value, model = is_module(root.value) and root.value or nil, inner = ""}
end

-- The places for a path without the name of a variable: "fc1.weight", or, as the tape shows it, with the class of the
-- model in front: "Net.fc1".
local function without_root(path)
  local found, seen = {}, {}
  local first, rest = path:match "^([^.]*)%.?(.*)$"
  for _, root in ipairs(places.roots()) do
    if is_module(root.value) then
      local place = follow(root_place(root), path)
      if not place and first == root.value.__name then place = follow(root_place(root), rest) end
      if place and not seen[place.value] then
        seen[place.value] = true
        found[#found + 1] = place
      end
    end
  end
  return found
end

local function fail_missing(owner, path, ended, name)
  local names = names_in(ended.value)
  local near = nearest.of(name, names)
  table.sort(names)
  local known = #names == 0 and "" or (" (there %s %s)"):format(#names == 1 and "is" or "are",
    table.concat(names, ", ", 1, math.min(#names, 12)) .. (#names > 12 and ", …" or ""))
  fail(("surgery.%s: there is no '%s': %s, a %s, has no '%s'%s"):format(owner, path, ended.path,
    class_name(ended.value):gsub("^a ", ""), name,
    near and ("; did you mean '%s.%s'?"):format(ended.path, near) or known))
end

local function fail_unknown(owner, path)
  local names = {}
  for _, root in ipairs(places.roots()) do
    if is_module(root.value) or is_plain(root.value) and places.holds(root.value) then names[#names + 1] = root.name end
  end
  local near = nearest.of(path:match "^[^.]*", names)
  fail(("surgery.%s: '%s' begins with no state of lg.run.state and no variable that holds a model%s"):format(owner, path,
    near and ("; did you mean '%s'?"):format(near) or #names > 0 and "; there are " .. table.concat(names, ", ")
      or "; give the module or tensor itself"))
end

-- The place of a path from a variable. If there is none, returns nil, the last place found and the missing name.
local function from_variable(path)
  local ended, missing
  -- The name of a state may contain dots: the longest match is tried first.
  for cut = #path, 1, -1 do
    if cut == #path or path:sub(cut + 1, cut + 1) == "." then
      local value = variable(path:sub(1, cut))
      if type(value) == "table" or is_tensor(value) then
        local place, at, name = follow(root_place {name = path:sub(1, cut), value = value}, path:sub(cut + 2))
        if place then return place end
        if not ended then ended, missing = at, name end
      end
    end
  end
  return nil, ended, missing
end

-- The place of a path that begins with the name of a model. The variable of that name may be in a function that has
-- ended, or hidden by another variable.
local function from_model(path)
  local model, name, rest = names_of_models.model_at(path)
  return model and (follow(root_place {name = name, value = model}, rest))
end

-- The place of a path. Errors begin with surgery.`owner`.
local function at_path(owner, path)
  local first, rest = path:match "^([^.]*)%.?(.*)$"
  local place, ended, missing = from_variable(path)
  local named = from_model(path)
  if not place and named then return named end
  if place and named and not rawequal(place.value, named.value) then
    -- The variable has another value by now, unless another variable of its name hides it.
    local model, name = names_of_models.model_at(path)
    return names_of_models.leads(name, model) and named or place
  end
  if place then return place end
  local found = without_root(path)
  if #found == 1 then return found[1] end
  if #found > 1 then
    local paths = {}
    for i, place in ipairs(found) do paths[i] = "'" .. place.path .. "'" end
    fail(("surgery.%s: '%s' is in several models: write %s"):format(owner, path, table.concat(paths, " or ")))
  end
  if ended and (rest ~= "" or first ~= path) then fail_missing(owner, path, ended, missing) end
  fail_unknown(owner, path)
end

-- Calls visit(place) for all modules, tensors and objects that can be reached from a variable, each once, parents
-- first, until visit returns true.
local function search(place, visit, seen, depth)
  local value = place.value
  if seen[value] then return false end
  seen[value] = true
  if visit(place) then return true end
  if type(value) ~= "table" or is_object(value) and not is_module(value) then return false end
  if is_plain(value) and depth > deepest then return false end
  for _, name in ipairs(names_in(value)) do
    local inner = follow(place, name)
    if inner and search(inner, visit, seen, is_module(inner.value) and 0 or depth + 1) then return true end
  end
  return false
end

-- Whether a plain table holds a module, an optimizer or another object with a state.
function places.holds(value, depth)
  depth = depth or 0
  local count = 0
  for _, item in next, value do
    count = count + 1
    if count > widest then return false end
    item = unwrapped(item)
    if is_object(item) and (is_module(item) or item ~= value and type(item) == "table" and rawget(item, "param_groups")) then
      return true
    end
    if is_plain(item) and depth < deepest and places.holds(item, depth + 1) then return true end
  end
  return false
end

-- The first place of an object, with the name that the tape shows if it has one; nil when nothing leads to it.
function places.of(object)
  local name = is_tensor(object) and names_of_models.of_parameter(object) or names_of_models.known(object)
  if name then
    for _, find in ipairs {from_variable, from_model} do
      local place = find(name)
      if place and rawequal(place.value, object) then return place end
    end
  end
  local found
  local seen = {}
  for _, root in ipairs(places.roots()) do
    local value = root.value
    if is_module(value) or is_tensor(value) or not is_plain(value) or root.state or places.holds(value) then
      search(root_place(root), function(place)
        if rawequal(place.value, object) then found = place end
        return found
      end, seen, 0)
    end
    if found then return found end
  end
end

-- The place of a path or an object: {path =, owner =, key =, value =, model =, inner =}. `owner` holds the value under
-- `key`; `inner` is the path within `model`, the outermost module on the way. A variable has no owner; a tensor or
-- module that no variable leads to has no path either.
function places.find(owner, what)
  if type(what) == "string" then
    if ("." .. what .. "."):find("..", 1, true) then
      fail(("surgery.%s: '%s' has an empty name; write a path as 'model.fc1'"):format(owner, what))
    end
    return at_path(owner, what)
  end
  what = unwrapped(what)
  if not is_tensor(what) and type(what) ~= "table" then
    fail(("surgery.%s: a path as 'model.fc1', a module or a tensor expected (got %s)"):format(owner, type(what)))
  end
  return places.of(what) or {value = what, inner = ""}
end

-- The place at a path within a module; nil when there is none.
function places.inside(model, path)
  local place = follow({path = "", value = model, model = model, inner = ""}, path)
  return place
end

-- The name of a place in errors and titles.
function places.name(place)
  return place.path or is_module(place.value) and place.value.__name or is_tensor(place.value) and "a tensor" or "an object"
end

return places
