-- Our side of tests/bench/products: a line "PASS SIZE DTYPE" on standard input gives the seconds of the best call on standard
-- output. PASS is "matmul", a product of two square matrices; "linear", a layer of SIZE rows and features forward and its
-- gradients; or "conv", a 3 x 3 convolution of 8 images of 28 x 28 positions with SIZE channels and its gradients.
local lg = require "lunagrad"
local F = lg.nn.functional

local function call_of(pass, size, dtype)
  local function random(...) return lg.randn(...):to(dtype) end
  if pass == "matmul" then
    local a, b = random(size, size), random(size, size)
    return function() return a:matmul(b) end
  end
  local x, w, layer
  if pass == "linear" then
    x, w = random(size, size), random(size, size)
    layer = function() return F.linear(x, w) end
  else
    x, w = random(8, size, 28, 28), random(size, size, 3, 3)
    layer = function() return F.conv2d(x, w, nil, {padding = 1}) end
  end
  x:requires_grad_() w:requires_grad_()
  local options = {grad_outputs = random(layer().shape)}
  return function() return lg.grad(layer(), {x, w}, options) end
end

for line in io.lines() do
  local pass, size, dtype = line:match "(%a+) (%d+) (%w+)"
  local call = call_of(pass, math.tointeger(size), dtype)
  local best, start = math.huge, lg.clock()
  call()
  repeat
    local before = lg.clock()
    call()
    best = math.min(best, lg.clock() - before)
  until lg.clock() - start > 0.4
  print(("%.9g"):format(best))
  call = nil
  collectgarbage()
end
