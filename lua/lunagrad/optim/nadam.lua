-- NAdam(params, {lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize}): Dozat,
-- "Incorporating Nesterov momentum into Adam", ICLR workshop 2016. With mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)
-- and M_t the product of mu_1 … mu_t:
--   p = p - lr ((1 - mu_t) / (1 - M_t) g + mu_{t+1} / (1 - M_{t+1}) m) / (sqrt(v / (1 - beta2^t)) + eps)
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Adam with Nesterov momentum, as in PyTorch 2.
---Defaults: lr = 0.002, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, momentum_decay = 0.004,
---decoupled_weight_decay = false, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, momentum_decay?: lunagrad.Setting, decoupled_weight_decay?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.NAdam = Optimizer.class("NAdam", reader("NAdam", "params", {"lr", 2e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
  {"weight_decay", 0}, {"momentum_decay", 4e-3}, {"decoupled_weight_decay", false}, {"maximize", false}))

-- The product of mu_1 … mu_t.
function optim.NAdam.further_states() return {"mu_product"} end

function optim.NAdam:update(s, list)
  local t = list.step
  s.beta1, s.beta2 = s.betas[1], s.betas[2]
  local function momentum(step) return s.beta1 * (1 - 0.5 * 0.96 ^ (step * s.momentum_decay)) end
  local now, next = momentum(t), momentum(t + 1)
  local product = (list.states[1].mu_product or 1) * now
  s.decay = s.decoupled_weight_decay and -s.lr * s.weight_decay or s.weight_decay
  s.gradient_rate = s.lr * (1 - now) / (1 - product)
  s.mean_rate = s.lr * next / (1 - product * next)
  s.root = math.sqrt(1 - s.beta2 ^ t)
  Optimizer.fused(list, "nadam", s)
  for _, state in ipairs(list.states) do state.mu_product = product end
end

return optim
