-- lg.grad: derivatives of functions, as PyTorch's torch.autograd.functional. Each function here takes a function, its
-- inputs (one tensor, or a list that is passed as separate arguments) and options {create_graph, strict}. For a single
-- input tensor the result is a tensor, for a list of inputs a list. The differentiated function returns a tensor,
-- several, or a list of tensors. With create_graph the results can be differentiated again. With strict, an output that
-- does not depend on an input is an error; otherwise its derivative is zero.
local core = require "lunagrad.core"

local grad = core.grad
local fail, is_tensor = core._fail, core.is_tensor

local function read_options(owner, options, extra)
  for name in pairs(options or {}) do
    if name ~= "create_graph" and name ~= "strict" and name ~= extra then
      fail(("%s: unknown option '%s'; there are create_graph, strict"):format(owner, tostring(name)))
    end
  end
  return options or {}
end

local function as_list(owner, value, what)
  if is_tensor(value) then return {value}, true end
  if type(value) ~= "table" then
    fail(("%s: %s must be a tensor or a list of tensors (got a %s)"):format(owner, what, type(value)))
  end
  for i, item in ipairs(value) do
    if not is_tensor(item) then fail(("%s: %s %d is a %s, not a tensor"):format(owner, what, i, type(item))) end
  end
  return value, false
end

-- Returns the list, or its tensor if the caller gave a single tensor.
local function packed(list, single)
  if single then return list[1] end
  return list
end

local function shape_text(tensor)
  return "[" .. table.concat(tensor:size(), ", ") .. "]"
end

-- Copies of the inputs that require grad, connected to the originals under create_graph.
local function prepared(inputs, create_graph)
  local list = {}
  for i, x in ipairs(inputs) do
    if create_graph and x.requires_grad then
      list[i] = x:view(x:size())
    else
      list[i] = x:detach():requires_grad_()
    end
  end
  return list
end

local function call(owner, fn, inputs)
  local results = table.pack(fn(table.unpack(inputs)))
  if results.n == 1 then return as_list(owner, results[1], "what the function returns") end
  results.n = nil
  return as_list(owner, results, "what the function returns")
end

local function outputs_of(outputs, single, create_graph)
  if create_graph then return packed(outputs, single) end
  local list = {}
  for i, y in ipairs(outputs) do list[i] = y:detach() end
  return packed(list, single)
end

-- Checks the vectors of a product: they have the shapes of the inputs or outputs.
local function vectors(owner, v, like, what)
  local list = as_list(owner, v, "v")
  if #list ~= #like then fail(("%s: %d tensors in v for %d %ss"):format(owner, #list, #like, what)) end
  for i, tensor in ipairs(list) do
    if shape_text(tensor) ~= shape_text(like[i]) then
      fail(("%s: v has shape %s where the %s has %s"):format(owner, shape_text(tensor), what, shape_text(like[i])))
    end
  end
  return list
end

-- Gradients of `outputs` with seeds `v`; zeros for inputs that no output depends on.
local function pull_back(owner, outputs, inputs, v, options, create_graph)
  local used, seeds = {}, {}
  for i, y in ipairs(outputs) do
    if y.requires_grad then
      used[#used + 1], seeds[#seeds + 1] = y, v[i]
    elseif options.strict then
      fail(("%s: output %d does not depend on the inputs"):format(owner, i))
    end
  end
  local found = {}
  if #used > 0 then
    found = grad(used, inputs, {grad_outputs = seeds, create_graph = create_graph, retain_graph = true,
      allow_unused = true})
  end
  for i, x in ipairs(inputs) do
    if not found[i] then
      if options.strict then fail(("%s: the outputs do not depend on input %d"):format(owner, i)) end
      found[i] = core.zeros_like(x:detach())
    end
  end
  return found
end

-- vjp(fn, inputs, v, options) -> outputs, v^T J. Without v the function must return one element.
function grad.vjp(fn, inputs, v, options)
  options = read_options("vjp", options)
  local _ <close> = core.enable_grad()
  local list, single = as_list("vjp", inputs, "inputs")
  local mine = prepared(list, options.create_graph)
  local outputs, single_output = call("vjp", fn, mine)
  if v == nil then
    if #outputs ~= 1 or outputs[1]:numel() ~= 1 then
      fail("vjp: v may be left out only when the function returns one element")
    end
    v = core.ones_like(outputs[1]:detach())
  end
  local product = pull_back("vjp", outputs, mine, vectors("vjp", v, outputs, "output"), options, options.create_graph)
  return outputs_of(outputs, single_output, options.create_graph), packed(product, single)
end

-- jvp(fn, inputs, v, options) -> outputs, J v: the derivative along v of u^T J, which is linear in u.
function grad.jvp(fn, inputs, v, options)
  options = read_options("jvp", options)
  local _ <close> = core.enable_grad()
  local list, single = as_list("jvp", inputs, "inputs")
  local mine = prepared(list, options.create_graph)
  if v == nil then
    if #list ~= 1 or list[1]:numel() ~= 1 then fail("jvp: v may be left out only when there is one input of one element") end
    v = core.ones_like(list[1]:detach())
  end
  local along = vectors("jvp", v, mine, "input")
  local outputs, single_output = call("jvp", fn, mine)
  local seeds = {}
  for i, y in ipairs(outputs) do seeds[i] = core.zeros_like(y:detach()):requires_grad_() end
  local pulled = pull_back("jvp", outputs, mine, seeds, options, true)
  local product = pull_back("jvp", pulled, seeds, along, {}, options.create_graph)
  return outputs_of(outputs, single_output, options.create_graph), packed(product, single_output)
end

local function scalar(owner, outputs)
  if #outputs ~= 1 or outputs[1]:numel() ~= 1 then
    fail(("%s: the function must return one element (got %s)"):format(owner,
      #outputs == 1 and "shape " .. shape_text(outputs[1]) or #outputs .. " tensors"))
  end
  return outputs[1]
end

-- hvp(fn, inputs, v, options) -> output, H v. As the Hessian is symmetric, H v is the gradient of g^T v.
function grad.hvp(fn, inputs, v, options)
  options = read_options("hvp", options)
  local _ <close> = core.enable_grad()
  local list, single = as_list("hvp", inputs, "inputs")
  local mine = prepared(list, options.create_graph)
  local along = vectors("hvp", v, mine, "input")
  local outputs = call("hvp", fn, mine)
  local output = scalar("hvp", outputs)
  local first = pull_back("hvp", {output}, mine, {core.ones_like(output:detach())}, options, true)
  local product = pull_back("hvp", first, mine, along, {}, options.create_graph)
  return outputs_of({output}, true, options.create_graph), packed(product, single)
end

local function concat(a, b)
  local shape = {}
  for _, size in ipairs(a) do shape[#shape + 1] = size end
  for _, size in ipairs(b) do shape[#shape + 1] = size end
  return shape
end

-- The Jacobian of one output: for each input a tensor of shape [output shape, input shape]. One backward pass per row.
local function rows_of(owner, output, inputs, options, create_graph)
  local flat = output:reshape(-1)
  local rows = {}
  for i = 1, #inputs do rows[i] = {} end
  for element = 1, flat:numel() do
    local one = flat[element]
    local gradients = pull_back(owner, {one}, inputs, {core.ones_like(one:detach())}, options, create_graph)
    for i, gradient in ipairs(gradients) do rows[i][element] = gradient end
  end
  for i, x in ipairs(inputs) do
    local shape = concat(output:size(), x:size())
    rows[i] = #rows[i] > 0 and core.stack(rows[i], 1):reshape(shape)
      or core.zeros(shape, {dtype = x:dtype(), device = x:device()})
  end
  return rows
end

local function jacobian(owner, fn, list, single, options)
  local mine = prepared(list, options.create_graph)
  local outputs, single_output = call(owner, fn, mine)
  local result = {}
  for i, y in ipairs(outputs) do
    result[i] = packed(rows_of(owner, y, mine, options, options.create_graph), single)
  end
  return packed(result, single_output)
end

-- jacobian(fn, inputs, options): a tensor of shape [output shape, input shape]; for several outputs or inputs, a list over
-- outputs of lists over inputs.
function grad.jacobian(fn, inputs, options)
  options = read_options("jacobian", options)
  local _ <close> = core.enable_grad()
  local list, single = as_list("jacobian", inputs, "inputs")
  return jacobian("jacobian", fn, list, single, options)
end

-- hessian(fn, inputs, options): for a function that returns one element, a tensor of shape [input shape, input shape]; for
-- a list of inputs, result[i][j].
function grad.hessian(fn, inputs, options)
  options = read_options("hessian", options)
  local _ <close> = core.enable_grad()
  local list, single = as_list("hessian", inputs, "inputs")
  local function gradient(...)
    local mine = {...}
    local output = scalar("hessian", (call("hessian", fn, mine)))
    return pull_back("hessian", {output}, mine, {core.ones_like(output:detach())}, options, true)
  end
  local result = jacobian("hessian", gradient, list, single, {create_graph = options.create_graph})
  return packed(result, single)
end

return grad
