-- RMSprop(params, {lr, alpha, eps, weight_decay, momentum, centered, maximize}): Tieleman, Hinton, lecture 6.5 of
-- "Neural networks for machine learning", 2012; centred as in Graves, "Generating sequences with recurrent neural
-- networks", 2013.
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local RMSprop = Optimizer.class("RMSprop", reader("RMSprop", "params", {"lr", 1e-2}, {"alpha", 0.99}, {"eps", 1e-8},
  {"weight_decay", 0}, {"momentum", 0}, {"centered", false}, {"maximize", false}))

-- By momentum, then by whether it is centred.
local plain, centered = {"square_avg"}, {"square_avg", "grad_avg"}
local momentum, both = {"square_avg", "momentum_buffer"}, {"square_avg", "momentum_buffer", "grad_avg"}

function RMSprop:update(s, list)
  local states = s.momentum ~= 0 and (s.centered and both or momentum) or (s.centered and centered or plain)
  Optimizer.fused(list, states, "_rmsprop_step", s.lr, s.alpha, s.eps, s.weight_decay, s.maximize and -1 or 1,
    s.momentum, s.centered)
end

return RMSprop
