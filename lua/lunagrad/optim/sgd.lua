-- SGD(params, {lr, momentum, dampening, weight_decay, nesterov, maximize}). As PyTorch:
--   g = g + weight_decay p;  b = momentum b + (1 - dampening) g (b = g at first);  g = g + momentum b if nesterov,
--   else b, when there is momentum;  p = p - lr g
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Stochastic gradient descent. A `momentum` other than 0 adds a moving average of gradients; `nesterov` needs a momentum
---and no dampening.
---Defaults: lr = 0.001, momentum = 0, dampening = 0, weight_decay = 0, nesterov = false, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, momentum?: lunagrad.Setting, dampening?: lunagrad.Setting, weight_decay?: lunagrad.Setting, nesterov?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.SGD = Optimizer.class("SGD", reader("SGD", "params", {"lr", 1e-3}, {"momentum", 0}, {"dampening", 0},
  {"weight_decay", 0}, {"nesterov", false}, {"maximize", false}))

function optim.SGD:update(s, list)
  if s.nesterov and (s.momentum == 0 or s.dampening ~= 0) then
    core._fail("SGD: nesterov needs a momentum and no dampening")
  end
  s.first_step = list.step == 1
  Optimizer.fused(list, "sgd", s)
end

return optim
