---@meta
-- lg.nn for editors, continued: layers with several similar forms, containers of parameters, and functions in Lua.

---@class lunagrad.nn
local nn = {}
---@class lunagrad.nn.functional
local functional = {}

---Transposed convolution over [N, C, D, H, W], the gradient of Conv3d: the output is larger by the stride.
---Defaults: stride = 1, padding = 0, output_padding = 0, groups = 1, bias = true, dilation = 1.
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.ConvTranspose3d(in_channels, out_channels, kernel_size, options) end

---Batch normalization of [N, C, D, H, W]. momentum = false averages the statistics of all batches.
---Defaults: eps = 1e-5, momentum = 0.1, affine = true, track_running_stats = true.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.BatchNorm3d(num_features, options) end

---Batch normalization of [N, C, …]. In one process it equals BatchNormNd; SyncBatchNorm.convert_sync_batchnorm(module)
---replaces every BatchNormNd of a module.
---Defaults: eps = 1e-5, momentum = 0.1, affine = true, track_running_stats = true.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.SyncBatchNorm(num_features, options) end

---Instance normalization of [N, C, L] or [C, L]. By default without parameters and running statistics.
---Defaults: eps = 1e-5, momentum = 0.1, affine = false, track_running_stats = false.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.InstanceNorm1d(num_features, options) end

---Instance normalization of [N, C, D, H, W] or [C, D, H, W]. By default without parameters and running statistics.
---Defaults: eps = 1e-5, momentum = 0.1, affine = false, track_running_stats = false.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.InstanceNorm3d(num_features, options) end

---Divides by a power of k plus alpha times the mean square of `size` neighbouring channels.
---Defaults: alpha = 0.0001, beta = 0.75, k = 1.
---@param size integer
---@param options? {alpha?: number, beta?: number, k?: number}
---@return lunagrad.nn.Module
function nn.LocalResponseNorm(size, options) end

---In training, zeroes each element with probability p. p may be a function or a handle of lg.run.live, read at each call.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Dropout(p, inplace) end

---In training, zeroes each channel of [N, C, L] or [C, L] with probability p.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Dropout1d(p, inplace) end

---In training, zeroes each channel of [N, C, H, W] with probability p.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Dropout2d(p, inplace) end

---In training, zeroes each channel of [N, C, D, H, W] or [C, D, H, W] with probability p.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Dropout3d(p, inplace) end

---Dropout for networks with SELU: mean and variance stay.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.AlphaDropout(p, inplace) end

---AlphaDropout of whole channels.
---Defaults: p = 0.5, inplace = false.
---@param p? number|fun(): number default 0.5
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.FeatureAlphaDropout(p, inplace) end

---Looks up a row of the weight for each id; ids count from 0. The row of padding_idx is zero at first and gets no gradient;
---rows longer than max_norm are shortened when they are used. Embedding.from_pretrained(weight, {freeze = true, …}) takes
---the weight.
---Defaults: norm_type = 2, scale_grad_by_freq = false, sparse = false.
---@param num_embeddings integer
---@param embedding_dim integer
---@param options? {padding_idx?: integer, max_norm?: number, norm_type?: number, scale_grad_by_freq?: boolean, sparse?: boolean, _weight?: Tensor, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Embedding(num_embeddings, embedding_dim, options) end

---The mean, sum or maximum of the rows of each bag of ids: bag(input, offsets, per_sample_weights); an input [bags,
---ids] has no offsets. EmbeddingBag.from_pretrained(weight, {freeze = true, …}) takes the weight.
---Defaults: norm_type = 2, scale_grad_by_freq = false, mode = "mean", sparse = false, include_last_offset = false.
---@param num_embeddings integer
---@param embedding_dim integer
---@param options? {max_norm?: number, norm_type?: number, scale_grad_by_freq?: boolean, mode?: "mean"|"sum"|"max", sparse?: boolean, _weight?: Tensor, include_last_offset?: boolean, padding_idx?: integer, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.EmbeddingBag(num_embeddings, embedding_dim, options) end

---Splits a dim into dims of the given sizes, one of which may be -1. Dims count from 1.
---@param dim integer
---@param unflattened_size integer[]
---@return lunagrad.nn.Module
function nn.Unflatten(dim, unflattened_size) end

---[.., C r^2, H, W] as [.., C, H r, W r].
---@param upscale_factor integer
---@return lunagrad.nn.Module
function nn.PixelShuffle(upscale_factor) end

---[.., C, H r, W r] as [.., C r^2, H, W].
---@param downscale_factor integer
---@return lunagrad.nn.Module
function nn.PixelUnshuffle(downscale_factor) end

---Transposes the channels of [N, C, …], seen as [groups, C / groups].
---@param groups integer
---@return lunagrad.nn.Module
function nn.ChannelShuffle(groups) end

---x where |x| is above lambd, else 0.
---Defaults: lambd = 0.5.
---@param lambd? number default 0.5
---@return lunagrad.nn.Module
function nn.Hardshrink(lambd) end

---x moved by lambd towards 0, and 0 where |x| is at most lambd.
---Defaults: lambd = 0.5.
---@param lambd? number default 0.5
---@return lunagrad.nn.Module
function nn.Softshrink(lambd) end

---x where positive, else a slope times x: drawn from lower to upper in training, else their mean.
---Defaults: lower = 0.125, upper = 0.333333.
---@param lower? number default 1/8
---@param upper? number default 1/3
---@return lunagrad.nn.Module
function nn.RReLU(lower, upper) end

---softmax over the channels of [N, C, H, W] or [C, H, W].
---@return lunagrad.nn.Module
function nn.Softmax2d() end

---A softmax over many classes in clusters: loss(input, target) returns the log-probabilities of the targets and the
---mean loss; methods log_prob(input) and predict(input).
---Defaults: div_value = 4, head_bias = false.
---@param in_features integer
---@param n_classes integer
---@param cutoffs integer[]
---@param options? {div_value?: number, head_bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, options) end

---The p-norm of x1 - x2 + eps along the last dim.
---Defaults: p = 2, eps = 1e-6, keepdim = false.
---@param options? {p?: number, eps?: number, keepdim?: boolean}
---@return lunagrad.nn.Module
function nn.PairwiseDistance(options) end

---TripletMarginLoss for a distance_function(a, b) of your own.
---Defaults: margin = 1, swap = false, reduction = "mean".
---@param options? {distance_function?: fun(a: Tensor, b: Tensor): Tensor, margin?: number, swap?: boolean, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.TripletMarginWithDistanceLoss(options) end

---The mean over the classes of max(0, margin - x[target] + x[class])^p.
---Defaults: p = 1, margin = 1, reduction = "mean".
---@param options? {p?: 1|2, margin?: number, weight?: Tensor, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MultiMarginLoss(options) end

---MultiMarginLoss for several classes: a row of the target [N, C] names them up to its first -1.
---Defaults: reduction = "mean".
---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MultiLabelMarginLoss(options) end

---A stack of copies of an encoder layer: encoder(src, {mask, src_key_padding_mask, is_causal})
---Defaults: is_causal = false.
---@param encoder_layer lunagrad.nn.Module
---@param num_layers integer
---@param options? {norm?: lunagrad.nn.Module, enable_nested_tensor?: boolean, mask_check?: boolean}
---@return lunagrad.nn.Module
function nn.TransformerEncoder(encoder_layer, num_layers, options) end

---A stack of copies of a decoder layer: decoder(tgt, memory, {tgt_mask, memory_mask, tgt_key_padding_mask,
---memory_key_padding_mask, tgt_is_causal, memory_is_causal})
---Defaults: tgt_is_causal = false, memory_is_causal = false.
---@param decoder_layer lunagrad.nn.Module
---@param num_layers integer
---@param options? {norm?: lunagrad.nn.Module}
---@return lunagrad.nn.Module
function nn.TransformerDecoder(decoder_layer, num_layers, options) end

---An encoder of a source and a decoder of a target: transformer(src, tgt, {src_mask, tgt_mask, memory_mask,
---src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask, src_is_causal, tgt_is_causal, memory_is_causal}).
---Transformer.generate_square_subsequent_mask(size) is the causal mask.
---Defaults: src_is_causal = false, tgt_is_causal = false, memory_is_causal = false.
---@param options? {d_model?: integer, nhead?: integer, num_encoder_layers?: integer, num_decoder_layers?: integer, dim_feedforward?: integer, dropout?: number, activation?: "relu"|"gelu"|function, custom_encoder?: lunagrad.nn.Module, custom_decoder?: lunagrad.nn.Module, layer_norm_eps?: number, batch_first?: boolean, norm_first?: boolean, bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Transformer(options) end

---Linear that learns in_features from its first input. Lazy layers have no parameters before their first input.
---@param out_features integer
---@param options? {bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyLinear(out_features, options) end

---Conv1d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConv1d(out_channels, kernel_size, options) end

---Conv2d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConv2d(out_channels, kernel_size, options) end

---Conv3d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConv3d(out_channels, kernel_size, options) end

---ConvTranspose1d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConvTranspose1d(out_channels, kernel_size, options) end

---ConvTranspose2d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConvTranspose2d(out_channels, kernel_size, options) end

---ConvTranspose3d that learns in_channels from its first input.
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyConvTranspose3d(out_channels, kernel_size, options) end

---BatchNorm1d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyBatchNorm1d(options) end

---BatchNorm2d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyBatchNorm2d(options) end

---BatchNorm3d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyBatchNorm3d(options) end

---InstanceNorm1d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyInstanceNorm1d(options) end

---InstanceNorm2d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyInstanceNorm2d(options) end

---InstanceNorm3d that learns num_features from its first input.
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LazyInstanceNorm3d(options) end

---A list of parameters "0", "1", …; other tensors become parameters. list[1] is the first. Methods append, extend and pop.
---@param ... Tensor|Tensor[]
---@return lunagrad.nn.Module
function nn.ParameterList(...) end

---Parameters by name, in the order of a list of pairs {name, tensor}, or sorted by name.
---@class lunagrad.nn.ParameterDict: lunagrad.nn.Module
local ParameterDict = {}
---Adds or replaces a parameter.
---@param name string
---@param value Tensor
---@return self
function ParameterDict:set(name, value) end
---Adds or replaces several parameters.
---@param parameters table
---@return self
function ParameterDict:update(parameters) end
---Whether there is a parameter of that name.
---@param name string
---@return boolean
function ParameterDict:contains(name) end
---The parameter of that name, else `default`.
---@param name string
---@param default? any
---@return any
function ParameterDict:get(name, default) end
---The names.
---@return string[]
function ParameterDict:keys() end
---The parameters.
---@return Tensor[]
function ParameterDict:values() end
---Iterates over names and parameters.
---@return fun(): string, Tensor
function ParameterDict:items() end
---Removes and returns a parameter.
---@param name string
---@return Tensor
function ParameterDict:pop(name) end
---Removes all parameters.
---@return self
function ParameterDict:clear() end

---A dictionary of parameters.
---@param parameters? table
---@return lunagrad.nn.ParameterDict
function nn.ParameterDict(parameters) end

---Resizes the spatial dims of [N, C, …] to size, or by scale_factor, a number or a list of numbers.
---Defaults: mode = "nearest", align_corners = false, recompute_scale_factor = false, antialias = false.
---@param input Tensor
---@param options {size?: integer|integer[], scale_factor?: number|number[], mode?: "nearest"|"linear"|"bilinear"|"bicubic"|"trilinear"|"area"|"nearest-exact", align_corners?: boolean, recompute_scale_factor?: boolean, antialias?: boolean}
---@return Tensor
function functional.interpolate(input, options) end

---The softmax of logits plus Gumbel noise, divided by tau; with `hard` one-hot, with the gradient of the soft result.
---Defaults: tau = 1, hard = false, eps = 1e-10, dim = -1.
---@param logits Tensor
---@param options? {tau?: number, hard?: boolean, eps?: number, dim?: integer}
---@return Tensor
function functional.gumbel_softmax(logits, options) end

---The largest values of windows that begin at random distances. Give either output_size or output_ratio.
---Defaults: return_indices = false.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param options {output_size?: integer|integer[], output_ratio?: number|number[], return_indices?: boolean, _random_samples?: Tensor}
---@return Tensor
---@return Tensor? indices
function functional.fractional_max_pool2d(input, kernel_size, options) end

---The largest values of windows that begin at random distances. Give either output_size or output_ratio.
---Defaults: return_indices = false.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param options {output_size?: integer|integer[], output_ratio?: number|number[], return_indices?: boolean, _random_samples?: Tensor}
---@return Tensor
---@return Tensor? indices
function functional.fractional_max_pool3d(input, kernel_size, options) end

---The loss of nn.TripletMarginWithDistanceLoss.
---Defaults: margin = 1, swap = false, reduction = "mean".
---@param anchor Tensor
---@param positive Tensor
---@param negative Tensor
---@param options? {distance_function?: (fun(a: Tensor, b: Tensor): Tensor), margin?: number, swap?: boolean, reduction?: "none"|"mean"|"sum"}
---@return Tensor
function functional.triplet_margin_with_distance_loss(anchor, positive, negative, options) end

---F.max_pool1d with return_indices.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], ceil_mode?: boolean}
---@return Tensor
---@return Tensor indices
function functional.max_pool1d_with_indices(input, kernel_size, options) end

---F.adaptive_max_pool1d with return_indices.
---@param input Tensor
---@param output_size integer|integer[]
---@return Tensor
---@return Tensor indices
function functional.adaptive_max_pool1d_with_indices(input, output_size) end

---F.max_pool2d with return_indices.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], ceil_mode?: boolean}
---@return Tensor
---@return Tensor indices
function functional.max_pool2d_with_indices(input, kernel_size, options) end

---F.adaptive_max_pool2d with return_indices.
---@param input Tensor
---@param output_size integer|integer[]
---@return Tensor
---@return Tensor indices
function functional.adaptive_max_pool2d_with_indices(input, output_size) end

---F.max_pool3d with return_indices.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], ceil_mode?: boolean}
---@return Tensor
---@return Tensor indices
function functional.max_pool3d_with_indices(input, kernel_size, options) end

---F.adaptive_max_pool3d with return_indices.
---@param input Tensor
---@param output_size integer|integer[]
---@return Tensor
---@return Tensor indices
function functional.adaptive_max_pool3d_with_indices(input, output_size) end

---F.fractional_max_pool2d with return_indices.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param output_size? integer|integer[]
---@param output_ratio? number|number[]
---@param samples? Tensor
---@return Tensor
---@return Tensor indices
function functional.fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, samples) end

---F.fractional_max_pool3d with return_indices.
---@param input Tensor
---@param kernel_size integer|integer[]
---@param output_size? integer|integer[]
---@param output_ratio? number|number[]
---@param samples? Tensor
---@return Tensor
---@return Tensor indices
function functional.fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, samples) end

---The old name of F.interpolate.
---@param input Tensor
---@param options {size?: integer|integer[], scale_factor?: number|number[], mode?: string, align_corners?: boolean}
---@return Tensor
function functional.upsample(input, options) end

---F.interpolate with mode "nearest".
---@param input Tensor
---@param size? integer|integer[]
---@param scale_factor? number|number[]
---@return Tensor
function functional.upsample_nearest(input, size, scale_factor) end

---F.interpolate with mode "bilinear" and aligned corners.
---@param input Tensor
---@param size? integer|integer[]
---@param scale_factor? number|number[]
---@return Tensor
function functional.upsample_bilinear(input, size, scale_factor) end

return nn
