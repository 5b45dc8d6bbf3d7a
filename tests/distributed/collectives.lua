-- Collectives on random shapes, dtypes and strides against the result that one process computes from the inputs of all
-- ranks: values bit for bit, on every rank, and gradients. Arguments: the number of rounds, a seed.
local lg = require "lunagrad"
local dist = lg.distributed
dist.init {timeout = 60}
local rank, size = dist.rank(), dist.size()
local rounds, seed = tonumber(arg[1] or 20), tonumber(arg[2] or 1)

-- Random numbers that are the same on every rank and leave lg's generator unchanged.
local state = seed * 7919 + 17
local function pick(low, high)
  state = (state * 6364136223846793005 + 1442695040888963407)
  return low + ((state >> 33) % (high - low + 1))
end

local dtypes = {"bool", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"}
local integral = {bool = true, u8 = true, i32 = true, i64 = true}
local complex = {c64 = true, c128 = true}

local function random(shape, dtype, key)
  lg.manual_seed(key)
  if integral[dtype] then return lg.randint(-50, 50, shape):to(dtype) end
  if complex[dtype] then return lg.complex(lg.randn(shape, {dtype = "f64"}), lg.randn(shape, {dtype = "f64"})):to(dtype) end
  return lg.randn(shape, {dtype = "f64"}):to(dtype)
end

-- A tensor with the same values and other strides.
local function strided(x, kind)
  if kind == 1 or x:dim() == 0 then return x:clone() end
  if kind == 2 and x:dim() >= 2 then return x:transpose(1, 2):clone():transpose(1, 2) end
  local wide = lg.cat({x:unsqueeze(-1), x:unsqueeze(-1)}, -1)
  return wide:select(-1, 1)
end

local function same(got, want, what)
  assert(got:dtype() == want:dtype(), what .. ": " .. got:dtype() .. " for " .. want:dtype())
  assert(got:equal(want), ("%s: rank %d has\n%s\nfor\n%s"):format(what, rank, tostring(got), tostring(want)))
end

-- The sum in the documented order: the sums of the two halves of the list are added; 16-bit floats accumulate in f32.
local function tree(list, first, count, op)
  if count == 1 then return list[first] end
  local half = 1
  while half * 2 < count do half = half * 2 end
  return op(tree(list, first, half, op), tree(list, first + half, count - half, op))
end
local ops = {
  sum = function(a, b) return a + b end, mean = function(a, b) return a + b end, product = function(a, b) return a * b end,
  min = function(a, b) return lg.minimum(a, b) end, max = function(a, b) return lg.maximum(a, b) end,
}
local function reduced(list, op, dtype)
  local wide = (dtype == "f16" or dtype == "bf16") and "f32" or dtype
  local parts = {}
  for i, x in ipairs(list) do parts[i] = dtype == "bool" and x:to("i64") or x:to(wide) end
  local result = tree(parts, 1, #parts, ops[op])
  if op == "mean" then result = result / size end
  return dtype == "bool" and result:ne(0) or result:to(dtype)
end

local function reduction_for(dtype)
  local names = integral[dtype] and {"sum", "product", "min", "max"} or complex[dtype] and {"sum", "mean"}
    or {"sum", "mean", "product", "min", "max"}
  if dtype == "bool" then names = {"sum", "product", "min", "max"} end
  return names[pick(1, #names)]
end

-- The rows of part `k` (from 0) of `rows`.
local function part(rows, k)
  local each, more = rows // size, rows % size
  return k * each + math.min(k, more), each + (k < more and 1 or 0)
end

for round = 1, rounds do
  local dtype = dtypes[pick(1, #dtypes)]
  local shape = {}
  for i = 1, pick(0, 3) do shape[i] = pick(0, 6) end
  -- longer than a block, and than the part that each rank adds by itself
  if pick(1, 6) == 1 then shape = {pick(3000, 40000)} end
  local kind, async, key = pick(1, 3), pick(1, 2) == 1, seed * 1000000 + round * 100
  local inputs = {}
  for r = 0, size - 1 do inputs[r + 1] = random(shape, dtype, key + r) end
  local what = ("round %d, %s [%s]"):format(round, dtype, table.concat(shape, ", "))
  local function ended(result) return async and result:wait() or result end

  local op = reduction_for(dtype)
  local x = strided(inputs[rank + 1], kind)
  same(ended(dist.all_reduce_(x, op, {async = async})), reduced(inputs, op, dtype), "all_reduce_ " .. op .. ", " .. what)
  same(x, reduced(inputs, op, dtype), "all_reduce_ in place, " .. what)

  local root = pick(0, size - 1)
  x = strided(inputs[rank + 1], kind)
  ended(dist.broadcast_(x, root, {async = async}))
  same(x, inputs[root + 1], "broadcast_, " .. what)

  if #shape > 0 then
    -- Uneven first dims.
    local rows, parts = {}, {}
    for r = 0, size - 1 do
      rows[r + 1] = pick(0, 5)
      local own = {table.unpack(shape)}
      own[1] = rows[r + 1]
      parts[r + 1] = random(own, dtype, key + 50 + r)
    end
    same(ended(dist.all_gather(strided(parts[rank + 1], kind), {async = async})), lg.cat(parts, 1), "all_gather, " .. what)

    local start, count = part(shape[1], rank)
    same(ended(dist.reduce_scatter(strided(inputs[rank + 1], kind), op, {async = async})),
      reduced(inputs, op, dtype):narrow(1, start + 1, count), "reduce_scatter " .. op .. ", " .. what)

    local pieces = {}
    for r = 0, size - 1 do pieces[r + 1] = inputs[r + 1]:narrow(1, start + 1, count) end
    same(ended(dist.all_to_all(strided(inputs[rank + 1], kind), {async = async})), lg.cat(pieces, 1), "all_to_all, " .. what)
  end
end

-- From each rank to each other rank, several at once and in both directions; the receiver waits first, or last.
for round = 1, size > 1 and rounds or 0 do
  local dtype, shape = dtypes[pick(1, #dtypes)], {}
  for i = 1, pick(0, 3) do shape[i] = pick(0, 6) end
  if pick(1, 4) == 1 then shape = {pick(30000, 400000)} end
  local kind, late, key = pick(1, 3), pick(1, 2) == 1, seed * 1000000 + round * 100 + 70
  local sent, coming, values = {}, {}, {}
  for r = 0, size - 1 do values[r] = random(shape, dtype, key + r) end
  local function receive(r)
    for i = 1, 2 do coming[#coming + 1] = {i == 1 and values[r] or values[r]:unsqueeze(1), dist.receive(r, {async = true})} end
  end
  for r = 0, size - 1 do
    if r ~= rank and not late then receive(r) end
  end
  for r = 0, size - 1 do
    if r ~= rank then
      sent[#sent + 1] = dist.send(strided(values[rank], kind), r, {async = true})
      sent[#sent + 1] = dist.send(values[rank]:unsqueeze(1), r, {async = true})
    end
  end
  local sum = dist.all_reduce_(lg.tensor {rank}, "sum")  -- a collective at the same time
  assert(sum:item() == size * (size - 1) // 2)
  for r = 0, size - 1 do
    if r ~= rank and late then receive(r) end
  end
  for _, one in ipairs(coming) do
    local got = one[2]:wait()
    assert(table.concat(got:size(), " ") == table.concat(one[1]:size(), " "), "a transfer has another shape")
    same(got, one[1], ("transfer, round %d, %s [%s]"):format(round, dtype, table.concat(shape, ", ")))
  end
  for _, handle in ipairs(sent) do handle:wait() end
end

-- Many at once, waited for in another order than they began.
local list, handles = {}, {}
for i = 1, 20 do
  list[i] = lg.full({i}, rank + i, {dtype = "f32"})
  handles[i] = dist.all_reduce_(list[i], "sum", {async = true})
end
for i = 20, 1, -1 do
  handles[i]:wait()
  assert(handles[i]:is_done() and list[i]:eq(size * i + size * (size - 1) // 2):all():item())
end

-- A transfer does not wait for a collective that began before it: rank 1 joins the collective with the value that it
-- received.
if size > 1 then
  local sum = lg.tensor {rank + 1.0}
  local handle
  if rank == 1 then
    sum = dist.receive(0)
  else
    handle = dist.all_reduce_(sum, "sum", {async = true})
    if rank == 0 then dist.send(lg.tensor {100.0}, 1) end
  end
  handle = handle or dist.all_reduce_(sum, "sum", {async = true})
  handle:wait()
  assert(sum:item() == 100 + size * (size + 1) // 2 - 2)
end

-- Gradients of the sum of all ranks' losses, where rank r weighs the result with w[r].
local function weights(shape, r)
  lg.manual_seed(77 + r)
  return lg.randn(shape, {dtype = "f64"})
end
local function sum_over_ranks(f)
  local sum = f(0)
  for r = 1, size - 1 do sum = sum + f(r) end
  return sum
end
local function near(got, want, what)
  assert((got - want):abs():max():item() < 1e-12, ("%s: rank %d has\n%s\nfor\n%s"):format(what, rank, tostring(got), tostring(want)))
end

local rows = 2 * size + 1
local x = random({rows, 3}, "f64", rank):requires_grad_()
for _, op in ipairs {"sum", "mean"} do
  x.grad = nil
  local y = x * 2
  dist.all_reduce_(y, op);
  (y * weights({rows, 3}, rank)):sum():backward()
  near(x.grad, 2 * sum_over_ranks(function(r) return weights({rows, 3}, r) end) / (op == "mean" and size or 1), "all_reduce_ " .. op)

  x.grad = nil
  local start, count = part(rows, rank)
  local z = dist.reduce_scatter(x * 2, op);
  (z * weights({count, 3}, rank)):sum():backward()
  local all = {}
  for r = 0, size - 1 do
    local _, other = part(rows, r)
    all[r + 1] = weights({other, 3}, r)
  end
  near(x.grad, 2 * lg.cat(all, 1) / (op == "mean" and size or 1), "reduce_scatter " .. op)
end

x.grad = nil
local y = x * 2
dist.broadcast_(y, size - 1);
(y * weights({rows, 3}, rank)):sum():backward()
near(x.grad, 2 * sum_over_ranks(function(r) return weights({rows, 3}, r) end) * (rank == size - 1 and 1 or 0), "broadcast_")

local own = random({rank + 1, 2}, "f64", rank):requires_grad_()
local total = size * (size + 1) // 2
local gathered = dist.all_gather(own * 2);
(gathered * weights({total, 2}, rank)):sum():backward()
near(own.grad, 2 * sum_over_ranks(function(r) return weights({total, 2}, r) end):narrow(1, rank * (rank + 1) // 2 + 1, rank + 1),
  "all_gather")

x.grad = nil
local exchanged = dist.all_to_all(x * 2);
(exchanged * lg.full({1}, rank + 1, {dtype = "f64"})):sum():backward()
local expected = {}
for r = 0, size - 1 do
  local _, count = part(rows, r)
  expected[r + 1] = lg.full({count, 3}, 2 * (r + 1), {dtype = "f64"})
end
near(x.grad, lg.cat(expected, 1), "all_to_all")

dist.barrier()
if rank == 0 then print(("collectives of %d ranks: %d rounds equal the reference"):format(size, rounds)) end
