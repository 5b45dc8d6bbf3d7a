---@meta
-- The functions and methods of lua/lunagrad/tensor.lua and special.lua, for editors.

---@class Tensor
local Tensor = {}

---A tensor from numbers, with the dtype and device of this tensor.
---@param value number|boolean|table|Tensor
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_tensor(value, options) end
---A tensor of one value, with the dtype and device of this tensor.
---@param size integer[]
---@param value number
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_full(size, value, options) end
---Uninitialised elements, with the dtype and device of this tensor.
---@param size integer|integer[]
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_empty(size, options) end
---Zeros, with the dtype and device of this tensor.
---@param size integer|integer[]
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_zeros(size, options) end
---Ones, with the dtype and device of this tensor.
---@param size integer|integer[]
---@param options? lunagrad.Options
---@return Tensor
function Tensor:new_ones(size, options) end
---This tensor with the dtype and device of another.
---@param other Tensor
---@return Tensor
function Tensor:type_as(other) end
---The number of elements; `numel`.
---@return integer
function Tensor:nelement() end
---The number of dims; `dim`.
---@return integer
function Tensor:ndimension() end
---The bytes of one element.
---@return integer
function Tensor:element_size() end
---Whether the dtype is f16, bf16, f32 or f64.
---@return boolean
function Tensor:is_floating_point() end
---Whether the dtype is c64 or c128.
---@return boolean
function Tensor:is_complex() end

---Uniform random numbers in [from, to).
---Defaults: from = 0, to = 1.
---@param from? number default 0
---@param to? number default 1
---@return Tensor self
function Tensor:uniform_(from, to) end
---Normal random numbers.
---Defaults: mean = 0, std = 1.
---@param mean? number default 0
---@param std? number default 1
---@return Tensor self
function Tensor:normal_(mean, std) end
---exp of normal random numbers.
---Defaults: mean = 1, std = 2.
---@param mean? number default 1
---@param std? number default 2
---@return Tensor self
function Tensor:log_normal_(mean, std) end
---Cauchy random numbers.
---Defaults: median = 0, sigma = 1.
---@param median? number default 0
---@param sigma? number default 1
---@return Tensor self
function Tensor:cauchy_(median, sigma) end
---Exponential random numbers of rate lambd.
---Defaults: lambd = 1.
---@param lambd? number default 1
---@return Tensor self
function Tensor:exponential_(lambd) end
---The number of trials up to the first success of probability p, from 1.
---@param p number
---@return Tensor self
function Tensor:geometric_(p) end
---Random integers: from `from` up to but not including `to`; from 0 if one number is given; without numbers all
---integers that the dtype holds exactly.
---@param from? integer
---@param to? integer
---@return Tensor self
function Tensor:random_(from, to) end
---Writes 1 with probability p, else 0; p is a number or a tensor that broadcasts.
---@param p? number|Tensor default 0.5
---@return Tensor self
function Tensor:bernoulli_(p) end
---Writes one value on the main diagonal; with wrap the diagonal starts again below the end of a tall matrix.
---@param value number
---@param wrap? boolean
---@return Tensor self
function Tensor:fill_diagonal_(value, wrap) end

---Splits the columns, or a vector, into equal pieces or before offsets.
---@param pieces integer|integer[]
---@return Tensor[]
function Tensor:hsplit(pieces) end
---Splits the rows into equal pieces or before offsets.
---@param pieces integer|integer[]
---@return Tensor[]
function Tensor:vsplit(pieces) end
---Splits dim 3 into equal pieces or before offsets.
---@param pieces integer|integer[]
---@return Tensor[]
function Tensor:dsplit(pieces) end
---The numbers of elements in bins, or sums of their weights, and the edges of the bins.
---Defaults: density = false.
---@param bins integer|Tensor a number of bins of equal width, or their edges
---@param options? {range: number[]?, weight: Tensor?, density: boolean?}
---@return Tensor counts, Tensor edges
function Tensor:histogram(bins, options) end

---@class lunagrad
local lg = {}

---An uninitialised tensor with the shape, dtype and device of another.
---@param input Tensor
---@param options? lunagrad.Options
---@return Tensor
function lg.empty_like(input, options) end
---The tensor itself if it has this dtype and device, else a converted copy; for numbers a new tensor.
---@param value number|boolean|table|Tensor
---@param options? lunagrad.Options
---@return Tensor
function lg.as_tensor(value, options) end

---The same as lg.as_tensor.
---@param value number|boolean|table|Tensor
---@param options? {dtype?: string, device?: string, requires_grad?: boolean}
---@return Tensor
function lg.asarray(value, options) end
---Normal random numbers. With two numbers a size is needed; tensors give the mean and std of each element.
---@param mean number|Tensor
---@param std? number|Tensor default 1
---@param size? integer[]
---@param options? lunagrad.Options
---@return Tensor
function lg.normal(mean, std, size, options) end
---Whether the dtype is f16, bf16, f32 or f64.
---@param input Tensor
---@return boolean
function lg.is_floating_point(input) end
---Whether the dtype is c64 or c128.
---@param input Tensor
---@return boolean
function lg.is_complex(input) end
---The tensors expanded to their common shape.
---@param ... Tensor
---@return Tensor ...
function lg.broadcast_tensors(...) end
lg.hsplit = Tensor.hsplit
lg.vsplit = Tensor.vsplit
lg.dsplit = Tensor.dsplit
lg.histogram = Tensor.histogram

---The names of torch.special, such as `lg.special.expit`, for functions of lg.
---@class lunagrad.special
lg.special = {}
lg.special.expit = lg.sigmoid
lg.special.psi = lg.digamma
lg.special.gammaln = lg.lgamma
lg.special.multigammaln = lg.mvlgamma
lg.special.digamma = lg.digamma
lg.special.entr = lg.entr
lg.special.erf = lg.erf
lg.special.erfc = lg.erfc
lg.special.erfcx = lg.erfcx
lg.special.erfinv = lg.erfinv
lg.special.exp2 = lg.exp2
lg.special.expm1 = lg.expm1
lg.special.i0 = lg.i0
lg.special.i0e = lg.i0e
lg.special.i1 = lg.i1
lg.special.i1e = lg.i1e
lg.special.log1p = lg.log1p
lg.special.log_ndtr = lg.log_ndtr
lg.special.log_softmax = lg.log_softmax
lg.special.logit = lg.logit
lg.special.logsumexp = lg.logsumexp
lg.special.ndtr = lg.ndtr
lg.special.ndtri = lg.ndtri
lg.special.polygamma = lg.polygamma
lg.special.round = lg.round
lg.special.sinc = lg.sinc
lg.special.softmax = lg.softmax
lg.special.xlog1py = lg.xlog1py
lg.special.xlogy = lg.xlogy
lg.special.zeta = lg.zeta

return lg
