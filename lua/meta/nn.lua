---@meta
-- lg.nn for editors; the code is in lua/lunagrad/nn.

---@class lunagrad
---@field nn lunagrad.nn

---@class lunagrad.nn
---@field functional lunagrad.nn.functional
---@field init lunagrad.nn.init
---@field utils lunagrad.nn.utils
local nn = {}

---@class lunagrad.nn.functional
local functional = {}

---The loss of nn.MultiLabelSoftMarginLoss.
---Defaults: reduction = "mean".
---@param input Tensor
---@param target Tensor
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum"}
---@return Tensor
function functional.multilabel_soft_margin_loss(input, target, options) end

---Defines a class of modules: Net = nn.class("Net"), then Net:init and Net:forward; Net(…) makes an instance.
---@param name string
---@param parent? table default nn.Module
---@return table
function nn.class(name, parent) end

---A leaf tensor that a module trains.
---@param tensor Tensor
---@param requires_grad? boolean default true
---@return Tensor
function nn.Parameter(tensor, requires_grad) end

---Whether a value is an object of a class of modules, of a derived class, or of one of the classes in a list.
---@param value any
---@param classes table
---@return boolean
function nn.isinstance(value, classes) end

---A chain: the output of each module or function is the input of the next. Sequential{{"conv", a}, {"act", b}} names
---the items.
---@param ... lunagrad.nn.Module|function|table
---@return lunagrad.nn.Module
function nn.Sequential(...) end

---A list of modules, which are its submodules "0", "1", …
---@param ... lunagrad.nn.Module|lunagrad.nn.Module[]
---@return lunagrad.nn.Module
function nn.ModuleList(...) end

---y = x W^T + b on the last dim. The activation is fused: it needs no extra pass over memory.
---Defaults: bias = true, activation = "none".
---@param in_features integer
---@param out_features integer
---@param options? {bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Linear(in_features, out_features, options) end

---Convolution over sequences [N, C, W].
---Defaults: stride = 1, padding = 0, dilation = 1, groups = 1, bias = true, padding_mode = "zeros",
---activation = "none".
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv1d(in_channels, out_channels, kernel_size, options) end

---Convolution over images [N, C, H, W].
---Defaults: stride = 1, padding = 0, dilation = 1, groups = 1, bias = true, padding_mode = "zeros",
---activation = "none".
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv2d(in_channels, out_channels, kernel_size, options) end

---Convolution over volumes [N, C, D, H, W].
---Defaults: stride = 1, padding = 0, dilation = 1, groups = 1, bias = true, padding_mode = "zeros",
---activation = "none".
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, padding_mode?: "zeros"|"reflect"|"replicate"|"circular", activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv3d(in_channels, out_channels, kernel_size, options) end

---Transposed convolution over [N, C, W], the gradient of Conv1d: the output is larger by the stride.
---Defaults: stride = 1, padding = 0, output_padding = 0, groups = 1, bias = true, dilation = 1.
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.ConvTranspose1d(in_channels, out_channels, kernel_size, options) end

---Transposed convolution over [N, C, H, W], the gradient of Conv2d: the output is larger by the stride.
---Defaults: stride = 1, padding = 0, output_padding = 0, groups = 1, bias = true, dilation = 1.
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.ConvTranspose2d(in_channels, out_channels, kernel_size, options) end

---Normalizes the last dims to mean 0 and standard deviation 1, then scales by weight and adds bias.
---Defaults: eps = 1e-5, elementwise_affine = true, bias = true.
---@param normalized_shape integer|integer[]
---@param options? {eps?: number, elementwise_affine?: boolean, bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LayerNorm(normalized_shape, options) end

---x / sqrt(mean(x^2) + eps) over the last dims, scaled by weight.
---Defaults: elementwise_affine = true.
---@param normalized_shape integer|integer[]
---@param options? {eps?: number, elementwise_affine?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.RMSNorm(normalized_shape, options) end

---Batch normalization of [N, C] or [N, C, L]. momentum = false averages the statistics of all batches.
---Defaults: eps = 1e-5, momentum = 0.1, affine = true, track_running_stats = true.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.BatchNorm1d(num_features, options) end

---Batch normalization of [N, C, H, W]. momentum = false averages the statistics of all batches.
---Defaults: eps = 1e-5, momentum = 0.1, affine = true, track_running_stats = true.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.BatchNorm2d(num_features, options) end

---Instance normalization of [N, C, H, W] or [C, H, W]. By default without parameters and running statistics.
---Defaults: eps = 1e-5, momentum = 0.1, affine = false, track_running_stats = false.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.InstanceNorm2d(num_features, options) end

---Normalizes groups of channels.
---Defaults: eps = 1e-5, affine = true.
---@param num_groups integer
---@param num_channels integer
---@param options? {eps?: number, affine?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GroupNorm(num_groups, num_channels, options) end

---Multi-head attention: attention(query, key, value, {key_padding_mask, need_weights, attn_mask, average_attn_weights,
---is_causal}) returns the output and, unless need_weights is false, the weights. True in a mask means: ignore this key.
---Defaults: need_weights = true, average_attn_weights = true, is_causal = false.
---@param embed_dim integer
---@param num_heads integer
---@param options? {dropout?: number, bias?: boolean, add_bias_kv?: boolean, add_zero_attn?: boolean, kdim?: integer, vdim?: integer, batch_first?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.MultiheadAttention(embed_dim, num_heads, options) end

---Rotary position embedding: rotary(x, offset) rotates the first `dim` features of x [..., T, D].
---Defaults: max_seq_len = 256, base = 10000, interleaved = false.
---@param dim integer
---@param options? {max_seq_len?: integer, base?: number, interleaved?: boolean}
---@return lunagrad.nn.Module
function nn.RotaryEmbedding(dim, options) end

---@class lunagrad.nn.TransformerOptions
---@field dim_feedforward? integer default 2048
---@field dropout? number default 0.1
---@field activation? "relu"|"gelu"|function
---@field layer_norm_eps? number default 1e-5
---@field batch_first? boolean
---@field norm_first? boolean
---@field bias? boolean default true
---@field device? string
---@field dtype? lunagrad.DType

---An encoder layer: layer(src, {src_mask, src_key_padding_mask, is_causal})
---Defaults: is_causal = false.
---@param d_model integer
---@param nhead integer
---@param options? lunagrad.nn.TransformerOptions
---@return lunagrad.nn.Module
function nn.TransformerEncoderLayer(d_model, nhead, options) end

---A decoder layer: layer(tgt, memory, {tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
---tgt_is_causal, memory_is_causal})
---Defaults: tgt_is_causal = false, memory_is_causal = false.
---@param d_model integer
---@param nhead integer
---@param options? lunagrad.nn.TransformerOptions
---@return lunagrad.nn.Module
function nn.TransformerDecoderLayer(d_model, nhead, options) end

---Joins the dims start_dim to end_dim into one. Dims count from 1.
---Defaults: start_dim = 2, end_dim = -1.
---@param start_dim? integer default 2
---@param end_dim? integer default -1
---@return lunagrad.nn.Module
function nn.Flatten(start_dim, end_dim) end

---Returns its input.
---@return lunagrad.nn.Module
function nn.Identity() end

---max(x, 0).
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.ReLU(inplace) end
---min(max(x, 0), 6).
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.ReLU6(inplace) end
---1 / (1 + exp(-x)).
---@return lunagrad.nn.Module
function nn.Sigmoid() end
---Hyperbolic tangent.
---@return lunagrad.nn.Module
function nn.Tanh() end
---Gaussian error linear unit: x times the normal distribution function of x.
---Defaults: approximate = "none".
---@param approximate? "none"|"tanh"
---@return lunagrad.nn.Module
function nn.GELU(approximate) end
---x sigmoid(x).
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.SiLU(inplace) end
---x tanh(softplus(x)).
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Mish(inplace) end
---x where positive, else negative_slope x.
---Defaults: negative_slope = 0.01, inplace = false.
---@param negative_slope? number default 0.01
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.LeakyReLU(negative_slope, inplace) end
---x where positive, else alpha (exp(x) - 1).
---Defaults: alpha = 1, inplace = false.
---@param alpha? number default 1
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.ELU(alpha, inplace) end
---Self-normalizing ELU.
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.SELU(inplace) end
---x where positive, else alpha (exp(x / alpha) - 1).
---Defaults: alpha = 1, inplace = false.
---@param alpha? number default 1
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.CELU(alpha, inplace) end
---log(1 + exp(beta x)) / beta; x where beta x exceeds threshold.
---Defaults: beta = 1, threshold = 20.
---@param beta? number default 1
---@param threshold? number default 20
---@return lunagrad.nn.Module
function nn.Softplus(beta, threshold) end
---x / (1 + |x|).
---@return lunagrad.nn.Module
function nn.Softsign() end
---x clamped to [min_val, max_val].
---Defaults: min_val = -1, max_val = 1, inplace = false.
---@param min_val? number default -1
---@param max_val? number default 1
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Hardtanh(min_val, max_val, inplace) end
---x / 6 + 1/2, clamped to [0, 1].
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Hardsigmoid(inplace) end
---x hardsigmoid(x).
---Defaults: inplace = false.
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Hardswish(inplace) end
---log(sigmoid(x)).
---@return lunagrad.nn.Module
function nn.LogSigmoid() end
---x - tanh(x).
---@return lunagrad.nn.Module
function nn.Tanhshrink() end
---x where above threshold, else value.
---Defaults: inplace = false.
---@param threshold number
---@param value number
---@param inplace? boolean default false; changes nothing
---@return lunagrad.nn.Module
function nn.Threshold(threshold, value, inplace) end
---exp(x) divided by its sum along dim.
---Defaults: dim = -1.
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.Softmax(dim) end
---The logarithm of softmax along dim.
---Defaults: dim = -1.
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.LogSoftmax(dim) end
---The softmax of -x along dim.
---Defaults: dim = -1.
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.Softmin(dim) end
---Gated linear unit: a sigmoid(b) for the halves a and b along dim.
---Defaults: dim = -1.
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.GLU(dim) end
---x where positive, else a learned slope times x.
---Defaults: num_parameters = 1, init = 0.25.
---@param options? {num_parameters?: integer, init?: number, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.PReLU(options) end

---Mean squared error.
---Defaults: reduction = "mean".
---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MSELoss(options) end

---Cross entropy of logits [N, C, …] and class ids [N, …] from 0, or class probabilities.
---Defaults: ignore_index = -100, reduction = "mean", label_smoothing = 0.
---@param options? {weight?: Tensor, ignore_index?: integer, reduction?: "none"|"mean"|"sum", label_smoothing?: number}
---@return lunagrad.nn.Module
function nn.CrossEntropyLoss(options) end

---Mean absolute error.
---Defaults: reduction = "mean".
---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.L1Loss(options) end
---Squared error below beta, absolute error above.
---Defaults: reduction = "mean", beta = 1.
---@param options? {reduction?: "none"|"mean"|"sum", beta?: number}
---@return lunagrad.nn.Module
function nn.SmoothL1Loss(options) end
---Squared error below delta, delta times the absolute error above.
---Defaults: reduction = "mean", delta = 1.
---@param options? {reduction?: "none"|"mean"|"sum", delta?: number}
---@return lunagrad.nn.Module
function nn.HuberLoss(options) end
---Negative log likelihood of class ids from 0, given log-probabilities.
---Defaults: ignore_index = -100, reduction = "mean".
---@param options? {weight?: Tensor, ignore_index?: integer, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.NLLLoss(options) end
---Binary cross entropy of probabilities.
---Defaults: reduction = "mean".
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.BCELoss(options) end
---Binary cross entropy of logits.
---Defaults: reduction = "mean".
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum", pos_weight?: Tensor}
---@return lunagrad.nn.Module
function nn.BCEWithLogitsLoss(options) end
---Kullback-Leibler divergence of log-probabilities from a target distribution.
---Defaults: reduction = "mean", log_target = false.
---@param options? {reduction?: "none"|"mean"|"sum"|"batchmean", log_target?: boolean}
---@return lunagrad.nn.Module
function nn.KLDivLoss(options) end
---Negative log likelihood of a Poisson distribution.
---Defaults: log_input = true, full = false, eps = 1e-8, reduction = "mean".
---@param options? {log_input?: boolean, full?: boolean, eps?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.PoissonNLLLoss(options) end
---Negative log likelihood of a normal distribution.
---Defaults: full = false, eps = 1e-6, reduction = "mean".
---@param options? {full?: boolean, eps?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.GaussianNLLLoss(options) end
---The cosine of the angle between two vectors along dim.
---Defaults: dim = 2, eps = 1e-8.
---@param options? {dim?: integer, eps?: number}
---@return lunagrad.nn.Module
function nn.CosineSimilarity(options) end
---1 - cosine for pairs with target 1, max(0, cosine - margin) for target -1.
---Defaults: margin = 0, reduction = "mean".
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.CosineEmbeddingLoss(options) end
---max(0, distance to the positive - distance to the negative + margin).
---Defaults: margin = 1, p = 2, eps = 1e-6, swap = false, reduction = "mean".
---@param options? {margin?: number, p?: number, eps?: number, swap?: boolean, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.TripletMarginLoss(options) end
---max(0, -target (x1 - x2) + margin).
---Defaults: margin = 0, reduction = "mean".
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MarginRankingLoss(options) end
---x for target 1, max(0, margin - x) for target -1.
---Defaults: margin = 1, reduction = "mean".
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.HingeEmbeddingLoss(options) end
---log(1 + exp(-target x)).
---Defaults: reduction = "mean".
---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.SoftMarginLoss(options) end
---Binary cross entropy of logits `input` [N, C] and labels `target` [N, C] of 0 and 1, averaged over the C classes; `weight`
---[C] weighs the classes. "none" gives a loss for each sample [N].
---Defaults: reduction = "mean".
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MultiLabelSoftMarginLoss(options) end
---CTC loss, called with log_probs [T, N, C], targets [N, S] or concatenated, and the lengths of both as tensors or tables.
---Defaults: blank = 0, reduction = "mean", zero_infinity = false.
---@param options? {blank?: integer, reduction?: "none"|"mean"|"sum", zero_infinity?: boolean}
---@return lunagrad.nn.Module
function nn.CTCLoss(options) end

---Elman network: out, h = rnn(x, h0). Omitted states are zeros.
---Defaults: num_layers = 1, nonlinearity = "tanh", bias = true, batch_first = false, dropout = 0,
---bidirectional = false.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType, nonlinearity?: "tanh"|"relu"}
---@return lunagrad.nn.Module
function nn.RNN(input_size, hidden_size, options) end
---Long short-term memory: out, h, c = lstm(x, h0, c0). Omitted states are zeros; x may be packed (nn.utils.rnn).
---Defaults: num_layers = 1, bias = true, batch_first = false, dropout = 0, bidirectional = false.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LSTM(input_size, hidden_size, options) end
---Gated recurrent unit: out, h = gru(x, h0). Omitted states are zeros.
---Defaults: num_layers = 1, bias = true, batch_first = false, dropout = 0, bidirectional = false.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GRU(input_size, hidden_size, options) end
---One time step of RNN: h = cell(x, h). Omitted states are zeros.
---Defaults: bias = true, nonlinearity = "tanh".
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, nonlinearity?: "tanh"|"relu", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.RNNCell(input_size, hidden_size, options) end
---One time step of LSTM: h, c = cell(x, h, c). Omitted states are zeros.
---Defaults: bias = true.
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LSTMCell(input_size, hidden_size, options) end
---One time step of GRU: h = cell(x, h). Omitted states are zeros.
---Defaults: bias = true.
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GRUCell(input_size, hidden_size, options) end

---y_o = x1 W_o x2 + b_o for each output o, on the last dims.
---Defaults: bias = true.
---@param in1_features integer
---@param in2_features integer
---@param out_features integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Bilinear(in1_features, in2_features, out_features, options) end

---Modules by name, in the order of a list of pairs {name, module}, or sorted by name.
---@class lunagrad.nn.ModuleDict: lunagrad.nn.Module
local ModuleDict = {}
---Adds or replaces a module.
---@param name string
---@param module lunagrad.nn.Module
---@return self
function ModuleDict:set(name, module) end
---Adds or replaces several modules.
---@param modules table
---@return self
function ModuleDict:update(modules) end
---Whether there is a module of that name.
---@param name string
---@return boolean
function ModuleDict:contains(name) end
---The names.
---@return string[]
function ModuleDict:keys() end
---The modules.
---@return lunagrad.nn.Module[]
function ModuleDict:values() end
---Iterates over names and modules.
---@return fun(): string, lunagrad.nn.Module
function ModuleDict:items() end
---Removes and returns a module.
---@param name string
---@return lunagrad.nn.Module
function ModuleDict:pop(name) end
---Removes all modules.
---@return self
function ModuleDict:clear() end

---A dictionary of modules, which are its submodules.
---@param modules? table
---@return lunagrad.nn.ModuleDict
function nn.ModuleDict(modules) end

return nn
