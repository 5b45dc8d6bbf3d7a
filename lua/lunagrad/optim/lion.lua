-- Lion(params, {lr, betas, weight_decay, maximize}): Chen et al., "Symbolic discovery of optimization algorithms",
-- NeurIPS 2023:
--   p = p - lr weight_decay p - lr sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Steps by the sign of an averaged gradient (Chen et al. 2023). Its weight decay is decoupled.
---Defaults: lr = 0.0001, betas = {0.9, 0.99}, weight_decay = 0, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], weight_decay?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.Lion = Optimizer.class("Lion", reader("Lion", "params", {"lr", 1e-4}, {"betas", {0.9, 0.99}},
  {"weight_decay", 0}, {"maximize", false}))

function optim.Lion:update(s, list)
  s.beta1, s.beta2 = s.betas[1], s.betas[2]
  Optimizer.fused(list, "lion", s)
end

return optim
