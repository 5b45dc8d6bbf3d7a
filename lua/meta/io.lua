---@meta
-- lg.io for editors; the code is in script/bind/io.cpp.

---@class lunagrad
---@field io lunagrad.io

---@class lunagrad.io
local io = {}

---Saves a table of tensors, numbers, strings, booleans and nested tables as safetensors, with the non-tensors as JSON in
---its metadata. The write is atomic.
---@param path string
---@param value table
function io.save(path, value) end

---The table that io.save wrote, or name -> tensor for a safetensors file of another program. Never runs code.
---@param path string
---@return table
function io.load(path) end

---Runs the model once in evaluation mode and writes the ops as an ONNX file, opset 17. Parameters have the names of
---state_dict. With dynamic_batch (true, or the batch dim) the exported model accepts any batch size.
---@param path string
---@param model lunagrad.nn.Module|fun(...: Tensor): ...
---@param inputs Tensor|Tensor[] example inputs
---@param options? {input_names?: string[], output_names?: string[], dynamic_batch?: boolean|integer}
function io.onnx_export(path, model, inputs, options) end

io.safetensors = {}

---The tensors of a safetensors file by name, and its metadata. skip_unsupported leaves out unknown dtypes instead of an
---error.
---@param path string
---@param options? {skip_unsupported?: boolean}
---@return table<string, Tensor> tensors
---@return table<string, string> metadata
function io.safetensors.load(path, options) end

---Writes tensors by name, with metadata.
---@param path string
---@param tensors table<string, Tensor>
---@param options? {metadata?: table<string, string>}
function io.safetensors.save(path, tensors, options) end

io.csv = {}

---A table of numbers as a tensor [rows, columns], and the column names if there is a header.
---@param path string
---@param options? {header?: boolean, delimiter?: string, dtype?: "f32"|"f64"|"i64"}
---@return Tensor
---@return string[]?
function io.csv.load(path, options) end

---Writes a tensor of one or two dims; loading it gives the same bits.
---@param path string
---@param values Tensor
---@param options? {columns?: string[], delimiter?: string}
function io.csv.save(path, values, options) end

io.npy = {}

---A NumPy array; i1, i2 and u2 widen to i32, u4 to i64.
---@param path string
---@return Tensor
function io.npy.load(path) end

---Writes a NumPy array.
---@param path string
---@param values Tensor
function io.npy.save(path, values) end

io.npz = {}

---The arrays of a NumPy archive by name.
---@param path string
---@return table<string, Tensor>
function io.npz.load(path) end

---Writes a NumPy archive.
---@param path string
---@param tensors table<string, Tensor>
---@param options? {compress?: boolean}
function io.npz.save(path, tensors, options) end

io.png = {}

---An image as u8 [channels, height, width]: 1 grey, 2 grey and alpha, 3 rgb, 4 rgba. `channels` converts to that number.
---@param path string
---@param options? {channels?: integer}
---@return Tensor
function io.png.load(path, options) end

---Writes an image [channels, height, width] or [height, width]: u8, or floats from 0 (black) to 1 (white).
---@param path string
---@param picture Tensor
function io.png.save(path, picture) end

io.idx = {}

---An IDX file, such as MNIST's, plain or gzipped.
---@param path string
---@return Tensor
function io.idx.load(path) end

---Writes u8, i32, f32 or f64 as IDX; gzipped if the path ends in .gz.
---@param path string
---@param values Tensor
function io.idx.save(path, values) end

return io
