-- Adadelta(params, {lr, rho, eps, weight_decay, maximize}): Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Step sizes from running means of squared gradients and squared updates.
---Defaults: lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, rho?: lunagrad.Setting, eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.Adadelta = Optimizer.class("Adadelta", reader("Adadelta", "params", {"lr", 1.0}, {"rho", 0.9}, {"eps", 1e-6},
  {"weight_decay", 0}, {"maximize", false}))

function optim.Adadelta:update(s, list) Optimizer.fused(list, "adadelta", s) end

return optim
