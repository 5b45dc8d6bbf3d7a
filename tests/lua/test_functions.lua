-- Functions beyond the examples of the records: special values, random numbers in place, in-place forms and their
-- gradients, indices, pieces.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"

local nan, inf = 0 / 0, math.huge
local on_gpu = lg.device() ~= "cpu"
local exact = on_gpu and "f32" or "f64"
local tolerance = on_gpu and 1e-5 or 1e-12

local function floats(values, options)
  options = options or {}
  return lg.tensor(values, {dtype = options.dtype or exact, requires_grad = options.requires_grad})
end

-- Special functions at their special values.
do
  local function at(name, x, wanted, bound)
    expect.close(lg[name](floats {x}):item(), wanted, (bound or tolerance) * math.max(1, math.abs(wanted)), name .. "(" .. x .. ")")
  end
  at("lgamma", 0.5, 0.57236494292470008707)
  at("lgamma", -0.5, 1.26551212348464539649)
  at("lgamma", 3, 0.69314718055994530942)
  at("lgamma", 100, 359.13420536957539878)
  at("digamma", 1, -0.57721566490153286061)
  at("digamma", -1.5, 0.70315664064524318723)
  at("erfinv", 0.5, 0.47693627620446987338)
  at("erfinv", -0.999, -2.32675376551352467, 1e-5)
  at("erfc", 3, 2.2090496998585441e-5)
  at("erfcx", 50, 0.011281536265323772)
  at("i0", 1, 1.26606587775200833560)
  at("i1", -2, -1.59063685463732906338)
  at("i0e", 100, 0.0399443792990967)
  at("ndtri", 0.975, 1.95996398454005423552)
  at("log_ndtr", -10, -53.231285150512470578)
  at("entr", 0.5, 0.34657359027997265471)
  expect.equal(lg.lgamma(floats {0, -3, inf}):tolist(), {inf, inf, inf})
  expect.equal(lg.digamma(floats {-2}):item(), nan)
  expect.equal(lg.erfinv(floats {1, -1, 0, 1.5}):tolist(), {inf, -inf, 0.0, nan})
  expect.equal(lg.entr(floats {0, -1}):tolist(), {0.0, -inf})
  expect.equal(lg.ndtri(floats {0, 1, -0.5}):tolist(), {-inf, inf, nan})
  expect.equal(lg.xlogy(floats {0, 0}, floats {0, nan}):tolist(), {0.0, nan})
  expect.equal(lg.hypot(floats {inf, 3, 0}, floats {nan, 4, 0}):tolist(), {inf, 5.0, 0.0})
  expect.equal(lg.signbit(floats {-1, 2}):tolist(), {true, false})
  expect.equal(lg.signbit(-floats {0}):tolist(), {true})
  expect.equal(lg.copysign(floats {1, -2}, -floats {0, 1}):tolist(), {-1.0, -2.0})
  expect.close(lg.special.expit(floats {0}), {0.5}, tolerance)
  expect.close(lg.polygamma(1, floats {1}), {math.pi ^ 2 / 6}, 1e-6)
  expect.close(floats {1}:polygamma(1), {math.pi ^ 2 / 6}, 1e-6)
  expect.close(floats {2.345, 15.5}:round {decimals = 1}, {2.3, 15.5}, 1e-6)
  expect.close(floats {2.345, 155}:round {decimals = -1}, {0, 160}, 1e-6)
  expect.raises("decimals are for floating-point", function() return lg.tensor {1}:round {decimals = 1} end)
end

-- Integers.
do
  local a, b = lg.tensor {12, -7, 0}, lg.tensor {10, 3, 0}
  expect.equal(a:gcd(b):tolist(), {2, 1, 0})
  expect.equal(a:lcm(b):tolist(), {60, 21, 0})
  expect.equal(a:bitwise_and(b):tolist(), {12 & 10, -7 & 3, 0})
  expect.equal(lg.tensor {1, 1, -8}:bitwise_left_shift(lg.tensor {3, 64, 1}):tolist(), {8, 0, -16})
  expect.equal(lg.tensor {-8, -8, 8}:bitwise_right_shift(lg.tensor {1, 99, 2}):tolist(), {-4, -1, 2})
  expect.equal(a:bitwise_not():tolist(), {~12, ~-7, ~0})
  expect.equal(lg.tensor {true, false}:bitwise_not():tolist(), {false, true})
  expect.raises("integers or booleans", function() return lg.tensor {1.5}:bitwise_and(lg.tensor {1}) end)
  local x = lg.tensor {6, 3}
  expect.equal(x:bitwise_xor_(3):tolist(), {5, 0})
end

-- Gradients of first and second order against central differences (f64, on the CPU).
if not on_gpu then
  local function check(name, f, ...)
    local inputs = {}
    for i, values in ipairs {...} do inputs[i] = floats(values, {requires_grad = true}) end
    for order, grad in ipairs {lg.grad.check, lg.grad.checkgrad2} do
      local ok, message = grad(f, inputs)
      assert(ok, name .. " of order " .. order .. ": " .. tostring(message))
    end
  end
  for _, name in ipairs {"lgamma", "digamma", "i0", "i0e", "i1", "i1e", "erfc", "erfcx", "ndtr", "log_ndtr", "softshrink"} do
    check(name, function(x) return x[name](x) end, {0.7, 1.9, 3.3})
  end
  check("digamma below 0", function(x) return x:digamma() end, {-0.3, -1.6})
  for _, name in ipairs {"erfinv", "ndtri", "logit", "entr"} do
    check(name, function(x) return x[name](x) end, {0.2, 0.6, 0.9})
  end
  for _, name in ipairs {"xlogy", "xlog1py", "hypot", "logaddexp2", "copysign", "fmax", "fmin"} do
    check(name, function(x, y) return x[name](x, y) end, {0.5, 2.0, 1.5}, {1.5, 0.7, 2.5})
  end
  check("polygamma", function(x) return x:polygamma(2) end, {1.5, 2.5})
  check("zeta", function(q) return lg.zeta(2.5, q) end, {0.5, 1.5})
  check("logcumsumexp", function(x) return x:logcumsumexp(2) end, {{0.5, -1.0, 2.0}, {1.0, 1.5, 0.25}})
  check("cummax", function(x) return (x:cummax(1)) end, {0.5, 2.0, 1.0, 3.0})
  local index = lg.tensor {1, 0, 1, 1}
  for _, reduce in ipairs {"sum", "prod", "mean", "amax", "amin"} do
    for _, include in ipairs {true, false} do
      check("scatter_reduce " .. reduce, function(x, s)
        return x:scatter_reduce(1, index, s, reduce, {include_self = include})
      end, {0.5, 1.5, -2.0}, {1.25, 2.0, -0.75, 3.0})
    end
  end
  check("index", function(x) return lg.index(x, {lg.tensor {0, 1, 0}, lg.tensor {1, 1, 0}}) end, {{1.0, 2.0}, {3.0, 4.0}})
  check("index_put", function(x, v)
    return x:index_put({lg.tensor {0, 1, 0}}, v, {accumulate = true})
  end, {1.0, 2.0}, {3.0, 4.0, 5.0})
  check("quantile", function(x) return x:quantile(0.3) end, {1.0, 4.0, 2.0, 3.5})
  check("kthvalue", function(x) return (x:kthvalue(2)) end, {1.0, 4.0, 2.0, 3.5})
  check("masked_scatter", function(x, s)
    return x:masked_scatter(lg.tensor {true, false, true}, s)
  end, {1.0, 2.0, 3.0}, {4.0, 5.0})
  check("renorm", function(x) return x:renorm(2, 1, 1.0) end, {{1.0, 2.0}, {0.1, 0.2}})
  check("diag_embed", function(x) return x:diag_embed() end, {{1.0, 2.0}, {3.0, 4.0}})
  -- In place: the same gradients as of the other form.
  local forms = {
    cumsum = {1}, cumprod = {1}, lgamma = {}, erfinv = {}, logit = {}, float_power = {2}, xlogy = {floats {0.3, 0.5, 0.7}},
    masked_fill = {lg.tensor {true, false, true}, 2}, scatter = {1, lg.tensor {0, 2}, floats {0.1, 0.2}},
    scatter_add = {1, lg.tensor {0, 2}, floats {0.1, 0.2}}, index_add = {1, lg.tensor {0, 0}, floats {0.1, 0.2}},
    index_copy = {1, lg.tensor {1}, floats {0.1}}, index_fill = {1, lg.tensor {1}, 3}, clamp_min = {0.3}, clamp = {0.3, 0.5},
    index_put = {{lg.tensor {1}}, floats {0.4}}, masked_scatter = {lg.tensor {true, false, true}, floats {0.1, 0.2}},
    scatter_reduce = {1, lg.tensor {0, 2}, floats {0.1, 0.2}, "prod"}, sgn = {}, polygamma = {1},
  }
  for name, arguments in pairs(forms) do
    local gradients = {}
    for i, method in ipairs {name, name .. "_"} do
      local x = floats({0.2, 0.4, 0.6}, {requires_grad = true})
      local y = x * 1.5
      local kept = y:exp()
      local z = y[method](y, table.unpack(arguments))
      if i == 2 then assert(z == y, method .. " does not return its tensor") end
      ;((z * z):sum() + kept:sum()):backward()
      gradients[i] = x.grad
    end
    expect.close(gradients[2], gradients[1]:tolist(), 1e-12, name .. "_")
  end
end

-- In place: shapes, types, leaves, versions.
do
  local leaf = floats({1, 2}, {requires_grad = true})
  expect.raises("cumsum_: a leaf tensor that requires grad", function() leaf:cumsum_(1) end)
  expect.raises("uniform_: a leaf tensor that requires grad", function() leaf:uniform_() end)
  expect.raises("unsqueeze_: a leaf tensor that requires grad", function() leaf:unsqueeze_(1) end)
  local x = floats {{1, 2, 3}, {4, 5, 6}}
  local version = x:version()
  expect.equal(x:cumsum_(1):tolist(), {{1.0, 2.0, 3.0}, {5.0, 7.0, 9.0}})
  assert(x:version() > version)
  expect.equal(x:tril_():tolist(), {{1.0, 0.0, 0.0}, {5.0, 7.0, 0.0}})
  expect.raises("cumsum_: a result of type f32", function() lg.tensor {1, 2}:cumsum_(1, {dtype = "f32"}) end)
  expect.raises("share memory", function() floats {1}:expand(3):cumsum_(1) end)
  local y = x
  expect.equal(x:unsqueeze_(1):size(), {1, 2, 3})
  expect.equal(y:squeeze_():size(), {2, 3})
  expect.equal(x:t_():size(), {3, 2})
  expect.equal(x[3]:tolist(), {0.0, 0.0})
  expect.equal(x:transpose_(1, 2):size(), {2, 3})
  expect.equal(x:clamp_min_(2):clamp_max_(5):tolist(), {{2.0, 2.0, 2.0}, {5.0, 5.0, 2.0}})
  expect.equal(lg.zeros(3, 3):fill_diagonal_(2):sum():item(), 6.0)
  expect.equal(lg.tensor {-1.5, 2.5}:absolute_():tolist(), {1.5, 2.5})
  expect.equal(lg.tensor {3, 4}:masked_fill_(lg.tensor {true, false}, 9):tolist(), {9, 4})
  expect.equal(lg.tensor {3.0, 4.0}:masked_fill(lg.tensor {true, false}, lg.tensor(2.5)):tolist(), {2.5, 4.0})
end

-- Random numbers in place: ranges and moments.
do
  lg.manual_seed(3)
  local x = lg.empty(20000)
  local function moments(mean, spread, bound)
    expect.close(x:mean():item(), mean, bound)
    expect.close(x:std():item(), spread, bound)
  end
  x:uniform_(-1, 3)
  assert(x:min():item() >= -1 and x:max():item() < 3)
  moments(1, 4 / 12 ^ 0.5, 0.05)
  x:normal_(2, 0.5)
  moments(2, 0.5, 0.03)
  x:normal_ {std = 3}
  moments(0, 3, 0.1)
  x:exponential_(2)
  assert(x:min():item() >= 0)
  moments(0.5, 0.5, 0.03)
  x:log_normal_(0, 0.25)
  moments(math.exp(1 / 32), 0.262, 0.03)
  x:geometric_(0.25)
  assert(x:min():item() == 1)
  moments(4, 12 ^ 0.5, 0.15)
  x:bernoulli_(0.3)
  moments(0.3, 0.21 ^ 0.5, 0.03)
  x:cauchy_(1, 2)
  expect.close(x:median():item(), 1, 0.15)
  expect.close(x:lt(3):float():mean():item(), 0.75, 0.03)
  x:random_(2, 6)
  assert(x:min():item() == 2 and x:max():item() == 5)
  local whole = lg.zeros(500, {dtype = "i64"}):random_(3)
  expect.equal(whole:unique():tolist(), {0, 1, 2})
  for _, rate in ipairs {0, 0.5, 4, 9.5, 40, 1000} do
    x = lg.poisson(lg.full({20000}, rate + 0.0))
    moments(rate, rate ^ 0.5, 0.05 * math.max(1, rate ^ 0.5))
    assert(x:frac():abs():max():item() == 0)
  end
  expect.raises("finite and not negative", function() return lg.poisson(lg.tensor {1.0, -1.0}):tolist() end)
  x = lg.normal(lg.tensor {100.0, 0.0}:repeat_interleave(5000), 1)
  expect.close(x:mean():item(), 50, 0.1)
  expect.equal(lg.normal(1, 2, {3, 4}, {dtype = "f32"}):size(), {3, 4})
  expect.raises("from must not exceed to", function() x:uniform_(2, 1) end)
  expect.raises("floating-point", function() whole:normal_() end)
  expect.raises("from must be a number (got string)", function() x:uniform_ "low" end)
  expect.raises("unknown option 'low'", function() x:uniform_ {low = 1} end)
end

-- unique, counting and searching.
do
  local x = lg.tensor {{3, 1, 3}, {2, 1, 1}}
  local values, inverse, counts = x:unique {return_inverse = true, return_counts = true}
  expect.equal({values:tolist(), inverse:tolist(), counts:tolist()}, {{1, 2, 3}, {{2, 0, 2}, {1, 0, 0}}, {3, 1, 2}})
  expect.equal(lg.tensor({}, {dtype = "i64"}):unique():size(), {0})
  expect.equal(#lg.tensor {nan, 1.0, nan}:unique(), 3)
  local rows, place = lg.tensor {{1, 2}, {0, 5}, {1, 2}}:unique {dim = 1, return_inverse = true}
  expect.equal({rows:tolist(), place:tolist()}, {{{0, 5}, {1, 2}}, {1, 0, 1}})
  expect.equal(lg.tensor {1, 1, 2, 1}:unique_consecutive():tolist(), {1, 2, 1})
  expect.equal(lg.tensor {1, 3, 1}:bincount():tolist(), {0, 2, 0, 1})
  expect.equal(lg.tensor({}, {dtype = "i64"}):bincount(nil, 2):tolist(), {0, 0})
  expect.raises("must not be negative", function() return lg.tensor {-1}:bincount() end)
  expect.raises("too large", function() return lg.tensor {math.maxinteger}:bincount() end)
  expect.equal(lg.searchsorted(lg.tensor {1, 3, 5}, 3):item(), 1)
  expect.equal(lg.searchsorted(lg.tensor {1, 3, 5}, lg.tensor {3, 9, 0}, {right = true}):tolist(), {2, 3, 0})
  expect.equal(lg.bucketize(lg.tensor {3.0, 9.0}, lg.tensor {1.0, 3.0}):tolist(), {1, 2})
  expect.equal(lg.isin(lg.tensor {1, 2, 3}, lg.tensor {2, 7}):tolist(), {false, true, false})
  local counted, edges = floats {0, 0.5, 1, 1, 3}:histogram(2, {range = {0, 1}})
  expect.equal(counted:tolist(), {1.0, 3.0})
  expect.close(edges, {0, 0.5, 1}, 1e-6)
  expect.equal(lg.tensor {2.0, 1.0, 3.0, 2.0}:sort(1, false, true):tolist(), {1.0, 2.0, 2.0, 3.0})
  local sorted, where = lg.tensor {1 << 40, -(1 << 41), 5, 5}:sort {descending = true}
  expect.equal({sorted:tolist(), where:tolist()}, {{1 << 40, 5, 5, -(1 << 41)}, {0, 2, 3, 1}})
  local many = lg.randint(math.mininteger // 2, math.maxinteger // 2, {5000})
  assert(many:sort():diff():min():item() >= 0)
  assert(many:sort {descending = true}:diff():max():item() <= 0)
  expect.equal(lg.zeros(0, 3):median(2):size(), {0})
end

-- Index tensors name elements together.
do
  local x = lg.arange(12):reshape(3, 4)
  local i, j = lg.tensor {0, 2}, lg.tensor {1, -1}
  expect.equal(lg.index(x, {i, j}):tolist(), {1, 11})
  expect.equal(x:index {i, j}:tolist(), {1, 11})
  expect.equal(x:index {i}:tolist(), {{0, 1, 2, 3}, {8, 9, 10, 11}})
  expect.equal(x[{i, lg.tensor {1, 3}}]:tolist(), {1, 11})
  expect.equal(x[{i:unsqueeze(2), lg.tensor {1, 3}}]:tolist(), {{1, 3}, {9, 11}})
  expect.equal(x:index_put({i, j}, 0):tolist(), {{0, 0, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 0}})
  expect.equal(x:clone():index_put_({lg.tensor {0, 0}, lg.tensor {1, 1}}, lg.tensor {5, 6}, true)[1]:tolist(), {0, 12, 2, 3})
  expect.raises("out of range", function() return x:index {lg.tensor {3}}:tolist() end)
  expect.equal(x:narrow(1, lg.tensor(1), 2):tolist(), x:narrow(1, 2, 2):tolist())
  expect.equal(lg.zeros(3):scatter(1, lg.tensor {0, 0}, 2, {reduce = "add"}):tolist(), {4.0, 0.0, 0.0})
end

-- Shapes, pieces, creation.
do
  local x = lg.arange(6):reshape(2, 3)
  expect.equal(lg.swapaxes(x, 1, 2):size(), {3, 2})
  expect.equal(x["repeat"](x, 2, 1):size(), {4, 3})
  local a, b = lg.broadcast_tensors(lg.zeros(3, 1), lg.zeros(2))
  expect.equal({a:size(), b:size()}, {{3, 2}, {3, 2}})
  expect.raises("broadcast_tensors: dim -1 has sizes 2 and 3", function()
    local _ = lg.broadcast_tensors(lg.ones(2), lg.ones(3))
  end)
  a, b = lg.atleast_2d(lg.tensor(1), lg.tensor {1, 2})
  expect.equal({a:size(), b:size()}, {{1, 1}, {1, 2}})
  expect.equal(#x:hsplit(3), 3)
  expect.equal(x:vsplit {1}[2]:tolist(), {{3, 4, 5}})
  expect.raises("equal pieces", function() local _ = x:hsplit(2) end)
  expect.equal(x:new_zeros(2, 2):dtype(), "i64")
  expect.equal(x:new_ones({2}, {dtype = "f32"}):tolist(), {1.0, 1.0})
  expect.equal(x:new_full({2}, 7):tolist(), {7, 7})
  expect.equal(x:new_tensor {1.5}:tolist(), {1})
  expect.equal(lg.empty_like(x):size(), {2, 3})
  expect.equal(x:type_as(lg.zeros(1)):dtype(), "f32")
  expect.equal({x:nelement(), x:element_size(), x:ndimension()}, {6, 8, 2})
  expect.close(lg.logspace(0, 2, 3), {1, 10, 100}, 1e-4)
  expect.equal(lg.softmax(lg.tensor {1, 1}, 1, {dtype = "f32"}):tolist(), {0.5, 0.5})
  expect.raises("stride must be at most", function()
    return lg.conv2d(lg.ones(1, 1, 3, 3), lg.ones(1, 1, 1, 1), nil, math.maxinteger)
  end)
  expect.raises("padding must be at most", function()
    return lg.conv2d(lg.ones(1, 1, 3, 3), lg.ones(1, 1, 1, 1), {padding = math.maxinteger})
  end)
  expect.raises("has no elements", function() return lg.nn.functional.max_pool1d(lg.ones(1, 1, 0), 2) end)
end

-- interpolate by a table of factors, one for each dim.
do
  local x = lg.arange(6, {dtype = "f32"}):reshape(1, 1, 2, 3)
  local F = lg.nn.functional
  for _, mode in ipairs {"nearest", "bilinear"} do
    local wanted = F.interpolate(x, {size = {4, 9}, mode = mode})
    expect.close(F.interpolate(x, {scale_factor = {2, 3}, mode = mode}), wanted:tolist(), 1e-6)
    expect.close(x:interpolate(nil, {2, 3}, mode), wanted:tolist(), 1e-6)
  end
  expect.equal(F.interpolate(x, {scale_factor = {1.5, 2}}):size(), {1, 1, 3, 6})
  expect.equal(F.interpolate(x, {scale_factor = 2}):size(), {1, 1, 4, 6})
  expect.equal(F.interpolate(x, nil, 2, "bilinear", true):size(), {1, 1, 4, 6})
  expect.call_raises("scale_factor", F.interpolate, x, {scale_factor = {2, 2, 2}})
end

-- Hostile sizes and empty tensors are errors or results, not crashes.
do
  local empty = lg.zeros(0)
  for _, name in ipairs {"cumsum", "cummax", "logcumsumexp"} do expect.equal(lg[name](empty, 1):size(), {0}) end
  expect.equal(empty:msort():size(), {0})
  for name, call in pairs {
    kthvalue = function() return empty:kthvalue(1) end, mode = function() return empty:mode() end,
    quantile = function() return empty:quantile(0.5) end, histc = function() return lg.ones(2):histc(0) end,
    diag_embed = function() return lg.ones(2):diag_embed(math.maxinteger) end,
    combinations = function() return lg.ones(2):combinations(math.maxinteger) end,
    tril_indices = function() return lg.tril_indices(-1, 2) end,
    unflatten = function() return lg.ones(4):unflatten(1, {math.maxinteger, 2}) end,
  } do
    assert(not pcall(call), name)
  end
  expect.equal(lg.tensor(2.0):cummax(1):item(), 2.0)
  expect.equal(lg.tensor(2.0):kthvalue(1):item(), 2.0)
end

-- A GPU holds no c128, not even an empty one; a move to the CPU may cast to it.
if lg.device() ~= "cpu" then
  local there = lg.zeros(2, {dtype = "c64"})
  assert(there:to("cpu", "c128"):dtype() == "c128")
  for _, count in ipairs {0, 2} do
    expect.raises("to: c128 tensors live on the CPU alone", function() return there:narrow(1, 1, count):to("c128") end)
    expect.raises("add: c128 tensors live on the CPU alone", function()
      return there:narrow(1, 1, count) + lg.zeros(1, {dtype = "f64"})
    end)
  end
end

-- A move from a GPU transfers the narrower of two types.
if on_gpu then
  local x = lg.ones(4, {requires_grad = true})
  local function path(y)
    local ops = {}
    for i, node in ipairs(lg.tape(y)) do ops[i] = node.op .. " " .. node.dtype end
    return table.concat(ops, ", ")
  end
  expect.equal(path(x:to("cpu", "f16")), "_to_device f16, _cast f16, leaf f32")
  expect.equal(path(x:to("cpu", "f64")), "_cast f64, _to_device f32, leaf f32")
  expect.equal(path(x:to("cpu", "c128")), "_cast c128, _to_device f32, leaf f32")
end

-- Labels and lengths of ctc_loss may be on the CPU beside log_probs on another device, or tables.
do
  local F = lg.nn.functional
  local log_probs = lg.randn(6, 2, 4):log_softmax(3)
  local function on(device) return {dtype = "i64", device = device} end
  local loss = F.ctc_loss(log_probs, lg.tensor({{1, 2, 3}, {3, 0, 0}}, on()), lg.tensor({6, 5}, on()), lg.tensor({3, 1}, on()))
  local beside = F.ctc_loss(log_probs, lg.tensor({{1, 2, 3}, {3, 0, 0}}, on "cpu"), lg.tensor({6, 5}, on "cpu"), {3, 1})
  expect.equal(beside:item(), loss:item())
end
