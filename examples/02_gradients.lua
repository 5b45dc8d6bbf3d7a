-- Gradients: ops on tensors that require a gradient are recorded on the tape, and backward() differentiates them.
local lg = require "lunagrad"

-- y = x^3 has the derivative 3 x^2, which is 12 at x = 2.
local x = lg.tensor(2.0, {requires_grad = true})
local y = x ^ 3
y:backward()
print("dy/dx", x.grad:item())
assert(math.abs(x.grad:item() - 12) < 1e-5)

-- A tensor that is used twice gets the sum of both gradients. A second backward adds to .grad.
x.grad = nil;
(x * x):backward();
(x * x):backward()
print("2 * d(x*x)/dx", x.grad:item())
assert(x.grad:item() == 8)

-- lg.grad returns gradients instead of storing them. With create_graph they can be differentiated again.
local slope = lg.grad(x ^ 3, x, {create_graph = true})
local curvature = lg.grad(slope, x)
print("second derivative", curvature:item())
assert(math.abs(curvature:item() - 12) < 1e-5)

-- The tape can be inspected: each node has its op, its shapes and the line of the script that created it.
local w = lg.randn(3, 2, {requires_grad = true})
local loss = (lg.ones(4, 3):matmul(w):tanh() ^ 2):mean()
for _, node in ipairs(lg.tape(loss)) do
  print(("%-8s line %d"):format(node.op, node.line))
end

-- Inside no_grad nothing is recorded: here an in-place step of gradient descent.
loss:backward()
lg.no_grad(function() w:sub_(w.grad * 0.1) end)

-- Checks gradients against finite differences, in f64.
local p = lg.randn(3, {dtype = "f64", requires_grad = true})
assert(lg.grad.check(function(v) return (v:exp() * v:sin()):sum() end, {p}))
print("gradients agree with finite differences")

-- A hook is called with a gradient during backward and may replace it.
local h = lg.ones(2, {requires_grad = true})
local doubled = h * 2
doubled:register_hook(function(g) return g * 10 end)
doubled:sum():backward()
print("through the hook", h.grad)
