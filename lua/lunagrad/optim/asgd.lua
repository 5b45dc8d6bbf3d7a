-- ASGD(params, {lr, lambd, alpha, t0, weight_decay, maximize}): Polyak, Juditsky, "Acceleration of stochastic approximation
-- by averaging", SIAM J. Control Optim. 30, 1992, as PyTorch has it. With eta_1 = lr and t steps done:
--   p = (1 - lambd eta_t) p - eta_t g;  ax = ax + mu_t (p - ax);  mu_t = 1 / max(1, t - 1 - t0)
--   eta_{t+1} = lr / (1 + lambd lr t)^alpha
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Averaged stochastic gradient descent. The average of the parameters since step `t0` is optimizer.state[p].ax.
---Defaults: lr = 0.01, lambd = 0.0001, alpha = 0.75, t0 = 1e6, weight_decay = 0, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, lambd?: number, alpha?: number, t0?: number, weight_decay?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.ASGD = Optimizer.class("ASGD", reader("ASGD", "params", {"lr", 1e-2}, {"lambd", 1e-4}, {"alpha", 0.75}, {"t0", 1e6},
  {"weight_decay", 0}, {"maximize", false}))

function optim.ASGD:update(s, list)
  local before = list.step - 1
  s.eta = before == 0 and s.lr or s.lr / (1 + s.lambd * s.lr * before) ^ s.alpha
  s.shrink = 1 - s.lambd * s.eta
  s.mu = 1 / math.max(1, before - s.t0)
  s.copies = s.mu == 1
  Optimizer.fused(list, "asgd", s)
end

return optim
