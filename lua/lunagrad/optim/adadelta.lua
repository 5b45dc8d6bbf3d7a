-- Adadelta(params, {lr, rho, eps, weight_decay, maximize}): Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local Adadelta = Optimizer.class("Adadelta", reader("Adadelta", "params", {"lr", 1.0}, {"rho", 0.9}, {"eps", 1e-6},
  {"weight_decay", 0}, {"maximize", false}))

local averages = {"square_avg", "acc_delta"}

function Adadelta:update(s, list)
  Optimizer.fused(list, averages, "_adadelta_step", s.lr, s.rho, s.eps, s.weight_decay, s.maximize and -1 or 1)
end

return Adadelta
