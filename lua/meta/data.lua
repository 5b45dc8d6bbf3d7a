---@meta
-- lg.data for editors; the code is in lua/lunagrad/data.

---@class lunagrad
---@field data lunagrad.data

---@class lunagrad.data
local data = {}

---A data set: #set is the number of samples, set[i] the i-th (from 1), set:batch(indices) several, by an i64 tensor
---of indices from 0.
---@class lunagrad.data.Dataset
---@field [integer] any
---@operator len: integer
local Dataset = {}

---The samples at the given indices as one batch.
---@param indices Tensor i64, from 0
---@return Tensor ...
function Dataset:batch(indices) end

---Tensors with equal first dims; sample i is row i of each.
---@param ... Tensor
---@return lunagrad.data.Dataset
function data.TensorDataset(...) end

---The samples of a data set at the given indices.
---@param whole lunagrad.data.Dataset
---@param indices Tensor i64, from 0
---@return lunagrad.data.Dataset
function data.Subset(whole, indices) end

---Random parts without overlap: their lengths, or fractions of 1.
---@param whole lunagrad.data.Dataset
---@param lengths number[]
---@param options? {seed?: integer}
---@return lunagrad.data.Dataset ...
function data.random_split(whole, lengths, options) end

---@class lunagrad.data.DataLoader
---@field dataset lunagrad.data.Dataset
---@field batch_size integer
---@field seed integer
---@field epoch integer passes begun
---@operator len: integer
---@overload fun(state?: any, previous?: any): ...
local DataLoader = {}

---A function that returns the next batch at each call, pass after pass without end.
---@return fun(): ...
function DataLoader:cycle() end

---for x, y in loader do … end goes once through the data set; #loader is the number of batches. The order of a pass
---depends only on the seed and the number of the pass. With workers, threads of the engine load batches ahead, up to
---prefetch_factor for each; a data set or transform written in Lua cannot have workers.
---@param dataset lunagrad.data.Dataset
---@param options? {batch_size?: integer, shuffle?: boolean, drop_last?: boolean, seed?: integer, workers?: integer, prefetch_factor?: integer}
---@return lunagrad.data.DataLoader
function data.DataLoader(dataset, options) end

---The bytes of a file as sequences for next-byte prediction: sample i is {x, y}, i64 [length] each, with values from 0 to
---255; y is x shifted by one byte. Sequences begin `stride` bytes apart (default `length`).
---@param path string
---@param length integer
---@param options? {stride?: integer}
---@return lunagrad.data.Dataset
function data.text(path, length, options) end

---PNG images in one folder per class, as in path/cat/1.png: sample i is {image, class}, f32 [channels, height, width] from 0 to
---1 and the class index, from 0. A batch needs images of one size; random_crop gives them one.
---@param path string
---@param options? {transform?: lunagrad.data.Transform|(fun(image: Tensor): Tensor), channels?: integer}
---@return lunagrad.data.Dataset
function data.image_folder(path, options) end

---A step that transforms an image [channels, height, width] or a batch of images: u8, which becomes f32 from 0 to 1, or f32.
---@class lunagrad.data.Transform
---@overload fun(images: Tensor): Tensor

---@class lunagrad.data.transform
local transform = {}
data.transform = transform

---(x - mean) / std, with one number for all channels or one per channel.
---@param mean number|number[]
---@param std number|number[]
---@return lunagrad.data.Transform
function transform.normalize(mean, std) end

---Cuts out `size` (a number, or {height, width}) at a random place, after padding all four sides with `padding` zeros.
---@param size integer|integer[]
---@param options? {padding?: integer}
---@return lunagrad.data.Transform
function transform.random_crop(size, options) end

---Flips left and right with probability p (default 0.5).
---@param p? number
---@return lunagrad.data.Transform
function transform.random_flip(p) end

---Applies the transforms in order.
---@param list lunagrad.data.Transform[]
---@return lunagrad.data.Transform
function transform.compose(list) end

---A table of numbers as a tensor [rows, columns], and the column names if there is a header.
---@param path string
---@param options? {header?: boolean, delimiter?: string, dtype?: "f32"|"f64"|"i64"}
---@return Tensor
---@return string[]?
function data.csv(path, options) end

---An IDX file, such as MNIST's, plain or compressed by gzip.
---@param path string
---@return Tensor
function data.idx(path) end

return data
