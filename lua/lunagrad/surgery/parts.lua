-- The state of a script for lg.surgery: models, optimizers, averages, schedules and the states of lg.run.state, as a
-- list of parts in an order that depends only on names; and a hash of it.
local core = require "lunagrad.core"
local holders = require "lunagrad.optim.holders"
local is_plain = require("lunagrad.arguments").is_plain
local places = require "lunagrad.surgery.places"
local tree = require "lunagrad.nn.tree"

local is_tensor, is_module = core.is_tensor, tree.is_module
local parts = {}

local function is_optimizer(value) return type(value) == "table" and type(rawget(value, "param_groups")) == "table" end
parts.is_optimizer = is_optimizer

local function is_loader(value) return core._loaders and core._loaders[value] ~= nil end

-- Whether a value is an object of a class with state_dict(), as a schedule. Data loaders are left out, so undo does not
-- move them.
local function has_state(value)
  local meta = type(value) == "table" and getmetatable(value)
  if type(meta) ~= "table" or is_loader(value) then return false end
  local ok, found = pcall(function()
    return meta.state_dict or type(meta.__index) == "table" and meta.__index.state_dict
  end)
  return ok and type(found) == "function"
end

local function sorted_keys(t)
  local keys = {}
  for key in next, t do
    if type(key) == "string" or type(key) == "number" then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "number" end
    return a < b
  end)
  return keys
end

-- Fields of objects that are not state: caches, names, and values that are kept elsewhere.
local left_out = {lists = true, settings = true, hooks = true, defaults = true, names = true, optimizers = true}

local Parts = {}
Parts.__index = Parts

function Parts:note(kind, value)
  self.list[#self.list + 1] = {kind = kind, value = value}
  self.number[value] = #self.list
end

function Parts:tensor(x)
  if not x.is_leaf then return end
  self:note("tensor", x)
end

function Parts:module(module)
  self:note("module", module)
  for _, key in ipairs(module._fields) do
    local value = rawget(module, key)
    if is_tensor(value) or is_module(value) then self:add(value) end
  end
end

function Parts:table_of(t)
  self:note("table", t)
  for _, key in ipairs(sorted_keys(t)) do
    if not left_out[key] or is_plain(t) then self:add(rawget(t, key)) end
  end
end

function Parts:optimizer(optimizer)
  self:note("optimizer", optimizer)
  self:note("table", optimizer.param_groups)
  for _, group in ipairs(optimizer.param_groups) do self:table_of(group) end
  self:note("states", optimizer.state)
  for _, group in ipairs(optimizer.param_groups) do
    for _, parameter in ipairs(group.params) do self:add(optimizer.state[parameter]) end
  end
end

function Parts:add(value)
  if type(value) ~= "table" and not is_tensor(value) or self.number[value] then return end
  if is_tensor(value) then return self:tensor(value) end
  if is_module(value) then return self:module(value) end
  if is_optimizer(value) then return self:optimizer(value) end
  if is_loader(value) then return end
  if is_plain(value) or has_state(value) or holders.is(value) then return self:table_of(value) end
  -- Small callable objects, such as a rate that a schedule scales: their own fields are state.
  local meta = getmetatable(value)
  if type(meta) == "table" and meta.__call and rawget(value, "handle") ~= nil then self:note("table", value) end
end

-- Adds optimizers and averages that no variable refers to but that hold tensors of the parts.
function Parts:add_holders()
  local function hidden()
    local list = {}
    for _, holder in ipairs(holders.all()) do
      if not self.number[holder] and self:holds_one(holder) then list[#list + 1] = holder end
    end
    return list
  end
  if #hidden() == 0 then return end
  collectgarbage()  -- objects that the script has dropped are not part of its state
  for _, holder in ipairs(hidden()) do self:add(holder) end
end

function Parts:holds_one(holder)
  for _, group in ipairs(rawget(holder, "param_groups") or {holder}) do
    for _, parameter in ipairs(group.params) do
      if self.number[parameter] then return true end
    end
  end
  return false
end

-- Whether the value of a variable is state: data and results of ops are not.
local function is_state(root)
  local value = root.value
  if root.state or is_module(value) or is_optimizer(value) or holders.is(value) then return true end
  if is_tensor(value) then return value.is_leaf and value.requires_grad end
  return has_state(value) or is_plain(value) and places.holds(value)
end

-- Collects {list =, number =}: the parts, each {kind =, value =}, of the script's variables and of the further objects;
-- and the number of each value in the list.
function parts.collect(further)
  local self = setmetatable({list = {}, number = {}}, Parts)
  for _, root in ipairs(places.roots()) do
    if is_state(root) then self:add(root.value) end
  end
  for _, value in ipairs(further or {}) do self:add(value) end
  self:add_holders()
  return self
end

-- --- the hash ---

local bits = setmetatable({}, {__mode = "k"})  -- tensor -> {version, hash}

local function hash_of(x)
  local known, version = bits[x], core._version(x)
  if not known or known[1] ~= version then
    known = {version, core._hash(x)}
    bits[x] = known
  end
  return known[2]
end

-- A value as text; parts are written as their numbers.
function Parts:text(value, depth)
  if self.number[value] then return "#" .. self.number[value] end
  local kind = math.type(value) or type(value)
  if kind == "float" then return value ~= value and "nan" or ("%a"):format(value) end
  if kind == "string" then return ("%q"):format(value) end
  if kind == "integer" or kind == "boolean" or kind == "nil" then return tostring(value) end
  if is_plain(value) and depth < 4 then
    local texts = {}
    for i, key in ipairs(sorted_keys(value)) do
      texts[i] = ("[%s]=%s"):format(self:text(key, depth + 1), self:text(rawget(value, key), depth + 1))
    end
    return "{" .. table.concat(texts, ",") .. "}"
  end
  return kind
end

local describe = {}

function describe.tensor(_, x)
  return ("%s [%s] %s %d"):format(x:dtype(), table.concat(x:size(), ","), x.requires_grad, hash_of(x))
end

function describe.module(self, module)
  local texts = {module.__name, tostring(module.training)}
  for _, key in ipairs(module._fields) do
    local value = rawget(module, key)
    local internal = type(key) == "string" and key:sub(1, 1) == "_"
    if value ~= nil and not internal then
      texts[#texts + 1] = ("%s:%s=%s"):format(tostring(key), module._kinds[key], self:text(value, 0))
    end
  end
  return table.concat(texts, " ")
end

function describe.table(self, t)
  local texts = {}
  for _, key in ipairs(sorted_keys(t)) do
    if not left_out[key] or is_plain(t) then
      texts[#texts + 1] = ("%s=%s"):format(tostring(key), self:text(rawget(t, key), 0))
    end
  end
  return table.concat(texts, " ")
end

function describe.optimizer(_, optimizer) return optimizer.__name end

function describe.states(self, states)
  local texts = {}
  for parameter, state in pairs(states) do texts[#texts + 1] = self:text(parameter, 0) .. "=" .. self:text(state, 0) end
  table.sort(texts)
  return table.concat(texts, " ")
end

-- A hash of 64 bits of all parts and of the position of the random generator. Equal states have the same hash in every
-- process.
function parts.hash()
  local self = parts.collect()
  local random = core.get_rng_state()
  local texts = {("%d %d"):format(random.seed, random.stream)}
  for i, part in ipairs(self.list) do
    texts[i + 1] = part.kind .. " " .. describe[part.kind](self, part.value)
  end
  return core._hash(table.concat(texts, "\n"))
end

return parts
