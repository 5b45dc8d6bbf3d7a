-- image_folder(path, {transform, channels = 3}): PNG images in one folder per class, as in path/cat/1.png. Classes and
-- files are sorted by name. Sample i is {image, class}: f32 [channels, height, width] from 0 to 1, and the class index, from
-- 0. Images are read on demand. Batches need images of equal size, or a random_crop.
local core = require "lunagrad.core"
local dataset = require "lunagrad.data.dataset"
local reader = require("lunagrad.arguments").reader
local transform = require "lunagrad.data.transform"

local Folder = dataset.class("image_folder")

local read = reader("image_folder", "path", {"transform"}, {"channels", 3})

function Folder:__len() return #self.files end

-- The plan for the engine: the files, and the steps of the transform unless it is a Lua function.
local function plan_of(self, files, labels)
  local shape = core._image_shape(files[1], self.channels)
  local steps = not transform.needs_lua(self.transform) and self.transform and self.transform.steps or {}
  return core._data_plan(#files, {{files = files, channels = self.channels, shape = shape}, {rows = labels}}, steps)
end

-- The list of files is read once; later changes in the folder are not seen.
function Folder:plan()
  local why = transform.needs_lua(self.transform)
  if why then return nil, why end
  self.made = self.made or plan_of(self, self.files, self.labels)
  return self.made
end

function Folder:sample(i)
  local one = plan_of(self, {self.files[i]}, self.labels:narrow(1, i, 1))
  local values = dataset.first_of(dataset.batch_of(one, core.tensor({0}, {device = "cpu"})))
  if transform.needs_lua(self.transform) then values[1] = self.transform(values[1]) end
  return values
end

function Folder:batch(indices, seed, pass)
  if not transform.needs_lua(self.transform) then return dataset.batch_of(self:plan(), indices, seed, pass) end
  seed, pass = seed or core._new_seed(), pass or 0
  local images, labels = {}, {}
  for k, index in ipairs(indices:tolist()) do
    local read = plan_of(self, {self.files[index + 1]}, self.labels:narrow(1, index + 1, 1))
    local image, label = dataset.batch_of(read, core.tensor({0}, {device = "cpu"}), 0, 0)
    if transform.is_transform(self.transform) then
      images[k] = self.transform:each(image, {index}, seed, pass):squeeze(1)
    else
      images[k] = self.transform(image:squeeze(1))
    end
    labels[k] = label:squeeze(1)
  end
  return core.stack(images), core.stack(labels)
end

return function(...)
  local given = read(...)
  if given.channels ~= 1 and given.channels ~= 3 and given.channels ~= 4 then
    core._fail(("image_folder: channels %s is none of 1, 3, 4"):format(tostring(given.channels)))
  end
  local self = {
    path = given.path, channels = given.channels, files = {}, classes = {},
    transform = dataset.check_transform("image_folder", given.transform),
  }
  local labels = {}
  self.classes = core._list_folder(given.path)
  for number, class in ipairs(self.classes) do
    local _, files = core._list_folder(given.path .. "/" .. class)
    for _, file in ipairs(files) do
      if file:lower():match("%.png$") then
        self.files[#self.files + 1] = given.path .. "/" .. class .. "/" .. file
        labels[#labels + 1] = number - 1
      end
    end
  end
  if #self.files == 0 then
    core._fail(("image_folder: %s holds no PNG files in folders of classes"):format(given.path))
  end
  self.labels = core.tensor(labels, {device = "cpu"})
  return setmetatable(self, Folder)
end
