-- lg.io.onnx_export(path, model, inputs, options): runs the model once in evaluation mode and writes its computation as
-- an ONNX file (opset 17). `model` is a module or a function, `inputs` a tensor or a list of tensors.
local core = require "lunagrad.core"
local module_names = require "lunagrad.nn.names"

local function is_module(value)
  local class = type(value) == "table" and getmetatable(value)
  return class and class._is_module == true
end

-- Puts a module into evaluation mode until the returned value goes out of scope.
local function in_evaluation(model)
  local modes = {}
  for _, module in ipairs(model:modules()) do modes[module] = module.training end
  model:eval()
  return setmetatable({}, {__close = function()
    for module, mode in pairs(modes) do module.training = mode end
  end})
end

return function(path, model, inputs, options)
  if not is_module(model) and type(model) ~= "function" then
    core._fail(("bad argument #2 to 'io.onnx_export' (module or function expected, got %s)"):format(
      core.is_tensor(model) and "Tensor" or type(model)))
  end
  local names, tensors = {}, {}
  if type(model) == "function" then
    return core._onnx_export(path, model, inputs, options, 0, "", names, tensors)
  end
  for _, list in ipairs {{model:named_parameters()}, {model:named_buffers()}} do
    for name, tensor in table.unpack(list) do
      names[#names + 1], tensors[#tensors + 1] = name, tensor
    end
  end
  local _ <close> = in_evaluation(model)
  local title = model._placed or model.__name  -- not the script's variable: it is no part of the model
  core._onnx_export(path, model, inputs, options, module_names.id_of(model), title, names, tensors)
end
