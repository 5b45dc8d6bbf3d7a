---@meta
-- The functions that are not ops, for editors. `lunagrad meta` prints the annotations of the ops.

---The device and dtype of a new tensor.
---@class lunagrad.Options
---@field dtype? lunagrad.DType
---@field device? string "cpu", "vulkan", "vulkan:1"
---@field requires_grad? boolean

---The sizes of the dims of a tensor, a list: shape[1] is the first, shape[-1] the last, shape[{2, -1}] all but the first. It
---compares with other lists by its elements, and prints them.
---@class lunagrad.Size
---@field [integer] integer
---@field [integer[]] lunagrad.Size
local Size = {}
---The product of the sizes: the number of elements.
---@return integer
function Size:numel() end

---@class Tensor
local Tensor = {}

---The sizes of all dims, as x.shape, or of one; dims count from 1, or from -1 at the end.
---@param dim? integer
---@return integer|lunagrad.Size
function Tensor:size(dim) end

---The strides, in elements, of all dims, or of one.
---@param dim? integer
---@return integer|integer[]
function Tensor:stride(dim) end

---The number of dims.
---@return integer
function Tensor:dim() end

---The number of elements.
---@return integer
function Tensor:numel() end

---The dtype as a string, such as "f32". x.dtype is the same.
---@return lunagrad.DType
function Tensor:dtype() end

---The device as a string, such as "cpu". x.device is the same.
---@return string
function Tensor:device() end

---Whether the elements lie in row-major order without gaps.
---@return boolean
function Tensor:is_contiguous() end

---A number that identifies the tensor within the process.
---@return integer
function Tensor:id() end

---The number of in-place writes to the elements.
---@return integer
function Tensor:version() end

---The value of a one-element tensor as a Lua number; {re, im} for a complex tensor.
---@return number|boolean|number[]
function Tensor:item() end

---The elements as nested tables, complex ones as pairs {re, im}.
---@return table|number|boolean
function Tensor:tolist() end

---Converts dtype, device, or both: to(dtype), to(device), to(device, dtype), to(other), to{…}.
---@param target lunagrad.DType|string|Tensor|lunagrad.Options
---@param dtype? lunagrad.DType
---@return Tensor
function Tensor:to(target, dtype) end

---A copy on the CPU.
---@return Tensor
function Tensor:cpu() end
---As f32.
---@return Tensor
function Tensor:float() end
---As f64.
---@return Tensor
function Tensor:double() end
---As f16.
---@return Tensor
function Tensor:half() end
---As bf16.
---@return Tensor
function Tensor:bfloat16() end
---As i64.
---@return Tensor
function Tensor:long() end
---As i32.
---@return Tensor
function Tensor:int() end
---As u8.
---@return Tensor
function Tensor:byte() end
---As bool.
---@return Tensor
function Tensor:bool() end

---Copies the source into this tensor; the source is broadcast and cast.
---@param source Tensor|number
---@return Tensor self
function Tensor:copy_(source) end
---Writes one value into all elements.
---@param value Tensor|number
---@return Tensor self
function Tensor:fill_(value) end
---Writes zeros.
---@return Tensor self
function Tensor:zero_() end

---Positions first to last of one dim, both included.
---@param dim integer
---@param first? integer
---@param last? integer
---@param step? integer
---@return Tensor
function Tensor:slice(dim, first, last, step) end

---Splits a dim into pieces of one length (the last may be shorter) or of the given lengths.
---@param lengths integer|integer[]
---@param dim? integer
---@return Tensor[]
function Tensor:split(lengths, dim) end
---Splits a dim into at most `count` pieces of equal length; the last may be shorter.
---@param count integer
---@param dim? integer
---@return Tensor[]
function Tensor:chunk(count, dim) end
---Splits a dim into exactly `count` pieces, or before the given offsets.
---@param count integer|integer[]
---@param dim? integer
---@return Tensor[]
function Tensor:tensor_split(count, dim) end
---The slices along one dim, without that dim.
---@param dim? integer
---@return Tensor[]
function Tensor:unbind(dim) end
---Whether shape and all elements are equal.
---@param other Tensor
---@return boolean
function Tensor:equal(other) end
---Whether all elements differ by at most atol + rtol |other|.
---@param other Tensor|number
---@param rtol? number default 1e-05
---@param atol? number default 1e-08
---@param equal_nan? boolean default false
---@param options? table by name: rtol, atol, equal_nan
---@return boolean
function Tensor:allclose(other, rtol, atol, equal_nan, options) end

---Computes the gradient of this tensor and adds it to `.grad` of every leaf that it depends on.
---@param seed? Tensor the gradient of this tensor; 1 for a scalar
---@param options? {retain_graph: boolean?, create_graph: boolean?}
function Tensor:backward(seed, options) end
---Sets requires_grad.
---@param on? boolean
---@return Tensor self
function Tensor:requires_grad_(on) end
---A tensor that shares the elements but is not on the tape.
---@return Tensor
function Tensor:detach() end
---Removes this tensor from the tape.
---@return Tensor self
function Tensor:detach_() end
---The gradients that backward() computes, as a value: of every recorded tensor. `.grad` stays unchanged.
---@param seed? Tensor of this tensor's shape; a scalar's is 1
---@param options? {retain_graph: boolean?, create_graph: boolean?}
---@return lunagrad.GradStore
function Tensor:gradients(seed, options) end
---Keeps `.grad` of a non-leaf tensor.
function Tensor:retain_grad() end
---Calls fn with the gradient of this tensor; a return value replaces the gradient.
---@param fn fun(gradient: Tensor): Tensor?
---@return {remove: fun(self)}
function Tensor:register_hook(fn) end

---@class lunagrad
local lg = {}

---A tensor from a number, a boolean, or nested tables: i64 if all numbers are integers, else f32.
---@param value number|boolean|table|Tensor
---@param options? lunagrad.Options
---@return Tensor
function lg.tensor(value, options) end
---Whether a value is a tensor.
---@param value any
---@return boolean
function lg.is_tensor(value) end
---Whether a table of lg, a tensor or an object has a field of this name. Reading an unknown field is an error.
---@param holder table|userdata
---@param name string
---@return boolean
function lg.has(holder, name) end

lg.slice = Tensor.slice
lg.split = Tensor.split
lg.chunk = Tensor.chunk
lg.tensor_split = Tensor.tensor_split
lg.unbind = Tensor.unbind
lg.equal = Tensor.equal
lg.allclose = Tensor.allclose

---Seeds the generator of random numbers.
---@param seed integer
function lg.manual_seed(seed) end
---The state of the random number generator.
---@return {seed: integer, stream: integer}
function lg.get_rng_state() end
---Restores a state of the random number generator.
---@param state {seed: integer, stream: integer}
function lg.set_rng_state(state) end

---The default device of new tensors.
---@return string
function lg.device() end
---Sets the default device of new tensors.
---@param device string
function lg.set_device(device) end
---The precision of f32 matrix products.
---@return "highest"|"high"|"medium"
function lg.matmul_precision() end
---Below "highest", a GPU's matrix units multiply f32: "high" rounds elements to 11 bits, as TF32 does (f16, scaled by
---a power of two for each operand; 2^-12), "medium" to 8 bits (bfloat16, 2^-9). Sums are f32. The CPU, and a GPU without
---matrix units, computes all three in f32.
---@param precision "highest"|"high"|"medium"
function lg.set_matmul_precision(precision) end
---The available devices.
---@return {name: string, description: string}[]
function lg.devices() end

---Bytes of a device (default: the default device): of live tensors now, their peak since the start or the last
---lg.reset_peak_memory, the bytes taken from the system with free blocks, and the device's total (0: unknown).
---@param device? string
---@return {in_use: integer, peak: integer, reserved: integer, total: integer}
function lg.memory(device) end
---Sets lg.memory(device).peak to the bytes in use now.
---@param device? string
function lg.reset_peak_memory(device) end

---In x[{…}]: adds a dim of size 1 at this position. x[{{}, lg.newaxis}] of shape {4, 3} has shape {4, 1, 3}.
lg.newaxis = nil

---Waits until the default device has finished its work.
function lg.synchronize() end
---The time in seconds of a monotonic clock.
---@return number
function lg.clock() end

---Runs fn without recording on the tape and returns its results. Without fn: applies until the returned value is closed.
---@param fn? function
---@return any ...
function lg.no_grad(fn, ...) end
---As lg.no_grad, with recording switched on.
---@param fn? function
---@return any ...
function lg.enable_grad(fn, ...) end
---lg.enable_grad(fn, …) for true, lg.no_grad(fn, …) for false.
---@param mode boolean
---@param fn? function
---@return any ...
function lg.set_grad_enabled(mode, fn, ...) end
---Whether ops are recorded on the tape.
---@return boolean
function lg.is_grad_enabled() end

---Runs fn without saving its intermediate values; backward runs it again with the same random numbers. Returns fn's results.
---@param fn fun(...): any
---@return any ...
function lg.checkpoint(fn, ...) end
---Whether a function of lg.checkpoint is running, for the first time or again.
---@return boolean
function lg.is_checkpointing() end
---Runs the layers in `segments` segments; each except the last is a checkpoint.
---@param list (fun(...): any)[]|lunagrad.nn.Module
---@param segments integer
---@return any ...
function lg.checkpoint_sequential(list, segments, ...) end

---A function or module that is called as `fn`, and computes the same bits. Its calls are deferred until something
---reads a value, or fn returns; elementwise calls that follow each other then pass over memory once. fn runs each time
---as it is written: branches, loops, prints and changed numbers work as without lg.compile. `f:explain()` is the
---latest plan as text: groups, bytes that were not written to memory, and why a call is in no group. When a plan gains
---too little, the next 200 calls are eager.
---
---With {capture_graph = true}, fn becomes a captured graph: it runs without Lua once two calls in a row were the same. This
---is for models so small that most of the time goes to Lua. Its ops, backward passes included, run as they were
---planned, with new random numbers; steps of optimizers, of schedules and of averages, and lg.run.log, still run in
---Lua. Tensors in arguments, alone or in tables, and in variables of fn may change from call to call. A new plan is
---made for other shapes or types, another number, string or boolean in an argument, a variable or a global, another
---training flag of a module, or gradients where there were none. One call in a hundred runs in Lua; if it differs, an
---error says where. fn must not read values, nor change variables or globals: both are errors with their lines. Its
---results have no graph. `f:explain()` says what was captured, or why fn runs in Lua.
---@generic F
---@param fn F
---@param options? {capture_graph?: boolean}
---@return F
function lg.compile(fn, options) end
---With true, every step of lg.run.steps defers its calls until a value is read or the step ends. Without this setting,
---steps and functions of lg.compile defer calls if they gain by it: the second step, the first call and every 200th
---are tried. With false, no call is deferred.
---@param on boolean
function lg.set_deferred(on) end
---Whether calls are deferred at this place.
---@return boolean
function lg.is_deferred() end

---The context that a custom op passes from forward to backward; other fields may be set freely.
---@class lunagrad.CustomContext
---@field needs_input_grad boolean[] of each argument
local CustomContext = {}
---Saves tensors for backward; backward raises an error if one was written in place meanwhile.
---@param ... Tensor
function CustomContext:save(...) end
---The saved tensors, in order.
---@return Tensor ...
function CustomContext:saved() end
---Defines an op: backward receives the gradients of the results and returns one per argument, nil for none. The name may
---stand before the table: lg.custom_op("square", {forward = …, backward = …}).
---@overload fun(name: string, op: {forward: (fun(ctx: lunagrad.CustomContext, ...): Tensor), backward: (fun(ctx: lunagrad.CustomContext, ...): Tensor?)}): fun(...): Tensor
---@param op {name: string, forward: (fun(ctx: lunagrad.CustomContext, ...): Tensor), backward: (fun(ctx: lunagrad.CustomContext, ...): Tensor?)}
---@return fun(...): Tensor
function lg.custom_op(op) end

---Defines an op by a compute shader; on the CPU the function cpu runs. In the GLSL, x(i), x_count() and x_size(d) read
---the input or output x; each(i, n) distributes 0 … n-1 over the invocations.
---@param op {name: string, glsl: string, inputs: string[], outputs: string[]?, params: string[]?, shape: (fun(...): integer[]...)?, dtype: lunagrad.DType|lunagrad.DType[]|nil, threads: integer|integer[]|nil, groups: (fun(...): integer...)?, cpu: (fun(...): Tensor...)?, backward: (fun(ctx: lunagrad.CustomContext, ...): Tensor?...)?}
---@return fun(...): Tensor
function lg.kernel(op) end

---Runs fn with autocast: products in the 16-bit dtype, sums and norms in f32. Without fn: applies until the returned value is
---closed. false switches it off.
---@param dtype "bf16"|"f16"|false
---@param fn? function
---@return any ...
function lg.autocast(dtype, fn, ...) end
---Whether autocast is active.
---@return boolean
function lg.is_autocast_enabled() end
---The 16-bit dtype of autocast.
---@return lunagrad.DType? nil outside of autocast
function lg.get_autocast_dtype() end
---When to check for NaN and Inf: never, at each step, or after each op (true).
---@param guard "off"|"step"|"op"|boolean
function lg.set_detect_anomaly(guard) end

---Gradients of tensors, as a value; `g[x]` is `g:get(x)`, `#g` the number of gradients. `for node, gradient, output in
---pairs(g)` iterates over them, with the id of their node (as in lg.tape) and the number of the node's result.
---@class lunagrad.GradStore
---@field [Tensor] Tensor
local GradStore = {}
---The gradient of x.
---@param x Tensor
---@return Tensor? gradient nil when none reached x
function GradStore:get(x) end
---Adds to the gradient of x.
---@param x Tensor
---@param gradient Tensor
---@return lunagrad.GradStore self
function GradStore:accumulate(x, gradient) end
---Adds all gradients of another store.
---@param other lunagrad.GradStore
---@return lunagrad.GradStore self
function GradStore:merge(other) end
---Takes the gradient of x out of the store.
---@param x Tensor
---@return Tensor? gradient nil when there was none
function GradStore:remove(x) end
---Makes gradient the gradient of x.
---@param x Tensor
---@param gradient Tensor
---@return lunagrad.GradStore self
function GradStore:replace(x, gradient) end
---A store with copies of the gradients.
---@return lunagrad.GradStore
function GradStore:clone() end

---@class lunagrad.GradStores
lg.GradStore = {}
---An empty store, for accumulate, replace and merge.
---@return lunagrad.GradStore
function lg.GradStore.new() end

---Gradients as values: a Tensor for a Tensor, a table for a table.
---@class lunagrad.Grad
---@overload fun(outputs: Tensor|Tensor[], inputs: Tensor|Tensor[], options?: {grad_outputs: Tensor|Tensor[]?, retain_graph: boolean?, create_graph: boolean?, allow_unused: boolean?, only_inputs: boolean?}): Tensor|Tensor[]
---@overload fun(by_name: {outputs: Tensor|Tensor[], inputs: Tensor|Tensor[], grad_outputs: Tensor|Tensor[]?, retain_graph: boolean?, create_graph: boolean?, allow_unused: boolean?, only_inputs: boolean?}): Tensor|Tensor[]
lg.grad = {}
lg.grad.no_grad = lg.no_grad
---lg.enable_grad.
---@param fn? function
---@return any ...
function lg.grad.enable(fn, ...) end
lg.grad.is_enabled = lg.is_grad_enabled
---Compares the gradients of fn with central differences; inputs must be f64 and require grad.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {eps: number?, tolerance: number?}
---@return boolean ok, string? message
function lg.grad.check(fn, inputs, options) end
---Compares the second derivatives of fn with central differences; inputs must be f64 and require grad.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {eps: number?, tolerance: number?}
---@return boolean ok, string? message
function lg.grad.checkgrad2(fn, inputs, options) end
---Vector-Jacobian product. v has the shape of fn's results; optional for a scalar.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v? Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|Tensor[] outputs, Tensor|Tensor[] product
function lg.grad.vjp(fn, inputs, v, options) end
---Jacobian-vector product. v has the shape of the inputs.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|Tensor[] outputs, Tensor|Tensor[] product
function lg.grad.jvp(fn, inputs, v, options) end
---Hessian-vector product of a scalar function.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor output, Tensor|Tensor[] product
function lg.grad.hvp(fn, inputs, v, options) end
---The Jacobian: the result's shape followed by the input's.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|table
function lg.grad.jacobian(fn, inputs, options) end
---The matrix of second derivatives of a scalar function.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|table
function lg.grad.hessian(fn, inputs, options) end

---@class lunagrad.Operand
---@field name string?
---@field tensor integer
---@field node integer?
---@field shape integer[]?
---@field stride integer[]?
---@field dtype lunagrad.DType?
---@field saved boolean
---@field version integer

---@class lunagrad.Node
---@field id integer
---@field op string "leaf" for a tensor that no op made
---@field name string?
---@field attrs table<string, string>
---@field inputs lunagrad.Operand[]
---@field outputs lunagrad.Operand[]
---@field shape integer[]
---@field dtype lunagrad.DType
---@field device string
---@field saved boolean
---@field file string?
---@field line integer?
---@field module string?
---@field forward_ns number
---@field backward_ns number
---@field bytes integer

---@class lunagrad.Tape
---@field [integer] lunagrad.Node
local Tape = {}
---The tape as Graphviz text.
---@return string
function Tape:dot() end
---The nodes as one JSON array.
---@return string
function Tape:json() end
---Draws the tape into a file; needs Graphviz.
---@param path string
function Tape:svg(path) end

---The nodes that computed a tensor, newest first.
---@param root Tensor
---@return lunagrad.Tape
function lg.tape(root) end

return lg
