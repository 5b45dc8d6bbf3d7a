---@meta
-- lg.nn for editors; the code is in lua/lunagrad/nn.

---@class lunagrad
---@field nn lunagrad.nn

---@class lunagrad.nn
---@field functional lunagrad.nn.functional
---@field init lunagrad.nn.init
---@field utils lunagrad.nn.utils
local nn = {}

---A network or a part of one. Fields that are parameters, buffers or modules are found in the order of their first
---assignment; calling a module runs its forward.
---@class lunagrad.nn.Module
---@field training boolean
---@overload fun(...): any
local Module = {}
nn.Module = Module

---Called by the class with the arguments of the new module; a class defines it.
function Module:init(...) end

---What a call computes; a class defines it.
---@return any
function Module:forward(...) end

---The parameters, each once, named for the tape.
---@return Tensor[]
function Module:parameters() end

---for name, parameter in m:named_parameters() do
---@return fun(): string, Tensor
function Module:named_parameters() end

---@return Tensor[]
function Module:buffers() end

---@return fun(): string, Tensor
function Module:named_buffers() end

---@return lunagrad.nn.Module[]
function Module:children() end

---@return fun(): string, lunagrad.nn.Module
function Module:named_children() end

---The module itself and all below it, parents first.
---@return lunagrad.nn.Module[]
function Module:modules() end

---Calls fn on every module, children first.
---@param fn fun(module: lunagrad.nn.Module)
---@return self
function Module:apply(fn) end

---hook(module, inputs, output, …) is called after each forward; what it returns, if anything, takes the output's place.
---@param hook fun(module: lunagrad.nn.Module, inputs: any[], ...): any
---@return {remove: fun(self: table)}
function Module:register_forward_hook(hook) end

---@param name string
---@param tensor Tensor
function Module:register_buffer(name, tensor) end

---@param name string
---@param tensor Tensor
function Module:register_parameter(name, tensor) end

---Name -> tensor of parameters and buffers, with PyTorch's names; the tensors share memory with the module's.
---@return table<string, Tensor>
function Module:state_dict() end

---Copies values in. An error lists everything that does not fit.
---@param state table<string, Tensor>
---@param options? {strict?: boolean}
---@return string[] missing
---@return string[] unexpected
function Module:load_state_dict(state, options) end

---@param mode? boolean default true
---@return self
function Module:train(mode) end

---@return self
function Module:eval() end

---Moves to a device, or casts what is floating. The parameters are new tensors afterwards.
---@param target string
---@return self
function Module:to(target) end

---@param on? boolean default true
---@return self
function Module:requires_grad_(on) end

---@param options? {set_to_none?: boolean}
function Module:zero_grad(options) end

---What stands between the parentheses when the module is printed.
---@return string
function Module:extra_repr() end

---A class of modules: Net = nn.class("Net"), then Net:init, Net:forward, and Net(…) makes one.
---@param name string
---@param parent? table nn.Module when left out
---@return table
function nn.class(name, parent) end

---A leaf tensor that a module trains.
---@param tensor Tensor
---@param requires_grad? boolean default true
---@return Tensor
function nn.Parameter(tensor, requires_grad) end

---The output of each module is the input of the next. Functions may stand between.
---@param ... lunagrad.nn.Module|function|table
---@return lunagrad.nn.Module
function nn.Sequential(...) end

---@param ... lunagrad.nn.Module|lunagrad.nn.Module[]
---@return lunagrad.nn.Module
function nn.ModuleList(...) end

---y = x W^T + b on the last dim, then the activation, which costs no pass over memory.
---@param in_features integer
---@param out_features integer
---@param options? {bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Linear(in_features, out_features, options) end

---Sequences [N, C, W].
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv1d(in_channels, out_channels, kernel_size, options) end

---Images [N, C, H, W].
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv2d(in_channels, out_channels, kernel_size, options) end

---Volumes [N, C, D, H, W].
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]|"same"|"valid", dilation?: integer|integer[], groups?: integer, bias?: boolean, activation?: "none"|"relu"|"tanh"|"sigmoid", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Conv3d(in_channels, out_channels, kernel_size, options) end

---The gradient of Conv1d as a module: [N, C, W] grows by the stride.
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.ConvTranspose1d(in_channels, out_channels, kernel_size, options) end

---The gradient of Conv2d as a module: [N, C, H, W] grows by the stride.
---@param in_channels integer
---@param out_channels integer
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], output_padding?: integer|integer[], groups?: integer, bias?: boolean, dilation?: integer|integer[], device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.ConvTranspose2d(in_channels, out_channels, kernel_size, options) end

---The stride is the kernel size unless given.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.MaxPool1d(kernel_size, options) end

---The stride is the kernel size unless given.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.MaxPool2d(kernel_size, options) end

---The stride is the kernel size unless given.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], ceil_mode?: boolean, count_include_pad?: boolean}
---@return lunagrad.nn.Module
function nn.AvgPool1d(kernel_size, options) end

---The stride is the kernel size unless given.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], ceil_mode?: boolean, count_include_pad?: boolean, divisor_override?: integer}
---@return lunagrad.nn.Module
function nn.AvgPool2d(kernel_size, options) end

---@param output_size integer
---@return lunagrad.nn.Module
function nn.AdaptiveAvgPool1d(output_size) end

---@param output_size integer|integer[]
---@return lunagrad.nn.Module
function nn.AdaptiveAvgPool2d(output_size) end

---@param output_size integer|integer[]
---@return lunagrad.nn.Module
function nn.AdaptiveMaxPool2d(output_size) end

---`interpolate` as a module: either size or scale_factor.
---@param options {size?: integer|integer[], scale_factor?: number|number[], mode?: "nearest"|"linear"|"bilinear", align_corners?: boolean}
---@return lunagrad.nn.Module
function nn.Upsample(options) end

---The windows of images [N, C, H, W] as columns [N, C kH kW, windows].
---@param kernel_size integer|integer[]
---@param options? {dilation?: integer|integer[], padding?: integer|integer[], stride?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.Unfold(kernel_size, options) end

---Adds columns up at the places of their windows: what Unfold made, where these do not overlap.
---@param output_size integer|integer[]
---@param kernel_size integer|integer[]
---@param options? {dilation?: integer|integer[], padding?: integer|integer[], stride?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.Fold(output_size, kernel_size, options) end

---Mean 0 and deviation 1 over the last dims, then y w + b.
---@param normalized_shape integer|integer[]
---@param options? {eps?: number, elementwise_affine?: boolean, bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LayerNorm(normalized_shape, options) end

---A row of the weight for each id; ids count from 0.
---@param num_embeddings integer
---@param embedding_dim integer
---@param options? {device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Embedding(num_embeddings, embedding_dim, options) end

---x / sqrt(mean(x^2) + eps) over the last dims, times a weight.
---@param normalized_shape integer|integer[]
---@param options? {eps?: number, elementwise_affine?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.RMSNorm(normalized_shape, options) end

---momentum = false averages over all batches.
---Takes [N, C] or [N, C, L]; eps is 1e-5 and momentum 0.1 unless given, momentum = false averages over all batches.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.BatchNorm1d(num_features, options) end

---Takes [N, C, H, W]; eps is 1e-5 and momentum 0.1 unless given, momentum = false averages over all batches.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.BatchNorm2d(num_features, options) end

---Takes [N, C, H, W] or [C, H, W]; without parameters and running statistics unless they are asked for.
---@param num_features integer
---@param options? {eps?: number, momentum?: number|false, affine?: boolean, track_running_stats?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.InstanceNorm2d(num_features, options) end

---@param num_groups integer
---@param num_channels integer
---@param options? {eps?: number, affine?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GroupNorm(num_groups, num_channels, options) end

---attention(query, key, value, {key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal}) gives the
---result and, unless need_weights is false, the weights. In its masks true is left out.
---@param embed_dim integer
---@param num_heads integer
---@param options? {dropout?: number, bias?: boolean, add_bias_kv?: boolean, add_zero_attn?: boolean, kdim?: integer, vdim?: integer, batch_first?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.MultiheadAttention(embed_dim, num_heads, options) end

---rotary(x, offset) turns the first `dim` features of x [..., T, D].
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

---layer(src, {src_mask, src_key_padding_mask, is_causal})
---@param d_model integer
---@param nhead integer
---@param options? lunagrad.nn.TransformerOptions
---@return lunagrad.nn.Module
function nn.TransformerEncoderLayer(d_model, nhead, options) end

---layer(tgt, memory, {tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
---memory_is_causal})
---@param d_model integer
---@param nhead integer
---@param options? lunagrad.nn.TransformerOptions
---@return lunagrad.nn.Module
function nn.TransformerDecoderLayer(d_model, nhead, options) end

---p may be a function or a handle of lg.run.live, asked at each call.
---@param p? number|fun(): number default 0.5
---@return lunagrad.nn.Module
function nn.Dropout(p) end

---Dims are positions from 1.
---@param start_dim? integer default 2
---@param end_dim? integer default -1
---@return lunagrad.nn.Module
function nn.Flatten(start_dim, end_dim) end

---@return lunagrad.nn.Module
function nn.Identity() end

---@return lunagrad.nn.Module
function nn.ReLU() end
---@return lunagrad.nn.Module
function nn.ReLU6() end
---@return lunagrad.nn.Module
function nn.Sigmoid() end
---@return lunagrad.nn.Module
function nn.Tanh() end
---@param approximate? "none"|"tanh"
---@return lunagrad.nn.Module
function nn.GELU(approximate) end
---@return lunagrad.nn.Module
function nn.SiLU() end
---@return lunagrad.nn.Module
function nn.Mish() end
---@param negative_slope? number default 0.01
---@return lunagrad.nn.Module
function nn.LeakyReLU(negative_slope) end
---@param alpha? number default 1
---@return lunagrad.nn.Module
function nn.ELU(alpha) end
---@return lunagrad.nn.Module
function nn.SELU() end
---@param alpha? number default 1
---@return lunagrad.nn.Module
function nn.CELU(alpha) end
---@param beta? number default 1
---@param threshold? number default 20
---@return lunagrad.nn.Module
function nn.Softplus(beta, threshold) end
---@return lunagrad.nn.Module
function nn.Softsign() end
---@param min_val? number default -1
---@param max_val? number default 1
---@return lunagrad.nn.Module
function nn.Hardtanh(min_val, max_val) end
---@return lunagrad.nn.Module
function nn.Hardsigmoid() end
---@return lunagrad.nn.Module
function nn.Hardswish() end
---@return lunagrad.nn.Module
function nn.LogSigmoid() end
---@return lunagrad.nn.Module
function nn.Tanhshrink() end
---@param threshold number
---@param value number
---@return lunagrad.nn.Module
function nn.Threshold(threshold, value) end
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.Softmax(dim) end
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.LogSoftmax(dim) end
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.Softmin(dim) end
---@param dim? integer default -1
---@return lunagrad.nn.Module
function nn.GLU(dim) end
---@param options? {num_parameters?: integer, init?: number, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.PReLU(options) end

---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MSELoss(options) end

---Of logits [N, C, …] and class ids [N, …] from 0, or class probabilities.
---@param options? {weight?: Tensor, ignore_index?: integer, reduction?: "none"|"mean"|"sum", label_smoothing?: number}
---@return lunagrad.nn.Module
function nn.CrossEntropyLoss(options) end

---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.L1Loss(options) end
---@param options? {reduction?: "none"|"mean"|"sum", beta?: number}
---@return lunagrad.nn.Module
function nn.SmoothL1Loss(options) end
---@param options? {reduction?: "none"|"mean"|"sum", delta?: number}
---@return lunagrad.nn.Module
function nn.HuberLoss(options) end
---@param options? {weight?: Tensor, ignore_index?: integer, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.NLLLoss(options) end
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.BCELoss(options) end
---@param options? {weight?: Tensor, reduction?: "none"|"mean"|"sum", pos_weight?: Tensor}
---@return lunagrad.nn.Module
function nn.BCEWithLogitsLoss(options) end
---@param options? {reduction?: "none"|"mean"|"sum"|"batchmean", log_target?: boolean}
---@return lunagrad.nn.Module
function nn.KLDivLoss(options) end
---@param options? {log_input?: boolean, full?: boolean, eps?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.PoissonNLLLoss(options) end
---@param options? {full?: boolean, eps?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.GaussianNLLLoss(options) end
---@param options? {dim?: integer, eps?: number}
---@return lunagrad.nn.Module
function nn.CosineSimilarity(options) end
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.CosineEmbeddingLoss(options) end
---@param options? {margin?: number, p?: number, eps?: number, swap?: boolean, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.TripletMarginLoss(options) end
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.MarginRankingLoss(options) end
---@param options? {margin?: number, reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.HingeEmbeddingLoss(options) end
---@param options? {reduction?: "none"|"mean"|"sum"}
---@return lunagrad.nn.Module
function nn.SoftMarginLoss(options) end
---Called with log_probs [T, N, C], targets [N, S] or in one row, and the lengths of both as tensors or tables.
---@param options? {blank?: integer, reduction?: "none"|"mean"|"sum", zero_infinity?: boolean}
---@return lunagrad.nn.Module
function nn.CTCLoss(options) end

---out, h = rnn(x, h0); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType, nonlinearity?: "tanh"|"relu"}
---@return lunagrad.nn.Module
function nn.RNN(input_size, hidden_size, options) end
---out, h, c = lstm(x, h0, c0); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LSTM(input_size, hidden_size, options) end
---out, h = gru(x, h0); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {num_layers?: integer, bias?: boolean, batch_first?: boolean, dropout?: number|(fun(): number), bidirectional?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GRU(input_size, hidden_size, options) end
---h = cell(x, h); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, nonlinearity?: "tanh"|"relu", device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.RNNCell(input_size, hidden_size, options) end
---h, c = cell(x, h, c); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.LSTMCell(input_size, hidden_size, options) end
---h = cell(x, h); states left out are zeros.
---@param input_size integer
---@param hidden_size integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.GRUCell(input_size, hidden_size, options) end

---y_o = x1 W_o x2 + b_o on the last dims.
---@param in1_features integer
---@param in2_features integer
---@param out_features integer
---@param options? {bias?: boolean, device?: string, dtype?: lunagrad.DType}
---@return lunagrad.nn.Module
function nn.Bilinear(in1_features, in2_features, out_features, options) end

---Modules by name, in the order of a list of pairs {name, module} or of the names.
---@class lunagrad.nn.ModuleDict: lunagrad.nn.Module
local ModuleDict = {}
---@param name string
---@param module lunagrad.nn.Module
---@return self
function ModuleDict:set(name, module) end
---@param modules table
---@return self
function ModuleDict:update(modules) end
---@param name string
---@return boolean
function ModuleDict:contains(name) end
---@return string[]
function ModuleDict:keys() end
---@return lunagrad.nn.Module[]
function ModuleDict:values() end
---@return fun(): string, lunagrad.nn.Module
function ModuleDict:items() end
---@param name string
---@return lunagrad.nn.Module
function ModuleDict:pop(name) end
---@return self
function ModuleDict:clear() end

---@param modules? table
---@return lunagrad.nn.ModuleDict
function nn.ModuleDict(modules) end

return nn
