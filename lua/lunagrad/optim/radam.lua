-- RAdam(params, {lr, betas, eps, weight_decay, decoupled_weight_decay, maximize}): Liu et al., "On the variance of the
-- adaptive learning rate and beyond", ICLR 2020. The rectification r belongs to rho, the length of the average of v;
-- until rho is above 5, the step does not divide by v:
--   p = p - lr r sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps), or p - lr / (1 - beta1^t) m
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Rectified Adam: divides by the root mean square only once its variance is tractable.
---Defaults: lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, decoupled_weight_decay = false,
---maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, decoupled_weight_decay?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.RAdam = Optimizer.class("RAdam", reader("RAdam", "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
  {"weight_decay", 0}, {"decoupled_weight_decay", false}, {"maximize", false}))

function optim.RAdam:update(s, list)
  local t, beta1, beta2 = list.step, s.betas[1], s.betas[2]
  local rest = 1 - beta2 ^ t
  local longest = 2 / (1 - beta2) - 1
  local rho = longest - 2 * t * beta2 ^ t / rest
  s.beta1, s.beta2, s.adaptive = beta1, beta2, rho > 5
  s.rate = s.lr / (1 - beta1 ^ t)
  if s.adaptive then
    s.rate = s.rate * math.sqrt(rest * (rho - 4) * (rho - 2) * longest / ((longest - 4) * (longest - 2) * rho))
  end
  s.decay = s.decoupled_weight_decay and -s.lr * s.weight_decay or s.weight_decay
  Optimizer.fused(list, "radam", s)
end

return optim
