-- Functions of lg and methods of tensors that are composed of ops.
local core = require "lunagrad.core"

-- Further names of functions; names of ops are in script/meta/signature.cpp.
local aliases = {
  alias_copy = "clone", unsafe_chunk = "chunk", unsafe_split = "split", inference_mode = "no_grad",
  get_default_device = "device", set_default_device = "set_device", get_float32_matmul_precision = "matmul_precision",
  set_float32_matmul_precision = "set_matmul_precision",
}
for name, of in pairs(aliases) do
  core[name] = core[of]
  core.methods[name] = core.methods[of]
end

-- The files of this folder with their functions of lg and methods of tensors. A file is loaded when one of its names is
-- called.
local files = {
  strided = {functions = "as_strided", methods = "as_strided as_strided_"},
  copies = {
    functions = "as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy "
      .. "slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy "
      .. "unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy",
    methods = "narrow_copy",
  },
  types = {
    functions = "can_cast finfo iinfo is_conj is_nonzero numel promote_types resolve_conj resolve_neg "
      .. "result_type",
    methods = "cdouble cfloat is_conj is_neg is_signed resolve_conj resolve_neg to_dense type",
  },
  shapes = {
    functions = "broadcast_shapes broadcast_tensors empty_permuted empty_strided unravel_index",
    methods = "new_empty_strided nonzero_static sum_to_size",
  },
  matrices = {functions = "adjoint lu pca_lowrank svd_lowrank", methods = "adjoint lu"},
  control = {functions = "cond vmap while_loop", methods = "apply_ map_"},
  numbers = {
    functions = "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine gradient histogramdd randint_like range",
    methods = "",
  },
}

local function on_first_call(file, kind, name)
  local loaded
  return function(...)
    loaded = loaded or require("lunagrad.functions." .. file)[kind][name]
    return loaded(...)
  end
end

for file, lists in pairs(files) do
  for kind, names in pairs(lists) do
    local holder = kind == "functions" and core or core.methods
    for name in names:gmatch("%S+") do holder[name] = on_first_call(file, kind, name) end
  end
end

-- In-place forms that PyTorch also has as functions.
for _, name in ipairs {"celu_", "relu_", "rrelu_", "selu_", "threshold_"} do core[name] = core.methods[name] end
