---@meta
-- lg.nn.utils for editors and for `help`; the code is in lua/lunagrad/nn.

---@class lunagrad.nn.utils
---@field rnn lunagrad.nn.utils.rnn
---@field parametrize lunagrad.nn.utils.parametrize
---@field parametrizations lunagrad.nn.utils.parametrizations
---@field prune lunagrad.nn.utils.prune
local utils = {}

---Scales the gradients so that their total norm is at most max_norm; returns the norm before clipping. With error_if_nonfinite a
---norm that is NaN or infinite is an error, and no gradient changes.
---Defaults: norm_type = 2, error_if_nonfinite = false.
---@param parameters Tensor|Tensor[]
---@param max_norm number
---@param norm_type? number default 2; math.huge takes the largest element
---@param error_if_nonfinite? boolean default false
---@return Tensor
function utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite) end
---Clamps every element of the gradients to [-limit, limit].
---@param parameters Tensor|Tensor[]
---@param limit number
function utils.clip_grad_value_(parameters, limit) end
---The norm of tensors, as one vector.
---Defaults: norm_type = 2, error_if_nonfinite = false.
---@param tensors Tensor|Tensor[]
---@param norm_type? number default 2
---@param error_if_nonfinite? boolean default false
---@return Tensor
function utils.get_total_norm(tensors, norm_type, error_if_nonfinite) end
---Scales the gradients by max_norm / norm if this is below 1: the second step of clip_grad_norm_.
---@param parameters Tensor|Tensor[]
---@param max_norm number
---@param norm Tensor
function utils.clip_grads_with_norm_(parameters, max_norm, norm) end
---Concatenates all parameters into one vector.
---@param parameters Tensor|Tensor[]
---@return Tensor
function utils.parameters_to_vector(parameters) end
---Writes the elements of a vector into the parameters.
---@param vector Tensor
---@param parameters Tensor|Tensor[]
function utils.vector_to_parameters(vector, parameters) end
---A deep copy of a module, or of a table of tensors: nothing is shared with the original.
---@param value any
---@return any
function utils.deepcopy(value) end
---Makes a module whose parameters are not initialized: utils.skip_init(nn.Linear, 3, 4).
---@param class table
---@param ... any
---@return lunagrad.nn.Module
function utils.skip_init(class, ...) end
---A convolution that computes, in evaluation, the same as conv and the batch norm behind it.
---@param conv lunagrad.nn.Module
---@param bn lunagrad.nn.Module
---@param transpose? boolean of a transposed convolution
---@return lunagrad.nn.Module
function utils.fuse_conv_bn_eval(conv, bn, transpose) end
---A linear layer that computes, in evaluation, the same as the layer and the batch norm behind it.
---@param linear lunagrad.nn.Module
---@param bn lunagrad.nn.Module
---@return lunagrad.nn.Module
function utils.fuse_linear_bn_eval(linear, bn) end
---Computes the weight from its lengths (weight_g) and directions (weight_v) before each forward.
---Defaults: name = "weight".
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@param dim? integer|false default 1; false: one length for all elements
---@return lunagrad.nn.Module
function utils.weight_norm(module, name, dim) end
---Makes a weight under weight_norm a plain parameter again.
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@return lunagrad.nn.Module
function utils.remove_weight_norm(module, name) end
---Divides the weight (weight_orig) by its largest singular value before each forward.
---Defaults: name = "weight", n_power_iterations = 1, eps = 1e-12.
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@param n_power_iterations? integer default 1
---@param eps? number default 1e-12
---@param dim? integer the dim of the outputs: 1, of transposed convolutions 2
---@return lunagrad.nn.Module
function utils.spectral_norm(module, name, n_power_iterations, eps, dim) end
---Makes a weight under spectral_norm a plain parameter again.
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@return lunagrad.nn.Module
function utils.remove_spectral_norm(module, name) end

---@class lunagrad.nn.PackedSequence
---@field data Tensor the elements, step by step
---@field batch_sizes Tensor i64: the number of sequences at each step
---@field sorted_indices? Tensor
---@field unsorted_indices? Tensor
local PackedSequence = {}

---@class lunagrad.nn.utils.rnn
local rnn = {}
utils.rnn = rnn

---Pads sequences [length, …] with padding_value to one tensor [T, N, …].
---Defaults: batch_first = false, padding_value = 0, padding_side = "right".
---@param sequences Tensor[]
---@param options? {batch_first?: boolean, padding_value?: number, padding_side?: "right"|"left"}
---@return Tensor
function rnn.pad_sequence(sequences, options) end
---The sequences of a padded tensor.
---Defaults: batch_first = false.
---@param padded_sequences Tensor
---@param lengths Tensor|integer[]
---@param batch_first? boolean
---@return Tensor[]
function rnn.unpad_sequence(padded_sequences, lengths, batch_first) end
---Packs a padded tensor [T, N, …] for a recurrent layer. The lengths must descend, unless enforce_sorted = false.
---Defaults: batch_first = false, enforce_sorted = true.
---@param input Tensor
---@param lengths Tensor|integer[]
---@param options? {batch_first?: boolean, enforce_sorted?: boolean}
---@return lunagrad.nn.PackedSequence
function rnn.pack_padded_sequence(input, lengths, options) end
---Packs sequences [length, …].
---Defaults: enforce_sorted = true.
---@param sequences Tensor[]
---@param options? {enforce_sorted?: boolean}
---@return lunagrad.nn.PackedSequence
function rnn.pack_sequence(sequences, options) end
---The padded tensor of a packed sequence, and the lengths.
---Defaults: batch_first = false, padding_value = 0.
---@param sequence lunagrad.nn.PackedSequence
---@param options? {batch_first?: boolean, padding_value?: number, total_length?: integer}
---@return Tensor
---@return Tensor lengths
function rnn.pad_packed_sequence(sequence, options) end
---The sequences of a packed sequence.
---@param sequence lunagrad.nn.PackedSequence
---@return Tensor[]
function rnn.unpack_sequence(sequence) end
---Whether a value is a packed sequence.
---@param value any
---@return boolean
function rnn.is_packed(value) end
---A packed sequence from its parts. pack_sequence and pack_padded_sequence make packed sequences.
---@param data Tensor
---@param batch_sizes Tensor
---@param sorted_indices? Tensor
---@param unsorted_indices? Tensor
---@return lunagrad.nn.PackedSequence
function rnn.PackedSequence(data, batch_sizes, sorted_indices, unsorted_indices) end

---@class lunagrad.nn.utils.parametrize
local parametrize = {}
utils.parametrize = parametrize

---Computes module[name] by parametrization(original) at each access. A right_inverse(value) of the parametrization
---returns the original, or a list of originals. Several parametrizations of one tensor are applied in order.
---@param module lunagrad.nn.Module
---@param name string
---@param parametrization lunagrad.nn.Module
---@param options? {unsafe?: boolean} unsafe: the shape and the type may change
---@return lunagrad.nn.Module
function parametrize.register_parametrization(module, name, parametrization, options) end
---Makes module[name] a plain tensor again, with its current value, or with leave_parametrized = false with its
---original.
---@param module lunagrad.nn.Module
---@param name string
---@param options? {leave_parametrized?: boolean}
---@return lunagrad.nn.Module
function parametrize.remove_parametrizations(module, name, options) end
---Whether a tensor of a module is parametrized; without a name, whether any is.
---@param module lunagrad.nn.Module
---@param name? string
---@return boolean
function parametrize.is_parametrized(module, name) end
---The class of a module without its parametrizations.
---@param module lunagrad.nn.Module
---@return table
function parametrize.type_before_parametrizations(module) end
---Computes each tensor only once inside fn, or until the end of the block of local _ <close> = parametrize.cached().
---@param fn? function
---@param ... any
---@return any
function parametrize.cached(fn, ...) end

---@class lunagrad.nn.utils.parametrizations
local parametrizations = {}
utils.parametrizations = parametrizations

---The weight from its lengths (original0) and directions (original1).
---Defaults: name = "weight".
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@param dim? integer|false default 1
---@return lunagrad.nn.Module
function parametrizations.weight_norm(module, name, dim) end
---The weight divided by its largest singular value, found by power iteration.
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@param n_power_iterations? integer default 1
---@param eps? number default 1e-12
---@param dim? integer
---@return lunagrad.nn.Module
function parametrizations.spectral_norm(module, name, n_power_iterations, eps, dim) end
---A weight with orthonormal rows or columns, through the matrix exponential.
---Defaults: name = "weight", use_trivialization = true.
---@param module lunagrad.nn.Module
---@param name? string default "weight"
---@param orthogonal_map? "matrix_exp"
---@param use_trivialization? boolean always true
---@return lunagrad.nn.Module
function parametrizations.orthogonal(module, name, orthogonal_map, use_trivialization) end

---@class lunagrad.nn.utils.prune
local prune = {}
utils.prune = prune

---Zeroes the elements of least absolute value, or of least importance.
---@param module lunagrad.nn.Module
---@param name string
---@param amount number a count, or a share of the elements that remain
---@param importance_scores? Tensor
---@return lunagrad.nn.Module
function prune.l1_unstructured(module, name, amount, importance_scores) end
---Zeroes elements at random.
---@param module lunagrad.nn.Module
---@param name string
---@param amount number a count, or a share of the elements that remain
---@return lunagrad.nn.Module
function prune.random_unstructured(module, name, amount) end
---Zeroes the elements where the mask is 0.
---@param module lunagrad.nn.Module
---@param name string
---@param mask Tensor
---@return lunagrad.nn.Module
function prune.custom_from_mask(module, name, mask) end
---Adds a mask of ones.
---@param module lunagrad.nn.Module
---@param name string
---@return lunagrad.nn.Module
function prune.identity(module, name) end
---Whether a module, or one inside it, is pruned.
---@param module lunagrad.nn.Module
---@return boolean
function prune.is_pruned(module) end
---Makes the pruned tensor a plain parameter again.
---@param module lunagrad.nn.Module
---@param name string
---@return lunagrad.nn.Module
function prune.remove(module, name) end

return utils
