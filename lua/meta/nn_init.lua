---@meta
-- lg.nn.init for editors: initial values of parameters.

---Initializers. They write in place and return the tensor. Arguments after the tensor may be given by name: {std =
---0.02}.
---@class lunagrad.nn.init
local init = {}

---The fan-in and fan-out of a weight.
---@param tensor Tensor
---@return integer fan_in
---@return integer fan_out
function init.fans(tensor) end

---Uniform numbers from a to b.
---@param tensor Tensor
---@param a? number default 0
---@param b? number default 1
---@return Tensor
function init.uniform_(tensor, a, b) end
---Normal numbers.
---@param tensor Tensor
---@param mean? number default 0
---@param std? number default 1
---@return Tensor
function init.normal_(tensor, mean, std) end
---One value everywhere.
---@param tensor Tensor
---@param val number
---@return Tensor
function init.constant_(tensor, val) end
---Zeros.
---@param tensor Tensor
---@return Tensor
function init.zeros_(tensor) end
---Ones.
---@param tensor Tensor
---@return Tensor
function init.ones_(tensor) end
---Normal numbers between a and b.
---@param tensor Tensor
---@param mean? number default 0
---@param std? number default 1
---@param a? number default -2
---@param b? number default 2
---@return Tensor
function init.trunc_normal_(tensor, mean, std, a, b) end
---Orthonormal rows or columns, whichever are fewer, times gain.
---@param tensor Tensor
---@param gain? number default 1
---@return Tensor
function init.orthogonal_(tensor, gain) end
---The identity matrix.
---@param tensor Tensor
---@return Tensor
function init.eye_(tensor) end
---The weight of a convolution that copies its first channels.
---@param tensor Tensor
---@param groups? integer default 1
---@return Tensor
function init.dirac_(tensor, groups) end
---Normal numbers; in each column a share `sparsity` is zero.
---@param tensor Tensor
---@param sparsity number
---@param std? number default 0.01
---@return Tensor
function init.sparse_(tensor, sparsity, std) end
---Glorot initialization from a uniform distribution.
---@param tensor Tensor
---@param gain? number default 1
---@return Tensor
function init.xavier_uniform_(tensor, gain) end
---Glorot initialization from a normal distribution.
---@param tensor Tensor
---@param gain? number default 1
---@return Tensor
function init.xavier_normal_(tensor, gain) end
---He initialization from a uniform distribution.
---@param tensor Tensor
---@param a? number default 0
---@param mode? "fan_in"|"fan_out"
---@param nonlinearity? string default "leaky_relu"
---@return Tensor
function init.kaiming_uniform_(tensor, a, mode, nonlinearity) end
---He initialization from a normal distribution.
---@param tensor Tensor
---@param a? number default 0
---@param mode? "fan_in"|"fan_out"
---@param nonlinearity? string default "leaky_relu"
---@return Tensor
function init.kaiming_normal_(tensor, a, mode, nonlinearity) end
---The recommended gain for a nonlinearity.
---@param nonlinearity string
---@param slope? number
---@return number
function init.calculate_gain(nonlinearity, slope) end
