-- The base class of all modules: a table whose fields are its layers and parameters, in the order of their first
-- assignment. Positions 1, 2, … of a module (as in Sequential) are named "0", "1", … as in PyTorch.
local core = require "lunagrad.core"
local hooks = require "lunagrad.nn.module_hooks"
local names = require "lunagrad.nn.names"
local nearest = require "lunagrad.nearest"
local tree = require "lunagrad.nn.tree"

local fail = core._fail
local is_tensor, is_module, is_parameter = core.is_tensor, tree.is_module, tree.is_parameter
local collect, name_of = tree.collect, tree.name_of
local call_in_module = core._call_module
local module_label = core._module_label

local Module = {__name = "Module"}
Module.__index = Module

-- Marks modules; every class inherits it.
Module._is_module = true

-- Methods and fields that a class may have (nn/class.lua): reading them in an object without them gives nil.
Module._optional = {weight = true, bias = true, get_extra_state = true, set_extra_state = true, right_inverse = true}

-- A new object of a class. `_fields` lists its keys by first assignment; `_kinds` says which of them are parameters
-- and which are buffers, so that a frozen parameter remains a parameter. Once the object is a field of another module,
-- `_label` is its name among its siblings and `_placed` the same name as text. `_label` is 0 for a module that no field
-- holds, and for a shared module (`_shared`): nn/names.lua then finds the path of a call.
function Module._new(class, ...)
  local self = setmetatable({
    training = true,
    _hooks = false,
    _fields = {},
    _kinds = {},
    _label = 0,
  }, class)
  self:init(...)
  return self
end

function Module:init() end

function Module:forward()
  fail(("%s has no forward: define function %s:forward(x)"):format(self.__name, self.__name))
end

names.no_forward = Module.forward

-- Names a module that becomes a field. A container without a forward, as a ModuleList, passes its name on to its
-- modules: they run as "blocks.0".
local function place(owner, module, key)
  local above = owner.forward == Module.forward and owner._placed
  local name, before = (above and above .. "." or "") .. name_of(key), module._placed
  rawset(module, "_placed", name)
  rawset(module, "_label", rawget(module, "_shared") and 0 or module_label(name))
  if module.forward ~= Module.forward then return end
  for _, field in ipairs(module._fields) do
    local inner = rawget(module, field)
    if is_module(inner) and inner._placed == (before and before .. "." or "") .. name_of(field) then
      place(module, inner, field)
    end
  end
end

-- Names the modules in a container again after their positions have changed.
function Module:_name_children()
  for _, field in ipairs(self._fields) do
    local inner = rawget(self, field)
    if is_module(inner) then place(self, inner, field) end
  end
end

-- Sets a field to a module, also when the field already holds a module.
function Module:_put(key, module)
  self[key] = module
  if not module._placed then place(self, module, key) end
end

-- Registers a field at its first assignment.
function Module:__newindex(key, value)
  local kinds, fields = self._kinds, self._fields
  if kinds[key] == nil then
    fields[#fields + 1] = key
    kinds[key] = "field"
  end
  if is_parameter(value) then
    kinds[key] = "parameter"
  elseif is_module(value) then
    if value._placed then names.share(value) else place(self, value, key) end
  end
  rawset(self, key, value)
end

-- Calls forward. Nodes that it records carry the path of this module.
function Module:__call(...)
  if self._hooks then
    return hooks.call(self, function(...) return call_in_module(self._label, self.forward, self, ...) end, ...)
  end
  return call_in_module(self._label, self.forward, self, ...)
end

hooks.add_to(Module)
require "lunagrad.nn.module_state" (Module)
require("lunagrad.nn.module_move").add_to(Module)

-- Error unless `name` can be a new field; `owner` is the called method, for the error.
local function check_name(self, owner, name)
  if type(name) ~= "string" or name == "" or name:find(".", 1, true) then
    fail(("%s: '%s' is no name of a field: a string without dots expected"):format(owner, tostring(name)))
  elseif self._kinds[name] == nil and tree.has(self, name) then
    fail(("%s: '%s' is the name of a field or method of %s"):format(owner, name, self.__name))
  end
end

local function check_tensor(owner, name, tensor)
  if tensor ~= nil and not is_tensor(tensor) then
    fail(("%s: '%s' is a %s, not a tensor"):format(owner, name, type(tensor)))
  end
end

-- A tensor that belongs to the state but is not trained. With {persistent = false} it moves with the module but is not
-- in the state dict.
function Module:register_buffer(name, tensor, persistent)
  check_name(self, "register_buffer", name)
  check_tensor("register_buffer", name, tensor)
  if type(persistent) == "table" then persistent = persistent.persistent end
  self[name] = tensor
  self._kinds[name] = persistent == false and "transient" or "buffer"
end

-- Registers a parameter, also one that does not require a gradient.
function Module:register_parameter(name, tensor)
  check_name(self, "register_parameter", name)
  check_tensor("register_parameter", name, tensor)
  self[name] = tensor
  self._kinds[name] = "parameter"
end

-- Adds a module under a name, as self[name] = module does.
function Module:add_module(name, module)
  check_name(self, "add_module", name)
  if module ~= nil and not is_module(module) then
    fail(("add_module: '%s' is a %s, not a module"):format(name, type(module)))
  end
  self[name] = module
end

Module.register_module = Module.add_module

-- Names each parameter, which the tape shows (nn/names.lua), and records the module under which it was listed.
local function named_parameters(self, options)
  options = type(options) == "table" and options or {recurse = options}
  local prefix = options.prefix and options.prefix ~= "" and options.prefix .. "." or ""
  local entries = collect(self, "parameter", options.remove_duplicate ~= false, prefix, options.recurse)
  local above = names.firm(self)
  for _, entry in ipairs(entries) do
    names.note_parameter(entry.tensor, above and entry.path:sub(#prefix + 1) or entry.path, above)
    if not options.prefix then tree.note_place(entry.tensor, self, entry.path) end
  end
  return entries
end

local function named_buffers(self, options)
  options = type(options) == "table" and options or {recurse = options}
  return collect(self, "buffer", options.remove_duplicate ~= false,
    options.prefix and options.prefix ~= "" and options.prefix .. "." or "", options.recurse)
end

local function tensors_of(entries)
  local list = {}
  for i, entry in ipairs(entries) do list[i] = entry.tensor end
  return list
end

local function pairs_of(entries)
  local i = 0
  return function()
    i = i + 1
    if entries[i] then return entries[i].path, entries[i].tensor end
  end
end

-- The parameters, each once, in the order of the fields. parameters(false): only this module's own parameters.
function Module:parameters(recurse) return tensors_of(named_parameters(self, recurse)) end

-- for name, parameter in m:named_parameters{prefix, recurse, remove_duplicate} do
function Module:named_parameters(options) return pairs_of(named_parameters(self, options)) end

function Module:buffers(recurse) return tensors_of(named_buffers(self, recurse)) end

-- for name, buffer in m:named_buffers{prefix, recurse, remove_duplicate} do
function Module:named_buffers(options) return pairs_of(named_buffers(self, options)) end

-- for name, child in m:named_children() do
function Module:named_children()
  local fields, i = self._fields, 0
  return function()
    while i < #fields do
      i = i + 1
      local value = rawget(self, fields[i])
      if is_module(value) then return name_of(fields[i]), value end
    end
  end
end

function Module:children()
  local list = {}
  for _, child in self:named_children() do list[#list + 1] = child end
  return list
end

-- for name, module in m:named_modules{prefix, remove_duplicate} do: this module, under "", and all its descendants, parents
-- first, each once.
function Module:named_modules(options)
  options = options or {}
  local entries = {}
  tree.each_module(self, function(path, module) entries[#entries + 1] = {path = path, tensor = module} end,
    options.prefix, options.remove_duplicate ~= false)
  return pairs_of(entries)
end

-- This module and all its descendants, each once, parents first.
function Module:modules()
  local list = {}
  tree.each_module(self, function(_, module) list[#list + 1] = module end, "", true)
  return list
end

-- Calls fn on every module, children before parents.
function Module:apply(fn)
  local list = self:modules()
  for i = #list, 1, -1 do fn(list[i]) end
  return self
end

-- The module at a path as "encoder.0.norm"; "" is this module.
local function find_module(self, owner, path)
  if type(path) ~= "string" then
    fail(("%s: a path as 'encoder.0.norm' expected (got %s)"):format(owner, type(path)))
  end
  local module = self
  for name in path:gmatch "[^.]+" do
    local inner = rawget(module, tree.field_of(module, name))
    if not is_module(inner) then
      local known = {}
      for child in module:named_children() do known[#known + 1] = child end
      local near = nearest.of(name, known)
      fail(("%s: %s has no module '%s'%s"):format(owner, module.__name, name,
        near and ("; did you mean '%s'?"):format(near) or ""))
    end
    module = inner
  end
  return module
end

local function find_tensor(self, owner, path, wanted)
  if type(path) ~= "string" then
    fail(("%s: a path as 'encoder.0.weight' expected (got %s)"):format(owner, type(path)))
  end
  local above, name = path:match "^(.*)%.([^.]*)$"
  local module = find_module(self, owner, above or "")
  local known = {}
  for _, entry in ipairs(collect(module, wanted, false, "", false)) do
    if entry.path == (name or path) then return entry.tensor end
    known[#known + 1] = entry.path
  end
  local near = nearest.of(name or path, known)
  fail(("%s: %s has no %s '%s'%s"):format(owner, module.__name, wanted, name or path,
    near and ("; did you mean '%s'?"):format(near) or ""))
end

function Module:get_submodule(path) return find_module(self, "get_submodule", path) end
function Module:get_parameter(path) return find_tensor(self, "get_parameter", path, "parameter") end
function Module:get_buffer(path) return find_tensor(self, "get_buffer", path, "buffer") end

-- Replaces the module at a path.
function Module:set_submodule(path, module)
  if not is_module(module) then fail(("set_submodule: a module expected (got %s)"):format(type(module))) end
  local above, name = tostring(path):match "^(.*)%.([^.]*)$"
  name = name or path
  if type(name) ~= "string" or name == "" then fail("set_submodule: a path as 'encoder.0' expected") end
  local owner = find_module(self, "set_submodule", above or "")
  owner:_put(tree.field_of(owner, name), module)
end

-- Sets training mode, or evaluation with train(false), for this module and all modules inside.
function Module:train(mode)
  if mode ~= nil and type(mode) ~= "boolean" then fail(("train: true or false expected (got %s)"):format(type(mode))) end
  for _, module in ipairs(self:modules()) do module.training = mode ~= false end
  return self
end

function Module:eval() return self:train(false) end

function Module:requires_grad_(on)
  for _, entry in ipairs(collect(self, "parameter")) do entry.tensor:requires_grad_(on ~= false) end
  return self
end

-- Sets the gradients to nil, or to zero with {set_to_none = false}.
function Module:zero_grad(options)
  require("lunagrad.nn.zero_grad")(tensors_of(collect(self, "parameter", true)), options)
end

local function grouped(n)
  local text = tostring(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

local function count(self)
  local total = 0
  for _, entry in ipairs(collect(self, "parameter", true)) do total = total + entry.tensor:numel() end
  return total
end

-- The text between the parentheses of a printed module; a class may override it.
function Module:extra_repr() return "" end

local function describe(self, label, indent, above)
  local head = indent .. label .. self.__name .. "("
  if above[self] then return head .. "…)" end
  above[self] = true
  local total, lines = count(self), {}
  local size = total > 0 and ("  # %s %s"):format(grouped(total), total == 1 and "parameter" or "parameters") or ""
  for name, child in self:named_children() do
    lines[#lines + 1] = describe(child, "(" .. name .. "): ", indent .. "  ", above)
  end
  above[self] = nil
  if #lines == 0 then return head .. self:extra_repr() .. ")" .. size end
  return ("%s%s%s\n%s\n%s)"):format(head, self:extra_repr(), size, table.concat(lines, "\n"), indent)
end

-- Prints the tree of modules with the number of parameters of each.
function Module:__tostring()
  return describe(self, "", "", {})
end

return Module
