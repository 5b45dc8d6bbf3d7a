-- Rprop(params, {lr, etas, step_sizes, maximize}): Riedmiller, Braun, "A direct adaptive method for faster
-- backpropagation learning: the RPROP algorithm", ICNN 1993.
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader

---@class lunagrad.optim
local optim = {}

---Resilient backpropagation, for gradients of a whole data set: only their signs count. Each element has a step size of its
---own, `lr` at first. It is multiplied by etas[2] while the gradient keeps its sign and by etas[1] when the sign changes,
---and stays between step_sizes[1] and step_sizes[2]. The defaults are etas = {0.5, 1.2} and step_sizes = {1e-6, 50}.
---Defaults: lr = 0.01, etas = {0.5, 1.2}, step_sizes = {1e-6, 50}, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, etas?: number[], step_sizes?: number[], maximize?: boolean}): lunagrad.optim.Optimizer
optim.Rprop = Optimizer.class("Rprop", reader("Rprop", "params", {"lr", 1e-2}, {"etas", {0.5, 1.2}},
  {"step_sizes", {1e-6, 50}}, {"maximize", false}))

function optim.Rprop:update(s, list)
  s.eta_minus, s.eta_plus = s.etas[1], s.etas[2]
  s.min_step, s.max_step = s.step_sizes[1], s.step_sizes[2]
  if not (s.eta_minus and s.eta_plus and 0 < s.eta_minus and s.eta_minus < 1 and 1 < s.eta_plus) then
    core._fail("Rprop: etas is a list of two, the first in (0, 1), the second above 1")
  elseif not (s.min_step and s.max_step) then
    core._fail("Rprop: step_sizes is a list of two, as {1e-6, 50}")
  end
  Optimizer.fused(list, "rprop", s, {step_size = s.lr})
end

return optim
