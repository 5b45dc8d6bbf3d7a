-- The notes of docs/pytorch-names.md on names of PyTorch that differ here or are missing; pytorch_names.lua reads them.
-- A name without a note is the same here. `*` stands for any text in a name without a dot; a pattern is for names that
-- do not exist.
--
--   differs: names | the name or form here | what differs
--   missing: names | why
return {
  differs = [[
torch.as_tensor torch.asarray | `lg.as_tensor`, `lg.asarray` | a list of numbers and tables, or a tensor; memory of other libraries is not shared
torch.autocast | `lg.autocast("bf16", f)` | a function in place of the `with` block; `local _ <close> = lg.autocast("bf16")` works, too
torch.no_grad torch.inference_mode torch.enable_grad torch.autograd.no_grad torch.autograd.enable_grad torch.autograd.inference_mode | `lg.no_grad`, `lg.inference_mode`, `lg.enable_grad` | `lg.no_grad(function() … end)` returns what the function returns; a tensor of inference_mode may take part in a graph later
torch.autograd.set_grad_enabled | `lg.set_grad_enabled` | `lg.set_grad_enabled(mode, function() … end)`
torch.set_default_tensor_type | `lg.set_default_dtype` | with the dtype in place of the type: `lg.set_default_dtype(lg.float64)`
torch.stft | `lg.stft` | `return_complex` is true unless given
torch.save | `lg.io.save` | safetensors: tensors by name; the extension decides the format
torch.load | `lg.io.load` | loading never runs code; `.pt` files of weights are read
torch.from_numpy torch.Tensor.numpy | `lg.io.npy` | through a file; `x:tolist` makes Lua tables
torch.from_file | `lg.io` | loaders of files; memory is not mapped
torch.finfo torch.iinfo | `lg.finfo`, `lg.iinfo` | a table of numbers for `"f16" "bf16" "f32" "f64"`, or for integers
torch.get_default_dtype | `lg.get_default_dtype` | always `"f32"`
torch.get_rng_state torch.set_rng_state | `lg.get_rng_state`, `lg.set_rng_state` | a table of two numbers in place of a tensor; it is the state of all devices
torch.seed | `lg.seed` | a seed of 53 bits
torch.use_deterministic_algorithms | `lunagrad run --deterministic` | results do not depend on the number of threads; the flag records it
torch.set_printoptions | `lg.set_printoptions` | options in a table
torch.typename | `x:dtype` | `type(x)` is `"userdata"` and `lg.is_tensor` asks
torch.lobpcg | `lg.linalg.eigh` | computes all eigenvalues
torch.Size torch.Tensor.size torch.Tensor.shape | `x:size`, `x.shape` | a table of integers; `x:size(d)` is one of them and `#x` the first
torch.Tensor.dtype torch.Tensor.device | `x:dtype`, `x:device` | methods; strings such as `"f32"` and `"cpu"`
torch.Tensor.type | `x:type` | gives and takes dtypes of Lunagrad, as `x:type("f64")`
torch.Tensor.grad_fn | `x.grad_fn` | the name of the op that made the tensor; `lg.tape(x)` has the whole graph
torch.Tensor.data | `x.data` | shares memory with `x`, and a write to it counts as one to `x`
torch.Tensor.tolist | `x:tolist` | nested Lua tables
torch.Tensor.backward torch.autograd.backward | `x:backward` | of one tensor; options in a table: `x:backward{retain_graph = true}`
torch.Tensor.cuda torch.Tensor.xpu torch.Tensor.mtia torch.Tensor.ipu | `x:to` | `x:to("vulkan")`
torch.Tensor.is_cuda torch.Tensor.get_device | `x.is_vulkan`, `x:device` | the GPU is reached through Vulkan
torch.Tensor.set_ | `x.data` | `x.data = y` gives `x` the memory of `y`
torch.Tensor.register_hook | `x:register_hook` | returns a function that removes the hook
torch.Tensor.nonzero_static | `x:nonzero_static` | `x:nonzero_static(size, fill_value)`
torch.Tensor.to_dense torch.Tensor.resolve_conj torch.Tensor.resolve_neg torch.resolve_conj torch.resolve_neg torch.Tensor.is_conj torch.is_conj torch.Tensor.is_neg | `x:to_dense`, `x:resolve_conj`, `x:is_conj` | tensors are dense and conjugates are computed at once: these return the tensor, or false
torch.Tensor.unbind torch.unbind torch.split torch.chunk torch.tensor_split torch.Tensor.split torch.Tensor.chunk torch.Tensor.tensor_split torch.unsafe_split torch.unsafe_chunk torch.Tensor.unsafe_split torch.Tensor.unsafe_chunk torch.split_copy torch.split_with_sizes_copy torch.unbind_copy torch.gradient | `lg.split`, `lg.chunk`, `lg.unbind`, `lg.gradient` and so on | a list of tensors
torch.slice_copy torch.slice_scatter torch.Tensor.slice_scatter | `lg.slice_copy`, `lg.slice_scatter` | the first and the last position, both included
torch.cond | `lg.cond` | runs the branch that the condition takes
torch.while_loop | `lg.while_loop` | a loop in Lua
torch.linalg.lu_factor torch.linalg.lu torch.linalg.lu_factor_ex torch.lu torch.Tensor.lu | `lg.linalg.lu_factor`, `lg.linalg.lu`, `lg.lu` | `pivot = false` is refused
torch.linalg.inv_ex torch.linalg.solve_ex | `lg.linalg.inv_ex`, `lg.linalg.solve_ex` | the result of a singular matrix is NaN
torch.nn.Module.register_forward_hook torch.nn.Module.register_forward_pre_hook | `Module:register_forward_hook`, `Module:register_forward_pre_hook` | no `with_kwargs`
torch.nn.Module.register_backward_hook | `Module:register_full_backward_hook` | the other is deprecated in PyTorch
torch.nn.Module.parameters torch.nn.Module.buffers torch.nn.Module.children torch.nn.Module.modules | `Module:parameters`, `Module:buffers`, `Module:children`, `Module:modules` | lists; the forms with `named_` are iterators
torch.nn.Module.get_extra_state torch.nn.Module.set_extra_state | `Module` | methods that a class may define; `state_dict` and `load_state_dict` call them
torch.nn.Module.cuda torch.nn.Module.xpu torch.nn.Module.ipu torch.nn.Module.mtia | `Module:to` | `model:to("vulkan")`
torch.nn.Module.to | `Module:to` | keeps the parameters, so that an optimizer made before follows
torch.nn.Buffer | `Module:register_buffer` | `self:register_buffer("name", tensor)`
torch.nn.UninitializedParameter torch.nn.UninitializedBuffer | `lg.nn.LazyLinear` | the lazy modules make their parameters at the first call
torch.nn.Container | `lg.nn.Sequential` | deprecated in PyTorch
torch.nn.NLLLoss2d | `lg.nn.NLLLoss` | deprecated in PyTorch
torch.nn.CrossMapLRN2d | `lg.nn.LocalResponseNorm` | the same formula
torch.nn.RNNBase torch.nn.RNNCellBase | `lg.nn.RNN`, `lg.nn.RNNCell` | base classes
torch.nn.functional.multi_head_attention_forward | `lg.nn.MultiheadAttention` | the module; `lg.nn.functional.scaled_dot_product_attention` of the projected tensors
torch.nn.functional.upsample_nearest torch.nn.functional.upsample_bilinear | `lg.nn.functional.interpolate` | deprecated in PyTorch
torch.nn.functional.scaled_mm | `lg.matmul` | there is no 8-bit floating-point type
torch.nn.functional.grouped_mm torch.nn.functional.scaled_grouped_mm | `lg.bmm` | of groups of equal size
torch.nn.init.constant torch.nn.init.dirac torch.nn.init.eye torch.nn.init.kaiming_normal torch.nn.init.kaiming_uniform torch.nn.init.normal torch.nn.init.orthogonal torch.nn.init.sparse torch.nn.init.uniform torch.nn.init.xavier_normal torch.nn.init.xavier_uniform | `lg.nn.init.constant_` and so on | the names without `_` are deprecated in PyTorch
torch.nn.utils.clip_grad_norm | `lg.nn.utils.clip_grad_norm_` | deprecated in PyTorch
torch.nn.utils.fuse_conv_bn_weights torch.nn.utils.fuse_linear_bn_weights | `lg.nn.utils.fuse_conv_bn_eval`, `lg.nn.utils.fuse_linear_bn_eval` | of modules
torch.nn.utils.rnn.invert_permutation | `lg.argsort` | the same for a permutation
torch.nn.utils.parametrizations.orthogonal | `lg.nn.utils.parametrizations.orthogonal` | by the matrix exponential alone
torch.nn.utils.parametrize.ParametrizationList torch.nn.utils.parametrize.transfer_parametrizations_and_params | `lg.nn.utils.parametrize.register_parametrization` | registers again for another module
torch.optim.Optimizer.step torch.optim.Optimizer.add_param_group | `Optimizer:step`, `Optimizer:add_param_group` | settings may be functions or `lg.run.live` handles
torch.optim.swa_utils.get_ema_multi_avg_fn torch.optim.swa_utils.get_swa_multi_avg_fn | `lg.optim.swa_utils.get_ema_avg_fn`, `lg.optim.swa_utils.get_swa_avg_fn` | functions of one tensor
torch.func.functional_call torch.func.stack_module_state | `lg.func.functional_call`, `lg.func.stack_module_state` | tables by name
torch.autograd.grad | `lg.grad` | a tensor for a tensor, a table for a table
torch.autograd.gradcheck torch.autograd.gradgradcheck | `lg.grad.check`, `lg.grad.checkgrad2` | true, or false and what differs
torch.autograd.functional.jacobian | `lg.grad.jacobian` | options in a table
torch.autograd.functional.hessian | `lg.grad.hessian` | options in a table
torch.autograd.functional.jvp | `lg.grad.jvp` | options in a table
torch.autograd.functional.vjp | `lg.grad.vjp` | options in a table
torch.autograd.functional.hvp | `lg.grad.hvp` | options in a table
torch.autograd.functional.vhp | `lg.grad.hvp` | the Hessian is symmetric
torch.autograd.Function torch.autograd.NestedIOFunction | `lg.custom_op` | a table with `forward` and `backward`
torch.autograd.set_detect_anomaly torch.autograd.detect_anomaly | `lg.set_detect_anomaly` | `run --guard op` finds the first NaN
torch.autograd.Variable torch.autograd.variable | `lg.tensor` | deprecated in PyTorch
torch.utils.data.Dataset torch.utils.data.MapDataPipe | `lg.data.TensorDataset` | or any table with `#set` and `set[i]`
torch.utils.data.IterableDataset torch.utils.data.IterDataPipe | `lg.data.IterableDataset` | `lg.data.IterableDataset(function(pass) return iterator end)`: a function in place of `__iter__`
torch.utils.data.default_collate | `lg.data.default_collate` | several values for samples that are lists
torch.utils.data.Sampler | `lg.data.SequentialSampler` | or any table of positions
torch.distributions.AbsTransform torch.distributions.transforms.AbsTransform | `lg.abs` | of samples
]],
  missing = [[
torch.Generator | one generator serves the process: `lg.manual_seed`, `lg.get_rng_state`
torch.sparse_*_tensor torch.*_indices_copy torch.indices_copy torch.values_copy torch.hspmm torch.smm torch.sspaddmm torch.Tensor.*sparse* torch.Tensor.smm torch.Tensor.sspaddmm torch.Tensor.coalesce torch.Tensor.is_coalesced torch.Tensor.*indices torch.Tensor.values torch.Tensor.dense_dim | there are no sparse tensors
torch.*quantize* torch.Tensor.*quantize* torch.Tensor.q_* torch.Tensor.qscheme torch.Tensor.int_repr | there are no quantized tensors; `lg.fake_quantize_per_tensor_affine` rounds to their grid
torch.Tensor.align_as torch.Tensor.align_to torch.Tensor.has_names torch.Tensor.names torch.Tensor.name torch.Tensor.refine_names torch.Tensor.rename* | dims have no names
torch.Tensor.storage torch.Tensor.storage_type torch.Tensor.untyped_storage torch.Tensor.data_ptr torch.Tensor.is_set_to torch.Tensor.share_memory_ torch.Tensor.is_shared torch.Tensor.pin_memory torch.Tensor.is_pinned torch.Tensor.record_stream torch.is_storage torch.nn.Module.share_memory torch.to_dlpack torch.from_dlpack torch.frombuffer | scripts do not see memory: no pointers, streams or storage objects
torch.Tensor.resize_ torch.Tensor.resize_as_ | tensors keep their size; `lg.empty` makes another
torch.Tensor.char torch.Tensor.short torch.Tensor.chalf | there are no 8- and 16-bit signed integers and no complex numbers of 16-bit parts
torch.Tensor.is_ipu torch.Tensor.is_maia torch.Tensor.is_meta torch.Tensor.is_mkldnn torch.Tensor.is_mps torch.Tensor.is_mtia torch.Tensor.is_xla torch.Tensor.is_xpu torch.Tensor.to_mkldnn torch.get_device_module | the devices are `"cpu"` and `"vulkan"`
torch.Tensor.is_nested torch.Tensor.to_padded_tensor | there are no nested tensors; `lg.nn.utils.rnn` packs sequences
torch.Tensor.layout torch.Tensor.dim_order torch.nn.utils.convert_conv*d_weight_memory_format | there is one memory format, with the last dim innermost; `x:stride` shows that of views
torch.Tensor.as_subclass torch.Tensor.module_load torch.Tensor.output_nr torch.Tensor.volatile torch.Tensor.grad_dtype | internals of Python's Tensor class
torch.Tensor.register_post_accumulate_grad_hook | `x:register_hook` sees the gradient before it is added
torch.Tensor.is_inference torch.is_inference torch.is_inference_mode_enabled | `lg.inference_mode` is `lg.no_grad`: its tensors are like others
torch.igamma* torch.Tensor.igamma* torch.special.gammainc* | the incomplete gamma function is not written
torch.special.*bessel_* torch.special.airy_ai | these functions are not written; there are `i0`, `i0e`, `i1` and `i1e`
torch.special.*_polynomial_* | polynomials are written in ops
torch.nn.Module.compile torch.import_ir_module* torch.parse_* torch.merge_type_from_type_comment torch.unify_type_list torch.fork torch.wait torch.compiled_with_cxx11_abi | there is no TorchScript; `lg.compile(f)` plans the calls of a function or module
torch.sym_* | there are no symbolic sizes
torch.*deterministic* | results never depend on the number of threads
torch.*_num_interop_threads torch.init_num_threads | ops run one after the other; `lg.set_num_threads` sets the threads of each
torch.set_flush_denormal | denormal numbers are kept
torch.is_warn_always_enabled torch.set_warn_always | a warning is printed once
torch.*vital* | internals of PyTorch's reports
torch.hash_tensor | `lg.equal` compares tensors
torch.nn.DataParallel | a process for each device: `lg.distributed.data_parallel`
torch.nn.Module.T_destination torch.nn.Module.call_super_init torch.nn.Module.dump_patches torch.nn.functional.Optional torch.optim.Optimizer.OptimizerP*Hook torch.optim.Optimizer.profile_hook_step torch.utils.data.*_validation* torch.utils.data.functional_datapipe torch.utils.data.*determin* torch.utils.data.DFIterDataPipe torch.utils.data.DataChunk | names of Python's types and internals
torch.func.functionalize | there is no tracer that would see a function without its in-place writes
torch.autograd.set_multithreading_enabled | backward runs on the thread of the script
torch.utils.data.get_worker_info | workers are threads of the engine, which run no Lua
torch.utils.data.default_convert | `lg.tensor` converts
torch.distributions.* | not written
torch.distributions.transforms.* | not written; `lg.distributions` has the transforms
torch.signal.windows.* | `lg.hann_window` and the other windows of `lg`
]],
  -- Names that answer with an error that says what to write.
  refused = [[
torch.optim.SparseAdam | there are no sparse tensors, so gradients are dense: `lg.optim.Adam`
]],
}
