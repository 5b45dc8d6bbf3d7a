-- Adam(params, {lr, betas, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay}): Kingma, Ba, "Adam: a method for
-- stochastic optimization", ICLR 2015.
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Adam (Kingma and Ba 2015). `betas` are the decay rates of the averages of the gradient and of its square.
---Defaults: lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0, amsgrad = false, maximize = false,
---decoupled_weight_decay = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, amsgrad?: boolean, maximize?: boolean, decoupled_weight_decay?: boolean}): lunagrad.optim.Optimizer
optim.Adam = Optimizer.class("Adam", reader("Adam", "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
  {"weight_decay", 0}, {"amsgrad", false}, {"maximize", false}, {"decoupled_weight_decay", false}))

-- Also AdamW's step: the rule "adamw" decouples the weight decay.
function optim.Adam:update(s, list)
  s.beta1, s.beta2 = s.betas[1], s.betas[2]
  Optimizer.fused(list, s.decoupled_weight_decay and "adamw" or self.rule, s)
end

return optim
