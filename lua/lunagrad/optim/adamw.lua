-- AdamW(params, {lr, betas, eps, weight_decay, amsgrad, maximize}): Loshchilov, Hutter, "Decoupled weight decay
-- regularization", ICLR 2019.
local Adam = require("lunagrad.optim.adam").Adam
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Adam with decoupled weight decay: the decay shrinks the parameters and is no part of the gradient.
---Defaults: lr = 0.001, betas = {0.9, 0.999}, eps = 1e-8, weight_decay = 0.01, amsgrad = false, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, amsgrad?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.AdamW = Optimizer.class("AdamW", reader("AdamW", "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
  {"weight_decay", 1e-2}, {"amsgrad", false}, {"maximize", false}))
optim.AdamW.update = Adam.update

return optim
