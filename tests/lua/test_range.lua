-- Reductions, norms, distances and normalizations of numbers near the ends of their range, and of rows of -inf. The
-- expected values follow from scaling: f of rows times a power of two is f of the rows times a power of that factor.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local expect = require "expect"
local nn, F = lg.nn, lg.nn.functional
local inf = math.huge
local on_cpu = lg.device() == "cpu"

-- |found - wanted| <= tolerance max |wanted|.
local function near(found, wanted, tolerance, where)
  found, wanted = found:to("cpu"):double(), wanted:to("cpu"):double()
  expect.equal(found:size(), wanted:size(), where)
  local apart = (found - wanted):abs():max():item()
  assert(apart <= tolerance * wanted:abs():max():item(),
    ("%s: %s; %s expected"):format(where, tostring(found), tostring(wanted)))
end

-- Rows multiplied by it have no subnormal numbers, which some devices treat as 0.
local least = (lg.full({1}, 2e-38) * 0.1):item() == 0 and 2.0 ^ -90 or 2.0 ^ -110
local scales = {f32 = {2.0 ^ 66, 2.0 ^ -83, 2.0 ^ 122, least}, f64 = {2.0 ^ 600, 2.0 ^ -600, 2.0 ^ 1014, 2.0 ^ -1000}}

-- f(x, scale) and its gradient, on x times each scale: f has the degree 0 or 1, its gradient one less. A gradient of
-- the degree -1 is compared at the first two scales only, where it is a normal number. `large`: compares large scales
-- only, because f adds a small number, which counts at small scales.
local function check(name, degree, f, x, large, given)
  for dtype, all in pairs(given or scales) do
    if dtype == "f32" or on_cpu then
      local tolerance = dtype == "f32" and 2e-5 or 1e-12
      local function run(scale)
        local leaf = (x * scale):to(dtype):to(lg.device()):requires_grad_()
        local y = f(leaf, scale)
        local g = (lg.arange(1, y:numel() + 1, {dtype = "f64", device = "cpu"}) / y:numel()):reshape(y:size())
        y:backward(g:to(dtype):to(lg.device()))
        return y:detach(), leaf.grad
      end
      local base = large and 2.0 ^ 20 or 1
      local y, slope = run(base)
      for i, scale in ipairs(all) do
        if scale > 1 or not large then
          local where, ratio = ("%s in %s at 2^%g"):format(name, dtype, math.log(scale, 2)), scale / base
          local far, far_slope = run(scale)
          near(far:to("cpu"):double() / ratio ^ degree, y, tolerance, where)
          if degree == 1 or i < 3 then
            near(far_slope:to("cpu"):double() * ratio ^ (1 - degree), slope, 10 * tolerance, where .. ", gradient")
          end
        end
      end
    end
  end
end

lg.manual_seed(5)
local cpu = {device = "cpu", dtype = "f64"}
local rows = lg.randn({3, 5}, cpu)
local long = lg.randn({2, 5000}, cpu) * 0.5
local columns = lg.randn({40, 24}, cpu):t()

-- Norms of every order, over rows, columns, all elements, and strided memory.
for _, p in ipairs {0.5, 1, 1.5, 2, 3, 20, -1, -3, inf, -inf} do
  local function over(dims) return function(x) return x:norm(p, dims) end end
  -- A norm that is beyond the range is infinite.
  local part = (p == 0.5 or p == 1) and 1e-3 or 1
  check("norm " .. p, 1, over({2}), rows * part)
  check("norm of all " .. p, 1, function(x) return x:norm(p) end, rows * part)
  check("norm of columns " .. p, 1, over({1}), columns * part)
  if p >= 2 then check("long norm " .. p, 1, over({2}), long * 1e-2) end
end
expect.close(lg.tensor({0.005, 0.005}, {requires_grad = true}):norm(20), 0.0051763, 1e-7)
for _, zero in ipairs {lg.zeros(3), lg.tensor {0, 1e-25, 0}} do
  for _, p in ipairs {1, 1.5, 2, 3, 20} do
    local x = zero:clone():requires_grad_()
    x:norm(p):backward()
    local wanted = zero:gt(0):float()
    expect.close(x.grad:to("cpu"), wanted:to("cpu"), 1e-6, "gradient of a norm beside zeros")
  end
end
expect.equal(lg.tensor({3.0, -4, inf}):norm(2):item(), inf)
assert(lg.tensor({3.0, 0 / 0, 4}):norm(3):isnan():item())

-- Deviations and means.
for _, x in ipairs {rows, long, columns} do
  check("std", 1, function(x) return x:std(2) end, x)
  check("std of columns", 1, function(x) return x:std({1}, {correction = 0}) end, x)
  check("std_mean", 1, function(x)
    local deviation, mean = lg.std_mean(x, 2)
    return lg.stack({deviation, mean})
  end, x)
  check("mean", 1, function(x) return x:mean(1) end, x:abs())
end
local most = 3e38
expect.equal(lg.tensor({most, most}):mean():item() < inf, true)
expect.close(lg.tensor({most, most}):mean():item() / most, 1, 1e-6)
expect.close(lg.tensor({most, most, -most}):sum():item() / most, 1, 1e-6)
expect.close(lg.full({4, 2000}, most):mean(2):to("cpu"):double() / most, {1.0, 1, 1, 1}, 1e-6)
expect.close(lg.full({2000, 300}, most):mean({1}):to("cpu"):double():max():item() / most, 1, 1e-6)
expect.equal(lg.full({3}, most):sum():item(), inf)
expect.close(lg.nanmean(lg.tensor {most, most, 0 / 0}):item() / most, 1, 1e-6)
expect.close(lg.tensor({most, -most}):std({1}, {correction = 0}):item() / most, 1, 1e-6)

-- Their gradients have gradients, as long as the square of 1 / norm is in range.
local inner = {f32 = {2.0 ^ 60, 2.0 ^ -60}, f64 = {2.0 ^ 500, 2.0 ^ -500}}
local function gradient_of(f)
  return function(x) return lg.grad(f(x):sum(), x, {create_graph = true}) end
end
for _, p in ipairs {1.5, 2, 3, 20, -3} do
  check("gradient of norm " .. p, 0, gradient_of(function(x) return x:norm(p, {2}) end), rows, false, inner)
end
check("gradient of std", 0, gradient_of(function(x) return x:std(2) end), rows, false, inner)

-- Directions and distances.
local other = lg.randn({3, 5}, cpu)
local function beside(f)
  return function(x, scale) return f(x, (other * scale):to(x:dtype()):to(lg.device())) end
end
-- Other devices than the CPU divide twice by a norm in these gradients.
local shared = not on_cpu and inner or nil
check("cosine_similarity", 0, beside(function(x, y) return F.cosine_similarity(x, y, 2, 0) end), rows, false, shared)
check("cosine_embedding_loss", 0, beside(function(x, y)
  return F.cosine_embedding_loss(x, y, lg.tensor({1, -1, 1}), {margin = -1, reduction = "none"})
end), rows, true)
for _, p in ipairs {1.5, 2, 3, 20, inf} do
  check("cdist " .. p, 1, beside(function(x, y) return lg.cdist(x, y, p) end), rows)
  check("pdist " .. p, 1, function(x) return F.pdist(x, p) end, rows)
  check("pairwise_distance " .. p, 1, beside(function(x, y) return F.pairwise_distance(x, y, p, 0) end), rows)
end
check("cdist by a product", 1, beside(function(x, y) return lg.cdist(x, y:repeat_interleave(20, 1)) end), rows)
check("dist", 1, beside(function(x, y) return lg.dist(x, y) end), rows)
check("triplet_margin_loss", 1, beside(function(x, y)
  return F.triplet_margin_loss(x, y, -y, {margin = 0, eps = 0, reduction = "none"})
end), rows)
check("normalize", 0, function(x) return F.normalize(x, 2, 2, 0) end, rows, false, shared)
for _, scale in ipairs(scales.f32) do
  local x = (rows * scale):float():to(lg.device())
  near(F.normalize(x, 2, 2, 0), F.normalize(rows, 2, 2, 0), 1e-5, "normalize")
  near(F.cosine_similarity(x, x:flip(1), 2, 0), F.cosine_similarity(rows, rows:flip(1), 2, 0), 1e-5, "cosine_similarity")
end
check("renorm", 0, function(x) return lg.renorm(x, 2, 1, 1) end, rows, true, inner)
check("corrcoef", 0, function(x) return lg.corrcoef(x) end, rows)
check("Frobenius norm", 1, function(x) return lg.linalg.matrix_norm(x) end, rows)

-- Normalizations. Without eps they have the degree 0; with it they do for large numbers.
local weight, bias = lg.randn({5}, cpu), lg.randn({5}, cpu)
local function like(x, y) return y:to(x:dtype()):to(lg.device()) end
local images, large = lg.randn({3, 4, 6}, cpu), lg.randn({2, 4, 300}, cpu)
local wide = {lg.randn({3, 8}, cpu), lg.randn({2, 2048}, cpu), lg.randn({2, 5001}, cpu)}
for _, eps in ipairs {0, 1e-5} do
  local with_eps = eps > 0
  check("layer_norm", 0, function(x) return F.layer_norm(x, {5}, like(x, weight), like(x, bias), eps) end, rows, with_eps)
  check("rms_norm", 0, function(x) return F.rms_norm(x, {5}, like(x, weight), eps) end, rows, with_eps)
  for _, x in ipairs(wide) do
    local size = {x:size(2)}
    check("layer_norm of long rows", 0, function(y) return F.layer_norm(y, size, nil, nil, eps) end, x, with_eps)
    check("rms_norm of long rows", 0, function(y) return F.rms_norm(y, size, nil, eps) end, x, with_eps)
  end
  for _, x in ipairs {images, large, lg.randn({6, 40}, cpu)} do
    check("batch_norm", 0, function(y) return F.batch_norm(y, nil, nil, nil, nil, true, 0.1, eps) end, x, with_eps)
    check("group_norm", 0, function(y) return F.group_norm(y, 2, nil, nil, eps) end, x, with_eps)
  end
  check("instance_norm", 0, function(x) return F.instance_norm(x, {eps = eps}) end, images, with_eps)
end
-- The gradients of weights do not depend on the scale.
for _, scale in ipairs {2.0 ^ 66, 2.0 ^ 122} do
  local function gradients(factor, module, x)
    local y = module((x * factor):float():to(lg.device()))
    module:zero_grad()
    y:backward(like(y, lg.arange(1, y:numel() + 1, cpu):reshape(y:size()) / y:numel()))
    return lg.cat({module.weight.grad:flatten(), module.bias and module.bias.grad:flatten() or lg.zeros(1)})
  end
  for _, case in ipairs {{nn.LayerNorm(5), rows}, {nn.RMSNorm(5), rows}, {nn.LayerNorm(5001), wide[3]}, {nn.BatchNorm1d(4), images},
    {nn.BatchNorm1d(4), large}, {nn.GroupNorm(2, 4), images}, {nn.GroupNorm(2, 4), large}} do
    local module, x = table.unpack(case)
    near(gradients(scale, module, x), gradients(2.0 ^ 20, module, x), 2e-4, tostring(module))
  end
end
-- Also where the running statistics cannot hold the variance.
local batch = nn.BatchNorm1d(1)
expect.close(batch(lg.tensor {{1e20}, {-1e20}}), {{1.0}, {-1.0}}, 1e-6)
expect.close(batch.running_mean:item(), 0)
expect.equal(batch.running_var:item(), inf)

-- A row beside another row that is masked wholly, or NaN, and whose result is not used.
local function unused(f, bad)
  local x = lg.tensor({{bad, bad, bad}, {1, 2, 4}}):requires_grad_()
  local y = f(x)
  y:backward(y:detach():isfinite():float():mul(lg.tensor({{0.0}, {1.0}}):expand(y:size())))
  expect.equal(x.grad:select(1, 1):tolist(), {0.0, 0.0, 0.0})
  local alone = lg.tensor({{1.0, 2, 4}}):requires_grad_()
  f(alone):sum():backward()
  expect.close(x.grad:select(1, 2), alone.grad:select(1, 1), 1e-6)
end
for _, bad in ipairs {-inf, inf, 0 / 0} do
  unused(function(x) return x:softmax(2) end, bad)
  unused(function(x) return x:log_softmax(2) end, bad)
  unused(function(x) return F.softmin(x, 2) end, bad)
  unused(function(x) return x:t():softmax(1):t() end, bad)
  unused(function(x) return x:t():log_softmax(1):t() end, bad)
end
unused(function(x) return lg.logsumexp(x, 2, true) end, -inf)
unused(function(x) return lg.logsumexp(x:t(), 1, true):t() end, -inf)
unused(function(x) return lg.logcumsumexp(x, 2) end, -inf)
-- Columns beside each other, and second derivatives.
local many = lg.full({6, 40}, -inf)
many:narrow(2, 2, 39):copy_(lg.randn(6, 39))
for _, f in ipairs {lg.softmax, lg.log_softmax} do
  for _, dim in ipairs {1, 2} do
    local x = (dim == 1 and many or many:t()):clone():requires_grad_()
    local y = f(x, dim)
    local used = y:detach():isfinite()
    local slope = lg.grad(y, x, {grad_outputs = lg.where(used, y:detach(), 0), create_graph = true})
    assert(slope:isfinite():all():item())
    assert(lg.grad((slope * slope):sum(), x):isfinite():all():item())
  end
end
-- -inf adds nothing, also where the sum is used.
local x = lg.tensor({{-inf, -inf}, {1, 2}}):requires_grad_()
lg.logsumexp(x, 2):sum():backward()
expect.equal(x.grad:select(1, 1):tolist(), {0.0, 0.0})

-- Attention with weights, where one sequence is masked wholly, gives the result of attention without weights.
local attention = nn.MultiheadAttention(4, 2, {batch_first = true})
local tokens = lg.randn(2, 3, 4)
local function attend(options)
  attention:zero_grad()
  local y, weights = attention(tokens, tokens, tokens, options)
  y:sum():backward()
  return y:detach(), attention.in_proj_weight.grad:clone(), weights
end
local hidden = lg.tensor({{false, false, false}, {true, true, true}})
local added = lg.where(hidden, -inf, lg.zeros(1))
for _, options in ipairs {{key_padding_mask = hidden}, {key_padding_mask = hidden, is_causal = true}, {key_padding_mask = added}} do
  options.need_weights = false
  local y, slope = attend(options)
  options.need_weights = true
  local same, same_slope, weights = attend(options)
  expect.close(same:to("cpu"), y:to("cpu"), 1e-6)
  expect.close(same_slope:to("cpu"), slope:to("cpu"), 1e-5)
  expect.equal(weights[{2, {}, {}}]:eq(0):all():item(), true)
end

-- Quantiles between elements whose difference is infinite, and of rows too long for f32 to count their positions.
expect.equal(lg.quantile(lg.tensor({0, inf}), lg.tensor {0.4, 0.6}):tolist(), {inf, inf})
expect.equal(lg.quantile(lg.tensor({-inf, 0}), lg.tensor {0.4, 0.6}):tolist(), {-inf, -inf})
expect.equal(lg.quantile(lg.tensor({-most, most}), 0.5):item(), 0.0)
expect.equal(lg.nanquantile(lg.tensor({-most, 0 / 0, most}), 0.5, 1, {interpolation = "midpoint"}):item(), 0.0)
x = lg.tensor({-most, most}):requires_grad_()
lg.quantile(x, 0.25):backward()
expect.equal(x.grad:tolist(), {0.75, 0.25})
if on_cpu then
  local count = (1 << 24) + 4
  local line = lg.zeros(count)
  line:narrow(1, count, 1):fill_(1)
  expect.equal(lg.quantile(line, 1.0):item(), 1.0)
  expect.equal(lg.nanquantile(line, 0.5):item(), 0.0)
  expect.equal(lg.quantile(line, 1 - 0.25 / (count - 1)):item(), 0.75)
end

-- Means over windows, bags and parts whose sums are too large for the type, of all ways to divide.
local huge = {f32 = {2.0 ^ 126, 2.0 ^ -100}, f64 = {2.0 ^ 1022, 2.0 ^ -900}}
local box = (lg.rand({1, 2, 4, 4, 4}, cpu) + 0.75)
local parts, bags = lg.tensor {3, 1, 124}, lg.tensor {{0, 1, 3}, {2, 2, 1}}
local targets = lg.arange(128) % 3
for name, f in pairs {
  avg_pool1d = function(x) return F.avg_pool1d(x[1][1], 3, 1, 1) end,
  avg_pool2d = function(x) return F.avg_pool2d(x[1], {4, 3}, 2, 1, true, false) end,
  ["avg_pool2d of long rows"] = function(x) return F.avg_pool2d(x:reshape(1, 2, 64), {1, 40}) end,
  avg_pool3d = function(x) return F.avg_pool3d(x, 3, 1, 1) end,
  ["avg_pool3d with a divisor"] = function(x) return F.avg_pool3d(x, {kernel_size = 3, divisor_override = 26}) end,
  adaptive_avg_pool1d = function(x) return F.adaptive_avg_pool1d(x[1][1], 3) end,
  adaptive_avg_pool2d = function(x) return F.adaptive_avg_pool2d(x[1], 1) end,
  adaptive_avg_pool3d = function(x) return F.adaptive_avg_pool3d(x, {2, 1, 3}) end,
  ["interpolate by area"] = function(x) return F.interpolate(x, {size = {2, 2, 3}, mode = "area"}) end,
  embedding_bag = function(x) return F.embedding_bag(bags:to(x:device()), x[1][1][1]) end,
  ["embedding_bag with padding"] = function(x)
    return F.embedding_bag(bags:to(x:device()), x[1][1][1], {padding_idx = 1})
  end,
  segment_reduce = function(x) return lg.segment_reduce(x:flatten(), "mean", {lengths = parts:to(x:device())}) end,
  scatter_reduce = function(x)
    return x:flatten():narrow(1, 1, 3):scatter_reduce(1, targets:to(x:device()), x:flatten(), "mean")
  end,
  index_reduce = function(x)
    return x:flatten():narrow(1, 1, 3):index_reduce(1, targets:to(x:device()), x:flatten(), "mean", {include_self = false})
  end,
  nanmean = function(x) return lg.nanmean(x) end,
} do
  check(name, 1, f, box, false, huge)
end

if on_cpu then
  for dtype, size in pairs {f32 = 3e38, f64 = 1.5e308} do
    local long = lg.full({1, 4}, size, {dtype = dtype})
    expect.close(F.normalize(long), {{0.5, 0.5, 0.5, 0.5}}, 1e-7)
    expect.close(F.cosine_similarity(long, -long), {-1}, 1e-7)
    local mean = lg.complex(long, long / -2):mean()
    expect.close(mean:real():item() / size, 1, 1e-7)
    expect.close(mean:imag():item() / size, -0.5, 1e-7)
  end
end

-- Powers of windows whose magnitudes differ from window to window, and normalization over channels.
for _, p in ipairs {1.5, 2, 3, 7} do
  check("lp_pool1d of " .. p, 1, function(x) return F.lp_pool1d(x[1][1], p, 3, 2, true) end, box)
  check("lp_pool2d of " .. p, 1, function(x) return F.lp_pool2d(x[1], p, {2, 3}) end, box)
  check("lp_pool3d of " .. p, 1, function(x) return F.lp_pool3d(x, p, 2) end, box)
end
local mixed = lg.tensor {{3e30, 4e30, 3, 4, 3e-30, 4e-30, 0, 0, 4e37, 3e37}}
expect.close((F.lp_pool1d(mixed, 2, 2) / lg.tensor {{1e30, 1, 1e-30, 1, 1e37}}), {{5, 5, 5, 0, 5}}, 1e-5)
for _, beta in ipairs {0.5, 0.75} do
  check("local_response_norm of " .. beta, 1 - 2 * beta, function(x)
    return F.local_response_norm(x[1], 3, {alpha = 0.5, beta = beta, k = 0})
  end, box, true)
end

-- A large element off the diagonal does not scale the rest of the matrix away.
for dtype, far in pairs(on_cpu and {f32 = 1e20, f64 = 1e200} or {f32 = 1e20}) do
  local o = {dtype = dtype}
  expect.equal(lg.linalg.matrix_exp(lg.tensor({{0, far}, {0, 0}}, o)), lg.tensor({{1, far}, {0, 1}}, o))
  local leaf = lg.tensor({{{1, far}, {0, 1}}, {{0, 1}, {1, 0}}}, o):requires_grad_()
  local y = lg.linalg.matrix_exp(leaf)
  local e, c, s = math.exp(1), (math.exp(1) + math.exp(-1)) / 2, (math.exp(1) - math.exp(-1)) / 2
  local tolerance = dtype == "f32" and 1e-5 or 1e-13
  expect.close((y / lg.tensor({{{1, far}, {1, 1}}, {{1, 1}, {1, 1}}}, o)), {{{e, e}, {0, e}}, {{c, s}, {s, c}}}, tolerance)
  y[1][1][2]:backward()
  expect.close((leaf.grad[1] / lg.tensor({{far, 1}, {1, far}}, o))[{1}], {e / 2, e}, tolerance)
end

-- What is masked in both distributions adds nothing to their divergence.
for _, reduction in ipairs {"none", "sum"} do
  local t, x = lg.tensor {-inf, -0.5, -inf}:requires_grad_(), lg.tensor {-inf, -0.75, -1.}:requires_grad_()
  local y = F.kl_div(x, t, {log_target = true, reduction = reduction}):sum()
  expect.close(y:item(), math.exp(-0.5) * 0.25)
  expect.close(lg.grad(y, t, {create_graph = true}), {0, math.exp(-0.5) * 1.25, 0})
  y:backward()
  expect.close(t.grad, {0, math.exp(-0.5) * 1.25, 0})
  expect.close(x.grad, {0, -math.exp(-0.5), 0})
end

-- Second derivatives of norms are finite and right at every size: s times the second derivative at s x is the same for all s.
for dtype, all in pairs {f32 = {1e30, 1e-25}, f64 = {2.0 ^ 600, 2.0 ^ -600}} do
  for _, p in ipairs {1.5, 2, 3} do
    local function curve(scale)
      local leaf = (rows * scale):to(dtype):to(lg.device()):requires_grad_()
      local slope = lg.grad(leaf:norm(p, 2):sum(), leaf, {create_graph = true})
      local weights = lg.arange(1, 16, {dtype = dtype}):reshape(3, 5)
      return lg.grad((slope * weights):sum(), leaf):to("cpu"):double() * scale
    end
    if dtype == "f32" or on_cpu then
      for _, scale in ipairs(all) do
        near(curve(scale), curve(1), dtype == "f32" and 1e-4 or 1e-11, ("second derivative of norm %g in %s"):format(p, dtype))
      end
    end
  end
end

-- Rows without elements have no largest element.
for _, dtype in ipairs {"f32", "f64"} do
  local empty = lg.zeros(3, 4, 0, {dtype = dtype, requires_grad = true})
  for _, f in ipairs {function(x) return F.layer_norm(x, {0}) end, function(x) return F.rms_norm(x, {0}) end,
    function(x) return F.group_norm(x, 2) end, function(x) return F.normalize(x) end} do
    local y = f(empty)
    expect.equal(y:size(), empty:size())
    y:sum():backward()
  end
end
