-- LAMB(params, {lr, betas, eps, weight_decay, bias_correction, maximize}): You et al., "Large batch optimization for
-- deep learning: training BERT in 76 minutes", ICLR 2020, algorithm 2, with the identity for phi:
--   r = m_hat / (sqrt(v_hat) + eps) + weight_decay p;  p = p - lr (|p| / |r|) r
-- The ratio is 1 where one of the norms is 0.
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader
local shards = require "lunagrad.shards"

---@class lunagrad.optim
local optim = {}

---Adam's step, scaled for each parameter by the ratio of its norm to the step's (You et al. 2020), for large batches.
---Defaults: lr = 0.001, betas = {0.9, 0.999}, eps = 1e-6, weight_decay = 0.01, bias_correction = true,
---maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, betas?: number[], eps?: lunagrad.Setting, weight_decay?: lunagrad.Setting, bias_correction?: boolean, maximize?: boolean}): lunagrad.optim.Optimizer
optim.LAMB = Optimizer.class("LAMB", reader("LAMB", "params", {"lr", 1e-3}, {"betas", {0.9, 0.999}}, {"eps", 1e-6},
  {"weight_decay", 0.01}, {"bias_correction", true}, {"maximize", false}))

function optim.LAMB.further_states() return {"exp_avg", "exp_avg_sq"} end

function optim.LAMB:update(s, list)
  local _ <close> = core.no_grad()
  local beta1, beta2 = s.betas[1], s.betas[2]
  local rest1 = s.bias_correction and 1 - beta1 ^ list.step or 1
  local rest2 = s.bias_correction and 1 - beta2 ^ list.step or 1
  for i, p in ipairs(list.params) do
    if p:dtype():find "^c" then core._fail(("LAMB: %s parameters are not taken"):format(p:dtype())) end
    local state = list.states[i]
    local g = s.maximize and -p.grad or p.grad
    state.exp_avg = state.exp_avg or core.zeros_like(g)
    state.exp_avg_sq = state.exp_avg_sq or core.zeros_like(g)
    state.exp_avg:copy_(state.exp_avg * beta1 + g * (1 - beta1))
    state.exp_avg_sq:copy_(state.exp_avg_sq * beta2 + g * g * (1 - beta2))
    local r = state.exp_avg / rest1 / ((state.exp_avg_sq / rest2):sqrt() + s.eps)
    if s.weight_decay ~= 0 then r = r + p * s.weight_decay end
    local size, length = shards.sum_of_squares(p, p):sqrt(), shards.sum_of_squares(p, r):sqrt()
    local ratio = core.where(core.logical_and(size:gt(0), length:gt(0)), size / length, core.ones_like(size))
    p:copy_(p - r * (ratio * s.lr))
  end
end

return optim
