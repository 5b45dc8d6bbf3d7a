local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional

-- Convolutions: the state has PyTorch's shapes, initial values lie within 1 / sqrt(fan_in), forward equals the op.
lg.manual_seed(2)
local layers = {
  {nn.Conv1d(4, 6, 3), {6, 4, 3}, 12, {2, 4, 9}, {2, 6, 7}},
  {nn.Conv2d(4, 6, {3, 1}, {stride = 2, padding = {1, 0}, groups = 2}), {6, 2, 3, 1}, 6, {2, 4, 12, 12}, {2, 6, 6, 6}},
  {nn.Conv3d(2, 4, 2, {stride = {1, 2, 2}}), {4, 2, 2, 2, 2}, 16, {2, 2, 4, 6, 6}, {2, 4, 3, 3, 3}},
  {nn.ConvTranspose1d(4, 6, 4, 2, 1), {4, 6, 4}, 24, {2, 4, 5}, {2, 6, 10}},
  {nn.ConvTranspose2d(4, 6, 3, {stride = 2, output_padding = 1, groups = 2}), {4, 3, 3, 3}, 27, {2, 4, 5, 6},
    {2, 6, 12, 14}},
}
for _, row in ipairs(layers) do
  local layer, shape, fan, input, output = table.unpack(row)
  local name = tostring(layer)
  expect.equal(layer.weight:size(), shape, name)
  expect.equal(layer.bias:size(), {6 == output[2] and 6 or 4}, name)
  local largest = layer.weight:abs():max():item()
  assert(largest <= 1 / math.sqrt(fan) and largest > 0.8 / math.sqrt(fan), name)
  assert(layer.bias:abs():max():item() <= 1 / math.sqrt(fan), name)
  local keys = {}
  for key in pairs(layer:state_dict()) do keys[#keys + 1] = key end
  table.sort(keys)
  expect.equal(keys, {"bias", "weight"}, name)
  local y = layer(lg.ones(input))
  expect.equal(y:size(), output, name)
  local alone = {table.unpack(input, 2)}
  expect.equal(layer(lg.ones(alone)):size(), {table.unpack(output, 2)}, name)
  y:sum():backward()
  assert(layer.weight.grad and layer.bias.grad, name)
end
assert(nn.Conv1d(2, 2, 3, {bias = false}).bias == nil)
expect.equal(tostring(layers[2][1]):match("%b()"),
  "(4, 6, {3, 1}, stride = 2, padding = {1, 0}, groups = 2)")
expect.equal(tostring(layers[5][1]):match("%b()"), "(4, 6, 3, stride = 2, output_padding = 1, groups = 2)")

-- Values computed by hand.
local x = lg.tensor {{{1.0, 2, 3, 4}}}
local w = lg.tensor {{{1.0, 10, 100}}}
expect.equal(F.conv1d(x, w):tolist(), {{{321.0, 432.0}}})
expect.equal(F.conv1d(x, w, nil, 2, 1):tolist(), {{{210.0, 432.0}}})
expect.equal(F.conv1d(x, w, lg.tensor {0.5}, {padding = "same"}):tolist(), {{{210.5, 321.5, 432.5, 43.5}}})
expect.equal(F.conv1d(x, w, {padding = "valid"}), F.conv1d(x, w))
expect.equal(F.conv1d(x, lg.tensor {{{1.0, 10}}}, {padding = "same"}):tolist(), {{{21.0, 32.0, 43.0, 4.0}}})
expect.equal(nn.Conv1d(1, 3, 4, {padding = "same"})(x):size(), {1, 3, 4})
expect.equal(F.conv_transpose1d(x, w):tolist(), {{{1.0, 12.0, 123.0, 234.0, 340.0, 400.0}}})
expect.equal(F.conv_transpose1d(x, w, nil, 3, 1, 1):tolist(),
  {{{10.0, 100.0, 2.0, 20.0, 200.0, 3.0, 30.0, 300.0, 4.0, 40.0, 400.0}}})
local image = lg.arange(16):to("f32"):reshape(1, 1, 4, 4)
expect.equal(F.conv3d(image:reshape(1, 1, 1, 4, 4), lg.ones(1, 1, 1, 2, 2)):reshape(3, 3),
  F.conv2d(image, lg.ones(1, 1, 2, 2)):reshape(3, 3))
expect.raises("'conv1d' (one of 'valid', 'same' expected, got 'full')", function() F.conv1d(x, w, nil, 1, "full") end)
expect.raises("conv1d: padding = 'same' needs stride 1 (got [2])", function() F.conv1d(x, w, nil, 2, "same") end)
expect.raises("ConvTranspose1d: 4 and 5 channels do not divide into 2 groups", function()
  nn.ConvTranspose1d(4, 5, 3, {groups = 2})
end)

-- Pooling.
expect.equal(F.max_pool1d(x, 2):tolist(), {{{2.0, 4.0}}})
expect.equal(F.max_pool1d(x, 3, 2, 1):tolist(), {{{2.0, 4.0}}})
expect.equal(F.avg_pool1d(x, 3, 2, 1):tolist(), {{{1.0, 3.0}}})
expect.equal(F.avg_pool1d(x, 3, 2, {padding = 1, count_include_pad = false}):tolist(), {{{1.5, 3.0}}})
expect.equal(F.avg_pool1d(x, 3, 2, {ceil_mode = true}):tolist(), {{{2.0, 3.5}}})
expect.equal(F.avg_pool2d(image, 2):tolist(), {{{{2.5, 4.5}, {10.5, 12.5}}}})
expect.equal(F.avg_pool2d(image, 2, {divisor_override = 1}):tolist(), {{{{10.0, 18.0}, {42.0, 50.0}}}})
expect.equal(F.adaptive_avg_pool1d(x, 3):tolist(), {{{1.5, 2.5, 3.5}}})
expect.equal(F.adaptive_avg_pool2d(image, 1):tolist(), {{{{7.5}}}})
expect.equal(F.adaptive_max_pool2d(image, {2, 1}):tolist(), {{{{7.0}, {15.0}}}})
for module, wanted in pairs {
  [nn.MaxPool1d(2)] = F.max_pool1d(x, 2),
  [nn.MaxPool1d(3, 2, 1, 1, false, true)] = F.max_pool1d(x, 3, 2, 1, 1, true),
  [nn.AvgPool1d(3, {stride = 2, padding = 1, count_include_pad = false})] = F.avg_pool1d(x, 3, 2, 1, false, false),
  [nn.AdaptiveAvgPool1d(2)] = F.adaptive_avg_pool1d(x, 2),
} do
  expect.equal(module(x), wanted, tostring(module))
end
for module, wanted in pairs {
  [nn.MaxPool2d(2)] = F.max_pool2d(image, 2),
  [nn.AvgPool2d(2)] = F.avg_pool2d(image, 2),
  [nn.AvgPool2d({3, 2}, {stride = 1, padding = {1, 0}, divisor_override = 2})] =
    F.avg_pool2d(image, {3, 2}, 1, {1, 0}, false, true, 2),
  [nn.AdaptiveAvgPool2d {3, 2}] = F.adaptive_avg_pool2d(image, {3, 2}),
  [nn.AdaptiveMaxPool2d(3)] = F.adaptive_max_pool2d(image, 3),
  [nn.Upsample {scale_factor = 2}] = F.interpolate(image, {8, 8}),
  [nn.Upsample({2, 7}, {mode = "bilinear", align_corners = true})] =
    F.interpolate(image, {2, 7}, {mode = "bilinear", align_corners = true}),
  [nn.Unfold(2, {stride = 2})] = F.im2col(image, 2, {stride = 2}),
} do
  expect.equal(module(image), wanted, tostring(module))
end
assert(tostring(nn.AvgPool2d(3, {stride = 2, ceil_mode = true})):find(
  "AvgPool2d(3, stride = 2, padding = 0, ceil_mode = true)", 1, true))
assert(tostring(nn.AdaptiveAvgPool2d {1, 2}):find("AdaptiveAvgPool2d({1, 2})", 1, true))
assert(tostring(nn.Upsample {scale_factor = 2}):find('Upsample(scale_factor = 2, mode = "nearest")', 1, true))

-- A convolution with a fused activation.
for _, case in ipairs {{"Conv1d", 5}, {"Conv2d", 5, 4}, {"Conv3d", 5, 4, 3}} do
  local name, sides = case[1], {table.unpack(case, 2)}
  local layer, plain = nn[name](2, 3, 2, {activation = "sigmoid"}), nn[name](2, 3, 2)
  plain:load_state_dict(layer:state_dict())
  local input = lg.randn(2, 2, table.unpack(sides))
  local y = layer(input)
  assert(y.grad_fn == name:lower())
  expect.equal(y, plain(input):sigmoid())
  assert(tostring(layer):find(name .. '(2, 3, 2, activation = "sigmoid")', 1, true), tostring(layer))
end
expect.raises("Conv2d: activation must be 'none', 'relu', 'tanh' or 'sigmoid' (got 'elu')", function()
  nn.Conv2d(1, 1, 1, {activation = "elu"})
end)

-- Upsample, Unfold and Fold.
expect.equal(F.interpolate(x, 6):tolist(), {{{1.0, 1.0, 2.0, 3.0, 3.0, 4.0}}})
expect.close(F.interpolate(x, 8, {mode = "linear"}):tolist(), {{{1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}}})
expect.close(F.interpolate(x, 7, {mode = "linear", align_corners = true}):tolist(), {{{1, 1.5, 2, 2.5, 3, 3.5, 4}}})
local columns = F.im2col(image, 2, {stride = 2})
expect.equal(columns[1][1]:tolist(), {0.0, 2.0, 8.0, 10.0})
expect.equal(nn.Fold(4, 2, {stride = 2})(columns), image)
expect.equal(F.col2im(F.im2col(image, 2), 4, 2)[1][1][2]:tolist(), {8.0, 20.0, 24.0, 14.0})
