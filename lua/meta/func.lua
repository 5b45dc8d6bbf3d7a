---@meta
-- lg.func for editors; the code is in lua/lunagrad/func.

---@class lunagrad
---@field func lunagrad.func

---Transforms of functions, as PyTorch's torch.func. They nest. Arguments and results are tensors or plain tables of tensors.
---@class lunagrad.func
local func = {}

---A function that runs func for all samples at once. in_dims says which dim of each argument counts the samples (from
---1): a number for all arguments, or a list with one entry for each, nil for an argument that all samples share; for
---an argument that is a table, the entry is a table. out_dims says where the samples of the results go. Inside, a
---tensor has the shape of one sample and its elements cannot be read. Ops without a batching rule run once for each
---sample, which the profiler notes. randomness: random ops are an error, or give the samples "different" or the "same"
---numbers. chunk_size: samples at a time.
---Defaults: in_dims = 1, out_dims = 1, randomness = "error".
---@param func function
---@param in_dims? integer|table
---@param out_dims? integer|table
---@param randomness? "error"|"different"|"same"
---@param options? {in_dims?: integer|table, out_dims?: integer|table, randomness?: "error"|"different"|"same", chunk_size?: integer}
---@return function
function func.vmap(func, in_dims, out_dims, randomness, options) end

---A function that returns the gradient of func for the arguments at positions argnums (from 1): a gradient for a
---number, a list for a list. func returns one element; with has_aux it returns the element and another value, which is
---returned after the gradient.
---Defaults: argnums = 1, has_aux = false.
---@param func function
---@param argnums? integer|integer[]
---@param has_aux? boolean
---@param options? {argnums?: integer|integer[], has_aux?: boolean}
---@return function
function func.grad(func, argnums, has_aux, options) end

---As grad, but returns the gradient and then the value of func.
---Defaults: argnums = 1, has_aux = false.
---@param func function
---@param argnums? integer|integer[]
---@param has_aux? boolean
---@param options? {argnums?: integer|integer[], has_aux?: boolean}
---@return function
function func.grad_and_value(func, argnums, has_aux, options) end

---The output of func(...) and a function vjp_fn(cotangent) that returns the vector-Jacobian product for each primal. A
---last argument {has_aux = true} is an option: func's second result is then returned third.
---@param func function
---@param ... any
---@return any output
---@return function vjp_fn
function func.vjp(func, ...) end

---The output of func and the Jacobian-vector product along the tangents. primals and tangents are lists with one entry
---for each argument. The product is exact and takes two reverse passes.
---@param func function
---@param primals any[]
---@param tangents any[]
---@param options? {has_aux?: boolean}
---@return any output
---@return any tangent
function func.jvp(func, primals, tangents, options) end

---The output of func(...) and a function that returns the Jacobian-vector product for given tangents.
---@param func function
---@param ... any
---@return any output
---@return function jvp_fn
function func.linearize(func, ...) end

---A function that returns the Jacobian [output shape, input shape] in reverse mode, all rows at once or chunk_size
---rows at a time. Tables of inputs or outputs give tables.
---Defaults: argnums = 1, has_aux = false.
---@param func function
---@param argnums? integer|integer[]
---@param has_aux? boolean
---@param options? {argnums?: integer|integer[], has_aux?: boolean, chunk_size?: integer}
---@return function
function func.jacrev(func, argnums, has_aux, options) end

---As jacrev, in forward mode: for functions with more outputs than inputs.
---Defaults: argnums = 1, has_aux = false.
---@param func function
---@param argnums? integer|integer[]
---@param has_aux? boolean
---@param options? {argnums?: integer|integer[], has_aux?: boolean, chunk_size?: integer}
---@return function
function func.jacfwd(func, argnums, has_aux, options) end

---A function that returns the second derivatives [input shape, input shape] of func, which returns one element.
---Defaults: argnums = 1.
---@param func function
---@param argnums? integer|integer[]
---@param options? {argnums?: integer|integer[]}
---@return function
function func.hessian(func, argnums, options) end

---Calls a module with other parameters and buffers: a table of tensors by name, or a list of such tables. args is an argument or
---a list of arguments, kwargs the module's options table.
---@param module lunagrad.nn.Module
---@param params_and_buffers table
---@param args? any
---@param kwargs? table
---@return any
function func.functional_call(module, params_and_buffers, args, kwargs) end

---The parameters and the buffers of modules of one class, stacked by name, for vmap over models.
---@param models lunagrad.nn.Module[]
---@return table<string, Tensor> params
---@return table<string, Tensor> buffers
function func.stack_module_state(models) end

---Makes all batch norms of a module use the statistics of each batch alone: running statistics cannot be written under vmap.
---@param root lunagrad.nn.Module
---@return lunagrad.nn.Module root
function func.replace_all_batch_norm_modules_(root) end

---The tensor with the batch dims that vmap hides: the samples lie in its first dims.
---@param tensor Tensor
---@return Tensor
function func.debug_unwrap(tensor) end
