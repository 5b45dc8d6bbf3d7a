---@meta
-- lg.data for editors; the code is in lua/lunagrad/data.

---@class lunagrad
---@field data lunagrad.data

---@class lunagrad.data
local data = {}

---A data set: #set is the number of samples, set[i] the i-th sample (from 1), set:batch(indices) several samples, by
---an i64 tensor of indices from 0.
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
---@param indices Tensor|integer[] from 0
---@return lunagrad.data.Dataset
function data.Subset(whole, indices) end

---Splits a data set at random into parts without overlap, by their lengths or by fractions of 1.
---@param whole lunagrad.data.Dataset
---@param lengths number[]
---@param options? {seed?: integer}
---@return lunagrad.data.Dataset ...
function data.random_split(whole, lengths, options) end

---The samples of several data sets, one after the other.
---@param datasets lunagrad.data.Dataset[]
---@return lunagrad.data.Dataset
function data.ConcatDataset(datasets) end
---Data sets side by side: sample i has sample i of each, under the same names or positions.
---@param datasets table
---@return lunagrad.data.Dataset
function data.StackDataset(datasets) end
---Samples from an iterator: make(pass) returns an iterator as for a `for` loop, which returns the next sample, as one
---value or several.
---@param make fun(pass: integer): function
---@return table
function data.IterableDataset(make) end
---The samples of several iterable data sets, one after the other.
---@param datasets table[]
---@return table
function data.ChainDataset(datasets) end

---The order in which a loader reads: #sampler is the number of samples, for i in sampler do … end gives the indices, from 0.
---@class lunagrad.data.Sampler
---@operator len: integer
local Sampler = {}
---The order of a pass.
---@param seed integer
---@param pass integer
---@return integer[]
function Sampler:indices(seed, pass) end

---In order.
---@param data_source lunagrad.data.Dataset
---@return lunagrad.data.Sampler
function data.SequentialSampler(data_source) end
---In random order; with replacement, num_samples random indices. `generator` has no effect: the seed is the loader's.
---Defaults: replacement = false.
---@param data_source lunagrad.data.Dataset
---@param options? {replacement?: boolean, num_samples?: integer, generator?: any}
---@return lunagrad.data.Sampler
function data.RandomSampler(data_source, options) end
---The given indices, in random order.
---@param indices Tensor|integer[] from 0
---@return lunagrad.data.Sampler
function data.SubsetRandomSampler(indices) end
---num_samples indices with probabilities in proportion to the weights. `generator` has no effect.
---Defaults: replacement = true.
---@param weights Tensor|number[]
---@param num_samples integer
---@param options? {replacement?: boolean, generator?: any}
---@return lunagrad.data.Sampler
function data.WeightedRandomSampler(weights, num_samples, options) end
---Lists of batch_size indices of another sampler, for the loader's batch_sampler.
---Defaults: drop_last = false.
---@param sampler lunagrad.data.Sampler|Tensor|integer[]
---@param batch_size integer
---@param options? {drop_last?: boolean}
---@return lunagrad.data.Sampler
function data.BatchSampler(sampler, batch_size, options) end
---The part of process `rank` (from 0) of num_replicas; set_epoch(n) changes the order.
---Defaults: shuffle = true, seed = 0, drop_last = false.
---@param dataset lunagrad.data.Dataset
---@param options {num_replicas: integer, rank: integer, shuffle?: boolean, seed?: integer, drop_last?: boolean}
---@return lunagrad.data.Sampler
function data.DistributedSampler(dataset, options) end

---@class lunagrad.data.DataLoader
---@field dataset lunagrad.data.Dataset
---@field batch_size integer
---@field seed integer
---@field epoch integer passes begun
---@operator len: integer
---@overload fun(state?: any, previous?: any): ...
local DataLoader = {}

---From now on each rank of lg.distributed gets its part of every batch: batch_size counts the samples of all ranks.
---The samples of a batch and the random numbers of their transforms do not depend on the number of ranks.
---@return lunagrad.data.DataLoader
function DataLoader:shard() end

---A function that returns the next batch at each call, pass after pass without end.
---@return fun(): ...
function DataLoader:cycle() end

---Makes batches of samples: tensors and numbers are stacked, samples {x = …, y = …} give a batch with the same names,
---lists {x, y} several values, strings a list. collate_fn(samples) makes the batch from the list of samples instead.
---`sampler` gives the order: a sampler of lg.data, a list of indices from 0, or an object with indices(seed, pass) and
---a length; batch_sampler gives the batches. num_workers is the same as workers; pin_memory, persistent_workers,
---timeout and generator are accepted and have no effect; worker_init_fn and multiprocessing_context are errors.
---
---for x, y in loader do … end goes once through the data set; #loader is the number of batches. The order of a pass
---depends only on the seed and the number of the pass. With workers, threads of the engine load batches ahead, up to
---prefetch_factor for each; a data set or transform written in Lua cannot be used with workers.
---Defaults: shuffle = false, drop_last = false, prefetch_factor = 2.
---@param dataset lunagrad.data.Dataset
---@param options? {batch_size?: integer, shuffle?: boolean, drop_last?: boolean, seed?: integer, workers?: integer, prefetch_factor?: integer, sampler?: table|Tensor, batch_sampler?: table, collate_fn?: (fun(samples: any[]): ...), num_workers?: integer}
---@return lunagrad.data.DataLoader
function data.DataLoader(dataset, options) end

---The batch that a DataLoader without collate_fn makes from a list of samples.
---@param batch any[]
---@return any ...
function data.default_collate(batch) end

---The bytes of a file as sequences for next-byte prediction: sample i is {x, y}, i64 [length] each, with values from 0 to
---255; y is x shifted by one byte. Sequences begin `stride` bytes apart (default `length`).
---@param path string
---@param length integer
---@param options? {stride?: integer}
---@return lunagrad.data.Dataset
function data.text(path, length, options) end

---PNG images in one folder per class, as in path/cat/1.png: sample i is {image, class}, f32 [channels, height, width] from 0 to
---1 and the class index, from 0. A batch needs images of one size; random_crop gives them one.
---Defaults: channels = 3.
---@param path string
---@param options? {transform?: lunagrad.data.Transform|(fun(image: Tensor): Tensor), channels?: integer}
---@return lunagrad.data.Dataset
function data.image_folder(path, options) end

---A step that transforms an image [channels, height, width] or a batch of images, on any device: u8, which becomes f32 from 0 to
---1, or f32. A loader's workers run normalize, random_crop and random_flip.
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
---Defaults: padding = 0.
---@param size integer|integer[]
---@param options? {padding?: integer}
---@return lunagrad.data.Transform
function transform.random_crop(size, options) end

---Flips left and right with probability p.
---Defaults: p = 0.5.
---@param p? number
---@return lunagrad.data.Transform
function transform.random_flip(p) end

---The same as random_flip.
---@param p? number default 0.5
---@return lunagrad.data.Transform
function transform.random_horizontal_flip(p) end
---Flips top and bottom with probability p.
---Defaults: p = 0.5.
---@param p? number default 0.5
---@return lunagrad.data.Transform
function transform.random_vertical_flip(p) end
---Resizes to {height, width}; with a number the shorter side gets this length. Without antialiasing.
---Defaults: mode = "bilinear".
---@param size integer|integer[]
---@param mode? "bilinear"|"nearest"
---@return lunagrad.data.Transform
function transform.resize(size, mode) end
---The middle of the image, filled up with zeros.
---@param size integer|integer[]
---@return lunagrad.data.Transform
function transform.center_crop(size) end
---Adds a border: a width, {left and right, top and bottom} or {left, top, right, bottom}.
---Defaults: fill = 0, padding_mode = "constant".
---@param padding integer|integer[]
---@param options? {fill?: number, padding_mode?: "constant"|"edge"|"reflect"}
---@return lunagrad.data.Transform
function transform.pad(padding, options) end
---A random part with a share of the area in `scale` and a ratio of width to height in `ratio`, resized to `size`.
---Defaults: scale = {0.08, 1}, ratio = {0.75, 1.33333}, mode = "bilinear".
---@param size integer|integer[]
---@param options? {scale?: number[], ratio?: number[], mode?: "bilinear"|"nearest"}
---@return lunagrad.data.Transform
function transform.random_resized_crop(size, options) end
---Turns by an angle in degrees, counter-clockwise; pixels from outside the image are `fill`.
---Defaults: mode = "nearest", fill = 0.
---@param angle number
---@param options? {mode?: "nearest"|"bilinear", fill?: number}
---@return lunagrad.data.Transform
function transform.rotate(angle, options) end
---Turns by a random angle of {from, to}, or of {-d, d}.
---Defaults: mode = "nearest", fill = 0.
---@param degrees number|number[]
---@param options? {mode?: "nearest"|"bilinear", fill?: number}
---@return lunagrad.data.Transform
function transform.random_rotation(degrees, options) end
---With probability p, fills a random part with `value`, a number or one number for each channel.
---Defaults: p = 0.5, scale = {0.02, 0.33}, ratio = {0.3, 3.3}, value = 0.
---@param options? {p?: number, scale?: number[], ratio?: number[], value?: number|number[]}
---@return lunagrad.data.Transform
function transform.random_erasing(options) end
---The luma, as 1 or 3 equal channels.
---Defaults: num_output_channels = 1.
---@param num_output_channels? integer default 1
---@return lunagrad.data.Transform
function transform.grayscale(num_output_channels) end
---The luma in all channels, with probability p.
---Defaults: p = 0.1.
---@param p? number default 0.1
---@return lunagrad.data.Transform
function transform.random_grayscale(p) end
---Random factors of brightness, contrast and saturation, and a random turn of the hue, in random order. A number v
---stands for {1 - v, 1 + v}, for the hue {-v, v}.
---Defaults: brightness = 0, contrast = 0, saturation = 0, hue = 0.
---@param options? {brightness?: number|number[], contrast?: number|number[], saturation?: number|number[], hue?: number|number[]}
---@return lunagrad.data.Transform
function transform.color_jitter(options) end
---Mixes each image of a batch, and its class, with the image before it: x, y = mix(x, y).
---Defaults: alpha = 1.
---@param options? {alpha?: number, num_classes?: integer}
---@return fun(images: Tensor, classes: Tensor): Tensor, Tensor
function transform.mixup(options) end
---Replaces a box in each image of a batch by the box in the image before it: x, y = mix(x, y).
---Defaults: alpha = 1.
---@param options? {alpha?: number, num_classes?: integer}
---@return fun(images: Tensor, classes: Tensor): Tensor, Tensor
function transform.cutmix(options) end

---Applies the transforms in order. A function takes and returns images [N, C, H, W].
---@param list (lunagrad.data.Transform|fun(images: Tensor): Tensor)[]
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

---Joins samples to a batch, as a loader does without collate_fn: tensors and numbers are stacked; samples that are lists give
---several values.
---@param samples any[]
---@return any ...
function data.default_collate(samples) end

return data
