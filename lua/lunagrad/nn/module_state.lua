-- state_dict and load_state_dict of modules, with their hooks.
local core = require "lunagrad.core"
local tree = require "lunagrad.nn.tree"
local nearest = require "lunagrad.nearest"
local hook_list = require "lunagrad.nn.hook_list"

local fail, is_tensor = core._fail, core.is_tensor

local function shape_text(tensor)
  return "[" .. table.concat(tensor:size(), ", ") .. "]"
end

-- The key that holds the value of a module's get_extra_state(), which set_extra_state() takes.
local extra = "_extra_state"

local function collect_state(self, state, prefix, keep, above)
  if above[self] then return end
  above[self] = true
  for _, hook in hook_list.each(self, "state_dict_pre") do hook(self, prefix, keep) end
  for _, entry in ipairs(tree.collect(self, "any", false, prefix, false)) do
    if entry.kind ~= "transient" then state[entry.path] = keep and entry.tensor or entry.tensor:detach() end
  end
  if self.get_extra_state then state[prefix .. extra] = self:get_extra_state() end
  for name, child in self:named_children() do collect_state(child, state, prefix .. name .. ".", keep, above) end
  for _, hook in hook_list.each(self, "state_dict_post") do
    local replaced = hook(self, state, prefix, {})
    if replaced ~= nil then state = replaced end
  end
  above[self] = nil
  return state
end

-- The entries of a module's state by name: tensors, and the value of get_extra_state() under "_extra_state".
local function expected(self)
  local entries, extras = {}, {}
  for _, entry in ipairs(tree.collect(self, "any")) do
    if entry.kind ~= "transient" then entries[#entries + 1] = entry end
  end
  tree.each_module(self, function(path, module)
    if module.set_extra_state then extras[(path == "" and "" or path .. ".") .. extra] = module end
  end, "", false)
  return entries, extras
end

-- Compares a state with a module: the missing names, the unexpected names, and a line for each mismatch.
local function compare(entries, extras, state, strict)
  local missing, unexpected, report, known = {}, {}, {}, {}
  for path in pairs(extras) do
    known[path] = true
    if state[path] == nil then missing[#missing + 1] = path end
  end
  table.sort(missing)
  for _, path in ipairs(strict and missing or {}) do report[#report + 1] = path .. " is missing" end
  local given = {}
  for name in pairs(state) do
    if type(name) == "string" then given[#given + 1] = name end
  end
  for _, entry in ipairs(entries) do known[entry.path] = true end
  local spare = {}
  for _, name in ipairs(given) do
    if not known[name] then spare[#spare + 1] = name end
  end
  for _, entry in ipairs(entries) do
    local path, value = entry.path, state[entry.path]
    if value == nil then
      missing[#missing + 1] = path
      if strict then
        local near = nearest.of(path, spare)
        report[#report + 1] = ("%s is missing (shape %s)%s"):format(path, shape_text(entry.tensor),
          near and ("; the state has %s"):format(near) or "")
      end
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

local function read_options(given)
  if type(given) == "boolean" then given = {strict = given} end
  for name in pairs(given or {}) do
    if name ~= "strict" and name ~= "assign" then
      fail(("load_state_dict: unknown option '%s' (known: strict, assign)"):format(tostring(name)))
    end
  end
  local options = given or {}
  return options.strict ~= false, options.assign == true
end

return function(Module)
  -- A table from names to parameters and buffers. The tensors share memory with the module's; with {keep_vars = true} they are
  -- the module's own. {prefix = "net."} begins every name.
  function Module:state_dict(options)
    options = options or {}
    return collect_state(self, options.destination or {}, options.prefix or "", options.keep_vars == true, {})
  end

  -- Copies the values of `state` into the module. Missing and unexpected names are errors unless options.strict is
  -- false; shapes that differ are always errors. On an error nothing is copied. Returns the missing and the unexpected
  -- names, as two lists. With {assign = true} the module's tensors take the memory, type and device of the state's
  -- tensors; they stay the same parameters.
  function Module:load_state_dict(state, given)
    if type(state) ~= "table" or is_tensor(state) then
      fail(("load_state_dict: a table from names to tensors expected, as state_dict() gives (got %s)"):format(
        is_tensor(state) and "a tensor" or type(state)))
    elseif tree.is_module(state) then
      fail("load_state_dict: a module given; write load_state_dict(other:state_dict())")
    end
    local strict, assign = read_options(given)
    local own, errors = {}, {}
    for name, value in pairs(state) do own[name] = value end
    tree.each_module(self, function(path, module)
      for _, hook in hook_list.each(module, "load_state_dict_pre") do
        hook(module, own, path == "" and "" or path .. ".", {}, strict, {}, {}, errors)
      end
    end, "", false)
    local entries, extras = expected(self)
    local missing, unexpected, report = compare(entries, extras, own, strict)
    for _, text in ipairs(errors) do report[#report + 1] = tostring(text) end
    if #report > 0 then
      fail(("load_state_dict: the state does not fit %s:\n  %s"):format(self.__name, table.concat(report, "\n  ")))
    end
    do
      local _ <close> = core.no_grad()
      for _, entry in ipairs(entries) do
        local value = own[entry.path]
        if value ~= nil and assign then
          core._replace_data(entry.tensor, value:detach())
        elseif value ~= nil then
          entry.tensor:copy_(value)
        end
      end
    end
    for path, module in pairs(extras) do
      if own[path] ~= nil then module:set_extra_state(own[path]) end
    end
    local incompatible = {missing_keys = missing, unexpected_keys = unexpected}
    local order = {}
    tree.each_module(self, function(_, module) order[#order + 1] = module end, "", true)
    for i = #order, 1, -1 do
      for _, hook in hook_list.each(order[i], "load_state_dict_post") do hook(order[i], incompatible) end
    end
    return missing, unexpected
  end

  -- hook(module, prefix, keep_vars), called before the module's state is read.
  function Module:register_state_dict_pre_hook(hook) return hook_list.add(self, "state_dict_pre", hook) end
  -- hook(module, state, prefix, metadata) may change the state, or return another.
  function Module:register_state_dict_post_hook(hook) return hook_list.add(self, "state_dict_post", hook) end
  -- hook(module, state, prefix, metadata, strict, missing, unexpected, errors) may change the state before it is
  -- loaded; messages that it appends to `errors` are reported.
  function Module:register_load_state_dict_pre_hook(hook) return hook_list.add(self, "load_state_dict_pre", hook) end
  -- hook(module, {missing_keys, unexpected_keys}), called once the state is loaded. It may change the lists.
  function Module:register_load_state_dict_post_hook(hook) return hook_list.add(self, "load_state_dict_post", hook) end
end
