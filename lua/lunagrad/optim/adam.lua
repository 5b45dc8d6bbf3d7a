-- Adam(params, {lr, betas, eps, weight_decay, amsgrad, maximize}): Kingma, Ba, "Adam: a method for stochastic
-- optimization", ICLR 2015. AdamW: the same with the weight decay apart from the gradient (Loshchilov, Hutter, ICLR
-- 2019).
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local moments, with_largest = {"exp_avg", "exp_avg_sq"}, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}

local function class(name, weight_decay, op)
  local Adam = Optimizer.class(name, reader(name, "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
    {"weight_decay", weight_decay}, {"amsgrad", false}, {"maximize", false}))

  function Adam:update(s, list)
    Optimizer.fused(list, s.amsgrad and with_largest or moments, op, s.lr, s.betas[1], s.betas[2], s.eps,
      s.weight_decay, list.step, s.maximize, s.amsgrad)
  end

  return Adam
end

return {Adam = class("Adam", 0, "_adam_step"), AdamW = class("AdamW", 1e-2, "_adamw_step")}
