-- Upsample({size, scale_factor, mode = "nearest", align_corners, recompute_scale_factor}): interpolate as a module.
-- UpsamplingNearest2d({size, scale_factor}) and UpsamplingBilinear2d, which aligns corners, are its old forms. Unfold(kernel_size,
-- {dilation, padding, stride}) and Fold(output_size, kernel_size, {dilation, padding, stride}): im2col and col2im.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local functional = require "lunagrad.nn.functional"
local sizes = require "lunagrad.nn.sizes"
local reader = require("lunagrad.arguments").reader

local Upsample = class("Upsample")
local read_upsample = reader("Upsample", {"size"}, {"scale_factor"}, {"mode", "nearest"}, {"align_corners", false},
  {"recompute_scale_factor", false})

function Upsample:init(...)
  local a = read_upsample(...)
  self.size, self.scale_factor, self.mode, self.align_corners = a.size, a.scale_factor, a.mode, a.align_corners
  self.recompute_scale_factor = a.recompute_scale_factor
end

function Upsample:forward(x)
  return functional.interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)
end

function Upsample:extra_repr()
  local by = self.size and ("size = %s"):format(sizes.text(sizes.expand(self.size, 1)))
    or ("scale_factor = %s"):format(sizes.text(sizes.expand(self.scale_factor, 1)))
  return ("%s, mode = %q"):format(by, self.mode)
end

local function define_upsampling(name, mode, align_corners)
  local Upsampling = class(name, Upsample)
  local read = reader(name, {"size"}, {"scale_factor"})

  function Upsampling:init(...)
    local a = read(...)
    self.size, self.scale_factor, self.mode, self.align_corners = a.size, a.scale_factor, mode, align_corners
    self.recompute_scale_factor = false
  end

  return Upsampling
end

local UpsamplingNearest2d = define_upsampling("UpsamplingNearest2d", "nearest", false)
local UpsamplingBilinear2d = define_upsampling("UpsamplingBilinear2d", "bilinear", true)

local Unfold = class("Unfold")
local read_unfold = reader("Unfold", "kernel_size", {"dilation", 1}, {"padding", 0}, {"stride", 1})

function Unfold:init(...)
  local a = read_unfold(...)
  self.kernel_size, self.dilation, self.padding, self.stride = a.kernel_size, a.dilation, a.padding, a.stride
end

function Unfold:forward(x)
  return core.im2col(x, self.kernel_size, self.dilation, self.padding, self.stride)
end

function Unfold:extra_repr()
  local function text(value) return sizes.text(sizes.expand(value, 1)) end
  return ("kernel_size = %s, dilation = %s, padding = %s, stride = %s"):format(
    text(self.kernel_size), text(self.dilation), text(self.padding), text(self.stride))
end

local Fold = class("Fold")
local read_fold = reader("Fold", "output_size", "kernel_size", {"dilation", 1}, {"padding", 0}, {"stride", 1})

function Fold:init(...)
  local a = read_fold(...)
  self.output_size = a.output_size
  self.kernel_size, self.dilation, self.padding, self.stride = a.kernel_size, a.dilation, a.padding, a.stride
end

function Fold:forward(x)
  return core.col2im(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
end

function Fold:extra_repr()
  return ("output_size = %s, "):format(sizes.text(sizes.expand(self.output_size, 1))) .. Unfold.extra_repr(self)
end

return {
  Upsample = Upsample, UpsamplingNearest2d = UpsamplingNearest2d, UpsamplingBilinear2d = UpsamplingBilinear2d,
  Unfold = Unfold, Fold = Fold,
}
