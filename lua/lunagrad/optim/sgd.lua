-- SGD(params, {lr, momentum, dampening, weight_decay, nesterov, maximize}). As PyTorch:
--   g = g + weight_decay p;  b = momentum b + (1 - dampening) g (b = g at first);  g = g + momentum b if nesterov,
--   else b, when there is momentum;  p = p - lr g
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local SGD = Optimizer.class("SGD", reader("SGD", "params", {"lr", 1e-3}, {"momentum", 0}, {"dampening", 0},
  {"weight_decay", 0}, {"nesterov", false}, {"maximize", false}))

local none, buffer = {}, {"momentum_buffer"}

function SGD:update(s, list)
  if s.nesterov and (s.momentum == 0 or s.dampening ~= 0) then
    core._fail("SGD: nesterov needs a momentum and no dampening")
  end
  Optimizer.fused(list, s.momentum ~= 0 and buffer or none, "_sgd_step", s.lr, s.momentum, s.dampening, s.weight_decay,
    list.step, s.nesterov, s.maximize)
end

return SGD
