-- Lion(params, {lr, betas, weight_decay, maximize}): Chen et al., "Symbolic discovery of optimization algorithms",
-- NeurIPS 2023:
--   p = p - lr weight_decay p - lr sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local Lion = Optimizer.class("Lion", reader("Lion", "params", {"lr", 1e-4}, {"betas", {0.9, 0.99}},
  {"weight_decay", 0}, {"maximize", false}))

local moments = {"exp_avg"}

function Lion:update(s, list)
  Optimizer.fused(list, moments, "_lion_step", s.lr, s.betas[1], s.betas[2], -s.lr * s.weight_decay,
    s.maximize and -1 or 1)
end

return Lion
