-- Adafactor(params, {lr, beta2_decay, eps, d, weight_decay, maximize}): Shazeer, Stern, "Adafactor: adaptive learning
-- rates with sublinear memory cost", ICML 2018, with PyTorch's options and state. For a parameter of two or more dims,
-- only the row means and column means of g^2 are kept. With rho = min(lr, 1 / sqrt(t)) and b = t^beta2_decay:
--   V = V + b (g^2 - V), or row column / mean(row);  u = g / sqrt(V)
--   p = p - max(eps[2], rms(p)) rho u / max(1, rms(u) / d)
local core = require "lunagrad.core"
local Optimizer = require "lunagrad.optim.optimizer"
local reader = require("lunagrad.arguments").reader
local shards = require "lunagrad.shards"

---@class lunagrad.optim
local optim = {}

---Adafactor (Shazeer and Stern 2018): averages of the squares for rows and columns alone. `eps` is {least variance, least size of
---a parameter}; false in place of the first takes the type's own.
---Defaults: lr = 0.01, beta2_decay = -0.8, eps = {false, 0.001}, d = 1, weight_decay = 0, maximize = false.
---@type fun(params: lunagrad.Parameters, options?: {lr?: lunagrad.Setting, beta2_decay?: number, eps?: table, d?: number, weight_decay?: lunagrad.Setting, maximize?: boolean}): lunagrad.optim.Optimizer
optim.Adafactor = Optimizer.class("Adafactor", reader("Adafactor", "params", {"lr", 1e-2}, {"beta2_decay", -0.8},
  {"eps", {false, 1e-3}}, {"d", 1.0}, {"weight_decay", 0}, {"maximize", false}))

-- The default of eps[1]: the type's distance from 1 to the next number.
local epsilon = {f16 = 2 ^ -10, bf16 = 2 ^ -7, f32 = 2 ^ -23, f64 = 2 ^ -52}

local function rms(x) return (x * x):mean():sqrt() end

-- average = average + share (value - average), in place.
local function lerp_(state, name, value, share)
  state[name] = state[name] or core.zeros_like(value)
  state[name]:copy_(state[name] + (value - state[name]) * share)
  return state[name]
end

local function variance(state, g, share, least)
  if g:dim() < 2 then return lerp_(state, "variance", g * g, share) end
  local row = lerp_(state, "row_var", (g * g):mean(-1, true), share)
  local column = lerp_(state, "col_var", (g * g):mean(-2, true), share)
  return row:matmul(column) / row:mean(-2, true):clamp(least)
end

-- The averages of rows and columns have shapes of their own, which load_state_dict does not compare.
optim.Adafactor.own_shapes = {row_var = true, col_var = true}
function optim.Adafactor.further_states(parameter)
  return parameter:dim() < 2 and {"variance"} or {"row_var", "col_var"}
end

function optim.Adafactor:update(s, list)
  if type(s.eps) ~= "table" or type(s.eps[2]) ~= "number" then
    core._fail("Adafactor: eps is a list of two, as {1e-30, 1e-3}; the first may be false for the type's own")
  elseif not (s.beta2_decay <= 0) then
    core._fail(("Adafactor: beta2_decay must not be positive (got %g)"):format(s.beta2_decay))
  elseif not (s.d > 0) then
    core._fail(("Adafactor: d must be positive (got %g)"):format(s.d))
  end
  local _ <close> = core.no_grad()
  local share, rho = list.step ^ s.beta2_decay, math.min(s.lr, 1 / math.sqrt(list.step))
  for i, p in ipairs(list.params) do
    shards.refuse("Adafactor", p)
    local g = s.maximize and -p.grad or p.grad
    local least = s.eps[1] or epsilon[p:dtype()]
    if not least then core._fail(("Adafactor: %s parameters are not taken"):format(p:dtype())) end
    local size = rms(p):clamp(s.eps[2])
    local kept = s.weight_decay ~= 0 and p * (1 - s.lr * s.weight_decay) or p
    local u = variance(list.states[i], g, share, least):clamp(least * least):rsqrt() * g
    p:copy_(kept - u * (size * rho / (rms(u) / s.d):clamp(1)))
  end
end

return optim
