---@meta
-- The functions and methods of lua/lunagrad/functions, for editors.

---@class Tensor
local Tensor = {}
---@class lunagrad
local lg = {}

-- --- copies of views ---

---A copy of the tensor in memory of its own, as clone.
---@param input Tensor
---@return Tensor
function lg.alias_copy(input) end

---As x:detach(), but the result is a copy in memory of its own.
---@param input Tensor
---@return Tensor
function lg.detach_copy(input) end

---As as_strided, but the result is a copy in memory of its own.
---@param input Tensor
---@param size integer[]
---@param stride integer[]
---@param storage_offset? integer
---@return Tensor
function lg.as_strided_copy(input, size, stride, storage_offset) end

---As diagonal, but the result is a copy in memory of its own.
---@param input Tensor
---@param offset? integer
---@param dim1? integer
---@param dim2? integer
---@return Tensor
function lg.diagonal_copy(input, offset, dim1, dim2) end

---As expand, but the result is a copy in memory of its own.
---@param input Tensor
---@param size integer[]
---@return Tensor
function lg.expand_copy(input, size) end

---As narrow, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim integer
---@param start integer
---@param length integer
---@return Tensor
function lg.narrow_copy(input, dim, start, length) end

Tensor.narrow_copy = lg.narrow_copy

---As permute, but the result is a copy in memory of its own.
---@param input Tensor
---@param dims integer[]
---@return Tensor
function lg.permute_copy(input, dims) end

---As select, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim integer
---@param index integer
---@return Tensor
function lg.select_copy(input, dim, index) end

---As slice, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim integer
---@param first integer
---@param last integer
---@param step? integer
---@return Tensor
function lg.slice_copy(input, dim, first, last, step) end

---As squeeze, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim? integer|integer[]
---@return Tensor
function lg.squeeze_copy(input, dim) end

---As t, but the result is a copy in memory of its own.
---@param input Tensor
---@return Tensor
function lg.t_copy(input) end

---As transpose, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim0 integer
---@param dim1 integer
---@return Tensor
function lg.transpose_copy(input, dim0, dim1) end

---As unfold, but the result is a copy in memory of its own.
---@param input Tensor
---@param dimension integer
---@param size integer
---@param step integer
---@return Tensor
function lg.unfold_copy(input, dimension, size, step) end

---As unsqueeze, but the result is a copy in memory of its own.
---@param input Tensor
---@param dim integer
---@return Tensor
function lg.unsqueeze_copy(input, dim) end

---As view, but the result is a copy in memory of its own.
---@param input Tensor
---@param shape integer[]
---@return Tensor
function lg.view_copy(input, shape) end

---As view_as_complex, but the result is a copy in memory of its own.
---@param input Tensor
---@return Tensor
function lg.view_as_complex_copy(input) end

---As view_as_real, but the result is a copy in memory of its own.
---@param input Tensor
---@return Tensor
function lg.view_as_real_copy(input) end

---Copies of the parts of split.
---@param input Tensor
---@param lengths integer|integer[]
---@param dim? integer
---@return Tensor[]
function lg.split_copy(input, lengths, dim) end

---Copies of the parts of split with these lengths.
---@param input Tensor
---@param lengths integer[]
---@param dim? integer
---@return Tensor[]
function lg.split_with_sizes_copy(input, lengths, dim) end

---Copies of the parts of unbind.
---@param input Tensor
---@param dim? integer
---@return Tensor[]
function lg.unbind_copy(input, dim) end

-- --- further names ---

---The same as lg.chunk.
---@param input Tensor
---@param count integer
---@param dim? integer
---@return Tensor[]
function lg.unsafe_chunk(input, count, dim) end

Tensor.unsafe_chunk = lg.unsafe_chunk

---The same as lg.split.
---@param input Tensor
---@param lengths integer|integer[]
---@param dim? integer
---@return Tensor[]
function lg.unsafe_split(input, lengths, dim) end

Tensor.unsafe_split = lg.unsafe_split

---The same as lg.no_grad.
---@param fn? function
---@param ... any
---@return any
function lg.inference_mode(fn, ...) end

---The same as lg.device.
---@return string
function lg.get_default_device() end

---The same as lg.set_device.
---@param device string
function lg.set_default_device(device) end

---The same as lg.matmul_precision.
---@return "highest"|"high"|"medium"
function lg.get_float32_matmul_precision() end

---The same as lg.set_matmul_precision.
---@param precision "highest"|"high"|"medium"
function lg.set_float32_matmul_precision(precision) end

---x:celu_(alpha): in place.
---@param input Tensor
---@param alpha? number
---@return Tensor input
function lg.celu_(input, alpha) end

---x:relu_(): in place.
---@param input Tensor
---@return Tensor input
function lg.relu_(input) end

---x:rrelu_(lower, upper, training): in place.
---@param input Tensor
---@param lower? number
---@param upper? number
---@param training? boolean
---@return Tensor input
function lg.rrelu_(input, lower, upper, training) end

---x:selu_(): in place.
---@param input Tensor
---@return Tensor input
function lg.selu_(input) end

---x:threshold_(threshold, value): in place.
---@param input Tensor
---@param threshold number
---@param value number
---@return Tensor input
function lg.threshold_(input, threshold, value) end

-- --- types ---

---The limits of a floating-point dtype: bits, eps, max, min, tiny, smallest_normal, resolution, dtype.
---@param dtype? lunagrad.DType
---@return table
function lg.finfo(dtype) end

---The limits of an integer dtype: bits, max, min, dtype.
---@param dtype lunagrad.DType
---@return table
function lg.iinfo(dtype) end

---The dtype of an op's result for operands of these dtypes.
---@param type1 lunagrad.DType
---@param type2 lunagrad.DType
---@return lunagrad.DType
function lg.promote_types(type1, type2) end

---The dtype of an op's result for these operands: tensors with dims take precedence over tensors without dims, and
---these over numbers.
---@param a Tensor|number|boolean
---@param b Tensor|number|boolean
---@return lunagrad.DType
function lg.result_type(a, b) end

---Whether a result of one dtype may be written into a tensor of another.
---@param from lunagrad.DType
---@param to lunagrad.DType
---@return boolean
function lg.can_cast(from, to) end

---The type of floating-point tensors that are made without a dtype: "f32" until lg.set_default_dtype sets it.
---@return lunagrad.DType
function lg.get_default_dtype() end

---Sets the type of floating-point tensors, of layers too, that are made without a dtype, for the rest of the script.
---@param dtype lunagrad.DType
function lg.set_default_dtype(dtype) end

---The number of elements.
---@param input Tensor
---@return integer
function lg.numel(input) end

---Whether the only element is not 0.
---@param input Tensor
---@return boolean
function lg.is_nonzero(input) end

---false: conjugates are computed immediately.
---@param input Tensor
---@return boolean
function lg.is_conj(input) end

Tensor.is_conj = lg.is_conj

---The tensor itself: conjugates are computed immediately.
---@param input Tensor
---@return Tensor
function lg.resolve_conj(input) end

Tensor.resolve_conj = lg.resolve_conj

---The tensor itself: negatives are computed immediately.
---@param input Tensor
---@return Tensor
function lg.resolve_neg(input) end

Tensor.resolve_neg = lg.resolve_neg

---false: negatives are computed immediately.
---@return boolean
function Tensor:is_neg() end

---Whether the dtype has negative numbers.
---@return boolean
function Tensor:is_signed() end

---The tensor itself: all tensors are dense.
---@return Tensor
function Tensor:to_dense() end

---The tensor as c64.
---@return Tensor
function Tensor:cfloat() end

---The tensor as c128.
---@return Tensor
function Tensor:cdouble() end

---The dtype, or the tensor in another dtype.
---@param dtype? lunagrad.DType
---@return lunagrad.DType|Tensor
function Tensor:type(dtype) end

-- --- shapes ---

---A view of the memory of input with this size and stride, from its first element or from element storage_offset of its storage,
---counted from 0. A gradient needs a contiguous input.
---@param input Tensor
---@param size integer[]
---@param stride integer[]
---@param storage_offset? integer
---@return Tensor
function lg.as_strided(input, size, stride, storage_offset) end

Tensor.as_strided = lg.as_strided

---Makes the tensor itself the view of as_strided.
---@param size integer[]
---@param stride integer[]
---@param storage_offset? integer
---@return Tensor self
function Tensor:as_strided_(size, stride, storage_offset) end

---The shape that tensors of these sizes broadcast to.
---@param ... integer|integer[]
---@return integer[]
function lg.broadcast_shapes(...) end

---A new tensor with these strides; its elements are uninitialised.
---@param size integer[]
---@param stride integer[]
---@param options? lunagrad.Options
---@return Tensor
function lg.empty_strided(size, stride, options) end

---The same as lg.empty_strided, with the dtype and device of this tensor.
---@param size integer[]
---@param stride integer[]
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_empty_strided(size, stride, options) end

---A new tensor whose dims lie in memory in the order of physical_layout, the outermost first; its elements are uninitialised.
---@param size integer[]
---@param physical_layout integer[]
---@param options? lunagrad.Options
---@return Tensor
function lg.empty_permuted(size, physical_layout, options) end

---The coordinates of positions (from 0) of a flattened tensor of this shape, a tensor for each dim.
---@param indices Tensor
---@param shape integer|integer[]
---@return Tensor ...
function lg.unravel_index(indices, shape) end

---The sums over the dims that broadcasting from this size adds or repeats.
---@param ... integer|integer[]
---@return Tensor
function Tensor:sum_to_size(...) end

---nonzero in `size` rows: extra rows are left out, missing rows are filled with fill_value.
---@param size integer
---@param fill_value? integer default -1
---@return Tensor
function Tensor:nonzero_static(size, fill_value) end

---The position of the first element in the storage, from 0.
---@return integer
function Tensor:storage_offset() end

-- --- matrices ---

---The conjugate transpose of the last two dims: x.mH.
---@param input Tensor
---@return Tensor
function lg.adjoint(input) end

Tensor.adjoint = lg.adjoint

---The packed LU factors and their pivots; with get_infos also the numbers of the first pivots that are 0.
---@param A Tensor
---@param pivot? boolean
---@param get_infos? boolean
---@param options? {pivot?: boolean, get_infos?: boolean}
---@return Tensor LU
---@return Tensor pivots
---@return Tensor? infos
function lg.lu(A, pivot, get_infos, options) end

Tensor.lu = lg.lu

---U, S and V of the q largest singular values of A, or of A - M, by random projections with niter power iterations.
---@param A Tensor
---@param q? integer default 6
---@param niter? integer default 2
---@param M? Tensor
---@param options? {q?: integer, niter?: integer, M?: Tensor}
---@return Tensor U
---@return Tensor S
---@return Tensor V
function lg.svd_lowrank(A, q, niter, M, options) end

---svd_lowrank of A with centred columns; V has the principal directions.
---@param A Tensor
---@param q? integer default 6
---@param center? boolean default true
---@param niter? integer default 2
---@param options? {q?: integer, center?: boolean, niter?: integer}
---@return Tensor U
---@return Tensor S
---@return Tensor V
function lg.pca_lowrank(A, q, center, niter, options) end

-- --- control flow ---

---Calls true_fn or false_fn with the operands and returns its results.
---@param pred boolean|Tensor
---@param true_fn function
---@param false_fn function
---@param operands? any[]
---@return any
function lg.cond(pred, true_fn, false_fn, operands) end

---Calls body_fn with the carried values as long as cond_fn of the values is true. body_fn returns the next values.
---@param cond_fn fun(...): boolean|Tensor
---@param body_fn function
---@param carried any[]
---@return any
function lg.while_loop(cond_fn, body_fn, carried) end

---The same as lg.func.vmap.
---@param func function
---@param in_dims? integer|table
---@param out_dims? integer|table
---@param randomness? "error"|"different"|"same"
---@param options? table
---@return function
function lg.vmap(func, in_dims, out_dims, randomness, options) end

---Replaces every element by f(element), with a function in Lua.
---@param f fun(value: number): number
---@return Tensor self
function Tensor:apply_(f) end

---Replaces every element a by f(a, b), with the element b of other, which broadcasts.
---@param other Tensor
---@param f fun(a: number, b: number): number
---@return Tensor self
function Tensor:map_(other, f) end

-- --- numbers ---

---Random integers from low up to but not including high, with the shape, dtype and device of another tensor; randint_like(x, high)
---begins at 0.
---@param input Tensor
---@param low integer
---@param high? integer
---@param options? lunagrad.Options
---@return Tensor
function lg.randint_like(input, low, high, options) end

---Numbers from start to last (by name `end`), both included; range(n) begins at 0.
---@param start number
---@param last number
---@param step? number default 1
---@param options? lunagrad.Options
---@return Tensor
function lg.range(start, last, step, options) end

---Estimates of the derivative along each dim from samples. spacing: the distance of samples, a distance for each dim,
---or a tensor of coordinates for each dim; edge_order: the order of the formula at the ends, 1 or 2.
---@param input Tensor
---@param spacing? number|table
---@param dim? integer|integer[]
---@param edge_order? integer
---@param options? {spacing?: number|table, dim?: integer|integer[], edge_order?: integer}
---@return Tensor[]
function lg.gradient(input, spacing, dim, edge_order, options) end

---Counts of the rows of input [n, variables] in boxes, or sums of their weights, and the edges of the bins of each variable.
---range has the lowest and the highest number of each variable.
---@param input Tensor
---@param bins integer|integer[]|Tensor[]
---@param options? {range: number[]?, weight: Tensor?, density: boolean?}
---@return Tensor hist
---@return Tensor[] edges
function lg.histogramdd(input, bins, options) end

---Rounds input to the numbers (q - zero_point) scale with q from quant_min to quant_max. The gradient passes where
---input lies in this range.
---@param input Tensor
---@param scale number|Tensor
---@param zero_point integer|Tensor
---@param quant_min integer
---@param quant_max integer
---@return Tensor
function lg.fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max) end

---fake_quantize_per_tensor_affine with a scale and a zero point for each position of dim axis.
---@param input Tensor
---@param scale Tensor
---@param zero_point Tensor
---@param axis integer
---@param quant_min integer
---@param quant_max integer
---@return Tensor
function lg.fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max) end

-- --- settings ---

---How tostring writes tensors: digits, the elements above which a tensor is shortened, the positions shown at each end, the width
---of a line, and whether numbers have exponents. profile: "default", "short" or "full".
---@param options {precision?: integer, threshold?: number, edgeitems?: integer, linewidth?: integer, sci_mode?: boolean, profile?: string}
function lg.set_printoptions(options) end

---The seed of the random generator.
---@return integer
function lg.initial_seed() end

---Seeds the random generator with a number from the system, and returns it.
---@return integer
function lg.seed() end

---The number of CPU threads, including the script's.
---@return integer
function lg.get_num_threads() end

---Sets the number of CPU threads, 1 to 256, as `run --threads`.
---@param count integer
function lg.set_num_threads(count) end

return lg
