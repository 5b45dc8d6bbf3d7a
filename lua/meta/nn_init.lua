---@meta
-- lg.nn.init and lg.nn.utils for editors: what is done to parameters and to gradients.

---Starting values, written in place; each returns the tensor.
---@class lunagrad.nn.init
local init = {}

---The numbers of inputs and outputs of one element of a weight.
---@param tensor Tensor
---@return integer fan_in
---@return integer fan_out
function init.fans(tensor) end

---@param tensor Tensor
---@param low? number default 0
---@param high? number default 1
---@return Tensor
function init.uniform_(tensor, low, high) end
---@param tensor Tensor
---@param mean? number default 0
---@param std? number default 1
---@return Tensor
function init.normal_(tensor, mean, std) end
---@param tensor Tensor
---@param value number
---@return Tensor
function init.constant_(tensor, value) end
---@param tensor Tensor
---@return Tensor
function init.zeros_(tensor) end
---@param tensor Tensor
---@return Tensor
function init.ones_(tensor) end
---@param tensor Tensor
---@param gain? number default 1
---@return Tensor
function init.xavier_uniform_(tensor, gain) end
---@param tensor Tensor
---@param gain? number default 1
---@return Tensor
function init.xavier_normal_(tensor, gain) end
---@param tensor Tensor
---@param a? number default 0
---@param mode? "fan_in"|"fan_out"
---@param nonlinearity? string default "leaky_relu"
---@return Tensor
function init.kaiming_uniform_(tensor, a, mode, nonlinearity) end
---@param tensor Tensor
---@param a? number default 0
---@param mode? "fan_in"|"fan_out"
---@param nonlinearity? string default "leaky_relu"
---@return Tensor
function init.kaiming_normal_(tensor, a, mode, nonlinearity) end
---@param nonlinearity string
---@param slope? number
---@return number
function init.calculate_gain(nonlinearity, slope) end

---@class lunagrad.nn.utils
local utils = {}

---Scales the gradients so that together they have at most the norm max_norm; returns the norm before.
---@param parameters Tensor|Tensor[]
---@param max_norm number
---@param norm_type? number default 2
---@return Tensor
function utils.clip_grad_norm_(parameters, max_norm, norm_type) end

---Clamps every element of the gradients to [-limit, limit].
---@param parameters Tensor|Tensor[]
---@param limit number
function utils.clip_grad_value_(parameters, limit) end

---All parameters one after the other, as one vector.
---@param parameters Tensor|Tensor[]
---@return Tensor
function utils.parameters_to_vector(parameters) end

---Writes the elements of a vector into the parameters.
---@param vector Tensor
---@param parameters Tensor|Tensor[]
function utils.vector_to_parameters(vector, parameters) end
