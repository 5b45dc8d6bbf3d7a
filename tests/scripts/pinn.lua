-- A network that solves the heat equation u_t = 0.1 u_xx: gradients of gradients, and LBFGS with a line search.
-- Raissi, Perdikaris, Karniadakis, "Physics-informed neural networks", 2019.
local lg = require "lunagrad"
local nn = lg.nn

local PINN = nn.class("PINN")
function PINN:init(layers)
  self.activation = nn.Tanh()
  self.linears = nn.ModuleList()
  for i = 1, #layers - 1 do
    local linear = nn.Linear(layers[i], layers[i + 1])
    nn.init.xavier_normal_(linear.weight, {gain = 1.0})
    nn.init.zeros_(linear.bias)
    self.linears:append(linear)
  end
end
function PINN:forward(x, t)
  local a = lg.cat({x, t}, {dim = 2})
  for i = 1, #self.linears - 1 do a = self.activation(self.linears[i](a)) end
  return self.linears[#self.linears](a)
end

local net = PINN {2, 20, 20, 1}
local x = lg.rand(200, 1):requires_grad_(true)
local t = lg.rand(200, 1, {requires_grad = true})
local x0 = lg.linspace(0, 1, 50):unsqueeze(2)
local u0 = lg.sin(math.pi * x0)
local tb = lg.rand(50, 1)

local function residual()
  local u = net(x, t)
  local u_t = lg.grad(u, t, {grad_outputs = lg.ones_like(u), create_graph = true})
  local u_x = lg.grad(u, {x}, {grad_outputs = {lg.ones_like(u)}, retain_graph = true, create_graph = true})[1]
  local u_xx = lg.grad(u_x, x, {grad_outputs = lg.ones_like(u_x), create_graph = true})
  return u_t - 0.1 * u_xx
end

local optimizer = lg.optim.LBFGS(net:parameters(), {
  lr = 1.0, max_iter = 20, max_eval = 25, history_size = 50, tolerance_grad = 1e-7, tolerance_change = 1e-9,
  line_search_fn = "strong_wolfe",
})
local last
local function closure()
  optimizer:zero_grad()
  local loss_f = lg.mean(residual() ^ 2)
  local loss_0 = lg.mean((net(x0, lg.zeros_like(x0)) - u0):pow(2))
  local loss_b = net(lg.zeros_like(tb), tb):pow(2):mean() + net(lg.ones_like(tb), tb):square():mean()
  local loss = loss_f + 10 * loss_0 + loss_b
  loss:backward()
  last = loss:item()
  return loss
end
for _ = 1, 6 do optimizer:step(closure) end

net:eval()
local half = lg.full({50, 1}, 0.5)
local found = net(x0, half):detach()
local exact = math.exp(-0.1 * math.pi ^ 2 * 0.5) * u0
local relative = (lg.linalg.vector_norm(found - exact) / lg.linalg.vector_norm(exact)):item()
print(("loss %.1e, relative error at t = 0.5 %.4f"):format(last, relative))
assert(relative < 0.02)
