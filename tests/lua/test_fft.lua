-- Fourier transforms in Lua: values against the sum of the definition, identities, shapes, gradients, the short-time
-- transform, errors. PyTorch's values are in tests/reference.
local lg = require "lunagrad"
local expect = require "expect"
local fft = lg.fft

lg.manual_seed(1)

-- The largest difference relative to the largest element, in c128 or f64.
local function difference(found, wanted)
  expect.equal(found:size(), wanted:size())
  if wanted:numel() == 0 then return 0 end
  return ((found - wanted):abs():max() / wanted:abs():max()):item()
end

-- The transform of the last dim by its definition, in f64.
local function by_definition(x)
  local n = x:size(-1)
  local k = lg.arange(n):to("f64")
  local angle = lg.outer(k, k) % n * (2 * math.pi / n)
  return x:to("c128"):matmul(lg.complex(angle:cos(), -angle:sin()))
end

-- Every small length, primes, powers and mixed lengths: all kinds of plans, with both types, along the last dim and
-- another one, forward and back. The error grows like sqrt(log n).
local lengths = {97, 121, 125, 127, 128, 129, 143, 169, 210, 243, 250, 256, 257, 343, 360, 500, 509, 512, 997, 1000, 1001,
  1024, 1155, 1536}
for n = 1, 64 do lengths[#lengths + 1] = n end
for dtype, epsilon in pairs {c64 = 2 ^ -23, c128 = 2 ^ -52} do
  for _, n in ipairs(lengths) do
    local bound = epsilon * (2 + 2 * math.sqrt(math.log(n, 2)))
    local function check(found, wanted, what)
      local error = difference(found, wanted)
      assert(error <= bound, ("%s of length %d in %s: error %.3g, at most %.3g expected"):format(what, n, dtype, error, bound))
    end
    local x = lg.randn(3, n, {dtype = dtype})
    local y = fft.fft(x)
    assert(y:dtype() == dtype)
    check(y:to("c128"), by_definition(x), "fft")
    check(fft.ifft(y), x, "ifft of fft")
    check(fft.ifft(x, nil, -1, "forward"), fft.fft(x:conj()):conj(), "ifft")
    local columns = fft.fft(x:t():contiguous(), nil, 1)
    check(columns:t(), y, "fft along dim 1")
    check(fft.fft(x:t(), nil, 1):t(), y, "fft of a transposed tensor")
    local wide = x:reshape(1, 3, n):expand(20, 3, n):permute(3, 1, 2):contiguous()
    check(fft.fft(wide, nil, 1):select(2, 20):t(), y, "fft of many columns")
    local r = x:real():contiguous()
    local half = fft.rfft(r)
    check(half, fft.fft(r):narrow(2, 1, n // 2 + 1), "rfft")
    check(fft.irfft(half, n), r, "irfft of rfft")
    check(fft.irfft(half:t():contiguous(), n, 1), r:t(), "irfft along dim 1")
    check(fft.hfft(fft.ihfft(r), n), r, "hfft of ihfft")
  end
end

-- Long ones: a prime, squares that the threads share, against another way to compute them.
for _, n in ipairs {10007, 65536, 98304, 3 * 10007, 2 * 50021} do
  local x = lg.randn(n, {dtype = "c64"})
  local y = fft.fft(x)
  assert(difference(y:to("c128"), fft.fft(x:to("c128"))) < 2e-6)
  assert(difference(fft.ifft(y), x) < 2e-6)
  local r = lg.randn(n, {dtype = "f64"})
  assert(difference(fft.rfft(r), fft.fft(r):narrow(1, 1, n // 2 + 1)) < 1e-14)
  assert(difference(fft.irfft(fft.rfft(r), n), r) < 1e-14)
end

-- A single frequency; exact values.
expect.equal(fft.fft(lg.ones(4)):tolist(), {{4.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}})
expect.equal(fft.rfft(lg.tensor {1., 2., 3., 4.}):tolist(), {{10.0, 0.0}, {-2.0, 2.0}, {-2.0, 0.0}})
expect.equal(fft.irfft(lg.tensor {{10., 5.}, {-2., 2.}, {-2., 7.}}:view_as_complex()):tolist(), {1.0, 2.0, 3.0, 4.0})
local n = 48
local wave = (lg.arange(n):to("f64") * (2 * math.pi * 5 / n)):cos()
local spectrum = fft.rfft(wave):abs()
assert(math.abs(spectrum[6]:item() - n / 2) < 1e-12 and spectrum:sum():item() < n / 2 + 1e-10)

-- Linearity, Parseval, the shift theorem, convolution.
local x, y = lg.randn(5, 90, {dtype = "c128"}), lg.randn(5, 90, {dtype = "c128"})
assert(difference(fft.fft(x * 2 - y), fft.fft(x) * 2 - fft.fft(y)) < 1e-14)
expect.close(fft.fft(x, nil, -1, "ortho"):norm_sq():sum(), x:norm_sq():sum(), 1e-10)
local turn = lg.arange(90):to("f64") * (2 * math.pi * 7 / 90)
assert(difference(fft.fft(x:roll(7, 2)), fft.fft(x) * lg.complex(turn:cos(), -turn:sin())) < 1e-13)
local circular = lg.zeros(5, 90, {dtype = "c128"})
for j = 0, 89 do circular = circular + x:narrow(2, j + 1, 1) * y:roll(j, 2) end
assert(difference(fft.ifft(fft.fft(x) * fft.fft(y)), circular) < 1e-13)

-- Sizes: cut and filled, the default length of irfft, several dims, their order, options by name.
expect.equal(fft.fft(x, 40):size(), {5, 40})
assert(difference(fft.fft(x, 40), fft.fft(x:narrow(2, 1, 40))) == 0)
assert(difference(fft.fft(x, 100), fft.fft(lg.cat({x, lg.zeros(5, 10, {dtype = "c128"})}, 2))) == 0)
expect.equal(fft.irfft(x):size(), {5, 178})
expect.equal(fft.irfft(x, 7, 1):size(), {7, 90})
local cube = lg.randn(4, 5, 6, {dtype = "c128"})
assert(difference(fft.fftn(cube), fft.fft(fft.fft(fft.fft(cube, nil, 1), nil, 2), nil, 3)) < 1e-14)
assert(difference(fft.fft2(cube), fft.fftn(cube, nil, {2, 3})) == 0)
assert(difference(fft.fftn(cube, {3, 8}), fft.fftn(cube, {3, 8}, {2, 3})) == 0)
assert(difference(fft.fftn(cube, {-1, 8}, {1, 3}), fft.fftn(cube, {4, 8}, {1, 3})) == 0)
expect.equal(fft.rfftn(cube:real()):size(), {4, 5, 4})
assert(difference(fft.irfftn(fft.rfftn(cube:real()), {4, 5, 6}), cube:real()) < 1e-14)
assert(difference(fft.irfft2(fft.rfft2(cube:real(), {dim = {1, 2}}), {4, 5}, {1, 2}), cube:real()) < 1e-14)
assert(difference(fft.ifft2(fft.fft2(cube, {norm = "forward"}), {norm = "forward"}), cube) < 1e-14)
expect.equal(fft.fftn(lg.tensor(3.)):tolist(), {3.0, 0.0})
expect.equal(fft.fft(lg.zeros(2, 1, 2, 1, 2, 1, 3, 2), 4, 1):size(), {4, 1, 2, 1, 2, 1, 3, 2})

-- Types: integers, booleans and 16-bit numbers in f32.
for _, dtype in ipairs {"i64", "u8", "bool", "f16", "bf16", "f32"} do
  assert(fft.fft(lg.ones(4, {dtype = dtype})):dtype() == "c64")
  assert(fft.rfft(lg.ones(4, {dtype = dtype})):dtype() == "c64")
  assert(fft.irfft(lg.ones(4, {dtype = dtype})):dtype() == "f32")
end
assert(fft.rfft(lg.ones(4, {dtype = "f64"})):dtype() == "c128" and fft.irfft(lg.ones(4, {dtype = "f64"})):dtype() == "f64")

-- Empty batches.
expect.equal(fft.fft(lg.zeros(0, 4)):size(), {0, 4})
expect.equal(fft.rfft(lg.zeros(3, 0, 4)):size(), {3, 0, 3})
expect.equal(fft.irfft(lg.zeros(0, 3)):size(), {0, 4})
expect.equal(fft.fft2(lg.zeros(4, 4, 0), nil, {1, 2}):size(), {4, 4, 0})
expect.equal(fft.fftshift(lg.zeros(0, 3)):size(), {0, 3})

-- NaN and infinity stay in their row.
local bad = lg.ones(3, 300)
bad[{2, 7}] = 0 / 0
local seen = fft.fft(bad):isnan():to("f32"):sum(2)
expect.equal(seen:tolist(), {0.0, 300.0, 0.0})

-- Helpers.
expect.equal(fft.fftfreq(5):tolist(), lg.tensor {0., 0.2, 0.4, -0.4, -0.2}:tolist())
expect.equal(fft.fftfreq(4, 0.5, {dtype = "f64"}):tolist(), {0.0, 0.5, -1.0, -0.5})
expect.equal(fft.rfftfreq(4, {d = 0.5}):tolist(), {0.0, 0.5, 1.0})
expect.equal(fft.fftshift(lg.arange(5)):tolist(), {3, 4, 0, 1, 2})
for _, shape in ipairs {{5}, {4, 5}, {3, 4, 5}} do
  local z = lg.randn(shape)
  expect.equal(fft.ifftshift(fft.fftshift(z)), z)
end
expect.equal(fft.fftshift(lg.arange(6):reshape(2, 3), 2):tolist(), {{2, 0, 1}, {5, 3, 4}})

-- Gradients, of first and second order, and PyTorch's convention for complex ones.
local function check_gradients(f, ...)
  local inputs = {...}
  for i, z in ipairs(inputs) do inputs[i] = z:detach():requires_grad_() end
  assert(lg.grad.check(f, inputs))
  assert(lg.grad.checkgrad2(f, inputs))
end
local real6, complex6 = lg.randn(2, 6, {dtype = "f64"}), lg.randn(2, 6, {dtype = "c128"})
local function squares(z) return z:dtype() == "c128" and z:norm_sq() or z * z * z end
for _, name in ipairs {"fft", "ifft", "irfft", "hfft"} do
  check_gradients(function(z) return squares(fft[name](z)) end, complex6)
  check_gradients(function(z) return squares(fft[name](z, 7, 1, "ortho")) end, complex6)
  check_gradients(function(z) return squares(fft[name](z, 5, 2)) end, complex6)
  check_gradients(function(z) return squares(fft[name](z)) end, real6)
end
for _, name in ipairs {"rfft", "ihfft"} do
  check_gradients(function(z) return squares(fft[name](z)) end, real6)
  check_gradients(function(z) return squares(fft[name](z, 7, 1, "ortho")) end, real6)
  check_gradients(function(z) return squares(fft[name](z, 1)) end, real6)
end
for _, name in ipairs {"fft2", "ifftn", "irfft2", "irfftn"} do
  check_gradients(function(z) return squares(fft[name](z)) end, complex6)
end
for _, name in ipairs {"rfft2", "rfftn"} do check_gradients(function(z) return squares(fft[name](z)) end, real6) end
local p = lg.randn(8, {dtype = "c64"}):requires_grad_()
fft.fft(p):norm_sq():sum():backward()
assert(difference(p.grad, 16 * p:detach()) < 1e-5)  -- |F z|^2 = n |z|^2

-- The short-time transform and back.
local signal = lg.randn(2, 400, {dtype = "f64"})
for _, case in ipairs {
  {64, 16, lg.hann_window(64, {dtype = "f64"})},
  {64, 16, lg.hamming_window(64, {dtype = "f64"}), {normalized = true}},
  {50, 10, lg.hann_window(40, {dtype = "f64"}), {win_length = 40}},
  {32, 32, nil},
  {20, 5, lg.hann_window(20, {dtype = "f64"}), {onesided = false}},
} do
  local n_fft, hop, window, options = case[1], case[2], case[3], case[4] or {}
  options.hop_length, options.window = hop, window
  local z = lg.stft(signal, n_fft, options)
  expect.equal(z:size(), {2, options.onesided == false and n_fft or n_fft // 2 + 1, 400 // hop + 1})
  options.length = 400
  assert(difference(lg.istft(z, n_fft, options), signal) < 1e-12)
end
local frames = lg.stft(signal[1], 64, 16, 64, lg.hann_window(64, {dtype = "f64"}), false)
local third = fft.rfft(signal[1]:narrow(1, 33, 64) * lg.hann_window(64, {dtype = "f64"}))
assert(difference(frames:select(2, 3), third) < 1e-14)
expect.equal(lg.stft(signal, 64, {return_complex = false}):size(), {2, 33, 26, 2})
local z = lg.stft(lg.randn(64, {dtype = "c128"}), 16, {window = lg.hann_window(16, {dtype = "f64"})})
expect.equal(z:size(), {16, 17})
assert(lg.istft(z, 16, {window = lg.hann_window(16, {dtype = "f64"}), return_complex = true}):dtype() == "c128")
check_gradients(function(s, w) return lg.stft(s, 8, 3, 6, w):norm_sq() end, lg.randn(16, {dtype = "f64"}),
  lg.rand(6, {dtype = "f64"}) + 0.5)
check_gradients(function(s, w) return lg.istft(s, 8, {window = w}):pow(3) end, lg.randn(5, 4, {dtype = "c128"}),
  lg.rand(8, {dtype = "f64"}) + 0.5)

-- Windows.
expect.close(lg.hann_window(4):tolist(), {0, 0.5, 1, 0.5}, 1e-7)
expect.close(lg.bartlett_window(5, false):tolist(), {0, 0.5, 1, 0.5, 0}, 1e-7)
expect.equal(lg.kaiser_window(1, false):tolist(), {1.0})
local extreme = lg.kaiser_window(5, {beta = 1e6, dtype = "f64"})
assert(extreme:isfinite():all():item(), tostring(extreme))

-- Errors.
expect.raises("fft.fft: n must be at least 1 (got 0)", function() fft.fft(lg.ones(4), 0) end)
expect.raises("fft.fft: n must be at least 1 (got -1)", function() fft.fft(lg.ones(4), -1) end)
expect.raises("fft.fft: n = 9223372036854775807 is too large", function() fft.fft(lg.ones(4), math.maxinteger) end)
expect.raises("fft.fft: a tensor of at least 1 dim is needed", function() fft.fft(lg.tensor(1.)) end)
expect.raises("fft.fft: dim 2 of shape [3, 0] is too short; give n", function() fft.fft(lg.zeros(3, 0)) end)
expect.raises("fft.irfft: dim 1 of shape [1] is too short; give n", function() fft.irfft(lg.ones(1)) end)
expect.raises("fft.rfft: a real input is needed (got c64)", function() fft.rfft(complex6:to("c64")) end)
expect.raises("fft.fft", function() fft.fft(lg.ones(4), nil, 2) end)
expect.raises("'backward', 'ortho', 'forward' expected", function() fft.fft(lg.ones(4), nil, 1, "unitary") end)
expect.raises("fft.fftn: s and dim must have equally many numbers (got 1 and 2)", function()
  fft.fftn(lg.ones(4, 4), {4}, {1, 2})
end)
expect.raises("fft.fftn: dim 1 is given twice", function() fft.fftn(lg.ones(4, 4), nil, {1, -2}) end)
expect.raises("fft.fftn: 3 sizes in s for shape [4, 4]", function() fft.fftn(lg.ones(4, 4), {2, 2, 2}) end)
expect.raises("fft.fft2: s must be at least 1 (got 0)", function() fft.fft2(lg.ones(4, 4), {0, 4}) end)
expect.raises("fft.fftfreq: n must be at least 1", function() fft.fftfreq(0) end)
expect.raises("stft: n_fft = 8 is longer than the signal (4 elements)", function() lg.stft(lg.ones(4), 8, {center = false}) end)
expect.raises("stft: hop_length must be at least 1 (got 0)", function() lg.stft(lg.ones(20), 8, 0) end)
expect.raises("stft: win_length must be from 1 to n_fft = 8 (got 9)", function() lg.stft(lg.ones(20), 8, 2, 9) end)
expect.raises("stft: onesided needs a real signal", function() lg.stft(lg.ones(20, {dtype = "c64"}), 8, {onesided = true}) end)
expect.raises("istft: n_fft = 8, onesided, needs 5 frequencies", function()
  lg.istft(lg.ones(4, 3, {dtype = "c64"}), 8, {onesided = true})
end)
expect.raises("istft: the squared windows add up to 0", function()
  lg.istft(lg.ones(5, 3, {dtype = "c64"}), 8, {hop_length = 8, window = lg.hann_window(8), center = false})
end)
expect.raises("istft: hop_length = 9223372036854775807 is too large", function()
  lg.istft(lg.ones(5, 3, {dtype = "c64"}), 8, math.maxinteger)
end)
expect.raises("hann_window: a floating type is needed (got i64)", function() lg.hann_window(4, {dtype = "i64"}) end)
