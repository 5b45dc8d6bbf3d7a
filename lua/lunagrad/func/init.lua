-- lg.func: transforms of functions, as PyTorch's torch.func. They nest: grad of grad, vmap of grad, jacrev of jacrev.
-- Arguments and results are trees: a tensor, or a plain table of trees.
local func = {
  vmap = require "lunagrad.func.vmap",
  functional_call = require("lunagrad.func.module").functional_call,
  stack_module_state = require("lunagrad.func.module").stack_module_state,
  replace_all_batch_norm_modules_ = require("lunagrad.func.module").replace_all_batch_norm_modules_,
  -- The tensor with the batch dims that vmap hides: the samples lie in its first dims.
  debug_unwrap = require("lunagrad.core")._physical,
}
for name, transform in pairs(require "lunagrad.func.derivatives") do func[name] = transform end
return func
