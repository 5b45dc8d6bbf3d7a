-- The tree of modules: which fields are modules, parameters and buffers, and how they are named. Positions 1, 2, … of a
-- module (as in Sequential) are named "0", "1", … as in PyTorch.
local core = require "lunagrad.core"

local is_tensor = core.is_tensor
local tree = {}

function tree.is_module(value)
  local class = type(value) == "table" and getmetatable(value)
  return class and class._is_module == true
end
local is_module = tree.is_module

-- Whether an object has a field of its own or of its class.
function tree.has(module, name) return rawget(module, name) ~= nil or getmetatable(module)[name] ~= nil end

-- The name of a field in paths and state dicts.
function tree.name_of(key) return type(key) == "number" and tostring(key - 1) or key end
local name_of = tree.name_of

-- The field for a name in a path.
function tree.field_of(module, name)
  local position = math.tointeger(tonumber(name))
  if position and is_module(rawget(module, position + 1)) then return position + 1 end
  return name
end

function tree.is_parameter(value) return is_tensor(value) and value.requires_grad and value.is_leaf end

-- Calls visit(path, owner, key, value, kind) for every parameter and buffer: a module's own tensors first, then the
-- tensors of the modules inside, as PyTorch does. A module may be reachable by several paths, and may contain one of
-- its ancestors. Without `deep` only the module's own tensors are visited.
local function walk(self, visit, prefix, above, deep)
  if above[self] then return end
  above[self] = true
  for _, key in ipairs(self._fields) do
    local value, kind = rawget(self, key), self._kinds[key]
    local path = prefix .. name_of(key)
    if is_tensor(value) then
      if kind == "field" and tree.is_parameter(value) then kind = "parameter" end
      if kind ~= "field" then visit(path, self, key, value, kind) end
    end
  end
  for _, key in ipairs(deep and self._fields or {}) do
    local value = rawget(self, key)
    if is_module(value) then walk(value, visit, prefix .. name_of(key) .. ".", above, deep) end
  end
  above[self] = nil
end

-- The tensors of kind "parameter", "buffer" or "any". With `once` a shared tensor appears under its first path only.
-- `deep` (default true) includes the modules inside. A buffer that is not persistent has kind "transient".
function tree.collect(self, wanted, once, prefix, deep)
  local entries, seen = {}, {}
  walk(self, function(path, owner, key, value, kind)
    local listed = kind == "transient" and "buffer" or kind
    if listed ~= wanted and wanted ~= "any" or once and seen[value] then return end
    seen[value] = true
    entries[#entries + 1] = {path = path, owner = owner, key = key, tensor = value, kind = kind}
  end, prefix or "", {}, deep ~= false)
  return entries
end

-- Calls visit(path, module) for this module and all its descendants, parents first. With `once` a shared module appears under
-- its first path only.
function tree.each_module(self, visit, prefix, once)
  local seen = {}
  local function go(module, path)
    if seen[module] then return end
    seen[module] = true
    visit(path, module)
    for _, key in ipairs(module._fields) do
      local inner = rawget(module, key)
      if is_module(inner) then go(inner, path == "" and name_of(key) or path .. "." .. name_of(key)) end
    end
    if not once then seen[module] = nil end
  end
  go(self, prefix or "")
end

-- The module and path under which each parameter was last listed: parameter -> {root =, path =}. An optimizer uses it
-- to find out whether a parameter without a gradient was replaced by another tensor.
local listed = setmetatable({}, {__mode = "k"})

function tree.note_place(tensor, root, path)
  local place = listed[tensor]
  if place and place.root == root and place.path == path then return end
  listed[tensor] = {root = root, path = path}
end

-- The path under which a parameter was last listed, or nil.
function tree.place_of(tensor)
  local place = listed[tensor]
  return place and place.path
end

-- Returns the parameter that is now at the path where `tensor` was in its model, and the path; nil if there is no such
-- path or `tensor` is still there.
function tree.replacement_of(tensor)
  local place = listed[tensor]
  if not place then return nil end
  local now
  for _, entry in ipairs(tree.collect(place.root, "parameter")) do
    if entry.tensor == tensor then return nil end
    if entry.path == place.path then now = entry.tensor end
  end
  return now, place.path
end

return tree
