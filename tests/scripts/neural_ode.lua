-- A neural ODE fitted to a spiral; a custom op solves the adjoint equation backwards in time.
-- Chen, Rubanova, Bettencourt, Duvenaud, "Neural ordinary differential equations", 2018.
local lg = require "lunagrad"
local nn = lg.nn
local true_A = lg.tensor({{-0.1, 2.0}, {-2.0, -0.1}})

local ODEFunc = nn.class("ODEFunc")
function ODEFunc:init(dtype)
  self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2)):to(dtype or "f32")
  for _, m in ipairs(self.net:modules()) do
    if nn.isinstance(m, nn.Linear) then
      nn.init.normal_(m.weight, {mean = 0, std = 0.1})
      nn.init.constant_(m.bias, {val = 0})
    end
  end
end
function ODEFunc:forward(_, y) return self.net(y ^ 3) end

local function rk4_step(f, t, y, dt)
  local k1 = f(t, y)
  local k2 = f(t + dt / 2, y + dt / 2 * k1)
  local k3 = f(t + dt / 2, y + dt / 2 * k2)
  local k4 = f(t + dt, y + dt * k3)
  return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
end
local function odeint(f, y0, ts)
  local ys, y = {y0}, y0
  for i = 1, #ts - 1 do
    y = rk4_step(f, ts[i], y, ts[i + 1] - ts[i])
    ys[#ys + 1] = y
  end
  return lg.stack(ys)
end

-- ODEAdjoint(func, ts)(y0, parameters…): the states at ts. Backwards, one step at a time is differentiated, from the
-- saved states.
local function ODEAdjoint(func, ts)
  local params = func:parameters()
  return lg.custom_op {
    name = "ODEAdjoint",
    forward = function(ctx, y0)
      local ys = odeint(func, y0, ts)
      ctx:save_for_backward(ys)
      ctx.ts = ts
      return ys
    end,
    backward = function(ctx, grad_ys)
      local ys = table.unpack(ctx.saved_tensors)
      local a, grads = grad_ys[-1], {}
      for i, p in ipairs(params) do grads[i] = lg.zeros_like(p) end
      for i = #ctx.ts - 1, 1, -1 do
        lg.enable_grad(function()
          local y = ys[i]:detach():requires_grad_()
          local next_y = rk4_step(func, ctx.ts[i], y, ctx.ts[i + 1] - ctx.ts[i])
          local found = lg.grad(next_y, {y, table.unpack(params)}, {grad_outputs = a, allow_unused = true})
          for k in ipairs(params) do grads[k] = grads[k] + found[k + 1] end
          a = found[1] + grad_ys[i]
        end)
      end
      return a, table.unpack(grads)
    end,
  }
end

-- The adjoint's gradients equal the recorded path's.
do
  local func, ts = ODEFunc("f64"), {0, 0.1, 0.3, 0.4}
  local y0 = lg.randn(3, 2, {dtype = "f64", requires_grad = true})
  local inputs = {y0, table.unpack(func:parameters())}
  local wanted = lg.grad(odeint(func, y0, ts):square():sum(), inputs)
  local found = lg.grad(ODEAdjoint(func, ts)(table.unpack(inputs)):square():sum(), inputs)
  for i = 1, #inputs do assert(lg.allclose(found[i], wanted[i], {rtol = 1e-8, atol = 1e-10})) end
end

local ts = lg.linspace(0, 4, 80):tolist()
local true_y = lg.no_grad(function()
  return odeint(function(_, y) return (y ^ 3):mm(true_A) end, lg.tensor({{2., 0.}}), ts)
end)
local length, losses = 10, {}
local func = ODEFunc()
local solve = ODEAdjoint(func, table.move(ts, 1, length, 1, {}))
local optimizer = lg.optim.RMSprop(func:parameters(), {lr = 1e-2})
local windows = true_y:squeeze(2):unfold(1, length, 1):permute(1, 3, 2)  -- [starts, length, 2]
for step = 1, 150 do
  optimizer:zero_grad()
  local batch = windows[lg.randint(#windows, {16})]:transpose(1, 2)
  local loss = lg.mean(lg.abs(solve(batch[1], table.unpack(func:parameters())) - batch))
  loss:backward()
  optimizer:step()
  losses[step] = loss:item()
end
print(("loss %.3f at first, %.3f at the end"):format(losses[1], losses[#losses]))
assert(losses[#losses] < 0.4 * losses[1])
