-- Adamax(params, {lr, betas, eps, weight_decay, maximize}): Adam with the infinity norm: a decaying maximum of the
-- gradient's magnitude replaces the root mean square (Kingma, Ba, ICLR 2015, section 7).
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Adam with the infinity norm: divides by a decaying maximum of the gradient's magnitude instead of the root mean square.
---Defaults: lr = 0.002, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.Adamax = Optimizer.class("Adamax", reader("Adamax", "params", {"lr", 2e-3}, {"betas", {0.9, 0.999}},
  {"eps", 1e-8}, {"weight_decay", 0}, {"maximize", false}))

function optim.Adamax:update(s, list)
  s.beta1, s.beta2 = s.betas[1], s.betas[2]
  s.rate = s.lr / (1 - s.beta1 ^ list.step)
  Optimizer.fused(list, "adamax", s)
end

return optim
