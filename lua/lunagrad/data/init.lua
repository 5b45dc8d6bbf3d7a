-- lg.data: data sets, loaders, transforms and file readers.
local core = require "lunagrad.core"
local dataset = require "lunagrad.data.dataset"
local transform = require "lunagrad.data.transform"

return {
  TensorDataset = dataset.TensorDataset,
  Subset = dataset.Subset,
  random_split = dataset.random_split,
  image_folder = require "lunagrad.data.image_folder",
  text = require "lunagrad.data.text",
  DataLoader = require "lunagrad.data.loader",
  transform = {
    compose = transform.compose,
    normalize = transform.normalize,
    random_crop = transform.random_crop,
    random_flip = transform.random_flip,
  },
  csv = core.io.csv.load,
  idx = core.io.idx.load,
}
