-- SGD(params, {lr, momentum, dampening, weight_decay, nesterov, maximize}). As PyTorch:
--   g = g + weight_decay p;  b = momentum b + (1 - dampening) g (b = g at first);  g = g + momentum b if nesterov,
--   else b, when there is momentum;  p = p - lr g
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local SGD = Optimizer.class("SGD", reader("SGD", "params", {"lr", 1e-3}, {"momentum", 0}, {"dampening", 0},
  {"weight_decay", 0}, {"nesterov", false}, {"maximize", false}))

function SGD:update(settings, list)
  if settings.nesterov and (settings.momentum == 0 or settings.dampening ~= 0) then
    core._fail("SGD: nesterov needs a momentum and no dampening")
  end
  local buffers = settings.momentum ~= 0 and Optimizer.moments(list, "momentum_buffer") or {}
  core._sgd_step(list.params, list.grads, buffers, settings, list.step)
end

return SGD
