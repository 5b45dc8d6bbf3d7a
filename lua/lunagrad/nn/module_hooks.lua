-- Hooks of a module's forward and backward pass. A backward hook receives the gradients of the module's inputs and
-- outputs: inputs and outputs pass through identity ops whose backward calls the hooks.
local core = require "lunagrad.core"
local hook_list = require "lunagrad.nn.hook_list"
local is_plain = require("lunagrad.arguments").is_plain

local fail, is_tensor = core._fail, core.is_tensor

-- The tensors among values that require a gradient, with their positions.
local function differentiable(values)
  local tensors, positions = {}, {}
  for i = 1, values.n do
    if is_tensor(values[i]) and values[i].requires_grad then
      tensors[#tensors + 1], positions[#positions + 1] = values[i], i
    end
  end
  return tensors, positions
end

-- Passes the tensors of `values` that require a gradient through one identity op. `arrived` gets the list of their
-- gradients, by position in `values`, and returns the list that flows on.
local function pass(name, values, arrived)
  local tensors, positions = differentiable(values)
  if #tensors == 0 then return values, false end
  local op = core.custom_op {
    name = name,
    forward = function(_, ...)
      local out = table.pack(...)
      for i = 1, out.n do out[i] = out[i]:detach() end
      return table.unpack(out, 1, out.n)
    end,
    backward = function(_, ...)
      local given, by_position = table.pack(...), {n = values.n}
      for i, position in ipairs(positions) do by_position[position] = given[i] end
      by_position = arrived(by_position)
      local onward = {}
      for i, position in ipairs(positions) do onward[i] = by_position[position] end
      return table.unpack(onward, 1, #positions)
    end,
  }
  local passed, out = table.pack(op(table.unpack(tensors))), {n = values.n}
  for i = 1, values.n do out[i] = values[i] end
  for i, position in ipairs(positions) do out[position] = passed[i] end
  return out, true
end

-- Returns a hook's result as a list of gradients: a tensor counts as a list of one.
local function as_gradients(name, result, count)
  local list = is_tensor(result) and {result} or result
  if type(list) ~= "table" then
    fail(("%s: a hook returns nil, a gradient or a list of gradients (got %s)"):format(name, type(result)))
  end
  list.n = count
  return list
end

local function run_backward_hooks(self, grad_inputs, grad_outputs)
  for _, hook in hook_list.each(self, "full_backward") do
    local result = hook(self, grad_inputs, grad_outputs)
    if result ~= nil then grad_inputs = as_gradients("register_full_backward_hook", result, grad_inputs.n) end
  end
  return grad_inputs
end

local function has_backward(hooks) return hooks.full_backward or hooks.full_backward_pre end

-- Calls forward between its hooks.
local function call(self, forward, ...)
  local inputs = table.pack(...)
  for _, hook in hook_list.each(self, "forward_pre") do
    local replaced = table.pack(hook(self, inputs))
    if is_plain(replaced[1]) then
      inputs = replaced[1]
      inputs.n = inputs.n or #inputs
    elseif replaced[1] ~= nil then
      inputs = replaced
    end
  end
  local backward = has_backward(self._hooks or {})
  local grad_outputs  -- of the running backward pass
  local watched = false
  if backward then
    inputs, watched = pass("backward_hook", inputs, function(grad_inputs)
      return run_backward_hooks(self, grad_inputs, grad_outputs or {})
    end)
  end
  local out = table.pack(forward(table.unpack(inputs, 1, inputs.n)))
  for _, hook in hook_list.each(self, "forward") do
    local replaced = table.pack(hook(self, inputs, table.unpack(out, 1, out.n)))
    if replaced[1] ~= nil then out = replaced end
  end
  if backward then
    out = pass("backward_pre_hook", out, function(grads)
      for _, hook in hook_list.each(self, "full_backward_pre") do
        local result = hook(self, grads)
        if result ~= nil then grads = as_gradients("register_full_backward_pre_hook", result, grads.n) end
      end
      grad_outputs = grads
      -- If no input requires a gradient, no gradient of the inputs will arrive, so the hooks are called here.
      if not watched then run_backward_hooks(self, {n = inputs.n}, grads) end
      return grads
    end)
  end
  return table.unpack(out, 1, out.n)
end

local hooks = {call = call}

function hooks.add_to(Module)
  -- hook(module, inputs), called before each forward; `inputs` is the list of forward's arguments. If the hook returns
  -- a list, the list replaces the arguments; any other results replace them too. handle:remove() removes the hook;
  -- {prepend = true} puts it before the others.
  function Module:register_forward_pre_hook(hook, options) return hook_list.add(self, "forward_pre", hook, options) end

  -- hook(module, inputs, output, …), called after each forward. A result other than nil replaces the output.
  function Module:register_forward_hook(hook, options) return hook_list.add(self, "forward", hook, options) end

  -- hook(module, grad_inputs, grad_outputs), called when the gradients of the module's inputs are known; a list that it returns
  -- replaces grad_inputs. Inputs that require no gradient have none.
  function Module:register_full_backward_hook(hook, options) return hook_list.add(self, "full_backward", hook, options) end

  -- hook(module, grad_outputs), called before the gradients of the module's inputs are computed; a list that it returns
  -- replaces grad_outputs.
  function Module:register_full_backward_pre_hook(hook, options)
    return hook_list.add(self, "full_backward_pre", hook, options)
  end
end

return hooks
