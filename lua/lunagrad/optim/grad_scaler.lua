-- GradScaler{init_scale, growth_factor, backoff_factor, growth_interval, enabled}: keeps small gradients from
-- underflowing in f16. The loss is multiplied by a scale before backward, and the gradients are divided by it before
-- the optimizer's step. A step whose gradients hold NaN or Inf is skipped and lowers the scale; growth_interval finite
-- steps in a row raise it. As in PyTorch:
--
--   scaler:scale(loss):backward();  scaler:step(optimizer);  scaler:update()
--
-- Call unscale_(optimizer) between backward and step to clip gradients at their true size.
local core = require "lunagrad.core"
local reader = require("lunagrad.arguments").reader
local shards = require "lunagrad.shards"
local trackers = require "lunagrad.trackers"

local fail = core._fail

local GradScaler = {__name = "GradScaler"}
GradScaler.__index = GradScaler

local read = reader("GradScaler", {"init_scale", 65536.0}, {"growth_factor", 2.0}, {"backoff_factor", 0.5},
  {"growth_interval", 2000}, {"enabled", true})

local function new(_, ...)
  local given = read(...)
  if not (given.growth_factor > 1) then fail("GradScaler: growth_factor must be above 1") end
  if not (given.backoff_factor < 1) then fail("GradScaler: backoff_factor must be below 1") end
  return trackers.add(setmetatable({
    first = given.init_scale,
    current = given.init_scale,
    growth_factor = given.growth_factor,
    backoff_factor = given.backoff_factor,
    growth_interval = given.growth_interval,
    enabled = given.enabled,
    good_steps = 0,
    optimizers = {},  -- since the last update: optimizer -> {finite =, stepped =}
  }, GradScaler))
end

-- Multiplies a tensor, or each of a list, by the scale.
function GradScaler:scale(outputs)
  if not self.enabled then return outputs end
  core._refuse_capture("its loss is scaled by a GradScaler, whose scale changes")
  if core.is_tensor(outputs) then return outputs * self.current end
  local scaled = {}
  for i, output in ipairs(outputs) do scaled[i] = self:scale(output) end
  return scaled
end

local function gradients(optimizer)
  local list = {}
  for _, group in ipairs(optimizer.param_groups) do
    for _, parameter in ipairs(group.params) do
      local gradient = parameter.grad
      if gradient then
        if gradient:dtype() == "f16" then fail("unscale_: the gradients of f16 parameters cannot be unscaled; keep them in f32") end
        list[#list + 1] = gradient
      end
    end
  end
  return list
end

-- Whether all gradients are finite. If the parameters are shards, the gradients of every rank count.
local function all_finite(optimizer, finite)
  local parameters = {}
  for _, group in ipairs(optimizer.param_groups) do table.move(group.params, 1, #group.params, #parameters + 1, parameters) end
  return shards.all_agree(parameters, finite)
end

-- Divides the gradients of the optimizer's parameters by the scale and records whether all are finite, with a single wait
-- for the device.
function GradScaler:unscale_(optimizer)
  if not self.enabled then return end
  local state = self.optimizers[optimizer]
  if state and state.stepped then fail("unscale_: step() of this optimizer has been called since the last update()") end
  if state then fail("unscale_: it has been called for this optimizer since the last update()") end
  local finite = all_finite(optimizer, core._unscale(gradients(optimizer), 1 / self.current))
  self.optimizers[optimizer] = {finite = finite, stepped = false}
end

-- Takes the optimizer's step unless its gradients hold NaN or Inf. Returns whether the step was taken.
function GradScaler:step(optimizer)
  if not self.enabled then
    optimizer:step()
    return true
  end
  if not self.optimizers[optimizer] then self:unscale_(optimizer) end
  local state = self.optimizers[optimizer]
  if state.stepped then fail("step: it has been called for this optimizer since the last update()") end
  state.stepped = true
  if state.finite then
    optimizer:step()
  elseif core.run then
    core.run._scale_overflowed()
    core.run._count_step()
  end
  return state.finite
end

-- Updates the scale from the steps since the last update, or sets it to a given value.
function GradScaler:update(new_scale)
  if not self.enabled then return end
  if new_scale then
    self.current = core.is_tensor(new_scale) and new_scale:item() or new_scale
  else
    if next(self.optimizers) == nil then fail("update: no step() or unscale_() came before it") end
    local finite = true
    for _, state in pairs(self.optimizers) do finite = finite and state.finite end
    if not finite then
      self.current, self.good_steps = self.current * self.backoff_factor, 0
    elseif self.good_steps + 1 == self.growth_interval then
      self.current, self.good_steps = self.current * self.growth_factor, 0
    else
      self.good_steps = self.good_steps + 1
    end
  end
  self.optimizers = {}
end

function GradScaler:get_scale() return self.enabled and self.current or 1.0 end
function GradScaler:is_enabled() return self.enabled end

-- PyTorch's keys. The table is empty when the scaler is disabled.
function GradScaler:state_dict()
  if not self.enabled then return {} end
  return {
    scale = self.current,
    growth_factor = self.growth_factor,
    backoff_factor = self.backoff_factor,
    growth_interval = self.growth_interval,
    _growth_tracker = self.good_steps,
  }
end

local keys = {scale = true, growth_factor = true, backoff_factor = true, growth_interval = true, _growth_tracker = true}

-- On an error nothing is loaded.
function GradScaler:load_state_dict(state)
  if not self.enabled then return end
  if type(state) ~= "table" then
    fail(("load_state_dict: the state of GradScaler expected, as scaler:state_dict() gives (got %s)"):format(type(state)))
  elseif next(state) == nil then
    fail("load_state_dict: the state is empty, as a GradScaler gives that is not enabled")
  end
  local strict, report = require "lunagrad.optim.strict", {}
  strict.keys(state, keys, keys, {}, report, "")
  for _, name in ipairs(strict.sorted(keys)) do
    if state[name] ~= nil and type(state[name]) ~= "number" then
      report[#report + 1] = ("'%s' is a %s, not a number"):format(name, type(state[name]))
    end
  end
  strict.refuse("GradScaler", report)
  self.current, self.good_steps = state.scale, state._growth_tracker
  self.growth_factor, self.backoff_factor = state.growth_factor, state.backoff_factor
  self.growth_interval = state.growth_interval
end

function GradScaler:_in_use() return self.enabled and (self.good_steps > 0 or self.current ~= self.first) end

function GradScaler:__tostring()
  return ("GradScaler(scale = %g, good steps = %d of %d)"):format(self.current, self.good_steps, self.growth_interval)
end

return setmetatable(GradScaler, {__call = new})
