-- lg.data: data sets, loaders, transforms and file readers.
local core = require "lunagrad.core"
local dataset = require "lunagrad.data.dataset"
local samplers = require "lunagrad.data.samplers"

local data = {
  TensorDataset = dataset.TensorDataset,
  Subset = dataset.Subset,
  random_split = dataset.random_split,
  image_folder = require "lunagrad.data.image_folder",
  text = require "lunagrad.data.text",
  DataLoader = require "lunagrad.data.loader",
  default_collate = require("lunagrad.data.collate").default,
  transform = require "lunagrad.data.transforms",
  default_collate = require("lunagrad.data.collate").default,
  csv = core.io.csv.load,
  idx = core.io.idx.load,
}

for name, make in pairs(require "lunagrad.data.combine") do data[name] = make end
for name, make in pairs(samplers) do
  if name:sub(1, 1) ~= "_" then data[name] = make end
end

return data
