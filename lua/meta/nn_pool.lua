---@meta
-- lg.nn for editors, continued: pools, padding, resizing; the code is in lua/lunagrad/nn.

---@class lunagrad.nn
local nn = {}

---The largest value of each window of sequences [N, C, W]; the stride defaults to the kernel size. With return_indices also
---its position (from 0) in the flattened spatial dims.
---Defaults: padding = 0, dilation = 1, return_indices = false, ceil_mode = false.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], return_indices?: boolean, ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.MaxPool1d(kernel_size, options) end

---The largest value of each window of images [N, C, H, W]; the stride defaults to the kernel size. With return_indices also
---its position (from 0) in the flattened spatial dims.
---Defaults: padding = 0, dilation = 1, return_indices = false, ceil_mode = false.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], return_indices?: boolean, ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.MaxPool2d(kernel_size, options) end

---The largest value of each window of volumes [N, C, D, H, W]; the stride defaults to the kernel size. With return_indices also
---its position (from 0) in the flattened spatial dims.
---Defaults: padding = 0, dilation = 1, return_indices = false, ceil_mode = false.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], dilation?: integer|integer[], return_indices?: boolean, ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.MaxPool3d(kernel_size, options) end

---Puts values back at the positions that MaxPool1d gives with return_indices: unpool(x, indices, output_size).
---Defaults: padding = 0.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.MaxUnpool1d(kernel_size, options) end

---Puts values back at the positions that MaxPool2d gives with return_indices: unpool(x, indices, output_size).
---Defaults: padding = 0.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.MaxUnpool2d(kernel_size, options) end

---Puts values back at the positions that MaxPool3d gives with return_indices: unpool(x, indices, output_size).
---Defaults: padding = 0.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.MaxUnpool3d(kernel_size, options) end

---The mean of each window of sequences [N, C, W]. The stride defaults to the kernel size.
---Defaults: padding = 0, ceil_mode = false, count_include_pad = true.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], ceil_mode?: boolean, count_include_pad?: boolean}
---@return lunagrad.nn.Module
function nn.AvgPool1d(kernel_size, options) end

---The mean of each window of images [N, C, H, W]. The stride defaults to the kernel size.
---Defaults: padding = 0, ceil_mode = false, count_include_pad = true.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], ceil_mode?: boolean, count_include_pad?: boolean, divisor_override?: integer}
---@return lunagrad.nn.Module
function nn.AvgPool2d(kernel_size, options) end

---The mean of each window of volumes [N, C, D, H, W]. The stride defaults to the kernel size.
---Defaults: padding = 0, ceil_mode = false, count_include_pad = true.
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], padding?: integer|integer[], ceil_mode?: boolean, count_include_pad?: boolean, divisor_override?: integer}
---@return lunagrad.nn.Module
function nn.AvgPool3d(kernel_size, options) end

---The norm_type-th root of the sum of powers of each window of sequences [N, C, W].
---Defaults: ceil_mode = false.
---@param norm_type number
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.LPPool1d(norm_type, kernel_size, options) end

---The norm_type-th root of the sum of powers of each window of images [N, C, H, W].
---Defaults: ceil_mode = false.
---@param norm_type number
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.LPPool2d(norm_type, kernel_size, options) end

---The norm_type-th root of the sum of powers of each window of volumes [N, C, D, H, W].
---Defaults: ceil_mode = false.
---@param norm_type number
---@param kernel_size integer|integer[]
---@param options? {stride?: integer|integer[], ceil_mode?: boolean}
---@return lunagrad.nn.Module
function nn.LPPool3d(norm_type, kernel_size, options) end

---Averages windows of sequences [N, C, W] so that the output has the given size.
---@param output_size integer
---@return lunagrad.nn.Module
function nn.AdaptiveAvgPool1d(output_size) end

---Averages windows of images [N, C, H, W] so that the output has the given size.
---@param output_size integer|integer[]
---@return lunagrad.nn.Module
function nn.AdaptiveAvgPool2d(output_size) end

---Averages windows of volumes [N, C, D, H, W] so that the output has the given size.
---@param output_size integer|integer[]
---@return lunagrad.nn.Module
function nn.AdaptiveAvgPool3d(output_size) end

---The largest values of windows of sequences [N, C, W] chosen so that the output has the given size.
---Defaults: return_indices = false.
---@param output_size integer
---@param options? {return_indices?: boolean}
---@return lunagrad.nn.Module
function nn.AdaptiveMaxPool1d(output_size, options) end

---The largest values of windows of images [N, C, H, W] chosen so that the output has the given size.
---Defaults: return_indices = false.
---@param output_size integer|integer[]
---@param options? {return_indices?: boolean}
---@return lunagrad.nn.Module
function nn.AdaptiveMaxPool2d(output_size, options) end

---The largest values of windows of volumes [N, C, D, H, W] chosen so that the output has the given size.
---Defaults: return_indices = false.
---@param output_size integer|integer[]
---@param options? {return_indices?: boolean}
---@return lunagrad.nn.Module
function nn.AdaptiveMaxPool3d(output_size, options) end

---The largest values of windows that begin at random distances. Give either output_size or output_ratio.
---Defaults: return_indices = false.
---@param kernel_size integer|integer[]
---@param options {output_size?: integer|integer[], output_ratio?: number|number[], return_indices?: boolean, _random_samples?: Tensor}
---@return lunagrad.nn.Module
function nn.FractionalMaxPool2d(kernel_size, options) end

---The largest values of windows that begin at random distances. Give either output_size or output_ratio.
---Defaults: return_indices = false.
---@param kernel_size integer|integer[]
---@param options {output_size?: integer|integer[], output_ratio?: number|number[], return_indices?: boolean, _random_samples?: Tensor}
---@return lunagrad.nn.Module
function nn.FractionalMaxPool3d(kernel_size, options) end

---Adds a border of `value` at both ends of the last dim.
---@param padding integer|integer[]
---@param value number
---@return lunagrad.nn.Module
function nn.ConstantPad1d(padding, value) end

---Adds a border of `value` around the last 2 dims; a list has the widths before and after each dim, the last dim first.
---@param padding integer|integer[]
---@param value number
---@return lunagrad.nn.Module
function nn.ConstantPad2d(padding, value) end

---Adds a border of `value` around the last 3 dims; a list has the widths before and after each dim, the last dim first.
---@param padding integer|integer[]
---@param value number
---@return lunagrad.nn.Module
function nn.ConstantPad3d(padding, value) end

---Adds a border of zeros at both ends of the last dim.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ZeroPad1d(padding) end

---Adds a border of zeros around the last 2 dims.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ZeroPad2d(padding) end

---Adds a border of zeros around the last 3 dims.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ZeroPad3d(padding) end

---Adds a border at both ends of the last dim: the elements reflected at the ends.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReflectionPad1d(padding) end

---Adds a border around the last 2 dims: the elements reflected at the ends.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReflectionPad2d(padding) end

---Adds a border around the last 3 dims: the elements reflected at the ends.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReflectionPad3d(padding) end

---Adds a border at both ends of the last dim: the elements at the ends, repeated.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReplicationPad1d(padding) end

---Adds a border around the last 2 dims: the elements at the ends, repeated.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReplicationPad2d(padding) end

---Adds a border around the last 3 dims: the elements at the ends, repeated.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.ReplicationPad3d(padding) end

---Adds a border at both ends of the last dim: the elements of the other end.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.CircularPad1d(padding) end

---Adds a border around the last 2 dims: the elements of the other end.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.CircularPad2d(padding) end

---Adds a border around the last 3 dims: the elements of the other end.
---@param padding integer|integer[]
---@return lunagrad.nn.Module
function nn.CircularPad3d(padding) end

---Resizes with F.interpolate: either size or scale_factor.
---Defaults: mode = "nearest", align_corners = false, recompute_scale_factor = false.
---@param options {size?: integer|integer[], scale_factor?: number|number[], mode?: "nearest"|"linear"|"bilinear"|"bicubic"|"trilinear"|"area"|"nearest-exact", align_corners?: boolean, recompute_scale_factor?: boolean}
---@return lunagrad.nn.Module
function nn.Upsample(options) end

---Upsample with mode "nearest".
---@param options {size?: integer|integer[], scale_factor?: number|number[]}
---@return lunagrad.nn.Module
function nn.UpsamplingNearest2d(options) end

---Upsample with mode "bilinear" and aligned corners.
---@param options {size?: integer|integer[], scale_factor?: number|number[]}
---@return lunagrad.nn.Module
function nn.UpsamplingBilinear2d(options) end

---The windows of images [N, C, H, W] as columns [N, C kH kW, windows].
---Defaults: dilation = 1, padding = 0, stride = 1.
---@param kernel_size integer|integer[]
---@param options? {dilation?: integer|integer[], padding?: integer|integer[], stride?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.Unfold(kernel_size, options) end

---Adds the columns back at the places of their windows: the inverse of Unfold if the windows do not overlap.
---Defaults: dilation = 1, padding = 0, stride = 1.
---@param output_size integer|integer[]
---@param kernel_size integer|integer[]
---@param options? {dilation?: integer|integer[], padding?: integer|integer[], stride?: integer|integer[]}
---@return lunagrad.nn.Module
function nn.Fold(output_size, kernel_size, options) end

return nn
