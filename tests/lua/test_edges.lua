-- Empty and 0-d tensors, huge numbers as sizes, and tables that a script makes grow.
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local expect = require "expect"
local equal, raises = expect.equal, expect.call_raises
local most = math.maxinteger

-- 0-d and empty operands.
equal(lg.logsumexp(lg.tensor(2.5)):item(), 2.5)
equal(lg.logsumexp(lg.tensor(2.5), 1, true):size(), {})
local x = lg.tensor(0.5, {dtype = "f64", requires_grad = true})
assert(lg.grad.check(lg.logsumexp, {x}) and lg.grad.checkgrad2(lg.logsumexp, {x}))
equal(lg.index_fill(lg.tensor(3.0), 1, lg.zeros(0, {dtype = "i64"}), 7):item(), 3.0)
local values, places = lg.zeros(3, 0):median(1)
equal(values:size(), {0})
equal(places:size(), {0})
raises("median: cannot reduce an empty tensor", lg.median, lg.zeros(3, 0), 2)
for _, pool in ipairs {lg.max_pool1d, lg.avg_pool1d} do
  raises("has no elements", pool, lg.zeros(2, 0), {1})
  raises("has no elements", pool, lg.zeros(1, 2, 0), {2}, {1}, {1})
end
equal(nn.Linear(0, 3)(lg.zeros(2, 0)), lg.zeros(2, 3))
equal(nn.Bilinear(0, 2, 3).bias:tolist(), {0.0, 0.0, 0.0})

-- prod over dims of size 1 has memory of its own.
local row = lg.tensor {{1.0, 2.0}}
row:prod(1):fill_(5)
equal(row:tolist(), {{1.0, 2.0}})

-- Windows.
local image, weight = lg.ones(1, 1, 4, 4), lg.ones(1, 1, 2, 2)
raises("conv2d: padding must be at most", lg.conv2d, image, weight, nil, {1}, {most})
raises("conv2d: stride must be at most", lg.conv2d, image, weight, nil, {most})
raises("conv2d: dilation must be at most", lg.conv2d, image, weight, nil, {1}, {0}, {most})
raises("conv_transpose2d: stride must be at most", lg.conv_transpose2d, image, weight, nil, {most})
raises("max_pool2d: kernel_size must be at most", lg.max_pool2d, image, {most})
raises("max_pool2d: stride must be at most", lg.max_pool2d, image, {2}, {most})
raises("im2col: padding must be at most", lg.im2col, image, {2}, {1}, {most})
equal(lg.conv2d(image, weight, nil, {1 << 29}):tolist(), {{{{4.0}}}})

-- Diagonals and corrections beyond every size.
local square = lg.ones(2, 2)
for _, k in ipairs {most, -most, math.mininteger} do
  equal(square:tril(k):tolist(), k > 0 and {{1.0, 1.0}, {1.0, 1.0}} or {{0.0, 0.0}, {0.0, 0.0}})
  equal(square:triu(k):tolist(), k > 0 and {{0.0, 0.0}, {0.0, 0.0}} or {{1.0, 1.0}, {1.0, 1.0}})
end
assert(lg.var(lg.tensor {0.0, 2.0}, {correction = math.mininteger}):item() < 1e-12)
raises("dim 9223372036854775807 is out of range", lg.sum, square, most)
raises("an offset of", lg.diag_embed, lg.ones(2), math.mininteger)

-- Sizes of results and of tables are checked before they are made.
raises("output_size must be at most", lg.adaptive_avg_pool2d, image, {1 << 40, 2})
raises("output_size must be at most", lg.adaptive_avg_pool2d, image, {most, 2})
raises("output_size must be at most", lg.adaptive_max_pool2d, image, {1 << 40, 2})
raises("output_size must be at most", lg.adaptive_avg_pool1d, lg.ones(1, 4), {1 << 40})
equal(lg.adaptive_avg_pool2d(lg.zeros(0, 4, 4), {1 << 29, 2}):size(), {0, 1 << 29, 2})
local wide = lg.zeros(0, 1 << 40)
for _, cut in ipairs {function() return wide:split(1, 2) end, function() return wide:chunk(1 << 40, 2) end,
  function() return wide:unbind(2) end} do
  raises("out of memory", cut)
end

-- isclose of complex numbers and all others.
local z = lg.complex(lg.tensor {1.0, 2.0}, lg.tensor {0.0, 1.0})
for _, dtype in ipairs {"bool", "u8", "i32", "i64", "f16", "f32", "f64"} do
  local other = lg.ones(2, {dtype = dtype})
  equal(lg.isclose(z, other):tolist(), {true, false})
  equal(lg.isclose(other, z):tolist(), {true, false})
end
equal(lg.isclose(z, 1):tolist(), {true, false})

-- The tape as JSON, node by node.
local leaf = lg.ones(2, {requires_grad = true})
local text = lg.tape((leaf * 2):sum()):json()
assert(text:sub(1, 2) == "[{" and text:sub(-2) == "}]" and text:find('"op":"sum"', 1, true))
