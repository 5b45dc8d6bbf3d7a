-- lg.data: data sets, loaders, and the readers of the files that they come from.
local core = require "lunagrad.core"
local dataset = require "lunagrad.data.dataset"

return {
  TensorDataset = dataset.TensorDataset,
  Subset = dataset.Subset,
  random_split = dataset.random_split,
  DataLoader = require "lunagrad.data.loader",
  csv = core.io.csv.load,
  idx = core.io.idx.load,
}
