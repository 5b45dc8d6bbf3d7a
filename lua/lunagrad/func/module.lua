-- functional_call and stack_module_state: modules as functions of their parameters.
local core = require "lunagrad.core"
local rebinding = require "lunagrad.rebinding"
local tree = require "lunagrad.func.tree"

local fail, is_tensor = core._fail, core.is_tensor

local function is_module(value)
  local class = type(value) == "table" and getmetatable(value)
  return class and class._is_module == true
end

-- Calls visit(path, owner, key, tensor) for all tensors of a module, parameters and buffers.
local function walk(module, visit, prefix, above)
  if above[module] then return end
  above[module] = true
  for _, key in ipairs(module._fields) do
    local value = rawget(module, key)
    local path = prefix .. (type(key) == "number" and tostring(key - 1) or key)
    if is_tensor(value) then
      visit(path, module, key, value)
    elseif is_module(value) then
      walk(value, visit, path .. ".", above)
    end
  end
  above[module] = nil
end

local func = {}

-- functional_call(module, params_and_buffers, args, kwargs): calls the module with other parameters. A tensor that the module
-- has under several names is replaced under all of them.
function func.functional_call(module, given, args, kwargs)
  if not is_module(module) then fail(("functional_call: a module expected (got a %s)"):format(type(module))) end
  if not tree.is_branch(given) then
    fail(("functional_call: a table of tensors by name expected (got a %s)"):format(type(given)))
  end
  local values = {}
  for _, part in ipairs(#given > 0 and given or {given}) do
    for name, value in pairs(part) do
      if not is_tensor(value) then
        fail(("functional_call: '%s' is a %s, not a tensor"):format(tostring(name), type(value)))
      end
      values[name] = value
    end
  end
  local places, shared, known = {}, {}, {}
  walk(module, function(path, owner, key, tensor)
    places[#places + 1] = {path = path, owner = owner, key = key, tensor = tensor}
    known[path] = true
    if values[path] then shared[tensor] = values[path] end
  end, "", {})
  for name in pairs(values) do
    if not known[name] then fail(("functional_call: the module has no parameter or buffer '%s'"):format(tostring(name))) end
  end
  for _, place in ipairs(places) do place.value = values[place.path] or shared[place.tensor] end
  local list = args == nil and {} or tree.is_branch(args) and args or {args}
  if kwargs ~= nil then
    local count = #list
    list = table.move(list, 1, count, 1, {})
    list[count + 1] = kwargs
  end
  return rebinding.call(places, module, table.unpack(list))
end

-- stack_module_state(models) -> parameters, buffers: the tensors of modules of one class, stacked by name.
function func.stack_module_state(models)
  if not tree.is_branch(models) or #models == 0 then fail("stack_module_state: a list of modules expected") end
  local function stacked(iterate, owner_requires)
    local lists = {}
    for i, model in ipairs(models) do
      if not is_module(model) then fail(("stack_module_state: item %d is a %s, not a module"):format(i, type(model))) end
      for name, tensor in model[iterate](model) do
        lists[name] = lists[name] or {}
        if #lists[name] ~= i - 1 then fail(("stack_module_state: model %d has '%s', others do not"):format(i, name)) end
        lists[name][i] = tensor
      end
    end
    local result = {}
    for name, list in pairs(lists) do
      if #list ~= #models then fail(("stack_module_state: only %d of %d models have '%s'"):format(#list, #models, name)) end
      local requires = owner_requires and list[1].requires_grad
      local detached = {}
      for i, tensor in ipairs(list) do detached[i] = tensor:detach() end
      result[name] = core.stack(detached, 1)
      if requires then result[name]:requires_grad_() end
    end
    return result
  end
  return stacked("named_parameters", true), stacked("named_buffers", false)
end

-- Makes batch norms use the statistics of each batch alone: running statistics cannot be written under vmap.
function func.replace_all_batch_norm_modules_(root)
  if not is_module(root) then
    fail(("replace_all_batch_norm_modules_: a module expected (got a %s)"):format(type(root)))
  end
  for _, module in ipairs(root:modules()) do
    if module.__name:find "^BatchNorm" or module.__name == "SyncBatchNorm" then
      module.running_mean, module.running_var, module.num_batches_tracked = nil, nil, nil
      module.track_running_stats = false
    end
  end
  return root
end

return func
