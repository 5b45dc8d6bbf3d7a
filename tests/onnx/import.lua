-- Reads the ONNX files of the folder arg[1] (models.lua, test_onnx_ops.cpp, node_cases.py) with lg.io.onnx_import and compares the
-- outputs with those in name.npz and name.other.npz. arg[2]: "refused" if files with operators that are not read may be among
-- them; these are counted.
local lg = require "lunagrad"
local folder = arg[1]

-- The largest difference as a part of 1 + the value wanted; infinite where shapes, types or NaN differ.
local function difference(found, wanted)
  local a, b = found:size(), wanted:size()
  if #a ~= #b or found:dtype() ~= wanted:dtype() then return math.huge end
  for d, size in ipairs(a) do
    if size ~= b[d] then return math.huge end
  end
  if wanted:numel() == 0 then return 0 end
  found, wanted = found:to("cpu"):double(), wanted:double()
  local same = found:eq(wanted):logical_or(found:isnan():logical_and(wanted:isnan()))
  local apart = (found - wanted):abs() / (1 + wanted:abs())
  return lg.where(same, lg.zeros_like(apart), lg.nan_to_num(apart, math.huge, math.huge)):amax():item()
end

local names = {}
for name in io.popen(("ls '%s'"):format(folder)):lines() do
  if name:find "%.onnx$" then names[#names + 1] = name:sub(1, -6) end
end
assert(#names > 100, "no models in " .. folder)

local failed, refused, compared, most = {}, 0, 0, 0
for _, name in ipairs(names) do
  local ok, message = pcall(function()
    local model = lg.io.onnx_import(folder .. "/" .. name .. ".onnx")
    for _, suffix in ipairs {".npz", ".other.npz"} do
      local file = io.open(folder .. "/" .. name .. suffix)
      if file then
        file:close()
        local values, inputs = lg.io.npz.load(folder .. "/" .. name .. suffix), {}
        for i, input in ipairs(model._graph.inputs) do inputs[i] = assert(values[input], "no value for " .. input) end
        local outputs = {lg.no_grad(function() return model(table.unpack(inputs)) end)}
        for i, output in ipairs(model._graph.outputs) do
          local wanted = values[output]
          local apart = difference(outputs[i], wanted)
          local half = wanted:dtype() == "f16" or wanted:dtype() == "bf16"
          local limit = half and 2e-3 or arg[2] and 1e-4 or 2e-5  -- some expected values come from f32 constants
          if apart > limit then
            error(("%s: output %s is %g apart, shapes {%s} and {%s}, %s and %s"):format(suffix, output, apart,
              table.concat(outputs[i]:size(), ", "), table.concat(wanted:size(), ", "), outputs[i]:dtype(), wanted:dtype()))
          end
          most, compared = math.max(most, apart), compared + 1
        end
      end
    end
  end)
  if not ok and arg[2] == "refused" and tostring(message):find "not read" then
    refused = refused + 1
  elseif not ok then
    failed[#failed + 1] = name .. ": " .. tostring(message)
  end
end
print(("%d models read, %d refused, %d outputs compared, at most %.1e apart"):format(#names - refused, refused, compared, most))
assert(#failed == 0, #failed .. " failed:\n" .. table.concat(failed, "\n"))
