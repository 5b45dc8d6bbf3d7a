---@meta
-- What Lunagrad offers beside the ops, for editors. The ops are in the file that `lunagrad meta` prints.

---Where a new tensor goes and what it holds.
---@class lunagrad.Options
---@field dtype? lunagrad.DType
---@field device? string "cpu", "vulkan", "vulkan:1"
---@field requires_grad? boolean

---@class Tensor
local Tensor = {}

---The sizes of all dims, or of one; dims count from 1, or from -1 at the end.
---@param dim? integer
---@return integer|integer[]
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

---@return lunagrad.DType
function Tensor:dtype() end

---@return string
function Tensor:device() end

---Whether the elements lie in row-major order without gaps.
---@return boolean
function Tensor:is_contiguous() end

---A number that no other tensor of the process has.
---@return integer
function Tensor:id() end

---How often the elements were written in place.
---@return integer
function Tensor:version() end

---The element of a tensor that has just one; of a complex one its parts {re, im}.
---@return number|boolean|number[]
function Tensor:item() end

---The elements as nested tables, complex ones as pairs {re, im}.
---@return table|number|boolean
function Tensor:tolist() end

---With another dtype, on another device, or both: to(dtype), to(device), to(device, dtype), to(other), to{…}.
---@param target lunagrad.DType|string|Tensor|lunagrad.Options
---@param dtype? lunagrad.DType
---@return Tensor
function Tensor:to(target, dtype) end

---@return Tensor
function Tensor:cpu() end
---@return Tensor
function Tensor:float() end
---@return Tensor
function Tensor:double() end
---@return Tensor
function Tensor:half() end
---@return Tensor
function Tensor:bfloat16() end
---@return Tensor
function Tensor:long() end
---@return Tensor
function Tensor:int() end
---@return Tensor
function Tensor:byte() end
---@return Tensor
function Tensor:bool() end

---Overwrites the elements; the source broadcasts and is cast.
---@param source Tensor|number
---@return Tensor self
function Tensor:copy_(source) end
---@param value Tensor|number
---@return Tensor self
function Tensor:fill_(value) end
---@return Tensor self
function Tensor:zero_() end

---Positions first to last of one dim, both included.
---@param dim integer
---@param first? integer
---@param last? integer
---@param step? integer
---@return Tensor
function Tensor:slice(dim, first, last, step) end

---Pieces of one length, the last one perhaps shorter, or of the lengths given.
---@param lengths integer|integer[]
---@param dim? integer
---@return Tensor[]
function Tensor:split(lengths, dim) end
---At most `count` pieces of equal length, the last one perhaps shorter.
---@param count integer
---@param dim? integer
---@return Tensor[]
function Tensor:chunk(count, dim) end
---Exactly `count` pieces, or cuts before the offsets given.
---@param count integer|integer[]
---@param dim? integer
---@return Tensor[]
function Tensor:tensor_split(count, dim) end
---The slices of one dim.
---@param dim? integer
---@return Tensor[]
function Tensor:unbind(dim) end
---Whether shape and elements are the same.
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

---Adds the gradient of this tensor to `.grad` of every leaf that it depends on.
---@param seed? Tensor the gradient of this tensor; 1 for a scalar
---@param options? {retain_graph: boolean?, create_graph: boolean?}
function Tensor:backward(seed, options) end
---@param on? boolean
---@return Tensor self
function Tensor:requires_grad_(on) end
---The same elements without a history.
---@return Tensor
function Tensor:detach() end
---@return Tensor self
function Tensor:detach_() end
---What backward() would compute, as a value: the gradient of every recorded tensor; `.grad` is left alone.
---@param seed? Tensor of this tensor's shape; a scalar's is 1
---@param options? {retain_graph: boolean?, create_graph: boolean?}
---@return lunagrad.GradStore
function Tensor:gradients(seed, options) end
---Keeps `.grad` of a tensor that is no leaf.
function Tensor:retain_grad() end
---Calls fn with the gradient of this tensor; what it returns takes the gradient's place.
---@param fn fun(gradient: Tensor): Tensor?
---@return {remove: fun(self)}
function Tensor:register_hook(fn) end

---@class lunagrad
local lg = {}

---A tensor of a number, a boolean, or tables of them: i64 when all are integers, else f32.
---@param value number|boolean|table|Tensor
---@param options? lunagrad.Options
---@return Tensor
function lg.tensor(value, options) end
---@param value any
---@return boolean
function lg.is_tensor(value) end

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
---@return {seed: integer, stream: integer}
function lg.get_rng_state() end
---@param state {seed: integer, stream: integer}
function lg.set_rng_state(state) end

---Where new tensors are made.
---@return string
function lg.device() end
---@param device string
function lg.set_device(device) end
---How exactly f32 matrix products are computed.
---@return "highest"|"high"|"medium"
function lg.matmul_precision() end
---Below "highest" a GPU's matrix units may multiply: "high" splits each element into two numbers of bfloat16 and leaves an
---error of about 2^-17 of |A| |B|, "medium" rounds to one and leaves 2^-8. Sums are f32; infinite elements give NaN where
---f32 arithmetic may not. The CPU, and a GPU without such units, computes all three in f32.
---@param precision "highest"|"high"|"medium"
function lg.set_matmul_precision(precision) end
---@return {name: string, description: string}[]
function lg.devices() end

---Waits until the default device has done its work.
function lg.synchronize() end
---Seconds of a steady clock.
---@return number
function lg.clock() end

---Runs fn without the tape and returns its results; without fn, until the returned value is closed.
---@param fn? function
---@return any ...
function lg.no_grad(fn, ...) end
---The same with the tape.
---@param fn? function
---@return any ...
function lg.enable_grad(fn, ...) end
---@return boolean
function lg.is_grad_enabled() end

---Runs fn without keeping its tape; backward runs it again, with the random state restored. Returns fn's results.
---@param fn fun(...): any
---@return any ...
function lg.checkpoint(fn, ...) end
---Runs x through the layers in so many segments, each a checkpoint but the last.
---@param list (fun(...): any)[]|lunagrad.nn.Module
---@param segments integer
---@return any ...
function lg.checkpoint_sequential(list, segments, ...) end

---What a custom op hands from its forward to its backward; other fields may be set freely.
---@class lunagrad.CustomContext
---@field needs_input_grad boolean[] of each argument
local CustomContext = {}
---Keeps tensors for backward; one that is changed in place before is an error there.
---@param ... Tensor
function CustomContext:save(...) end
---@return Tensor ...
function CustomContext:saved() end
---An op of the script's own: backward gets the gradients of the results and returns one for each argument, nil for none.
---@param op {name: string, forward: (fun(ctx: lunagrad.CustomContext, ...): Tensor), backward: (fun(ctx: lunagrad.CustomContext, ...): Tensor?)}
---@return fun(...): Tensor
function lg.custom_op(op) end

---An op whose forward pass is a compute shader, and on the CPU the function cpu. In the GLSL x(i), x_count() and x_size(d)
---are what is known of the input or output x; each(i, n) shares 0 … n-1 among the threads.
---@param op {name: string, glsl: string, inputs: string[], outputs: string[]?, params: string[]?, shape: (fun(...): integer[]...)?, dtype: lunagrad.DType|lunagrad.DType[]|nil, threads: integer|integer[]|nil, groups: (fun(...): integer...)?, cpu: (fun(...): Tensor...)?, backward: (fun(ctx: lunagrad.CustomContext, ...): Tensor?...)?}
---@return fun(...): Tensor
function lg.kernel(op) end

---Runs fn with products in the half type and sums in f32; without fn, until the returned value is closed; false switches
---it off inside.
---@param dtype "bf16"|"f16"|false
---@param fn? function
---@return any ...
function lg.autocast(dtype, fn, ...) end
---@return boolean
function lg.is_autocast_enabled() end
---@return lunagrad.DType? nil outside of autocast
function lg.get_autocast_dtype() end
---How closely NaN and Inf are looked for: not, at each step, or after each op (true).
---@param guard "off"|"step"|"op"|boolean
function lg.set_detect_anomaly(guard) end

---Gradients of tensors, as a value; `g[x]` is `g:get(x)`.
---@class lunagrad.GradStore
---@field [Tensor] Tensor
local GradStore = {}
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

---Gradients as values: a Tensor for a Tensor, a table for a table.
---@class lunagrad.Grad
---@overload fun(outputs: Tensor|Tensor[], inputs: Tensor|Tensor[], options?: {grad_outputs: Tensor|Tensor[]?, retain_graph: boolean?, create_graph: boolean?, allow_unused: boolean?}): Tensor|Tensor[]
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
---The same for the second order.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {eps: number?, tolerance: number?}
---@return boolean ok, string? message
function lg.grad.checkgrad2(fn, inputs, options) end
---Vector times Jacobian. v is shaped like fn's results; it may be left out of a scalar.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v? Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|Tensor[] outputs, Tensor|Tensor[] product
function lg.grad.vjp(fn, inputs, v, options) end
---Jacobian times vector. v is shaped like the inputs.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|Tensor[] outputs, Tensor|Tensor[] product
function lg.grad.jvp(fn, inputs, v, options) end
---Hessian of a scalar function times vector.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param v Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor output, Tensor|Tensor[] product
function lg.grad.hvp(fn, inputs, v, options) end
---The derivative of every element of the result by every element of the input: result's shape, then the input's.
---@param fn fun(...: Tensor): Tensor
---@param inputs Tensor|Tensor[]
---@param options? {create_graph: boolean?, strict: boolean?}
---@return Tensor|table
function lg.grad.jacobian(fn, inputs, options) end
---The second derivatives of a scalar function.
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

---The nodes that a tensor was made by, newest first.
---@param root Tensor
---@return lunagrad.Tape
function lg.tape(root) end

return lg
