-- Adagrad(params, {lr, lr_decay, weight_decay, initial_accumulator_value, eps, maximize}): Duchi, Hazan, Singer,
-- "Adaptive subgradient methods", JMLR 12, 2011. The rate at step t is lr / (1 + (t - 1) lr_decay).
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local read = reader("Adagrad", "params", {"lr", 1e-2}, {"lr_decay", 0}, {"weight_decay", 0},
  {"initial_accumulator_value", 0}, {"eps", 1e-10}, {"maximize", false})

local Adagrad = Optimizer.class("Adagrad", read)

function Adagrad:update(s, list)
  local start = s.initial_accumulator_value
  if start < 0 then core._fail(("Adagrad: initial_accumulator_value must not be negative (got %g)"):format(start)) end
  Optimizer.fused(list, list.names or {"sum", start = start}, "_adagrad_step",
    s.lr / (1 + (list.step - 1) * s.lr_decay), s.eps, s.weight_decay, s.maximize and -1 or 1)
end

return Adagrad
