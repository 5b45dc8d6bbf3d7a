-- The base class of all modules: a table whose fields are its layers and parameters, in the order of their first
-- assignment. Positions 1, 2, … of a module (as in Sequential) are named "0", "1", … as in PyTorch.
local core = require "lunagrad.core"

local fail = core._fail
local is_tensor = core.is_tensor
local call_in_module = core._call_module
local module_label = core._module_label

local Module = {__name = "Module"}
Module.__index = Module

-- Marks modules; every class inherits it.
Module._is_module = true

local function is_module(value)
  local class = type(value) == "table" and getmetatable(value)
  return class and class._is_module == true
end

-- The name of a field in paths and state dicts.
local function name_of(key)
  return type(key) == "number" and tostring(key - 1) or key
end

local function is_parameter(value)
  return is_tensor(value) and value.requires_grad and value.is_leaf
end

-- A new object of a class. `_fields` lists its keys by first assignment; `_kinds` says which of them are parameters
-- and which are buffers, so that a frozen parameter remains a parameter. Once the object is a field of another module,
-- `_label` is its name among its siblings and `_placed` the same name as text.
function Module._new(class, ...)
  local self = setmetatable({
    training = true,
    _hooks = false,
    _fields = {},
    _kinds = {},
    _label = module_label(class.__name),
  }, class)
  self:init(...)
  return self
end

function Module:init() end

function Module:forward()
  fail(("%s has no forward: define function %s:forward(x)"):format(self.__name, self.__name))
end

-- Names a module that becomes a field. A container that is never called itself, as a ModuleList, passes its name to its
-- modules: they run as "blocks.0". A shared module keeps the name of its first place.
local function place(owner, module, key)
  local above = owner.forward == Module.forward and owner._placed
  local name, before = (above and above .. "." or "") .. name_of(key), module._placed
  rawset(module, "_placed", name)
  rawset(module, "_label", module_label(name))
  if module.forward ~= Module.forward then return end
  for _, field in ipairs(module._fields) do
    local inner = rawget(module, field)
    if is_module(inner) and inner._placed == (before and before .. "." or "") .. name_of(field) then
      place(module, inner, field)
    end
  end
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
  elseif is_module(value) and not value._placed then
    place(self, value, key)
  end
  rawset(self, key, value)
end

local function call_hooks(self, inputs, ...)
  local out = table.pack(...)
  for _, entry in ipairs(table.move(self._hooks, 1, #self._hooks, 1, {})) do
    local replaced = table.pack(entry.hook(self, inputs, table.unpack(out, 1, out.n)))
    if replaced[1] ~= nil then out = replaced end
  end
  return table.unpack(out, 1, out.n)
end

-- Calls forward. Nodes that it records carry the path of this module.
function Module:__call(...)
  if self._hooks then
    return call_hooks(self, table.pack(...), call_in_module(self._label, self.forward, self, ...))
  end
  return call_in_module(self._label, self.forward, self, ...)
end

-- hook(module, inputs, output, …) is called after each forward; `inputs` is the list of forward's arguments. A result other
-- than nil replaces the output. handle:remove() removes the hook.
function Module:register_forward_hook(hook)
  if type(hook) ~= "function" then
    fail(("register_forward_hook: a function expected (got %s)"):format(type(hook)))
  end
  local entry = {hook = hook}
  local hooks = self._hooks or {}
  hooks[#hooks + 1] = entry
  rawset(self, "_hooks", hooks)
  function entry.remove()
    for i, other in ipairs(hooks) do
      if other == entry then table.remove(hooks, i) end
    end
    if #hooks == 0 and self._hooks == hooks then rawset(self, "_hooks", false) end
  end
  return entry
end

function Module:register_buffer(name, tensor)
  self[name] = tensor
  self._kinds[name] = "buffer"
end

-- Registers a parameter that does not require a gradient.
function Module:register_parameter(name, tensor)
  self[name] = tensor
  self._kinds[name] = "parameter"
end

-- Calls visit(path, owner, key, value, kind) for every parameter and buffer, in order. A module may be reachable by several
-- paths, and may contain one of its ancestors.
local function walk(self, visit, prefix, above)
  if above[self] then return end
  above[self] = true
  for _, key in ipairs(self._fields) do
    local value, kind = rawget(self, key), self._kinds[key]
    local path = prefix .. name_of(key)
    if is_tensor(value) then
      if kind == "field" and is_parameter(value) then kind = "parameter" end
      if kind ~= "field" then visit(path, self, key, value, kind) end
    elseif is_module(value) then
      walk(value, visit, path .. ".", above)
    end
  end
  above[self] = nil
end

-- The tensors of kind "parameter", "buffer" or "any". With `once` a shared tensor appears under its first path only.
local function collect(self, wanted, once)
  local entries, seen = {}, {}
  walk(self, function(path, owner, key, value, kind)
    if kind ~= wanted and wanted ~= "any" or once and seen[value] then return end
    seen[value] = true
    entries[#entries + 1] = {path = path, owner = owner, key = key, tensor = value}
  end, "", {})
  return entries
end

-- Names each parameter by its path, which the tape shows.
local function named_parameters(self)
  local entries = collect(self, "parameter", true)
  for _, entry in ipairs(entries) do core._set_name(entry.tensor, entry.path) end
  return entries
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

-- The parameters, each once, in the order of the fields.
function Module:parameters()
  return tensors_of(named_parameters(self))
end

-- for name, parameter in m:named_parameters() do
function Module:named_parameters()
  return pairs_of(named_parameters(self))
end

function Module:buffers()
  return tensors_of(collect(self, "buffer", true))
end

-- for name, buffer in m:named_buffers() do
function Module:named_buffers()
  return pairs_of(collect(self, "buffer", true))
end

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

-- This module and all its descendants, each once, parents first.
function Module:modules()
  local list, seen = {}, {}
  local function visit(module)
    if seen[module] then return end
    seen[module] = true
    list[#list + 1] = module
    for _, child in module:named_children() do visit(child) end
  end
  visit(self)
  return list
end

-- Calls fn on every module, children before parents.
function Module:apply(fn)
  local list = self:modules()
  for i = #list, 1, -1 do fn(list[i]) end
  return self
end

-- A table from names to parameters and buffers. The tensors share memory with the module's.
function Module:state_dict()
  local state = {}
  for _, entry in ipairs(collect(self, "any")) do state[entry.path] = entry.tensor:detach() end
  return state
end

local function shape_text(tensor)
  return "[" .. table.concat(tensor:size(), ", ") .. "]"
end

-- Compares a state with a module: the missing names, the unexpected names, and a line for each mismatch.
local function compare(entries, state, strict)
  local missing, unexpected, report, known = {}, {}, {}, {}
  for _, entry in ipairs(entries) do
    local path, value = entry.path, state[entry.path]
    known[path] = true
    if value == nil then
      missing[#missing + 1] = path
      if strict then report[#report + 1] = ("%s is missing (shape %s)"):format(path, shape_text(entry.tensor)) end
    elseif not is_tensor(value) then
      report[#report + 1] = ("%s is no tensor but a %s"):format(path, type(value))
    elseif shape_text(value) ~= shape_text(entry.tensor) then
      report[#report + 1] = ("%s has shape %s here and %s in the state"):format(
        path, shape_text(entry.tensor), shape_text(value))
    end
  end
  for name in pairs(state) do
    if not known[name] then unexpected[#unexpected + 1] = tostring(name) end
  end
  table.sort(unexpected)
  if strict then
    for _, name in ipairs(unexpected) do report[#report + 1] = ("%s is not in the module"):format(name) end
  end
  return missing, unexpected, report
end

-- Copies the values of `state` into the module. Missing and unexpected names are errors unless options.strict is false;
-- shapes that differ are always errors. On an error nothing is copied. Returns the two lists of names.
function Module:load_state_dict(state, options)
  local entries = collect(self, "any")
  local strict = not (options and options.strict == false)
  local missing, unexpected, report = compare(entries, state, strict)
  if #report > 0 then
    fail(("load_state_dict: the state does not fit %s:\n  %s"):format(self.__name, table.concat(report, "\n  ")))
  end
  local _ <close> = core.no_grad()
  for _, entry in ipairs(entries) do
    if state[entry.path] ~= nil then entry.tensor:copy_(state[entry.path]) end
  end
  return missing, unexpected
end

function Module:train(mode)
  for _, module in ipairs(self:modules()) do module.training = mode ~= false end
  return self
end

function Module:eval()
  return self:train(false)
end

function Module:requires_grad_(on)
  for _, entry in ipairs(collect(self, "parameter")) do entry.tensor:requires_grad_(on ~= false) end
  return self
end

-- Sets the gradients to nil, or to zero with {set_to_none = false}.
function Module:zero_grad(options)
  local zero = options and options.set_to_none == false
  for _, entry in ipairs(collect(self, "parameter", true)) do
    local parameter = entry.tensor
    if not zero then
      parameter.grad = nil
    elseif parameter.grad then
      parameter.grad:zero_()
    end
  end
end

local floating = {f16 = true, bf16 = true, f32 = true, f64 = true}

-- Moves parameters and buffers to a device, or casts the floating ones: m:to("vulkan"), m:to("f64"). This makes new
-- parameter tensors: create the optimizer afterwards.
function Module:to(target)
  local moved = {}
  for _, entry in ipairs(collect(self, "any")) do
    local tensor = entry.tensor
    if not moved[tensor] and (not floating[target] or floating[tensor:dtype()]) then
      moved[tensor] = tensor:detach():to(target)
      if tensor.requires_grad then moved[tensor]:requires_grad_() end
    end
    entry.owner[entry.key] = moved[tensor] or tensor
  end
  return self
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
