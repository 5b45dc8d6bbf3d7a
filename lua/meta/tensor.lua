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

---The element of a tensor that has just one.
---@return number|boolean
function Tensor:item() end

---The elements as nested tables.
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
---Devices that have shorter formats for matrix products may use them below "highest"; the CPU computes all three in f32.
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

---Gradients as values: a Tensor for a Tensor, a table for a table.
---@class lunagrad.Grad
---@overload fun(outputs: Tensor|Tensor[], inputs: Tensor|Tensor[], options?: {grad_outputs: Tensor|Tensor[]?, retain_graph: boolean?, create_graph: boolean?, allow_unused: boolean?}): Tensor|Tensor[]
lg.grad = {}
lg.grad.no_grad = lg.no_grad
lg.grad.enable = lg.enable_grad
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

---The nodes that a tensor was made by, newest first.
---@param root Tensor
---@return lunagrad.Tape
function lg.tape(root) end

return lg
