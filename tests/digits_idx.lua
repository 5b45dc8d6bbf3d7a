-- Writes the digits of assets/data as a folder of IDX files with MNIST's names and sizes, each pixel three times as
-- large in a frame of 28 x 28, so that the example that wants MNIST can be run without it: digits_idx.lua FOLDER
local lg = require "lunagrad"

local here = arg[0]:match("^(.*)/") or "."
local digits = lg.data.csv(here .. "/../assets/data/digits.csv")
local n = #digits
local pixels = (digits:narrow(2, 1, 64) * 15):reshape(n, 8, 1, 8, 1):expand(n, 8, 3, 8, 3):reshape(n, 24, 24)
local images = lg.zeros(n, 28, 28)
images[{{}, {3, 26}, {3, 26}}] = pixels
local labels = digits:select(2, 65)

local function write(part, first, count)
  lg.io.idx.save(arg[1] .. "/" .. part .. "-images-idx3-ubyte.gz", images:narrow(1, first, count):to("u8"))
  lg.io.idx.save(arg[1] .. "/" .. part .. "-labels-idx1-ubyte", labels:narrow(1, first, count):to("u8"))
end
write("train", 1, 1500)
write("t10k", 1501, n - 1500)
