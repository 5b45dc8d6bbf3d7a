-- ReduceLROnPlateau(optimizer, {mode, factor, patience, threshold, threshold_mode, cooldown, min_lr, eps}): multiplies
-- the rate by `factor` when the metric given to step(metric) has not improved for more than `patience` steps.
local core = require "lunagrad.core"
local live = require "lunagrad.live"
local Schedule = require "lunagrad.optim.schedule"
local reader = require("lunagrad.arguments").reader

local fail = core._fail

local Plateau = Schedule.class("ReduceLROnPlateau", reader("ReduceLROnPlateau", "optimizer", {"mode", "min"},
  {"factor", 0.1}, {"patience", 10}, {"threshold", 1e-4}, {"threshold_mode", "rel"}, {"cooldown", 0}, {"min_lr", 0},
  {"eps", 1e-8}))
Plateau._takes_metric = true

local function need_one_of(self, name, first, second)
  if self[name] ~= first and self[name] ~= second then
    fail(("ReduceLROnPlateau: %s must be '%s' or '%s' (got '%s')"):format(name, first, second, tostring(self[name])))
  end
end

function Plateau:begin()
  if not (self.factor < 1) then fail(("ReduceLROnPlateau: factor must be below 1 (got %g)"):format(self.factor)) end
  need_one_of(self, "mode", "min", "max")
  need_one_of(self, "threshold_mode", "rel", "abs")
  local groups = #self.optimizer.param_groups
  if type(self.min_lr) == "table" then
    if #self.min_lr ~= groups then
      fail(("ReduceLROnPlateau: %d groups of parameters need as many min_lr (got %d)"):format(groups, #self.min_lr))
    end
    self.min_lrs = self.min_lr
  else
    self.min_lrs = {}
    for i = 1, groups do self.min_lrs[i] = self.min_lr end
  end
  self.min_lr = nil
  self.best = self.mode == "min" and math.huge or -math.huge
  self.num_bad_epochs, self.cooldown_counter = 0, 0
end

function Plateau:_first_step()
  self.last_epoch = 0
  self:_note()
end

-- A relative threshold is a share of the best value's magnitude, so that it also works for negative values: in mode
-- "min", -1 improves on -0.95, but not on -1.
local function is_better(self, value)
  local sign = self.mode == "min" and -1 or 1
  local best, share = self.best, sign * self.threshold
  local limit = self.threshold_mode == "abs" and best + share or best * (best < 0 and 1 - share or 1 + share)
  if sign < 0 then return value < limit end
  return value > limit
end

local function reduce(self)
  for i, group in ipairs(self.optimizer.param_groups) do
    local old = Schedule.rate(group)
    local new = math.max(old * self.factor, self.min_lrs[i])
    if old - new > self.eps then Schedule.set_rate(group, new) end
  end
end

function Plateau:step(metric, epoch)
  if core.is_tensor(metric) then metric = metric:item() end
  if type(metric) ~= "number" then
    fail(("ReduceLROnPlateau: step(metric) needs a number (got %s)"):format(type(metric)))
  end
  self.last_epoch = epoch or self.last_epoch + 1
  if is_better(self, metric) then
    self.best, self.num_bad_epochs = metric, 0
  else
    self.num_bad_epochs = self.num_bad_epochs + 1
  end
  if self.cooldown_counter > 0 then self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0 end
  if self.num_bad_epochs > self.patience then
    reduce(self)
    self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
  end
  self:_note()
end
Plateau.step = live(Plateau.step)

return Plateau
