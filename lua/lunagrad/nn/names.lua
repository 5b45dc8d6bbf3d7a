-- The names by which a script calls its models: "G", "models.D", "agent.policy". A name is given when a model is first
-- called, or when its parameters are first listed, and stays for the run. Everything inside the model has a name that
-- begins with it: "G.0.weight" on the tape, in tables, menus and errors. State dicts and files do not have the model's name.
--
-- A name is searched in this order: variables of the script outside of loops, globals, states of lg.run.state, tables and
-- models that these hold, and last the variables of loops and parameters of functions, which are other names of what the
-- caller holds. A model that nothing leads to has the name of its class. If the name belongs to another model, a number
-- follows: "Net_2".
local core = require "lunagrad.core"
local tree = require "lunagrad.nn.tree"

local is_module, name_of = tree.is_module, tree.name_of
local intern = core._module_label
local names = {}

local widest = 256     -- tables with more entries are data
local deepest = 4      -- nesting of tables that is searched
local most = 4096      -- values that one search looks at
local most_deep = 64   -- searches of tables in a run: a script may make models in every step
local most_alike = 64  -- models with one name and a number

local weak_keys, weak_values = {__mode = "k"}, {__mode = "v"}
local ids = setmetatable({}, weak_keys)       -- module -> interned id of its name, which calls read (script/bind/nn)
local texts = setmetatable({}, weak_keys)     -- module -> its name
local others = setmetatable({}, weak_keys)    -- shared module -> set of its other names
local tensors = setmetatable({}, weak_keys)   -- parameter -> its name
local root_of = setmetatable({}, weak_keys)   -- module -> the number of its model
local roots = setmetatable({}, weak_values)   -- name -> model
local given = {}                              -- name -> {number =, moment =} of its latest model
local turns = setmetatable({}, weak_keys)     -- shared module -> path of a caller -> position of its latest call
local count, deep_searches = 0, 0

-- The value that an object of lg.compile wraps; other values are returned unchanged.
local function unwrapped(value)
  local meta = type(value) == "table" and getmetatable(value)
  local wrapped = type(meta) == "table" and rawget(meta, "_wrapped")
  return wrapped and wrapped(value) or value
end
names.unwrapped = unwrapped

-- The keys of a table that are texts, sorted.
local function sorted_names(named)
  local list = {}
  for name in next, named do
    if type(name) == "string" then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end
names.sorted_names = sorted_names

local of_lua = {coroutine = true, debug = true, io = true, math = true, os = true, package = true, string = true,
  table = true, utf8 = true}

-- The tables of Lua and of this library, which are not variables of the script.
local function libraries()
  local set = {[_G] = true, [core] = true}
  local loaded = rawget(_G, "package") and package.loaded or {}
  for name, value in next, loaded do
    if type(value) == "table" and (of_lua[name] or name == "lunagrad" or tostring(name):sub(1, 9) == "lunagrad.") then
      set[value] = true
    end
  end
  return set
end

-- The states of lg.run.state; none before lg.run is used.
local function states() return core.run and core.run._states and core.run._states() or {} end
names.states = states

-- The variables of the script in two lists of {name =, value =, firm =}. The first have their values for long; the others
-- are variables of loops and parameters. `firm`: also found wherever the script is when it asks.
local function variables()
  local lasting, passing, skipped = {}, {}, libraries()
  local function add(list, name, value, firm)
    value = unwrapped(value)
    if type(value) == "table" and not skipped[value] then list[#list + 1] = {name = name, value = value, firm = firm} end
  end
  for _, variable in ipairs(core._variables()) do
    local name, value, kind = variable[1], variable[2], variable[3]
    local passes = kind == "loop" or kind == "parameter"
    add(passes and passing or lasting, name, value, kind == "main")
  end
  for _, name in ipairs(sorted_names(_G)) do add(lasting, name, rawget(_G, name), true) end
  local registered = states()
  for _, name in ipairs(sorted_names(registered)) do add(lasting, name, registered[name], true) end
  return lasting, passing, skipped
end

local function is_class(value) return rawget(value, "super") ~= nil and rawget(value, "__name") ~= nil end

-- The keys of a table that may lead to a model, numbers first; nil if it is too wide.
local function keys_of(holder)
  if is_module(holder) then
    local keys = {}
    for _, key in ipairs(holder._fields) do keys[#keys + 1] = key end
    return keys
  end
  local numbers, words = {}, {}
  for key in next, holder do
    if #numbers + #words >= widest then return nil end
    if math.type(key) == "integer" then
      numbers[#numbers + 1] = key
    elseif type(key) == "string" and key ~= "" and not key:find(".", 1, true) then
      words[#words + 1] = key
    end
  end
  table.sort(numbers)
  table.sort(words)
  return table.move(words, 1, #words, #numbers + 1, numbers)
end

local function joined(path, holder, key)
  return path .. "." .. (is_module(holder) and name_of(key) or tostring(key))
end

-- Searches the tables and models that variables hold, the nearest first. Returns the entry with the path and, for a
-- module inside a model, the model as `root` with its path `root_path`.
local function search(list, module, skipped)
  local queue, seen, looked = {}, {}, 0
  for _, variable in ipairs(list) do
    if not seen[variable.value] then
      seen[variable.value] = true
      local root = is_module(variable.value) and variable.value or nil
      queue[#queue + 1] = {value = variable.value, path = variable.name, firm = variable.firm, depth = 0, root = root,
        root_path = root and variable.name}
    end
  end
  local at = 1
  while queue[at] do
    local holder = queue[at]
    local value = holder.value
    at = at + 1
    local searched = not is_class(value) and not rawget(value, "param_groups") and (is_module(value) or holder.depth <= deepest)
    for _, key in ipairs(searched and keys_of(value) or {}) do
      looked = looked + 1
      if looked > most then return nil end
      local inner = unwrapped(rawget(value, key))
      if type(inner) == "table" and not seen[inner] and not skipped[inner] then
        seen[inner] = true
        local path = joined(holder.path, value, key)
        local root = holder.root or is_module(inner) and inner or nil
        local entry = {value = inner, path = path, firm = holder.firm, depth = is_module(value) and 0 or holder.depth + 1,
          root = root, root_path = holder.root_path or root and path}
        if rawequal(inner, module) then return entry end
        queue[#queue + 1] = entry
      end
    end
  end
  return nil
end

local function direct(list, module)
  for _, variable in ipairs(list) do
    if rawequal(variable.value, module) then
      return {path = variable.name, firm = variable.firm, root = module, root_path = variable.name}
    end
  end
end

-- How the script refers to a module now; nil: no variable leads to it.
local function find(module)
  local lasting, passing, skipped = variables()
  local found = direct(lasting, module)
  if not found and deep_searches < most_deep then
    deep_searches = deep_searches + 1
    found = search(lasting, module, skipped)
  end
  found = found or direct(passing, module)
  if not found and deep_searches < most_deep then found = search(passing, module, skipped) end
  return found
end

-- The value at the rest of a path, from a holder on; nil if there is none.
local function follow(value, rest)
  for name in rest:gmatch "[^.]+" do
    if type(value) ~= "table" then return nil end
    local key = name
    if is_module(value) then
      key = tree.field_of(value, name)
    elseif rawget(value, name) == nil then
      key = math.tointeger(tonumber(name)) or name
    end
    value = unwrapped(rawget(value, key))
  end
  return value
end

-- Whether a variable of the script leads to the module by this name now. The variable may be in any active function.
function names.leads(name, module)
  local lasting, passing = variables()
  for _, list in ipairs {lasting, passing} do
    for _, variable in ipairs(list) do
      if variable.name == name and rawequal(variable.value, module) then return true end
      local length = #variable.name
      if name:sub(1, length + 1) == variable.name .. "." and rawequal(follow(variable.value, name:sub(length + 2)), module) then
        return true
      end
    end
  end
  return false
end

-- Models with one name are told apart if they run before the same backward pass: only then are they on one tape.
local moment = core._passes

-- Takes the name away from a model and everything inside it.
local function release(model)
  local number = root_of[model]
  for module, its in next, root_of do
    if its == number then
      ids[module], texts[module], others[module], root_of[module] = nil, nil, nil, nil
    end
  end
  for _, entry in ipairs(tree.collect(model, "parameter", true)) do tensors[entry.tensor] = nil end
end

-- The name itself, or the name with a number if another model has it. A model that was named before the latest backward
-- pass, and that no variable of this name holds any more, loses the name: so a model made in each step keeps its name.
-- When the collector frees a model plays no part, so that names are the same in each run.
local function claim(name, model)
  local wanted = name
  for n = 2, most_alike + 1 do
    local holder, latest = roots[wanted], given[wanted]
    if rawequal(holder, model) then return wanted end
    if not latest or latest.moment ~= moment() and not (holder and names.leads(wanted, holder)) then break end
    if n <= most_alike then wanted = ("%s_%d"):format(name, n) end
  end
  if roots[wanted] then release(roots[wanted]) end
  return wanted
end

-- Marks a module that has several places. Each of its calls asks for its path.
function names.share(module)
  rawset(module, "_shared", true)
  rawset(module, "_label", 0)
end

-- Names a module. A shared module keeps its first name; the others are noted beside it.
local function name_module(module, text, number)
  local known = texts[module]
  if not known then
    ids[module], texts[module], root_of[module] = intern(text), text, number
  elseif known ~= text then
    others[module] = others[module] or {}
    if not others[module][text] then
      others[module][text] = true
      core._note_other_name(known, text)
      local placed = rawget(module, "_placed")
      if placed and text ~= placed and text:sub(-#placed - 1) ~= "." .. placed then names.share(module) end
    end
  end
end

local function name_parameters(module, text)
  for _, entry in ipairs(tree.collect(module, "parameter", false)) do
    local full = text .. "." .. entry.path
    local known = tensors[entry.tensor]
    if not known then
      tensors[entry.tensor] = full
      core._set_name(entry.tensor, full)
    elseif known ~= full then
      core._note_other_name(known, full)
    end
  end
end

-- Gives a model and everything inside it their names; `name` is free.
local function register(model, name)
  roots[name] = model
  count = count + 1
  given[name] = {number = count, moment = moment()}
  tree.each_module(model, function(path, module)
    name_module(module, path == "" and name or name .. "." .. path, count)
  end, "", false)
  name_parameters(model, name)
  return name
end

-- Names the module that `found` leads to, and the model around it.
local function register_found(module, found)
  local root_name = texts[found.root] or register(found.root, claim(found.root_path, found.root))
  if texts[module] then return end
  -- The module is held by a plain table of the model, or joined it later.
  local text = root_name .. found.path:sub(#found.root_path + 1)
  name_module(module, text, root_of[found.root])
  tree.each_module(module, function(path, inner)
    if path ~= "" then name_module(inner, text .. "." .. path, root_of[found.root]) end
  end, "", false)
  name_parameters(module, text)
end

-- The name of a module; it gets one if it has none.
function names.of(module)
  if not texts[module] then
    local found = find(module)
    if found then register_found(module, found) else register(module, claim(module.__name, module)) end
  end
  return texts[module]
end

-- The interned id of the name.
function names.id_of(module)
  names.of(module)
  return ids[module]
end

-- The name of a module that has one.
function names.known(module) return texts[module] end

local asked = setmetatable({}, weak_keys)  -- modules that had no firm name

-- The name of a module whose parameters are listed, perhaps before its first call: nil unless it has one, or a variable of
-- the script's main file, a global or a state leads to it.
function names.firm(module)
  if texts[module] or asked[module] then return texts[module] end
  local found = direct((variables()), module)
  if found and found.firm then
    register_found(module, found)
  else
    asked[module] = true
  end
  return texts[module]
end

-- Names a parameter that was listed as `path` of a module with the name `above`, or of a module without one.
function names.note_parameter(tensor, path, above)
  local known = tensors[tensor]
  if not known and above then
    known = above .. "." .. path
    tensors[tensor] = known
  end
  core._set_name(tensor, known or path)
end

-- The name of a parameter that has one.
function names.of_parameter(tensor) return tensors[tensor] end

-- Forgets the names that were given while `build` ran, since no variable held its result yet. Returns the results.
function names.without(build, ...)
  local before = count
  local function finish(...)
    for name, latest in next, given do
      if latest.number > before then
        if roots[name] then release(roots[name]) end
        roots[name], given[name] = nil, nil
      end
    end
    return ...
  end
  return finish(build(...))
end

-- Names all models again, after a change of their structure.
function names.again()
  local list = {}
  for name, model in next, roots do
    if texts[model] == name then list[#list + 1] = {name = name, model = model} end
  end
  table.sort(list, function(a, b) return given[a.name].number < given[b.name].number end)
  for _, entry in ipairs(list) do
    release(entry.model)
    roots[entry.name] = nil
  end
  for _, entry in ipairs(list) do  -- a model that was put into an older one has its name now
    if not texts[entry.model] then register(entry.model, entry.name) end
  end
end

-- The model of the longest name that the path begins with, the name, and the rest of the path; nil if there is none.
function names.model_at(path)
  for cut = #path, 1, -1 do
    if cut == #path or path:sub(cut + 1, cut + 1) == "." then
      local name = path:sub(1, cut)
      local model = roots[name]
      if model and texts[model] == name then return model, name, path:sub(cut + 2) end
    end
  end
end

-- The names under which a module holds another one, in its fields and in the tables and lists that these hold.
local function names_inside(holder, wanted)
  local found, seen, looked = {}, {[holder] = true}, 0
  local function go(value, prefix, depth)
    for _, key in ipairs(keys_of(value) or {}) do
      looked = looked + 1
      if looked > widest then return end
      local inner = rawget(value, key)
      local name = is_module(value) and name_of(key) or tostring(key)
      if rawequal(inner, wanted) then
        found[#found + 1] = prefix .. name
      elseif type(inner) == "table" and not seen[inner] and not is_class(inner) and depth < deepest then
        -- A list of modules runs none of them, so it has no part of the path of its own.
        if not is_module(inner) or inner.forward == names.no_forward then
          seen[inner] = true
          go(inner, prefix .. name .. ".", depth + 1)
        end
      end
    end
  end
  go(holder, "", 0)
  return found
end

-- The id of the path of a call of `module` inside the call with the path `above` ("": outside of all modules). `called`
-- is the name by which the caller refers to the module, as "embed" in self.embed(x), if it is known. Asked for modules
-- that no field holds, and for shared modules, whose calls have the path by which they were called.
local function path_of_call(module, above, called)
  if not is_module(module) then return 0 end
  if above == "" then return names.id_of(module) end
  local owner = names.at(above)
  local inside = is_module(owner) and names_inside(owner, module) or {}
  local name = inside[1]
  if #inside > 1 then
    name = nil
    for _, one in ipairs(inside) do
      if one == called then name = one end
    end
    if not name then  -- the items of a list run in their order
      local its = turns[module] or {}
      turns[module] = its
      its[above] = (its[above] or 0) % #inside + 1
      name = inside[its[above]]
    end
  elseif not name then
    name = texts[module] or module.__name
  end
  if #inside <= 1 and not others[module] then  -- it has one place: its further calls need not ask
    rawset(module, "_shared", nil)
    rawset(module, "_label", intern(name))
  end
  return intern(above .. "." .. name)
end

-- The value at a path that begins with the name of a model; nil if there is none.
function names.at(path)
  local model, _, rest = names.model_at(path)
  if model then return follow(model, rest) end
end

core._module_names(ids, path_of_call)

return names
