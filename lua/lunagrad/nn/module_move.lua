-- Moving a module: its parameters and buffers stay the same tensors and get other memory, so that an existing optimizer
-- and every variable of a script still refer to them.
local core = require "lunagrad.core"
local tree = require "lunagrad.nn.tree"

local fail, is_tensor = core._fail, core.is_tensor

local floating = {f16 = true, bf16 = true, f32 = true, f64 = true}
local complex = {c64 = true, c128 = true}
local others = {i32 = true, i64 = true, u8 = true, bool = true}

local function check_type(name)
  if others[name] then
    fail(("to: a module takes a floating or complex dtype (got '%s'); tensor:to('%s') casts one tensor"):format(name, name))
  end
  return name
end

-- The device and the dtype from the arguments of m:to: names in any order, a tensor, or options.
local function read_target(...)
  local device, dtype
  for i = 1, select("#", ...) do
    local value = select(i, ...)
    if is_tensor(value) then
      device, dtype = value:device(), value:dtype()
    elseif type(value) == "table" then
      for name, option in pairs(value) do
        if name == "device" then
          device = option
        elseif name == "dtype" then
          dtype = check_type(option)
        elseif name ~= "non_blocking" and name ~= "copy" then
          fail(("to: unknown option '%s' (known: device, dtype)"):format(tostring(name)))
        end
      end
    elseif type(value) == "string" then
      if floating[value] or complex[value] or others[value] then dtype = check_type(value) else device = value end
    elseif value ~= nil and type(value) ~= "boolean" then
      fail(("to: a dtype or a device expected, as m:to('f64') or m:to('vulkan') (got %s)"):format(type(value)))
    end
  end
  return device, dtype
end

local move = {}

-- Replaces the memory of every parameter and buffer, and of its gradient, by change(detached tensor). All replacements
-- are made before the first is used, so that an error leaves the module unchanged.
function move.change(self, change)
  local entries, made = tree.collect(self, "any", true), {}
  local _ <close> = core.no_grad()
  for i, entry in ipairs(entries) do made[i] = change(entry.tensor:detach()) end
  for i, entry in ipairs(entries) do core._replace_data(entry.tensor, made[i]) end
  return self
end

function move.add_to(Module)
  -- Moves parameters, buffers and gradients to a device, casts the floating ones, or both: m:to("vulkan"), m:to("f64"),
  -- m:to("vulkan", "f16"), m:to(tensor), m:to{device =, dtype =}. The parameters stay the same tensors, so an optimizer
  -- still holds them.
  function Module:to(...)
    local device, dtype = read_target(...)
    return move.change(self, function(tensor)
      local own = tensor:dtype()
      local cast = dtype and (floating[own] and (floating[dtype] or complex[dtype]) or complex[own] and complex[dtype])
      if cast then tensor = tensor:to(dtype) end
      return device and tensor:to(device) or tensor
    end)
  end

  -- Casts parameters and buffers of every type.
  function Module:type(dtype)
    return move.change(self, function(tensor) return tensor:to(check_type(dtype)) end)
  end

  for name, dtype in pairs {float = "f32", double = "f64", half = "f16", bfloat16 = "bf16"} do
    Module[name] = function(self) return self:to(dtype) end
  end

  function Module:cpu() return self:to("cpu") end

  -- PyTorch's name for a move to the GPU. The GPU here is the Vulkan device.
  function Module:cuda() fail("cuda: write model:to('vulkan'); --device vulkan makes it the default of a run") end

  -- Moves to a device without copying the values: they are undefined until they are set.
  function Module:to_empty(options)
    local device = options
    if type(options) == "table" then device = options.device end
    return move.change(self, function(tensor)
      return core.empty(tensor:size(), {dtype = tensor:dtype(), device = device})
    end)
  end
end

return move
