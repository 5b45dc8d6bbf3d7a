-- Adam(params, {lr, betas, eps, weight_decay, amsgrad, maximize}): Kingma, Ba, "Adam: a method for stochastic
-- optimization", ICLR 2015. AdamW: the same with the weight decay apart from the gradient (Loshchilov, Hutter, ICLR
-- 2019).
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local function class(name, weight_decay, decoupled)
  local Adam = Optimizer.class(name, reader(name, "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-8},
    {"weight_decay", weight_decay}, {"amsgrad", false}, {"maximize", false}))

  function Adam:update(settings, list)
    local largest = settings.amsgrad and Optimizer.moments(list, "max_exp_avg_sq") or {}
    core._adam_step(list.params, list.grads, Optimizer.moments(list, "exp_avg"),
      Optimizer.moments(list, "exp_avg_sq"), largest, settings, list.step, decoupled)
  end

  return Adam
end

return {Adam = class("Adam", 0, false), AdamW = class("AdamW", 1e-2, true)}
