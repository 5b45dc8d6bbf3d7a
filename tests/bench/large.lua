-- Ops on tensors of more than 2^31 elements and of more than 4 GiB, checked at their ends and at 2^31:
--   lunagrad run tests/bench/large.lua --device vulkan
-- The sizes need a device of 139 GiB. -- ELEMENTS FLOATS sets others: the elements of tensors of small types
-- (2^31 + 5), and of tensors of f32 (5 GiB). A line for each op: ok, the values that differ, the error, or that
-- the CPU computed it.
local lg = require "lunagrad"
local F = lg.nn.functional

local device = lg.zeros(1).device
local many, floats = math.tointeger(arg[1]) or (1 << 31) + 5, math.tointeger(arg[2]) or 5 * (1 << 28)
local kLongest = 270 -- seconds

-- Element i, from 0, of all operands is i % 251, which every type holds; f16 and bf16 have i % 7.
local function numbers(n, dtype)
  local whole = lg.arange(n, {dtype = "i64"})
  return (whole % ((dtype == "f16" or dtype == "bf16") and 7 or 251)):to(dtype)
end
local function period(x) return (x.dtype == "f16" or x.dtype == "bf16") and 7 or 251 end

-- The sum of i % of for i < n.
local function total(n, of)
  local rest = n % of
  return n // of * (of * (of - 1) // 2) + rest * (rest - 1) // 2
end
-- The same of the squares.
local function squares(n, of)
  local function first(m) return (m - 1) * m * (2 * m - 1) // 6 end -- of 0 ... m - 1
  return n // of * first(of) + first(n % of)
end

-- What differs from wanted(i) at the ends of y and around its middle and 2^31; nil: nothing.
local function difference(y, wanted, tolerance)
  local line, n = y:flatten(), y:numel()
  for _, i in ipairs {0, 1, n // 2, (1 << 31) - 1, 1 << 31, n - 2, n - 1} do
    if i >= 0 and i < n then
      local got, right = line:narrow(1, i + 1, 1):item(), wanted(i)
      if type(got) == "boolean" then got = got and 1 or 0 end
      if type(right) == "boolean" then right = right and 1 or 0 end
      if not (got == right or math.abs(got - right) <= (tolerance or 0) * math.abs(right)) then
        return ("element %d is %s instead of %s"):format(i, got, right)
      end
    end
  end
end

local began = lg.clock()
local counts = {}
local function show(name, what, seconds)
  local kind = what:match("^%a+")
  counts[kind] = (counts[kind] or 0) + 1
  print(("%-42s %7.3f s  %s"):format(name, seconds, what))
end
local function collect()
  collectgarbage()
  collectgarbage()
end

-- Runs f, which returns the result, what its element i is, and a relative tolerance. `large`: bytes of an
-- operand; the CPU computed the op if it took half as many.
local function check(name, large, f)
  if lg.clock() - began > kLongest then return show(name, "skipped: no time is left", 0) end
  collect()
  lg.reset_peak_memory("cpu")
  local before, start = lg.memory("cpu").in_use, lg.clock()
  local fine, message = pcall(function()
    local y, wanted, tolerance = f()
    lg.synchronize()
    local found
    for i, one in ipairs(type(y) == "table" and y or {y}) do
      found = found or difference(one, type(wanted) == "table" and wanted[i] or wanted, tolerance)
    end
    return found and "WRONG: " .. found or "ok"
  end)
  local seconds = lg.clock() - start
  if not fine then
    message = "error: " .. tostring(type(message) == "table" and message.message or message):gsub("\n.*", "")
  elseif device ~= "cpu" and lg.memory("cpu").peak - before > large / 2 then
    message = message .. ", on the CPU"
  end
  show(name, message, seconds)
  collect()
end

-- Ops of one operand x with n elements and the period q. Element i of x is i % q.
local function ops_of(x, label)
  local n, q = x:numel(), period(x)
  local bytes = n * x:element_size()
  local floating = x.dtype:match("f")
  local columns = math.min(4096, n // 4)
  local rows = n // columns
  local function each(name, f, wanted, tolerance)
    check(label .. " " .. name, bytes, function() return f(), wanted, tolerance end)
  end
  local function at(i) return i % q end
  local function matrix() return x:narrow(1, 1, rows * columns):view(rows, columns) end

  -- elementwise
  each("x + 1", function() return x + 1 end, function(i) return at(i) + 1 end)
  each("x * x", function() return x * x end, function(i) return at(i) * at(i) % (x.dtype == "u8" and 256 or 1e9) end)
  each("maximum(x, 3)", function() return lg.maximum(x, lg.tensor(3, {dtype = x.dtype})) end, function(i) return math.max(at(i), 3) end)
  each("x > 2", function() return x:gt(2) end, function(i) return at(i) > 2 end)
  each("where", function() return lg.where(x:gt(2), x, 0) end, function(i) return at(i) > 2 and at(i) or 0 end)
  each("masked_fill", function() return x:masked_fill(x:lt(3), 1) end, function(i) return at(i) < 3 and 1 or at(i) end)
  each("clamp", function() return x:clamp(1, 4) end, function(i) return math.min(4, math.max(1, at(i))) end)
  each("add_ of a row", function()
    local y = matrix():clone()
    return y:add_(lg.ones(columns, {dtype = x.dtype}))
  end, function(i) return at(i) + 1 end)
  if floating then
    each("exp", function() return (x * 0.25):exp() end, function(i) return math.exp(at(i) * 0.25) end, 1e-2)
    each("relu", function() return F.relu(x - 3) end, function(i) return math.max(0, at(i) - 3) end)
    each("lerp", function() return x:lerp(x, 0.5) end, at)
  end

  -- casts and copies
  for _, type in ipairs {"bool", "u8", "bf16"} do
    each("to " .. type, function() return x:to(type) end, function(i)
      local value = at(i)
      return type == "bool" and value ~= 0 or type ~= "bool" and value
    end)
  end
  each("clone", function() return x:clone() end, at)
  each("copy_", function() return lg.empty(n, {dtype = x.dtype}):copy_(x) end, at)
  each("transposed copy", function() return matrix():t():contiguous() end,
    function(i) return at(i % rows * columns + i // rows) end)
  each("cat", function() return lg.cat({x:narrow(1, 1, 3), x:narrow(1, 4, n - 3)}) end, at)
  each("stack", function() return lg.stack({x:narrow(1, 1, n // 2), x:narrow(1, n // 2 + 1, n // 2)}) end, at)
  each("flip", function() return x:flip(1) end, function(i) return at(n - 1 - i) end)
  each("roll", function() return x:roll(5) end, function(i) return at((i + n - 5) % n) end)
  each("pad", function() return F.pad(x, {2, 3}) end, function(i) return i >= 2 and i < n + 2 and at(i - 2) or 0 end)
  each("tril", function() return matrix():tril(-1) end, function(i)
    return i % columns < i // columns and at(i) or 0
  end)
  each("full", function() return lg.full({n}, 3, {dtype = x.dtype}) end, function() return 3 end)
  each("zeros", function() return lg.zeros(n, {dtype = x.dtype}) end, function() return 0 end)
  each("x[{}] = 2", function()
    local y = x:clone()
    y[{{n - 1, n}}] = 2
    return y
  end, function(i) return i >= n - 2 and 2 or at(i) end)

  -- reductions
  local sum = total(n, q)
  local near = floating and 1e-2 or 0
  each("sum", function() return floating and x:float():sum() or x:sum() end, function() return sum end, floating and 1e-5 or 0)
  each("sum of rows", function() return matrix():sum(2) end, function(i)
    return total((i + 1) * columns, q) - total(i * columns, q)
  end, near)
  each("sum of columns", function() return matrix():gt(0):sum(1) end, function(i)
    local zeros = 0 -- rows r with (r columns + i) % q == 0
    for r = 0, math.min(rows, q) - 1 do
      if (r * columns + i) % q == 0 then zeros = zeros + (rows - 1 - r) // q + 1 end
    end
    return rows - zeros
  end)
  each("amax", function() return x:amax() end, function() return math.min(n, q) - 1 end)
  each("amin of rows", function() return matrix():amin(2) end, function(i)
    return columns >= q and 0 or at(i * columns)
  end)
  each("any", function() return x:any() end, function() return true end)
  each("all", function() return x:all() end, function() return false end)
  each("argmax", function() return x:argmax() end, function() return q - 1 end)
  each("argmax of rows", function() return matrix():argmax(2) end, function(i)
    return (q - 1 - i * columns % q) % q
  end)
  if floating then
    local mean = sum / n
    local variance = (q * q - 1) / 12
    each("mean", function() return x:mean() end, function() return mean end, near)
    each("var", function() return x:var() end, function() return variance end, near)
    each("std of rows", function() return matrix():std(2) end, function() return math.sqrt(variance) end, 5e-2)
    each("aminmax", function() return {x:aminmax()} end,
      {function() return 0 end, function() return q - 1 end})
    each("norm", function() return x:float():norm() end, function() return math.sqrt(squares(n, q)) end, 1e-4)
    each("softmax of rows", function() return matrix():softmax(2):amax(2):gt(0) end, function() return true end)
    each("log_softmax of rows", function() return matrix():log_softmax(2):exp():sum(2) end, function() return 1 end, 5e-2)
  end
  each("cumsum of rows", function() return matrix():gt(-1):cumsum(2) end, function(i) return i % columns + 1 end)

  -- gathers
  local places = lg.tensor({0, n // 2, n - 1}, {dtype = "i64"})
  local function place(i) return at(i == 0 and 0 or i == 1 and n // 2 or n - 1) end
  each("index_select", function() return x:index_select(1, places) end, place)
  each("take", function() return x:take(places) end, place)
  each("gather", function() return x:gather(1, places) end, place)
  each("index_select of rows", function()
    return matrix():index_select(1, (lg.arange(rows, {dtype = "i64"}) + 1) % rows)
  end, function(i) return at((i + columns) % (rows * columns)) end)
  each("embedding", function()
    return F.embedding(lg.arange(rows, {dtype = "i64"}) % 3, matrix():narrow(1, 1, 3):contiguous())
  end, function(i) return at(i // columns % 3 * columns + i % columns) end)
  each("gather along rows", function()
    local reversed = columns - 1 - lg.arange(columns, {dtype = "i64"})
    return matrix():gather(2, reversed:unsqueeze(1):expand(rows, columns))
  end, function(i) return at(i // columns * columns + columns - 1 - i % columns) end)
end

-- Products whose result or operand is large. a[i] = i % 3 and b[j] = j % 5 in all of k columns.
local function products(n, dtype, label)
  local bytes = n * lg.zeros(1, {dtype = dtype}):element_size()
  local k = 16
  local side = math.ceil(math.sqrt(n))
  local function factor(size, of) return (lg.arange(size, {dtype = "i64"}) % of):to(dtype):unsqueeze(2):expand(size, k):contiguous() end
  check(label .. " matmul, large result", bytes, function()
    return factor(side, 3):matmul(factor(side, 5):t()), function(i) return k * (i // side % 3) * (i % side % 5) end
  end)
  check(label .. " linear, large result", bytes, function()
    return F.linear(factor(side, 3), factor(side, 5)), function(i) return k * (i // side % 3) * (i % side % 5) end
  end)
  check(label .. " bmm, large result", bytes, function()
    local half = math.ceil(math.sqrt(n / 2))
    local a = factor(half, 3):unsqueeze(1):expand(2, half, k)
    return a:matmul(factor(half, 5):t()), function(i)
      local within = i % (half * half)
      return k * (within // half % 3) * (within % half % 5)
    end
  end)
  local columns = math.min(4096, n // 4)
  local rows = n // columns
  local function tall() -- of ones, but for the last row
    local x = lg.ones(rows, columns, {dtype = dtype})
    x[{rows}] = 2
    return x
  end
  local function row(i) return i == rows - 1 and 2 * columns or columns end
  check(label .. " matmul, large operand", bytes, function()
    return tall():matmul(lg.ones(columns, 8, {dtype = dtype})), function(i) return row(i // 8) end
  end)
  check(label .. " matmul of a vector", bytes, function()
    return tall():matmul(lg.ones(columns, {dtype = dtype})), row
  end)
  check(label .. " matmul, long sums", bytes, function()
    local small = lg.full({8, rows}, 2^-10, {dtype = dtype}) -- so that sums in f16 stay below 65504
    return small:matmul(tall()):float() / ((rows + 1) * 2^-10), function() return 1 end, 1e-2
  end)
end

local function randoms(n, dtype, label)
  local bytes = n * lg.zeros(1, {dtype = dtype}):element_size()
  -- Whether y is right at its ends, as a tensor of bools.
  local function ends(y, fits)
    local line, all = y:flatten(), true
    for _, i in ipairs {1, y:numel() // 2, y:numel()} do all = all and fits(line:narrow(1, i, 1):item()) end
    return lg.tensor({all and 1 or 0})
  end
  local function yes() return 1 end
  check(label .. " rand", bytes, function()
    return ends(lg.rand(n, {dtype = dtype}), function(v) return v >= 0 and v < 1 end), yes
  end)
  check(label .. " randn", bytes, function()
    local y = lg.randn(n, {dtype = dtype})
    return y:narrow(1, n - n // 4 + 1, n // 4):float():square():mean(), yes, 5e-2
  end)
  check(label .. " dropout", bytes, function()
    local y = F.dropout(lg.ones(n, {dtype = dtype}), 0.5)
    return y:narrow(1, n - n // 4 + 1, n // 4):float():mean(), yes, 5e-2
  end)
end

print(("%s: %d elements of small types, %d of f32"):format(device, many, floats))
do
  check("arange", many * 8, function() return lg.arange(many, {dtype = "i64"}), function(i) return i end end)
  for _, case in ipairs {{many, "u8"}, {many, "bf16"}, {floats, "f32"}} do
    local fine, x = pcall(numbers, case[1], case[2])
    if fine then ops_of(x, case[2]) else show(case[2], "error: " .. tostring(x), 0) end
    x = nil
    collect()
  end
  products(many, "f16", "f16")
  products(floats, "f32", "f32")
  randoms(many, "f16", "f16")
  randoms(floats, "f32", "f32")
end
local list = {}
for kind, count in pairs(counts) do list[#list + 1] = count .. " " .. kind end
table.sort(list)
print(table.concat(list, ", ") .. (", in %.0f s"):format(lg.clock() - began))
