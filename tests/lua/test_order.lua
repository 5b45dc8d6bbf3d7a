-- sort, topk, kthvalue and median agree with each other for sizes of each of their algorithms, with repeated elements,
-- NaN and infinities, and for any number of threads; so do bincount and the runs of unique.
local lg = require "lunagrad"
local expect = require "expect"

-- The elements of `x` in stable order, by comparisons in Lua: NaN is the largest.
local function by_comparison(x, descending)
  local list, order = x:tolist(), {}
  for i = 1, #list do order[i] = i end
  local function before(a, b)
    if a ~= a then return false end
    return b ~= b or a < b
  end
  table.sort(order, function(i, j)
    local a, b = list[i], list[j]
    if descending then a, b = b, a end
    if before(a, b) then return true end
    if before(b, a) then return false end
    return i < j
  end)
  for i, place in ipairs(order) do order[i] = place - 1 end
  return lg.tensor(order, {dtype = "i64"})
end

local function same(a, b)
  return lg.where(a:isnan():logical_and(b:isnan()), 0, a):equal(lg.where(a:isnan():logical_and(b:isnan()), 0, b))
end

local function check(x, label)
  local n = x:numel()
  for _, descending in ipairs {false, true} do
    local values, order = x:sort(1, descending)
    if n <= 3000 then assert(same(order, by_comparison(x, descending)), label .. ": sort") end
    for _, k in ipairs {1, 2, 7, 33, n // 200, n // 90, n // 3, n - 1, n} do
      if k >= 1 and k <= n then
        local first, places = x:topk(k, 1, descending)
        assert(same(places, order:narrow(1, 1, k)), ("%s: places of topk %d of %d"):format(label, k, n))
        assert(same(first, x:index_select(1, places)), label .. ": values of topk")
        if not descending then
          local value, place = x:kthvalue(k)
          assert(place:item() == order[k]:item(), ("%s: kthvalue %d of %d"):format(label, k, n))
          assert(same(value, x[place:item() + 1]), label .. ": value of kthvalue")
        end
      end
    end
    if not descending then
      local nans = x:is_floating_point() and x:isnan():sum():item() or 0
      local _, middle = x:median(1)
      assert(middle:item() == order[nans > 0 and n or (n + 1) // 2]:item(), label .. ": median")
      local _, without = x:nanmedian(1)
      assert(without:item() == order[math.max(n - nans + 1, 2) // 2]:item(), label .. ": nanmedian")
      assert(same(x:median(), x[middle:item() + 1]), label .. ": median of all")
    end
  end
end

local nan, inf = 0 / 0, math.huge
local sizes = {1, 2, 5, 100, 513, 2100, 70000}
for _, threads in ipairs {1, 3} do
  lg.set_num_threads(threads)
  for _, n in ipairs(sizes) do
    for _, dtype in ipairs {"f32", "f64", "i32", "i64", "u8"} do
      lg.manual_seed(n)
      check(lg.randint(0, 100, {n}):to(dtype), ("few different %s"):format(dtype))
      check(lg.full({n}, 3, {dtype = dtype}), ("equal %s"):format(dtype))
      if dtype ~= "u8" then
        check(lg.arange(n):to(dtype), ("rising %s"):format(dtype))
        check((0 - lg.arange(n)):to(dtype), ("falling %s"):format(dtype))
        check(lg.randint(-1000000, 1000000, {n}):to(dtype), ("spread %s"):format(dtype))
      end
      if dtype:sub(1, 1) == "f" then
        local x = lg.randn(n, {dtype = dtype})
        check(x, "normal " .. dtype)
        check(lg.where(lg.rand(n):gt(0.1), x, nan), "with NaN " .. dtype)
        check(lg.where(lg.rand(n):gt(0.9), x * 1e30, x * 1e-30), "of different size " .. dtype)
        check(lg.full({n}, nan, {dtype = dtype}), "NaN only " .. dtype)
        check(lg.where(lg.rand(n):gt(0.5), lg.where(lg.rand(n):gt(0.5), x, -inf), inf), "infinite " .. dtype)
        check(lg.where(lg.rand(n):gt(0.5), -0.0, 0.0):to(dtype), "zeros " .. dtype)
      end
    end
  end
end
lg.set_num_threads(2)
check(lg.rand(4000):gt(0.5), "bool")
check(lg.randn(4000, {dtype = "f16"}), "f16")

-- Any dim, any strides, rows and columns.
local cube = lg.randn(7, 700, 3)
for _, x in ipairs {cube, cube:permute(3, 2, 1), cube:flip(2), cube:expand(2, 7, 700, 3)} do
  for dim = 1, x:dim() do
    local n = x:size(dim)
    local values, order = x:sort(dim)
    for _, k in ipairs {1, (n + 1) // 2, n} do
      local value, place = x:kthvalue(k, dim, true)
      assert(same(value, values:narrow(dim, k, 1)) and same(place, order:narrow(dim, k, 1)), "kthvalue of rows")
      local first, places = x:topk(k, dim, false)
      assert(same(first, values:narrow(dim, 1, k)) and same(places, order:narrow(dim, 1, k)), "topk of rows")
    end
    local middle = x:median(dim)
    assert(same(middle, values:select(dim, (n + 1) // 2)), "median of rows")
  end
end

-- Gradients go to the element that was taken.
for _, f in ipairs {function(x) return (x:kthvalue(3, 2)) end, function(x) return (x:median(1)) end,
                    function(x) return x:median() end, function(x) return (x:nanmedian(2, true)) end} do
  lg.grad.check(f, {lg.randn(5, 6, {dtype = "f64", requires_grad = true})})
end
local x = lg.tensor {3.0, 1.0, 2.0}
x.requires_grad = true
x:median():backward()
assert(x.grad:equal(lg.tensor {0.0, 0.0, 1.0}), "gradient of the median")

expect.raises("kthvalue: k must lie in 1 to 3", function() x:kthvalue(4) end)
expect.raises("kthvalue: k must lie in 1 to 0", function() lg.zeros(2, 0):kthvalue(1) end)
expect.raises("median: cannot reduce an empty tensor", function() lg.zeros(0):median() end)
expect.raises("nanmedian: cannot reduce an empty tensor", function() lg.zeros(2, 0):nanmedian(2) end)
assert(lg.zeros(0, 3):median(2):numel() == 0, "median of no rows")
expect.raises("median: complex numbers", function() lg.zeros(3, {dtype = "c64"}):median() end)

-- Counts and runs, of sizes that the threads share.
for _, threads in ipairs {1, 3} do
  lg.set_num_threads(threads)
  for _, bins in ipairs {1, 50, 3000, 100000} do
    for _, n in ipairs {0, 1, 700, 90000} do
      local places = lg.randint(0, bins, {n})
      local ones, wanted = lg.ones(n, {dtype = "i64"}), lg.zeros(bins, {dtype = "i64"})
      wanted = wanted:index_add(1, places, ones)
      for _, dtype in ipairs {"i64", "i32"} do
        assert(places:to(dtype):bincount(nil, bins):equal(wanted), "bincount of " .. n)
        assert(places:to(dtype):bincount(lg.ones(n), bins):equal(wanted:to "f32"), "weights of bincount of " .. n)
      end
    end
  end
  for _, dtype in ipairs {"i32", "i64", "f32", "f64", "f16", "u8"} do
    for _, n in ipairs {0, 1, 2, 5000, 70000} do
      local x = lg.randint(0, 3, {n}):to(dtype)
      local whole, numbers, lengths = x:unique_consecutive {return_inverse = true, return_counts = true}
      local values, counts = x:unique_consecutive {return_counts = true}
      assert(values:equal(whole) and counts:equal(lengths), "runs with and without their numbers")
      assert(whole:repeat_interleave(lengths, 1):equal(x) and lengths:sum():item() == n, "runs give the line")
      assert(n == 0 or whole:index_select(1, numbers):equal(x), "numbers of the runs")
    end
  end
end
lg.set_num_threads(2)
assert(lg.tensor({nan, nan, 1, 1}, {dtype = "f64"}):unique_consecutive():numel() == 3, "each NaN is a run")
assert(lg.tensor({true, true, false}):unique_consecutive():equal(lg.tensor {true, false}), "runs of bool")
assert(lg.zeros(5, {dtype = "c64"}):unique_consecutive():numel() == 1, "runs of complex numbers")
assert(lg.randint(0, 3, {6, 5}):t():unique_consecutive():numel() > 1, "runs of a view")

-- Running sums of integers.
local list = lg.arange(300000)
assert(list:cumsum(1)[300000]:item() == 299999 * 300000 // 2, "the last running sum")
assert(list:flip(1):cumsum(1):equal(list:sum() - list:cumsum(1, true):flip(1)), "running sums from both ends")
assert(lg.tensor({math.maxinteger, 1, 1}):cumsum(1):tolist()[3] == math.mininteger + 1, "they wrap around")
