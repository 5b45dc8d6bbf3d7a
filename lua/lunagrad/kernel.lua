-- lg.kernel{…}: a custom op whose forward pass is a compute shader. On a device that runs shaders, forward launches the
-- kernel; on the CPU it calls the function `cpu`.
local core = require "lunagrad.core"

local known = {
  name = "string", glsl = "string", inputs = "table", outputs = "table", params = "table", threads = "table",
  shape = "function", groups = "function", cpu = "function", backward = "function",
}
local most_outputs, most_params = 4, 8

local function fail(...) core._fail(string.format(...)) end

local function check(spec)
  if type(spec) ~= "table" then fail("kernel: a table expected (got %s)", type(spec)) end
  for option, value in pairs(spec) do
    local wanted = known[option]
    if option == "threads" and math.type(value) == "integer" then wanted = "number" end
    if option == "dtype" then wanted = type(value) == "table" and "table" or "string" end
    if not wanted then
      fail("kernel: unknown option '%s' (known: name, glsl, inputs, outputs, params, dtype, shape, groups, threads, cpu, "
        .. "backward)", tostring(option))
    end
    if type(value) ~= wanted then fail("kernel: '%s' must be a %s (got %s)", option, wanted, type(value)) end
  end
  for _, option in ipairs {"name", "glsl", "inputs"} do
    if not spec[option] then fail("kernel: '%s' is missing", option) end
  end
  if #spec.inputs == 0 then fail("kernel: %s needs an input, whose device it runs on", spec.name) end
end

-- Operand names must be valid GLSL identifiers and distinct.
local function check_names(name, ...)
  local seen = {}
  for _, list in ipairs {...} do
    for _, word in ipairs(list) do
      if type(word) ~= "string" or not word:find "^%a[%w_]*$" or word:find "__" or word:find "^gl_" or word:find "^lg"
        or word == "each" then
        fail("kernel: %s: %s cannot be the name of an operand", name, tostring(word))
      end
      if seen[word] then fail("kernel: %s: two operands are called %s", name, word) end
      seen[word] = true
    end
  end
end

local function same_sizes(a, b)
  if #a ~= #b then return false end
  for d, size in ipairs(a) do
    if size ~= b[d] then return false end
  end
  return true
end

local function written(sizes) return "[" .. table.concat(sizes, ", ") .. "]" end

return function(spec)
  check(spec)
  local name, inputs, params = spec.name, spec.inputs, spec.params or {}
  local outputs = spec.outputs or {"y"}
  check_names(name, inputs, outputs, params)
  if #outputs < 1 or #outputs > most_outputs then
    fail("kernel: %s has %d outputs; 1 to %d are possible", name, #outputs, most_outputs)
  end
  if #params > most_params then fail("kernel: %s has %d params; at most %d are possible", name, #params, most_params) end
  local threads = type(spec.threads) == "table" and spec.threads or {spec.threads or 256}
  local kernel = core._kernel(name, spec.glsl, inputs, outputs, params, threads)

  local function read(...)
    local count = select("#", ...)
    if count ~= #inputs + #params then
      fail("%s: %d tensors and %d numbers expected (got %d arguments)", name, #inputs, #params, count)
    end
    local tensors, numbers = {}, {}
    for i = 1, count do
      local value = (select(i, ...))
      local wanted = i <= #inputs and "Tensor" or "number"
      local got = core.is_tensor(value) and "Tensor" or type(value)
      if got ~= wanted then fail("bad argument #%d to '%s' (%s expected, got %s)", i, name, wanted, got) end
      if wanted == "Tensor" then tensors[i] = value else numbers[i - #inputs] = value end
    end
    return tensors, numbers
  end

  -- The shapes and dtypes of the outputs.
  local function promised(tensors, ...)
    local shapes = spec.shape and {spec.shape(...)} or {}
    local types = {}
    for i, output in ipairs(outputs) do
      shapes[i] = shapes[i] or (not spec.shape and tensors[1]:size())
      if type(shapes[i]) ~= "table" then fail("%s: 'shape' gives no sizes for %s", name, output) end
      types[i] = (type(spec.dtype) == "table" and spec.dtype[i] or type(spec.dtype) == "string" and spec.dtype)
        or tensors[1]:dtype()
    end
    return shapes, types
  end

  local function on_cpu(tensors, ...)
    if not spec.cpu then
      fail("%s: its operands are on the CPU and it has no 'cpu' function; move them to a device that runs shaders "
        .. "(lunagrad devices)", name)
    end
    local results = {spec.cpu(...)}
    local shapes, types = promised(tensors, ...)
    for i, output in ipairs(outputs) do
      local result = results[i]
      if not core.is_tensor(result) then fail("%s: 'cpu' returned no tensor for %s", name, output) end
      if not same_sizes(result:size(), shapes[i]) or result:dtype() ~= types[i] then
        fail("%s: 'cpu' returned %s %s for %s, which is to be %s %s", name, result:dtype(), written(result:size()), output,
          types[i], written(shapes[i]))
      end
    end
    return results
  end

  local function forward(ctx, ...)
    local tensors, numbers = read(...)
    local results
    if tensors[1]:device() == "cpu" then
      results = on_cpu(tensors, ...)
    else
      local groups = spec.groups and {spec.groups(...)} or {}
      local shapes, types = promised(tensors, ...)
      results = {core._run_kernel(kernel, tensors, numbers, groups, types, shapes)}
    end
    local kept = table.move(results, 1, #results, #tensors + 1, table.move(tensors, 1, #tensors, 1, {}))
    ctx:save(table.unpack(kept))
    return table.unpack(results)
  end

  local backward = spec.backward or function() core._fail(name .. ": it has no 'backward' function") end
  return core.custom_op {name = name, forward = forward, backward = backward}
end
