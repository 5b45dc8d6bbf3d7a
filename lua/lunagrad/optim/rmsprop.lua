-- RMSprop(params, {lr, alpha, eps, weight_decay, momentum, centered, maximize}): Tieleman, Hinton, lecture 6.5 of
-- "Neural networks for machine learning", 2012; centred as in Graves, "Generating sequences with recurrent neural
-- networks", 2013.
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Divides the gradient by the root of its running mean square. With `centered` the squared mean is subtracted first.
---Defaults: lr = 0.01, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0, centered = false, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, alpha?: lunagrad.Setting, eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, momentum?: lunagrad.Setting, centered?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.RMSprop = Optimizer.class("RMSprop", reader("RMSprop", "params", {"lr", 1e-2}, {"alpha", 0.99}, {"eps", 1e-8},
  {"weight_decay", 0}, {"momentum", 0}, {"centered", false}, {"maximize", false}))

function optim.RMSprop:update(s, list) Optimizer.fused(list, "rmsprop", s) end

return optim
