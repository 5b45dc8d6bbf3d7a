-- Changes of values: parameters are frozen, initialized again, scaled, edited; an optimizer's settings and states are
-- set. Each function checks everything and returns the change: {run =, affected =, gradients =}. A tensor gets new
-- memory, so a graph recorded before keeps the values that it saved.
local core = require "lunagrad.core"
local forget_statistics = require "lunagrad.nn.running_stats"
local init = require "lunagrad.nn.initialize"
local nearest = require "lunagrad.nearest"
local parts = require "lunagrad.surgery.parts"
local places = require "lunagrad.surgery.places"
local tree = require "lunagrad.nn.tree"

local is_tensor, is_module = core.is_tensor, tree.is_module
local values = {}

local function fail(owner, text, ...) core._fail(("surgery.%s: "):format(owner) .. text:format(...)) end

local function shape_text(x) return "[" .. table.concat(x:size(), ", ") .. "]" end

local function is_floating(x) return x:dtype():find "^[bfc]%a*%d" ~= nil end

-- Whether a place holds a buffer of a module.
local function is_buffer(place)
  local kind = is_module(place.owner) and place.owner._kinds[place.key]
  return kind == "buffer" or kind == "transient"
end

local function check_leaf(owner, name, x)
  if not x.is_leaf then
    fail(owner, "'%s' is the result of an op, which is computed again; change what it is computed from", name)
  end
end

-- The parameters of a module, or the parameter at the path: {path =, tensor =}.
local function parameters_at(owner, path)
  local place = places.find(owner, path)
  local name = places.name(place)
  local entries
  if is_tensor(place.value) then
    if is_buffer(place) then fail(owner, "'%s' is a buffer, which is not trained; a parameter or a module expected", name) end
    entries = {{path = "", tensor = place.value}}
  elseif is_module(place.value) then
    entries = tree.collect(place.value, "parameter", true)
    if #entries == 0 then fail(owner, "'%s', %s, has no parameters", name, place.value.__name) end
  else
    fail(owner, "'%s' is neither a module nor a tensor", name)
  end
  for _, entry in ipairs(entries) do
    local full = entry.path == "" and name or name .. "." .. entry.path
    entry.name = full
    check_leaf(owner, full, entry.tensor)
    if not is_floating(entry.tensor) then fail(owner, "'%s' holds %s, which is not trained", full, entry.tensor:dtype()) end
  end
  return entries, place
end

local function tensors_of(entries)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = entry.tensor end
  return list
end

local function flags(owner, path, on)
  local entries, place = parameters_at(owner, path)
  local tensors = tensors_of(entries)
  return {place = place, affected = {place.value}, gradients = tensors, run = function()
    for _, x in ipairs(tensors) do
      x:requires_grad_(on)
      if not on then x.grad = nil end  -- an optimizer's step skips parameters without a gradient
    end
  end}
end

function values.freeze(path) return flags("freeze", path, false) end
function values.unfreeze(path) return flags("unfreeze", path, true) end

-- Gives each tensor the values of fill(copy, tensor), which fills a copy or returns another tensor.
local function refill(tensors, fill)
  local _ <close> = core.no_grad()
  local filled = {}
  for i, x in ipairs(tensors) do
    filled[i] = x:detach():clone()
    filled[i] = fill(filled[i], x) or filled[i]
  end
  for i, x in ipairs(tensors) do core._replace_data(x, filled[i]) end
end

-- The function for an init: a name of nn.init with or without its last underscore, or a function of a tensor.
local function initializer(how)
  if type(how) == "function" then return how, "…" end
  if type(how) ~= "string" then fail("reinit", "init is a name of lg.nn.init or a function of a tensor (got %s)", type(how)) end
  local name = how:sub(-1) == "_" and how or how .. "_"
  if type(rawget(init, name)) ~= "function" or name:sub(1, 1) == "_" then
    local known = {}
    for known_name, value in next, init do
      if type(value) == "function" and known_name:match "^%a.*_$" then known[#known + 1] = known_name end
    end
    local near = nearest.of(name, known)
    table.sort(known)
    fail("reinit", "there is no initialization '%s'%s", how,
      near and ("; did you mean '%s'?"):format(near) or "; there are " .. table.concat(known, ", "))
  end
  return init[name], ("%q"):format(name)
end

-- Initializes a module's parameters as its layers did, and resets its running statistics. With an init, it fills only
-- the parameters of two and more dims and leaves everything else as it is. A single tensor is always filled.
function values.reinit(path, how)
  local entries, place = parameters_at("reinit", path)
  local text, fill_of
  if how == nil then
    for _, entry in ipairs(entries) do
      if not init._filling_of(entry.tensor) then
        fail("reinit", "'%s' was not filled by a layer of the library; say how, as lg.surgery.reinit(%q, \"normal_\")", entry.name,
          entry.name)
      end
    end
    fill_of = init._filling_of
  else
    local fill
    fill, text = initializer(how)
    fill_of = function() return fill end
    if is_module(place.value) then
      local wide = {}
      for _, entry in ipairs(entries) do
        if entry.tensor:dim() >= 2 then wide[#wide + 1] = entry end
      end
      if #wide == 0 then
        fail("reinit", "'%s' has no parameter of two and more dims, which an init fills; name one of its parameters",
          places.name(place))
      end
      entries = wide
    end
  end
  return {place = place, affected = {place.value}, text = text, run = function()
    refill(tensors_of(entries), function(copy, x)
      -- Filled on the CPU, so that the values are the same on every device.
      local host = copy:to("cpu")
      local made = fill_of(x)(host)
      if made == nil then made = host end
      if not is_tensor(made) or shape_text(made) ~= shape_text(x) then
        fail("reinit", "the init of a tensor of shape %s gives %s; it fills the tensor that it gets, or returns another of its shape",
          shape_text(x), is_tensor(made) and shape_text(made) or "a " .. type(made))
      end
      return made:detach():to(x:dtype()):to(x:device()):clone()
    end)
    for _, module in ipairs(how == nil and is_module(place.value) and place.value:modules() or {}) do forget_statistics(module) end
  end}
end

function values.rescale(path, factor)
  if type(factor) ~= "number" then
    fail("rescale", "a number expected as the factor (got %s)", is_tensor(factor) and "a tensor" or type(factor))
  elseif factor ~= factor or factor == math.huge or factor == -math.huge then
    fail("rescale", "the factor is %s; a finite number expected", factor ~= factor and "NaN" or "infinite")
  end
  local entries, place = parameters_at("rescale", path)
  return {place = place, affected = {place.value}, run = function()
    refill(tensors_of(entries), function(copy) return copy:mul_(factor) end)
  end}
end

-- x[index] = value, where x is a tensor or the path of a parameter or buffer.
function values.edit(what, index, value)
  local place = places.find("edit", what)
  local x, name = place.value, places.name(place)
  if not is_tensor(x) then fail("edit", "'%s' is %s, not a tensor; name one of its tensors", name,
    is_module(x) and x.__name or "no tensor") end
  check_leaf("edit", name, x)
  local ok_index = math.type(index) == "integer" or type(index) == "table" or is_tensor(index)
  if not ok_index then
    fail("edit", "an index as in x[index] expected: 3, {2, 1}, {{1, 2}, {}} or a tensor (got %s)", type(index))
  end
  if value == nil then fail("edit", "the value for %s is missing", name) end
  -- On a copy, so that a wrong index or value is an error before anything changes.
  local made
  local ok, message = pcall(function()
    local _ <close> = core.no_grad()
    made = x:detach():clone()
    made[index] = value
  end)
  if not ok then
    fail("edit", "'%s', %s: %s", name, shape_text(x), (tostring(message):gsub("^[^\n]-:%d+: ", "")))
  end
  return {place = place, affected = {x}, run = function() core._replace_data(x, made) end}
end

local function find_optimizer(what)
  local place = places.find("optimizer", what)
  if not parts.is_optimizer(place.value) then
    fail("optimizer", "'%s' is no optimizer", places.name(place))
  end
  return place.value, place
end

-- The groups that hold at least one of the parameters, each once.
local function groups_of(optimizer, entries)
  local list, seen = {}, {}
  for _, group in ipairs(optimizer.param_groups) do
    for _, parameter in ipairs(group.params) do
      for _, entry in ipairs(entries or {{tensor = parameter}}) do
        if entry.tensor == parameter and not seen[group] then
          seen[group] = true
          list[#list + 1] = group
        end
      end
    end
  end
  return list
end

local function copied(value)
  if type(value) ~= "table" then return value end
  return table.move(value, 1, #value, 1, {})
end

-- Sets a setting of the groups that hold the parameters.
local function change_setting(optimizer, groups, key, value)
  for _, group in ipairs(groups) do
    local now = group[key]
    local kind = type(now)
    if kind ~= "number" and kind ~= "boolean" and kind ~= "string" and not (kind == "table" and not getmetatable(now)) then
      fail("optimizer", "%s of %s comes from a function, a schedule or lg.run.live, which would set it again; change that instead",
        key, optimizer.__name)
    elseif kind ~= type(value) then
      fail("optimizer", "%s of %s is a %s (got %s)", key, optimizer.__name, kind, is_tensor(value) and "a tensor" or type(value))
    elseif kind == "table" and #now ~= #value then
      fail("optimizer", "%s of %s has %d numbers (got %d)", key, optimizer.__name, #now, #value)
    end
    for i = 1, kind == "table" and #value or 0 do
      if type(value[i]) ~= "number" then fail("optimizer", "%s[%d] is a %s, not a number", key, i, type(value[i])) end
    end
    if value ~= value then fail("optimizer", "%s is NaN; a number expected", key) end
  end
  optimizer:_check_settings {[key] = value}
  return function()
    for _, group in ipairs(groups) do group[key] = copied(value) end
  end
end

-- Sets a state of the parameters: a number fills a tensor, a tensor of its shape replaces its values.
local function change_state(optimizer, entries, key, value)
  local found = {}
  for _, entry in ipairs(entries) do
    local state = optimizer.state[entry.tensor]
    local now = state[key]
    if now == nil then
      local known = {}
      for name in pairs(state) do known[#known + 1] = name end
      table.move(optimizer.names, 1, #optimizer.names, #known + 1, known)
      local near = nearest.of(key, known)
      table.sort(known)
      fail("optimizer", "%s has no state or setting '%s' for '%s'%s%s", optimizer.__name, key, entry.name,
        near and ("; did you mean '%s'?"):format(near) or "; there are " .. table.concat(known, ", "),
        state.step == 0 and ". States are made by its first step" or "")
    elseif is_tensor(now) then
      if is_tensor(value) and shape_text(value) ~= shape_text(now) then
        fail("optimizer", "%s of '%s' has shape %s (got %s)", key, entry.name, shape_text(now), shape_text(value))
      elseif not is_tensor(value) and type(value) ~= "number" then
        fail("optimizer", "%s of '%s' is a tensor of shape %s; a number or a tensor expected (got %s)", key, entry.name,
          shape_text(now), type(value))
      end
    elseif type(now) ~= type(value) then
      fail("optimizer", "%s of '%s' is a %s (got %s)", key, entry.name, type(now), is_tensor(value) and "a tensor" or type(value))
    elseif key == "step" and (math.type(value) ~= "integer" or value < 0) then
      fail("optimizer", "step is a whole number from 0 on (got %s)", tostring(value))
    end
    found[#found + 1] = state
  end
  return function()
    local _ <close> = core.no_grad()
    for _, state in ipairs(found) do
      local now = state[key]
      if is_tensor(now) then
        local made = is_tensor(value) and value:detach():to(now:dtype()):to(now:device()):clone() or core.full_like(now, value)
        core._replace_data(now, made)
      else
        state[key] = value
      end
    end
  end
end

-- Sets a setting of the groups that hold the parameters at `path` (nil: of all groups), or a state of these parameters.
function values.optimizer(which, path, key, value)
  local optimizer, place = find_optimizer(which)
  if type(key) ~= "string" then
    fail("optimizer", "the name of a setting or state expected, as \"lr\" (got %s)", type(key))
  elseif value == nil then
    fail("optimizer", "the value for %s is missing", key)
  end
  local entries, inner
  if path ~= nil then
    entries, inner = parameters_at("optimizer", path)
    local held = {}
    for _, entry in ipairs(entries) do
      if optimizer:has(entry.tensor) then held[#held + 1] = entry end
    end
    if #held == 0 then fail("optimizer", "%s holds no parameter of '%s'", optimizer.__name, places.name(inner)) end
    entries = held
  end
  local run
  if optimizer.defaults[key] ~= nil then
    run = change_setting(optimizer, groups_of(optimizer, entries), key, value)
  elseif not entries then
    local near = nearest.of(key, {table.unpack(optimizer.names)})
    fail("optimizer", "%s has no setting '%s'%s", optimizer.__name, key, near and ("; did you mean '%s'?"):format(near)
      or ("; for a state, name its parameter: lg.surgery.optimizer(%q, \"model.fc1.weight\", %q, …)"):format(
        place.path or "optimizer", key))
  else
    run = change_state(optimizer, entries, key, value)
  end
  return {place = place, inner = inner, affected = {optimizer}, run = run}
end

return values
