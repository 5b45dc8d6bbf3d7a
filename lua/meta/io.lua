---@meta
-- lg.io for editors; the code is in script/bind/data/io.cpp. Formats whose functions take no options (npy, idx, …) are
-- annotated from their records (runtime/io/format.h).

---@class lunagrad
---@field io lunagrad.io

---@class lunagrad.io
local io = {}

---Saves a table of tensors, numbers, strings, booleans and tables of these: safetensors, with the rest as JSON in its
---metadata. The file is written completely or not at all. It has checksums: loading a damaged file is an error.
---@param path string
---@param value table
function io.save(path, value) end

---Reads a table that io.save wrote, the tensors by name of another program's safetensors file, or a file of torch.save
---(as io.pt.load). Never runs code.
---@param path string
---@return table
function io.load(path) end

---Runs the model once in evaluation and writes its computation as an ONNX file, opset 17. Parameters have the names of
---state_dict. With dynamic_batch (true, or the dim of the batch) the file takes inputs with any number of items.
---@param path string
---@param model lunagrad.nn.Module|fun(...: Tensor): ...
---@param inputs Tensor|Tensor[] an example of each
---@param options? {input_names?: string[], output_names?: string[], dynamic_batch?: boolean|integer}
function io.onnx_export(path, model, inputs, options) end

---Reads an ONNX file (opset 13 to 17, and operators that are the same in opset 1 to 21) as a module that computes the
---model's outputs from its inputs, in their order. Floating initializers are parameters, named as in the file, so that
---the model can be trained further; it starts in evaluation mode. Operators that are not supported (If, Loop,
---quantized ones) are an error that names them.
---@param path string
---@return lunagrad.nn.Module
function io.onnx_import(path) end

io.safetensors = {}

---@param path string
---@param options? {skip_unsupported?: boolean}
---@return table<string, Tensor> tensors
---@return table<string, string> metadata
function io.safetensors.load(path, options) end

---@param path string
---@param tensors table<string, Tensor>
---@param options? {metadata?: table<string, string>}
function io.safetensors.save(path, tensors, options) end

io.csv = {}

---@param path string
---@param options? {header?: boolean, delimiter?: string, dtype?: "f32"|"f64"|"i64"}
---@return Tensor
---@return string[]?
function io.csv.load(path, options) end

---A tensor of one or two dims; reading it back gives the same bits.
---@param path string
---@param values Tensor
---@param options? {columns?: string[], delimiter?: string}
function io.csv.save(path, values, options) end

io.pt = {}

---Reads a file of PyTorch's torch.save, of version 1.6 or newer, as nested tables: tensors, numbers, strings, lists
---and dicts. Never runs code: a file that needs another class or function is an error that names it. None becomes nil,
---in a list false. A state dict of PyTorch fits load_state_dict of the same module.
---@param path string
---@return any
function io.pt.load(path) end

---Writes a file for torch.load (also with weights_only). A table with the keys 1 to n becomes a list, any other a
---dict.
---@param path string
---@param value any tensors, numbers, strings, booleans and tables of these
function io.pt.save(path, value) end

io.npz = {}

---NumPy's arrays by name.
---@param path string
---@return table<string, Tensor>
function io.npz.load(path) end

---@param path string
---@param tensors table<string, Tensor>
---@param options? {compress?: boolean}
function io.npz.save(path, tensors, options) end

io.png = {}

---u8 [channels, height, width]: 1 grey, 2 grey and alpha, 3 rgb, 4 rgba; `channels` converts.
---@param path string
---@param options? {channels?: integer}
---@return Tensor
function io.png.load(path, options) end

---u8, or floats from 0 (black) to 1 (white): [channels, height, width] or [height, width].
---@param path string
---@param picture Tensor
function io.png.save(path, picture) end

return io
