-- Tensors: n-dimensional arrays of numbers of one dtype.
local lg = require "lunagrad"

-- Integers make an i64 tensor, other numbers f32. Options come last.
local a = lg.tensor {{1, 2, 3}, {4, 5, 6}}
local b = lg.tensor({{0.5, 1.5, 2.5}}, {dtype = "f64"})
print(a)
print(b)

-- A shape is given as separate arguments or as a table.
local zeros, noise = lg.zeros(2, 3), lg.randn {2, 3}
print(zeros:size(1), #noise, noise:dtype(), noise:device())

-- Positions count from 1; negative ones count from the end. Indexing gives views: writing to a view changes the tensor.
print(a[1], a[-1][2]:item())
local corner = a[{{1, 2}, {2, 3}}]
corner[2] = 0
print(a)

-- Arithmetic is elementwise; dims of size 1 are broadcast.
local column = lg.tensor {{10}, {20}}
print(column + a)
print((a * b):sum(2), a:to("f32"):mean():item())

-- Every op is a function and a method.
local x = lg.linspace(-2, 2, 5)
print(x:relu(), lg.tanh(x))
print(x:gt(0), lg.where(x:gt(0), x, x * 0.1))

-- Matrix products.
local m = lg.arange(6):reshape(2, 3):to("f32")
print(m:matmul(m:t()), m:t():size(1))

-- Indices stored in tensors count from 0: argmax gives the column of the largest element of each row.
print(m:argmax(2), m:softmax(-1):sum(-1))

-- The same seed gives the same random numbers.
lg.manual_seed(7)
local first = lg.rand(3)
lg.manual_seed(7)
assert((first - lg.rand(3)):abs():sum():item() == 0)

-- Incompatible shapes raise an error that names both.
print(select(2, pcall(function() return lg.zeros(2, 3) + lg.zeros(4) end)))
