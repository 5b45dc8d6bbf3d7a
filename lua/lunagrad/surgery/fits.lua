-- Checks whether a changed model will still run, before anything changes. A module that was called knows the shapes of
-- its latest call, and the new module is run on zeros of these shapes. Before the first call, the sizes that layers
-- declare are compared.
local core = require "lunagrad.core"

local fits = {}

local function shape_text(shape) return "[" .. table.concat(shape, ", ") .. "]" end

local function shapes_text(list)
  local texts = {}
  for i, operand in ipairs(list) do texts[i] = operand and shape_text(operand.shape) or "something else" end
  return #texts == 0 and "nothing" or table.concat(texts, ", ")
end

local function same_shape(a, b) return (a and shape_text(a.shape)) == (b and shape_text(b.shape)) end

local function same_shapes(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do
    if not same_shape(a[i], b[i]) then return false end
  end
  return true
end

-- A module as a user writes it: Linear(64, 10).
function fits.text(module)
  local repr = module:extra_repr()
  local inside = module:named_children()() ~= nil
  return ("%s(%s)"):format(module.__name, inside and "…" or repr)
end

-- Calls the module on zeros in evaluation mode; its flags, its statistics and the random generator stay as they are.
-- Returns the shapes of its results, or nil and the error message.
local function try(module, inputs)
  local flags, random = {}, core.get_rng_state()
  for i, inner in ipairs(module:modules()) do flags[i] = {inner, inner.training} end
  local ok, result = pcall(function()
    local _ <close> = core.no_grad()
    local zeros = {}
    for i, input in ipairs(inputs) do zeros[i] = core.zeros(input.shape, {dtype = input.dtype, device = input.device}) end
    module:eval()
    local results = table.pack(module(table.unpack(zeros)))
    local operands = {}
    for i = 1, results.n do operands[i] = core.is_tensor(results[i]) and {shape = results[i]:size()} end
    return operands
  end)
  for _, flag in ipairs(flags) do rawset(flag[1], "training", flag[2]) end
  core.set_rng_state(random)
  if ok then return result end
  return nil, (tostring(result):gsub("^[^\n]-:%d+: ", ""):match "^[^\n]*")
end

-- Whether all operands of a call were tensors: only such a call can be repeated on zeros.
local function all_tensors(operands)
  for _, operand in ipairs(operands) do
    if not operand then return false end
  end
  return operands ~= nil and #operands > 0
end

-- The sizes that a layer declares: {input =, output =, what =}; nil for a layer that takes any size. A container has
-- the input size of the first module in it that declares sizes, and the output size of the last.
local function sizes(module)
  local function field(name) return math.tointeger(rawget(module, name)) end
  if field "in_features" then return {input = field "in_features", output = field "out_features", what = "features"} end
  if field "in_channels" then return {input = field "in_channels", output = field "out_channels", what = "channels"} end
  if field "num_features" then return {input = field "num_features", output = field "num_features", what = "channels"} end
  if field "num_channels" then return {input = field "num_channels", output = field "num_channels", what = "channels"} end
  if field "embedding_dim" then return {output = field "embedding_dim", what = "features"} end
  if field "embed_dim" then return {input = field "embed_dim", output = field "embed_dim", what = "features"} end
  if field "input_size" and field "hidden_size" then
    local directions = rawget(module, "bidirectional") and 2 or 1
    return {input = field "input_size", output = field "hidden_size" * directions, what = "features"}
  end
  local normalized = rawget(module, "normalized_shape")
  if normalized then return {input = normalized[#normalized], output = normalized[#normalized], what = "features"} end
  local first, last
  for _, inner in ipairs(module:children()) do
    local its = sizes(inner)
    if its then
      first = first or its
      last = its
    end
  end
  return first and {input = first.input, output = last.output, what = last.what}
end

local function sizes_text(its)
  if not its.input then return ("%d %s out"):format(its.output, its.what) end
  return ("%d %s in, %d out"):format(its.input, its.what, its.output)
end

local function fail(owner, text, ...) core._fail(("surgery.%s: "):format(owner) .. text:format(...)) end

-- The module's results for the inputs. `wanted` describes the expectation, for the error.
local function tried(owner, module, wanted, inputs)
  local found, message = try(module, inputs)
  if not found then
    fail(owner, "%s; %s does not take %s: %s", wanted, fits.text(module), shapes_text(inputs), message)
  end
  return found
end

local function check_same(owner, module, wanted, found, outputs)
  if not same_shapes(found, outputs) then fail(owner, "%s; %s gives %s", wanted, fits.text(module), shapes_text(found)) end
end

-- Checks `module` as a replacement of `old`, which has the name `name`.
function fits.replace(owner, name, old, module)
  local inputs, outputs = core._seen(old)
  if inputs and all_tensors(inputs) then
    local wanted = ("'%s' gets %s and gives %s"):format(name, shapes_text(inputs), shapes_text(outputs))
    return check_same(owner, module, wanted, tried(owner, module, wanted, inputs), outputs)
  end
  local mine, theirs = sizes(old), sizes(module)
  if mine and theirs and (mine.input ~= theirs.input or mine.output ~= theirs.output) then
    fail(owner, "'%s', %s, has %s; %s has %s", name, fits.text(old), sizes_text(mine), fits.text(module), sizes_text(theirs))
  end
end

-- Checks `module` before or after the module `beside`: it must keep the shape of the tensor that flows there.
function fits.insert(owner, name, beside, module, where)
  local inputs, outputs = core._seen(beside)
  local flows = where == "before" and inputs or where == "after" and outputs
  if flows and #flows == 1 and flows[1] then
    local wanted = ("what flows %s '%s' has the shape %s, which must stay"):format(where, name, shapes_text(flows))
    -- The next module of a list or a Sequential gets the first value alone.
    return check_same(owner, module, wanted, {tried(owner, module, wanted, flows)[1] or false}, flows)
  elseif flows and not (flows[1] and #flows >= 1) then
    fail(owner, "'%s' %s %s, so no module fits %s it; one tensor is expected there", name,
      where == "before" and "gets" or "gives", shapes_text(flows), where)
  elseif flows then
    fail(owner, "'%s' %s %d values, and a module %s it would get one; replace it instead", name,
      where == "before" and "gets" or "gives", #flows, where)
  end
  local its, near = sizes(module), sizes(beside)
  if not its then return end
  local size = near and (where == "before" and near.input or where == "after" and near.output)
  if its.input ~= its.output or size and its.input ~= size then
    fail(owner, "%s has %s; what flows %s '%s' has %s, which must stay", fits.text(module), sizes_text(its), where, name,
      size and ("%d %s"):format(size, near.what) or "one size")
  end
end

-- Checks the model without the module `old`, whose inputs must have the shapes of its outputs.
function fits.remove(owner, name, old)
  local inputs, outputs = core._seen(old)
  if inputs then
    if #outputs ~= 1 or not same_shape(inputs[1], outputs[1]) then
      fail(owner, "'%s', %s, turns %s into %s, which what follows expects; replace it instead", name, fits.text(old),
        shapes_text(inputs), shapes_text(outputs))
    end
    return
  end
  local its = sizes(old)
  if its and its.input ~= its.output then
    fail(owner, "'%s', %s, has %s, so what follows would not fit; replace it instead", name, fits.text(old), sizes_text(its))
  end
end

return fits
