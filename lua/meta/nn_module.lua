---@meta
-- nn.Module for editors and for `help`; the code is in lua/lunagrad/nn.

---@class lunagrad.nn
local nn = {}

---A registered hook; handle:remove() removes it.
---@class lunagrad.nn.Handle
---@field remove fun(self?: table)

---The base class of all modules. Fields that are parameters, buffers or modules are registered in the order of their
---first assignment; calling a module runs its forward.
---@class lunagrad.nn.Module
---@field training boolean
---@overload fun(...): any
local Module = {}
nn.Module = Module

---The constructor, called with the arguments of the class; a subclass defines it.
function Module:init(...) end

---Computes the output of a call; a subclass defines it.
---@return any
function Module:forward(...) end

---All parameters, each once; parameters(false) returns only the module's own. The tape shows them by their names.
---@param recurse? boolean default true
---@return Tensor[]
function Module:parameters(recurse) end

---Iterates over names and parameters: for name, parameter in m:named_parameters() do
---@param options? {prefix?: string, recurse?: boolean, remove_duplicate?: boolean}
---@return fun(): string, Tensor
function Module:named_parameters(options) end

---All buffers.
---@param recurse? boolean default true
---@return Tensor[]
function Module:buffers(recurse) end

---Iterates over names and buffers.
---@param options? {prefix?: string, recurse?: boolean, remove_duplicate?: boolean}
---@return fun(): string, Tensor
function Module:named_buffers(options) end

---The direct submodules.
---@return lunagrad.nn.Module[]
function Module:children() end

---Iterates over the names and direct submodules.
---@return fun(): string, lunagrad.nn.Module
function Module:named_children() end

---The module itself and all submodules, parents first.
---@return lunagrad.nn.Module[]
function Module:modules() end

---Iterates over the paths and modules: this module, under "", and all inside, each once, parents first.
---@param options? {prefix?: string, remove_duplicate?: boolean}
---@return fun(): string, lunagrad.nn.Module
function Module:named_modules(options) end

---The module at a path as "encoder.0.norm"; "" is this module.
---@param path string
---@return lunagrad.nn.Module
function Module:get_submodule(path) end
---The parameter at a path as "encoder.0.weight".
---@param path string
---@return Tensor
function Module:get_parameter(path) end
---The buffer at a path.
---@param path string
---@return Tensor
function Module:get_buffer(path) end
---Replaces the module at a path.
---@param path string
---@param module lunagrad.nn.Module
function Module:set_submodule(path, module) end

---Calls fn on every module, children first.
---@param fn fun(module: lunagrad.nn.Module)
---@return self
function Module:apply(fn) end

---Calls hook(module, inputs, output, …) after each forward. A return value replaces the output.
---@param hook fun(module: lunagrad.nn.Module, inputs: any[], ...): any
---@param options? {prepend?: boolean}
---@return lunagrad.nn.Handle
function Module:register_forward_hook(hook, options) end
---Calls hook(module, inputs) before each forward. If it returns a list, the list replaces the inputs; other results
---replace them, too.
---@param hook fun(module: lunagrad.nn.Module, inputs: any[]): any
---@param options? {prepend?: boolean}
---@return lunagrad.nn.Handle
function Module:register_forward_pre_hook(hook, options) end
---Calls hook(module, grad_inputs, grad_outputs) when the gradients of the inputs are known. A list replaces grad_inputs.
---@param hook fun(module: lunagrad.nn.Module, grad_inputs: Tensor[], grad_outputs: Tensor[]): any
---@param options? {prepend?: boolean}
---@return lunagrad.nn.Handle
function Module:register_full_backward_hook(hook, options) end
---Calls hook(module, grad_outputs) before the gradients of the inputs are computed. A list replaces grad_outputs.
---@param hook fun(module: lunagrad.nn.Module, grad_outputs: Tensor[]): any
---@param options? {prepend?: boolean}
---@return lunagrad.nn.Handle
function Module:register_full_backward_pre_hook(hook, options) end
---Calls hook(module, prefix, keep_vars) before the module's state is read.
---@param hook function
---@return lunagrad.nn.Handle
function Module:register_state_dict_pre_hook(hook) end
---Calls hook(module, state, prefix, metadata) after the module's state was read; it may change the state or return another.
---@param hook function
---@return lunagrad.nn.Handle
function Module:register_state_dict_post_hook(hook) end
---Calls hook(module, state, prefix, metadata, strict, missing, unexpected, errors) before a state is loaded; it may change the
---state and append to `errors`.
---@param hook function
---@return lunagrad.nn.Handle
function Module:register_load_state_dict_pre_hook(hook) end
---Calls hook(module, {missing_keys, unexpected_keys}) once a state is loaded.
---@param hook function
---@return lunagrad.nn.Handle
function Module:register_load_state_dict_post_hook(hook) end

---Adds a tensor to the state that is not trained. With {persistent = false} it moves with the module and is not stored.
---@param name string
---@param tensor? Tensor
---@param persistent? boolean|{persistent?: boolean} default true
function Module:register_buffer(name, tensor, persistent) end

---Adds a parameter.
---@param name string
---@param tensor? Tensor
function Module:register_parameter(name, tensor) end

---Adds a module under a name, as self[name] = module does.
---@param name string
---@param module? lunagrad.nn.Module
function Module:add_module(name, module) end
---The same as add_module.
---@param name string
---@param module? lunagrad.nn.Module
function Module:register_module(name, module) end

---Parameters and buffers by PyTorch's names. The tensors share memory with the module; with keep_vars they are the
---module's own. The result of a class's get_extra_state() is stored under "_extra_state".
---@param options? {prefix?: string, keep_vars?: boolean, destination?: table}
---@return table<string, Tensor>
function Module:state_dict(options) end

---Copies values into parameters and buffers. The error lists everything that does not fit. With {assign = true} they take the
---memory, type and device of the state's tensors, and stay the same parameters.
---@param state table<string, Tensor>
---@param options? boolean|{strict?: boolean, assign?: boolean}
---@return string[] missing
---@return string[] unexpected
function Module:load_state_dict(state, options) end

---Switches the module and its submodules to training mode.
---@param mode? boolean default true
---@return self
function Module:train(mode) end

---Switches to evaluation mode: train(false).
---@return self
function Module:eval() end

---Moves parameters, buffers and gradients to a device, casts the floating ones, or both: m:to("vulkan"), m:to("f64"),
---m:to("vulkan", "f16"), m:to(tensor), m:to{device = …, dtype = …}. The parameters stay the same tensors, so that an
---existing optimizer still trains them; its state moves with them.
---@param ... string|Tensor|{device?: string, dtype?: lunagrad.DType}
---@return self
function Module:to(...) end
---Casts parameters and buffers of every type.
---@param dtype lunagrad.DType
---@return self
function Module:type(dtype) end
---Casts floating parameters and buffers to f32.
---@return self
function Module:float() end
---Casts floating parameters and buffers to f64.
---@return self
function Module:double() end
---Casts floating parameters and buffers to f16.
---@return self
function Module:half() end
---Casts floating parameters and buffers to bf16.
---@return self
function Module:bfloat16() end
---Moves to the CPU.
---@return self
function Module:cpu() end
---An error that says m:to("vulkan").
function Module:cuda() end
---Moves to a device without copying the values, which are undefined until they are set.
---@param options {device: string}|string
---@return self
function Module:to_empty(options) end

---Sets requires_grad of all parameters.
---@param on? boolean default true
---@return self
function Module:requires_grad_(on) end

---Sets the gradients to nil; with false or {set_to_none = false} to zero.
---@param options? boolean|{set_to_none?: boolean}
function Module:zero_grad(options) end

---The text between the parentheses when the module is printed.
---@return string
function Module:extra_repr() end

return nn
