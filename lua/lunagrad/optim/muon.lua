-- Muon(params, {lr, weight_decay, momentum, nesterov, ns_coefficients, eps, ns_steps, adjust_lr_fn}): Jordan et al.,
-- "Muon: an optimizer for hidden layers in neural networks", 2024, with PyTorch's options. For weights of two dims: the
-- momentum of the gradient is replaced by the nearest matrix with orthonormal rows or columns, found by the
-- Newton-Schulz iteration
--   X = a X + (b A + c A A) X with A = X X^T, from X / |X|
-- and p = p - lr weight_decay p - adjusted lr X. Everything is computed in the parameter's type (PyTorch iterates in
-- bf16).
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader
local shards = require "lunagrad.shards"

---@class lunagrad.optim
local optim = {}

---Momentum whose matrix is made orthonormal by a Newton-Schulz iteration (Jordan et al. 2024), for weights of two dims; the other
---parameters go to AdamW.
---Defaults: lr = 0.001, weight_decay = 0.1, momentum = 0.95, nesterov = true,
---ns_coefficients = {3.4445, -4.775, 2.0315}, eps = 1e-7, ns_steps = 5, adjust_lr_fn = "original".
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, weight_decay?: lunagrad.Setting, momentum?: lunagrad.Setting, nesterov?: boolean, ns_coefficients?: number[], eps?: lunagrad.Setting, ns_steps?: integer, adjust_lr_fn?: "original"|"match_rms_adamw"}): lunagrad.optim.Optimizer
optim.Muon = Optimizer.class("Muon", reader("Muon", "params", {"lr", 1e-3}, {"weight_decay", 0.1}, {"momentum", 0.95},
  {"nesterov", true}, {"ns_coefficients", {3.4445, -4.775, 2.0315}}, {"eps", 1e-7}, {"ns_steps", 5},
  {"adjust_lr_fn", "original"}))
optim.Muon.texts = {adjust_lr_fn = true}
function optim.Muon.further_states() return {"momentum_buffer"} end

local function orthogonal(update, s)
  local a, b, c = table.unpack(s.ns_coefficients, 1, 3)
  local tall = update:size(1) > update:size(2)
  local x = tall and update:t() or update
  x = x / x:norm():clamp(s.eps)
  for _ = 1, s.ns_steps do
    local gram = x:matmul(x:t())
    x = x * a + (gram * b + gram:matmul(gram) * c):matmul(x)
  end
  return tall and x:t() or x
end

-- The rate for a weight [rows, columns].
local function adjusted(s, rows, columns)
  if s.adjust_lr_fn == "original" then return s.lr * math.sqrt(math.max(1, rows / columns)) end
  if s.adjust_lr_fn == "match_rms_adamw" then return s.lr * 0.2 * math.sqrt(math.max(rows, columns)) end
  core._fail(("Muon: adjust_lr_fn is 'original' or 'match_rms_adamw' (got '%s')"):format(tostring(s.adjust_lr_fn)))
end

local function check(s)
  if #s.ns_coefficients ~= 3 then core._fail("Muon: ns_coefficients is a list of three, as {3.4445, -4.775, 2.0315}") end
  if math.type(s.ns_steps) ~= "integer" or s.ns_steps < 1 or s.ns_steps > 99 then
    core._fail(("Muon: ns_steps must be an integer from 1 to 99 (got %s)"):format(tostring(s.ns_steps)))
  end
end

function optim.Muon:update(s, list)
  check(s)
  local _ <close> = core.no_grad()
  for i, p in ipairs(list.params) do
    if p:dtype():find "^c" then core._fail(("Muon: %s parameters are not taken"):format(p:dtype())) end
    if p:dim() ~= 2 then
      core._fail(("Muon: weights of two dims expected (got shape [%s]); give biases, norms and embeddings to AdamW")
        :format(table.concat(p:size(), ", ")))
    end
    local state, g = list.states[i], p.grad
    state.momentum_buffer = state.momentum_buffer or core.zeros_like(g)
    local buffer = state.momentum_buffer
    buffer:copy_(buffer * s.momentum + g * (1 - s.momentum))
    local update = s.nesterov and g * (1 - s.momentum) + buffer * s.momentum or buffer
    update = shards.whole_for(p, update)  -- every rank orthonormalizes the whole matrix and takes its own rows
    local rate = adjusted(s, update:size(1), update:size(2))
    p:copy_(p * (1 - s.lr * s.weight_decay) - shards.rows_for(p, orthogonal(update, s)) * rate)
  end
end

return optim
