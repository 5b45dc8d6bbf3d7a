-- Adamax(params, {lr, betas, eps, weight_decay, maximize}): Adam with the largest gradient, decayed, in place of the
-- root of the mean square (Kingma, Ba, ICLR 2015, section 7).
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

local Adamax = Optimizer.class("Adamax", reader("Adamax", "params", {"lr", 2e-3}, {"betas", {0.9, 0.999}},
  {"eps", 1e-8}, {"weight_decay", 0}, {"maximize", false}))

local moments = {"exp_avg", "exp_inf"}

function Adamax:update(s, list)
  Optimizer.fused(list, moments, "_adamax_step", s.betas[1], s.betas[2], s.eps, s.weight_decay,
    s.lr / (1 - s.betas[1] ^ list.step), s.maximize and -1 or 1)
end

return Adamax
