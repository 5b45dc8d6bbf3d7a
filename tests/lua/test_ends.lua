-- Numbers at the ends: infinities, large and small numbers, signed zeros, numbers that an integer type does not hold.
-- Tested on a GPU, too.
local lg = require "lunagrad"
local F = lg.nn.functional
local inf, nan = math.huge, 0 / 0
-- f64 is the CPU's, and is computed there.
local types = {"f32", "f64"}

-- What a device without subnormal numbers may lose of an f32.
local lost = (lg.full({1}, 2e-38) * 0.1):item() == 0 and 2 ^ -126 or 0

-- NaN, infinities and zeros are exact, other numbers are right to `tolerance`, relative to the wanted one.
local function same(found, wanted, tolerance, what)
  for i, number in ipairs(wanted) do
    local got = found[i]
    local exact = got == number or (got ~= got and number ~= number)
    local close = math.abs(got - number) <= (tolerance or 0) * math.abs(number) + lost
    if not (exact or close) then error(("%s: %.9g at place %d; %.9g expected"):format(what, got, i, number), 2) end
  end
end
local function numbers(x) return x:double():cpu():reshape(-1):tolist() end

-- The value of f at points, and its gradient, in both types; for f32 the numbers are rounded.
local function check(what, f, points, values, gradients, tolerance)
  for _, dtype in ipairs(types) do
    local x = lg.tensor(points, {dtype = dtype, requires_grad = true})
    local y = f(x)
    local loose = tolerance or (dtype == "f64" and 1e-12 or 2e-6)
    if values then same(numbers(y), values, loose, what .. " of " .. dtype) end
    if gradients then
      y:sum():backward()
      same(numbers(x.grad), gradients, loose, "gradient of " .. what .. " of " .. dtype)
    end
  end
end

describe("activations", function()
  local points = {-inf, -1e38, -1e20, 1e20, 1e38, inf}
  local rising, steps = {0, 0, 0, 1e20, 1e38, inf}, {0, 0, 0, 1, 1, 1}
  for name, f in pairs {silu = lg.silu, mish = lg.mish, gelu = lg.gelu, hardswish = lg.hardswish, relu = lg.relu,
    ["gelu tanh"] = function(x) return F.gelu(x, "tanh") end, softplus = lg.softplus} do
    it(name .. " at infinities and large numbers", function() check(name, f, points, rising, steps) end)
  end
  it("that end at constants", function()
    check("softsign", lg.softsign, {-inf, -1e18, 1e18, inf}, {-1, -1, 1, 1}, {0, 1e-36, 1e-36, 0})
    check("sigmoid", lg.sigmoid, points, {0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0})
    check("tanh", lg.tanh, points, {-1, -1, -1, 1, 1, 1}, {0, 0, 0, 0, 0, 0})
    check("hardsigmoid", lg.hardsigmoid, points, {0, 0, 0, 1, 1, 1}, {0, 0, 0, 0, 0, 0})
    check("logsigmoid", lg.logsigmoid, points, {-inf, -1e38, -1e20, 0, 0, 0}, {1, 1, 1, 0, 0, 0})
    check("elu", lg.elu, points, {-1, -1, -1, 1e20, 1e38, inf}, steps)
    check("selu", lg.selu, {-inf, inf}, {-1.7580993408473766, inf}, {0, 1.0507009873554805})
  end)
  it("have second derivatives there", function()
    for _, f in ipairs {lg.silu, lg.mish, lg.gelu, function(x) return F.gelu(x, "tanh") end} do
      for _, dtype in ipairs(types) do
        local x = lg.tensor({-1e20, -800, 800, 1e20}, {dtype = dtype, requires_grad = true})
        local g = lg.grad(f(x):sum(), x, {create_graph = true})
        same(numbers(lg.grad(g:sum(), x)), {0, 0, 0, 0}, 0, "second derivative")
      end
    end
  end)
end)

describe("operands that are squared", function()
  it("give atan2 its gradients", function()
    for _, case in ipairs {{3e19, 4e19, 1.6e-20, -1.2e-20}, {3e-25, 4e-25, 1.6e24, -1.2e24}, {-3e37, 4e37, 1.6e-38, 1.2e-38},
      {0, 0, 0, 0}, {inf, 1, 0, 0}, {1, inf, 0, 0}, {1, 2, 0.4, -0.2}} do
      for _, dtype in ipairs(types) do
        local a = lg.tensor({case[1]}, {dtype = dtype, requires_grad = true})
        local b = lg.tensor({case[2]}, {dtype = dtype, requires_grad = true})
        lg.atan2(a, b):sum():backward()
        same({a.grad:item(), b.grad:item()}, {case[3], case[4]}, 1e-5, "gradients of atan2 of " .. case[1])
      end
    end
  end)
  it("give hypot its gradients", function()
    for _, case in ipairs {{3e19, 4e19, 0.6, 0.8}, {3e-25, -4e-25, 0.6, -0.8}, {2.4e38, 3.2e38, 0.6, 0.8}, {0, 0, 0, 0},
      {-inf, 1, -1, 0}, {1, inf, 0, 1}} do
      local a = lg.tensor({case[1]}, {dtype = "f32", requires_grad = true})
      local b = lg.tensor({case[2]}, {dtype = "f32", requires_grad = true})
      lg.hypot(a, b):sum():backward()
      same({a.grad:item(), b.grad:item()}, {case[3], case[4]}, 1e-6, "gradients of hypot of " .. case[1])
    end
  end)
  it("give the inverse functions their gradients", function()
    check("asinh", lg.asinh, {-1e20, 1e20, 1e38}, nil, {1e-20, 1e-20, 1e-38})
    check("acosh", lg.acosh, {1e20, 1e38}, nil, {1e-20, 1e-38})
    check("atan", lg.atan, {-1e18, 1e18, inf}, nil, {1e-36, 1e-36, 0})
    check("asin", lg.asin, {1 - 2 ^ -20}, nil, {724.0775165685779})
    check("acos", lg.acos, {-1 + 2 ^ -20}, nil, {-724.0775165685779})
    check("atanh", lg.atanh, {1 - 2 ^ -20}, nil, {524288.25000011921}, 1e-6)
    check("erfcx", lg.erfcx, {50, 1e10, inf}, nil, {-2.25540569e-4, -5.6418958e-21, 0}, 1e-6)
  end)
end)

it("special functions reach the largest number", function()
  local x = lg.tensor {90, -90}
  same(numbers(x:i0()), {5.1392383e37, 5.1392383e37}, 1e-5, "i0")
  same(numbers(x:i1()), {5.1106068e37, -5.1106068e37}, 1e-5, "i1")
  local wide = lg.tensor({713}, {dtype = "f64", requires_grad = true})
  local y = wide:i0()
  same(numbers(y), {6.7051283e307}, 1e-6, "i0")
  y:sum():backward()
  same(numbers(wide.grad), {6.7004246e307}, 1e-6, "gradient of i0")
  check("i1", lg.i1, {0, 800, inf}, {0, inf, inf}, {0.5, inf, inf})
  check("i1e", lg.i1e, {0, 1e-37}, nil, {0.5, 0.5}, 1e-5)
  check("sinc", lg.sinc, {0, 1e-4, -0.05, inf}, {1, 0.99999998355, 0.99589273524, 0}, {0, -3.28986810123e-4, 0.164087892968, 0},
    3e-6)
  check("sinc", lg.sinc, {3e38}, {0})
  check("i0e", lg.i0e, {1e20, -1e20, inf}, nil, {-1.9947114e-31, 1.9947114e-31, 0}, 1e-5)
  check("i1e", lg.i1e, {1e20, -1e20, inf}, nil, {-1.9947114e-31, -1.9947114e-31, 0}, 1e-5)
  -- Branches that a gradient does not take do not affect the gradient's own gradient.
  local zero = lg.tensor({0, 0.5}, {dtype = "f64", requires_grad = true})
  for name, f in pairs {atan = lg.atan, erfcx = lg.erfcx, sinc = lg.sinc, i0e = lg.i0e, asinh = lg.asinh, softsign = lg.softsign,
    silu = lg.silu, gelu = lg.gelu, mish = lg.mish} do
    local g = lg.grad(f(zero):sum(), zero, {create_graph = true})
    assert(lg.grad(g:sum(), zero):isfinite():all():item(), "second derivative of " .. name)
  end
  check("digamma", lg.digamma, {1e25}, nil, {1e-25})
end)

it("zeros keep their sign", function()
  for name, f in pairs {expm1 = lg.expm1, log1p = lg.log1p, sin = lg.sin, tan = lg.tan, asin = lg.asin, atan = lg.atan, sinh = lg.sinh,
    tanh = lg.tanh, asinh = lg.asinh, atanh = lg.atanh, erf = lg.erf, erfinv = lg.erfinv, sqrt = lg.sqrt, round = lg.round, trunc = lg.trunc,
    ceil = lg.ceil, floor = lg.floor, neg = function(x) return -(-x) end, i1 = lg.i1, deg2rad = lg.deg2rad, elu = lg.elu, celu = lg.celu, selu = lg.selu} do
    for _, dtype in ipairs(types) do
      local y = f(lg.tensor({-0.0, 0.0}, {dtype = dtype}))
      assert(y:signbit():tolist()[1] and not y:signbit():tolist()[2], name .. " of " .. dtype)
    end
  end
  for _, f in ipairs {lg.ceil, lg.round, lg.trunc} do assert(f(lg.tensor {-0.25}):signbit()[1]:item()) end
end)

it("quotients by infinities are rounded down", function()
  for _, dtype in ipairs(types) do
    local a = lg.tensor({1, -1, 0.0, -0.0, 7}, {dtype = dtype})
    same(numbers(a:floor_divide(-inf)), {-1, 0, 0, 0, -1}, 0, "floor_divide")
    same(numbers(a:floor_divide(inf)), {0, -1, 0, 0, 0}, 0, "floor_divide")
    same(numbers(a % -inf), {-inf, -1, 0, 0, -inf}, 0, "remainder")
    same(numbers(lg.tensor({7, -7, 7, -7, 6}, {dtype = dtype}) // lg.tensor({2, 2, -2, -2, 3}, {dtype = dtype})), {3, -4, -4, 3, 2}, 0, "//")
  end
end)

it("lerp ends at its operands", function()
  for _, dtype in ipairs(types) do
    local function of(list) return lg.tensor(list, {dtype = dtype}) end
    local y = lg.lerp(of {5, inf, -3, inf, 5, -inf}, of {inf, 5, 3, inf, inf, inf}, of {0, 1, 0.5, 0.5, 0.5, 0.5})
    same(numbers(y), {5, 5, 0, inf, inf, nan}, 0, "lerp")
  end
  same(numbers(lg.lerp(lg.tensor {-3e38}, lg.tensor {3e38}, 0.75)), {1.5e38}, 1e-6, "lerp")
end)

it("logarithms of sums of nothing have gradients", function()
  for _, f in ipairs {lg.logaddexp, lg.logaddexp2} do
    local a, b = lg.tensor({-inf, 0.0}, {requires_grad = true}), lg.tensor({-inf, 0.0}, {requires_grad = true})
    f(a, b):backward(lg.tensor {0.0, 1.0})
    same(numbers(a.grad), {0, 0.5}, 0, "gradient")
    same(numbers(b.grad), {0, 0.5}, 0, "gradient")
  end
end)

describe("integers and numbers that their type does not hold", function()
  local function u8(...) return lg.tensor({...}, {dtype = "u8"}) end
  local function is(found, dtype, ...)
    expect.equal(found:cpu():tolist(), {...})
    expect.equal(found:dtype(), dtype)
  end
  it("are compared", function()
    is(u8(200, 0):gt(-1), "bool", true, true)
    is(u8(200, 0):ge(256), "bool", false, false)
    is(u8(200, 255):lt(256), "bool", true, true)
    is(u8(200, 0):le(-200), "bool", false, false)
    is(u8(200):eq(456), "bool", false)
    is(u8(255):ne(-1), "bool", true)
    is(lg.gt(-1, u8(200)), "bool", false)
    is(u8(0, 1):logical_and(256), "bool", false, true)
    is(u8(0, 1):logical_xor(256), "bool", true, false)
    local i32 = lg.tensor({5, -5}, {dtype = "i32"})
    is(i32:lt(1 << 40), "bool", true, true)
    is(i32:gt(-(1 << 40)), "bool", true, true)
    is(i32:eq((1 << 40) + 5), "bool", false, false)
    is(lg.tensor({true, false}):lt(2), "bool", true, true)
    is(lg.tensor({5}):lt(1e30), "bool", true)
    is(lg.tensor({5}):ge(-1e30), "bool", true)
  end)
  it("are computed with", function()
    is(u8(200) // 256, "u8", 0)
    is(u8(200) % 256, "u8", 200)
    is(u8(200):fmod(456), "u8", 200)
    is(u8(200) + 300, "u8", 244)
    is(u8(200) * -1, "u8", 56)
    is(u8(3) ^ 256, "u8", 1)
    is(u8(2, 1) ^ -1, "u8", 0, 1)
    is(u8(200) & 300, "u8", 8)
    is(u8(200) << 256, "u8", 0)
    is(u8(200) >> 256, "u8", 0)
    is(u8(200) >> 8, "u8", 0)
    is(u8(200):gcd(456), "u8", 8)
    is(u8(10):add(u8(3), {alpha = -2}), "u8", 4)
    is(u8(10):sub(u8(3), {alpha = 2}), "u8", 4)
    is(lg.addcmul(u8(1), u8(2), u8(3), {value = 300}), "u8", (1 + 300 * 6) % 256)
    is(lg.tensor({7, -7}, {dtype = "i32"}) // (1 << 40), "i32", 0, -1)
    is(lg.tensor({7, -7}, {dtype = "i32"}) % (1 << 40), "i32", 7, -7)
    is(u8(10, 20):index_add(1, lg.tensor {0}, u8(3), {alpha = -1}), "u8", 7, 20)
  end)
  it("limit", function()
    is(u8(200):maximum(-1), "u8", 200)
    is(u8(200):minimum(300), "u8", 200)
    is(u8(200):clamp(-5, 300), "u8", 200)
    is(u8(200):clamp(-5, 100), "u8", 100)
    is(u8(200):fmax(-1), "u8", 200)
    is(F.threshold(u8(0, 200), -1, 7), "u8", 0, 200)
    is(F.hardtanh(u8(200), -1, 1000), "u8", 200)
    is(lg.tensor({5, (1 << 53) + 1}):clamp(nil, 1 << 53), "i64", 5, 1 << 53)
    is(lg.tensor({(1 << 53) + 2}):clamp(nil, (1 << 53) + 1), "i64", (1 << 53) + 1)
    is(lg.tensor({5}):clamp(-1e30, 1e30), "i64", 5)
    for _, f in ipairs {function() return u8(200):maximum(300) end, function() return u8(200):minimum(-1) end,
      function() return u8(200):clamp(300) end, function() return u8(200):clamp(nil, -1) end, function() return u8(200):clamp(1e30) end} do
      expect.raises(f, "without overflow")
    end
  end)
  it("are not written", function()
    local x, mask, first = u8(1, 2, 3), lg.tensor {true, false, true}, lg.tensor {0}
    for name, f in pairs {fill = function() x:clone():fill_(300) end, masked_fill = function() x:masked_fill(mask, 300) end,
      masked_fill_ = function() x:clone():masked_fill_(mask, 256) end, full = function() lg.full({2}, 300, {dtype = "u8"}) end,
      full_like = function() lg.full_like(x, -256) end, new_full = function() x:new_full({2}, 1 << 40) end,
      assign = function() x:clone()[1] = 300 end, assign_range = function() x:clone()[{{1, 2}}] = 300 end,
      assign_mask = function() x:clone()[mask] = 300 end, assign_rows = function() x:clone()[first] = 300 end,
      assign_points = function() x:clone()[{first}] = 300 end, tensor = function() lg.tensor({1, 300}, {dtype = "u8"}) end,
      tensor_real = function() lg.tensor({1.5, 256.0}, {dtype = "u8"}) end, tensor_nan = function() lg.tensor({nan}, {dtype = "i32"}) end,
      i32 = function() lg.full({1}, 1 << 40, {dtype = "i32"}) end, real = function() lg.full({1}, 1e30, {dtype = "i64"}) end,
      index_fill = function() x:index_fill(1, first, 300) end, scatter = function() x:scatter(1, first, 300) end,
      scatter_add = function() x:scatter(1, first, 300, "add") end, where = function() lg.where(mask, x, 300) end,
      pad = function() F.pad(x, {1, 1}, "constant", 300) end, fill_diagonal = function() lg.eye(2, {dtype = "u8"}):fill_diagonal_(300) end,
      arange = function() lg.arange(250, 260, {dtype = "u8"}) end, linspace = function() lg.linspace(0, 300, 4, {dtype = "u8"}) end,
      threshold = function() F.threshold(x, 1, 300) end, heaviside = function() lg.heaviside(x, 300) end,
      index_put = function() x:index_put({first}, 300) end} do
      local ok, message = pcall(f)
      assert(not ok, name .. ": no error")
      assert(message:find "cannot be converted to %a%d+ without overflow", name .. ": " .. message)
    end
    -- As in PyTorch a negative integer wraps around once, the fraction of a real number is cut, and a bool takes any.
    is(lg.full({1}, -1, {dtype = "u8"}), "u8", 255)
    is(x:masked_fill(mask, -1), "u8", 255, 2, 255)
    is(lg.full({1}, 3.7, {dtype = "u8"}), "u8", 3)
    is(lg.full({1}, 300, {dtype = "bool"}), "bool", true)
    is(lg.arange(250, 256, {dtype = "u8"}), "u8", 250, 251, 252, 253, 254, 255)
    local wide = lg.zeros(3, {dtype = "i64"})
    wide[{first}] = (1 << 53) + 1
    is(wide, "i64", (1 << 53) + 1, 0, 0)
  end)
end)

describe("interpolation", function()
  it("takes the element that the exact quotient names", function()
    for _, dtype in ipairs(types) do
      for _, sizes in ipairs {{2, 82}, {3, 123}, {7, 161}, {5, 3}, {82, 2}} do
        local n, size = sizes[1], sizes[2]
        local x = lg.arange(n, {dtype = dtype}):reshape(1, 1, n)
        local near, exact = F.interpolate(x, {size = {size}}), F.interpolate(x, {size = {size}, mode = "nearest-exact"})
        local wanted, middle = {}, {}
        for i = 0, size - 1 do
          wanted[i + 1], middle[i + 1] = i * n // size, (2 * i + 1) * n // (2 * size)
        end
        same(numbers(near), wanted, 0, "nearest")
        same(numbers(exact), middle, 0, "nearest-exact")
        if size % n == 0 then same(numbers(F.interpolate(x, {scale_factor = size // n})), wanted, 0, "nearest by a factor") end
      end
    end
  end)
  it("leaves out what has weight 0", function()
    for _, dtype in ipairs(types) do
      local image = lg.tensor({{{{1, inf, nan}, {4, -inf, 6}, {7, 8, 9}}}}, {dtype = dtype, requires_grad = true})
      for _, mode in ipairs {"bilinear", "bicubic"} do
        local grid = lg.tensor({{{{-1, -1}, {-1, 0}, {1, 0}, {0, 1}}}}, {dtype = dtype, requires_grad = true})
        local y = F.grid_sample(image, grid, {mode = mode, align_corners = true})
        same(numbers(y), {1, 4, 6, 8}, 0, "grid_sample " .. mode)
        y:sum():backward()
        same(numbers(image.grad), {1, 0, 0, 1, 0, 1, 0, 1, 0}, 0, "gradient of grid_sample " .. mode)
        image.grad = nil
        local large = F.interpolate(image, {size = {5, 5}, mode = mode, align_corners = true}):squeeze(1):squeeze(1)
        same({large[{1, 1}]:item(), large[{3, 1}]:item(), large[{3, 5}]:item(), large[{5, 3}]:item()}, {1, 4, 6, 8}, 0, mode)
      end
      local line = lg.tensor({{{1, inf, 3}}}, {dtype = dtype})
      local y = numbers(F.interpolate(line, {size = {5}, mode = "linear", align_corners = true}))
      same({y[1], y[3], y[5]}, {1, inf, 3}, 0, "linear")
    end
  end)
  it("gives the grid its gradient on a pixel", function()
    local image = lg.tensor({{{{1, 2, 4}}}}, {dtype = "f64"})
    local grid = lg.tensor({{{{0, 0}}}}, {dtype = "f64", requires_grad = true})
    F.grid_sample(image, grid, {align_corners = true}):sum():backward()
    same(numbers(grid.grad), {2, 0}, 1e-12, "gradient")
  end)
end)

it("beta of 0 leaves the input out, and its gradient is 0", function()
  local function mats(...) return lg.ones(...) end
  for name, f in pairs {addmm = function(x, o) return lg.addmm(x, mats(2, 3), mats(3, 2), o) end,
    baddbmm = function(x, o) return lg.baddbmm(x, mats(1, 2, 3), mats(1, 3, 2), o) end,
    addbmm = function(x, o) return lg.addbmm(x, mats(4, 2, 3), mats(4, 3, 2), o) end,
    addmv = function(x, o) return lg.addmv(x, mats(2, 3), mats(3), o) end,
    addr = function(x, o) return lg.addr(x, mats(2), mats(2), o) end} do
    local x = lg.tensor({nan, inf}, {requires_grad = true})
    local y = f(x, {beta = 0, alpha = 2})
    assert(y:isfinite():all():item(), name)
    y:sum():backward()
    same(numbers(x.grad), {0, 0}, 0, "gradient of " .. name)
    x.grad = nil
    f(x, {beta = 0.5}):sum():backward()
    assert(x.grad:gt(0):all():item(), name)
  end
end)

it("a backward pass begins at a complex number", function()
  local z = lg.complex(lg.tensor {1.0, 2.0}, lg.tensor {0.5, -1.0}):requires_grad_()
  local y = (z * z):sum()
  y:backward(lg.ones_like(y:detach()))
  same(numbers(z.grad:real()), {2, 4}, 1e-6, "real part")
  same(numbers(z.grad:imag()), {-1, 2}, 1e-6, "imaginary part")
end)
