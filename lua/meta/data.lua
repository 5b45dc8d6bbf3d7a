---@meta
-- lg.data for editors; the code is in lua/lunagrad/data.

---@class lunagrad
---@field data lunagrad.data

---@class lunagrad.data
local data = {}

---#set samples; set[i] is the i-th, from 1; set:batch(indices) many, by an i64 tensor that counts from 0.
---@class lunagrad.data.Dataset
---@field [integer] any
---@operator len: integer
local Dataset = {}

---@param indices Tensor
---@return Tensor ...
function Dataset:batch(indices) end

---Tensors with equal first dims; sample i is row i of each.
---@param ... Tensor
---@return lunagrad.data.Dataset
function data.TensorDataset(...) end

---@param whole lunagrad.data.Dataset
---@param indices Tensor from 0
---@return lunagrad.data.Dataset
function data.Subset(whole, indices) end

---Parts without overlap, drawn at random: lengths, or fractions of 1.
---@param whole lunagrad.data.Dataset
---@param lengths number[]
---@param options? {seed?: integer}
---@return lunagrad.data.Dataset ...
function data.random_split(whole, lengths, options) end

---for x, y in loader do … end goes once through the data set; #loader is the number of batches.
---@class lunagrad.data.DataLoader
---@field dataset lunagrad.data.Dataset
---@field batch_size integer
---@field seed integer
---@field epoch integer passes begun
---@operator len: integer
---@overload fun(state?: any, previous?: any): ...
local DataLoader = {}

---A function that gives the next batch at each call, pass after pass without end.
---@return fun(): ...
function DataLoader:cycle() end

---The order of a pass follows from the seed and the number of the pass alone.
---@param dataset lunagrad.data.Dataset
---@param options? {batch_size?: integer, shuffle?: boolean, drop_last?: boolean, seed?: integer}
---@return lunagrad.data.DataLoader
function data.DataLoader(dataset, options) end

---A table of numbers as a tensor [rows, columns], and the names of the columns if there is a header.
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
