-- lg.data.transform: all transforms.
local transform = require "lunagrad.data.transform"

local transforms = {
  compose = transform.compose,
  normalize = transform.normalize,
  random_crop = transform.random_crop,
  random_flip = transform.random_flip,
  random_horizontal_flip = transform.random_flip,
}

for _, file in ipairs {"geometry", "colour", "mix"} do
  for name, make in pairs(require("lunagrad.data." .. file)) do
    if name:sub(1, 1) ~= "_" then transforms[name] = make end
  end
end

return transforms
