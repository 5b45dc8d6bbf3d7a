-- Functions of lg and methods of tensors that are made of ops, in the order of their files.
local core = require "lunagrad.core"

-- Further names of functions; those of ops are in script/meta/signature.cpp.
local aliases = {
  unsafe_chunk = "chunk", unsafe_split = "split", inference_mode = "no_grad", get_default_device = "device",
  set_default_device = "set_device", get_float32_matmul_precision = "matmul_precision",
  set_float32_matmul_precision = "set_matmul_precision",
}
for name, of in pairs(aliases) do
  core[name] = core[of]
  core.methods[name] = core.methods[of]
end

for _, file in ipairs {"strided", "copies", "types", "shapes", "matrices", "control", "numbers"} do
  local made = require("lunagrad.functions." .. file)
  for name, fn in pairs(made.functions) do core[name] = fn end
  for name, method in pairs(made.methods) do core.methods[name] = method end
end

-- In-place forms that PyTorch has as functions, too.
for _, name in ipairs {"celu_", "relu_", "rrelu_", "selu_", "threshold_"} do core[name] = core.methods[name] end
