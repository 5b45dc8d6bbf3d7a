-- Adagrad(params, {lr, lr_decay, weight_decay, initial_accumulator_value, eps, maximize}): Duchi, Hazan, Singer,
-- "Adaptive subgradient methods", JMLR 12, 2011. The rate at step t is lr / (1 + (t - 1) lr_decay).
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Divides the gradient by the root of the sum of its squares.
---Defaults: lr = 0.01, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, lr_decay?: lunagrad.Setting, weight_decay?: lunagrad.Setting, initial_accumulator_value?: lunagrad.Setting, eps?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.Adagrad = Optimizer.class("Adagrad", reader("Adagrad", "params", {"lr", 1e-2}, {"lr_decay", 0}, {"weight_decay", 0},
  {"initial_accumulator_value", 0}, {"eps", 1e-10}, {"maximize", false}))

function optim.Adagrad:update(s, list)
  local start = s.initial_accumulator_value
  if start < 0 then core._fail(("Adagrad: initial_accumulator_value must not be negative (got %g)"):format(start)) end
  s.rate = s.lr / (1 + (list.step - 1) * s.lr_decay)
  Optimizer.fused(list, "adagrad", s, {sum = start})
end

return optim
