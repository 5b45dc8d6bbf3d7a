-- lg.optim.swa_utils: averages of a model's weights along training. Izmailov et al., "Averaging weights leads to wider optima
-- and better generalization", UAI 2018.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local class = require("lunagrad.nn.class").of_library
local copy = require "lunagrad.nn.copy"
local forget_statistics = require "lunagrad.nn.running_stats"
local holders = require "lunagrad.optim.holders"
local live = require "lunagrad.live"
local Schedule = require "lunagrad.optim.schedule"
local trackers = require "lunagrad.trackers"
local tree = require "lunagrad.nn.tree"

local fail, reader = core._fail, arguments.reader
local swa = {}

-- avg_fn(average, value, count) returns the next average of a tensor after `count` values. This one computes the mean
-- of all values:
function swa.get_swa_avg_fn()
  return function(average, value, count) return average + (value - average) / (count + 1) end
end

-- decay average + (1 - decay) value.
function swa.get_ema_avg_fn(decay)
  decay = decay or 0.999
  if type(decay) ~= "number" or not (decay >= 0 and decay <= 1) then
    fail(("get_ema_avg_fn: decay must lie in [0, 1] (got %s)"):format(tostring(decay)))
  end
  return function(average, value) return average * decay + value * (1 - decay) end
end

-- AveragedModel(model, {device, avg_fn, use_buffers}): a copy of the model with averaged weights.
-- update_parameters(model) adds the model's current weights; the first call copies them. Buffers are averaged with
-- use_buffers, otherwise copied.
local Averaged = class "AveragedModel"
local read = reader("AveragedModel", "model", {"device"}, {"avg_fn"}, {"multi_avg_fn"}, {"use_buffers", false})

function Averaged:init(...)
  local a = read(...)
  if not tree.is_module(a.model) then fail(("AveragedModel: a module expected (got %s)"):format(type(a.model))) end
  if a.multi_avg_fn ~= nil then fail("AveragedModel: write avg_fn, a function of one tensor; multi_avg_fn is not taken") end
  if a.avg_fn ~= nil and type(a.avg_fn) ~= "function" then
    fail(("AveragedModel: avg_fn is a function (got %s)"):format(type(a.avg_fn)))
  end
  self.module = copy(a.model)
  holders.add_copy(self.module, a.model)
  if a.device then self.module:to(a.device) end
  self.use_buffers, self.avg_fn = a.use_buffers, a.avg_fn or swa.get_swa_avg_fn()
  self:register_buffer("n_averaged", core.zeros({}, {dtype = "i64", device = "cpu"}))
  trackers.add(self)
end

function Averaged:_in_use() return self.n_averaged:item() > 0 end

function Averaged:forward(...) return self.module(...) end

local function average(self, mine, theirs, count)
  if #mine ~= #theirs then fail(("AveragedModel: %d tensors where %d are averaged"):format(#theirs, #mine)) end
  for i, tensor in ipairs(mine) do
    local value = theirs[i]:detach():to(tensor:device())
    if count == 0 or not tensor:dtype():find "^[bfc]%a*%d" then
      tensor:copy_(value)
    else
      tensor:copy_(self.avg_fn(tensor:detach(), value:to(tensor:dtype()), count))
    end
  end
end

function Averaged:update_parameters(model)
  if not tree.is_module(model) then fail(("update_parameters: a module expected (got %s)"):format(type(model))) end
  local _ <close> = core.no_grad()
  local count = self.n_averaged:item()
  average(self, self.module:parameters(), model:parameters(), count)
  average(self, self.module:buffers(), model:buffers(), self.use_buffers and count or 0)
  self.n_averaged:add_(1)
end
Averaged.update_parameters = live(Averaged.update_parameters)

swa.AveragedModel = Averaged

-- SWALR(optimizer, swa_lr, {anneal_epochs, anneal_strategy}): from the current rate to swa_lr, then constant.
local SWALR = Schedule.class("SWALR", reader("SWALR", "optimizer", "swa_lr", {"anneal_epochs", 10},
  {"anneal_strategy", "cos"}, {"last_epoch", -1}))
swa.SWALR = SWALR

function SWALR:begin()
  if self.anneal_strategy ~= "cos" and self.anneal_strategy ~= "linear" then
    fail(("SWALR: anneal_strategy is 'cos' or 'linear' (got '%s')"):format(tostring(self.anneal_strategy)))
  elseif math.type(self.anneal_epochs) ~= "integer" or self.anneal_epochs < 0 then
    fail(("SWALR: anneal_epochs must be an integer of 0 or more (got %s)"):format(tostring(self.anneal_epochs)))
  end
  local groups = #self.optimizer.param_groups
  if type(self.swa_lr) == "table" and #self.swa_lr ~= groups then
    fail(("SWALR: %d groups of parameters need as many rates (got %d)"):format(groups, #self.swa_lr))
  end
end

local function share(self, step)
  local t = math.max(0, math.min(1, step / math.max(1, self.anneal_epochs)))
  return self.anneal_strategy == "linear" and t or (1 - math.cos(math.pi * t)) / 2
end

-- The rate is a mix of the first rate, which is computed back from the current rate, and swa_lr.
function SWALR:chained(group, _, i)
  local wanted = type(self.swa_lr) == "table" and self.swa_lr[i] or self.swa_lr
  local step = self._step_count - 1
  if self.anneal_epochs == 0 then step = math.max(1, step) end
  local before, now = share(self, step - 1), share(self, step)
  local first = before == 1 and wanted or (Schedule.rate(group) - before * wanted) / (1 - before)
  return wanted * now + first * (1 - now)
end

-- Recomputes the running statistics of all batch norms of a model with one pass over the batches of a loader or a list.
-- The first value of a batch is the model's input.
function swa.update_bn(loader, model, device)
  local norms = {}
  for _, module in ipairs(model:modules()) do
    if forget_statistics(module) then
      norms[#norms + 1] = {module = module, momentum = module.momentum}
      module.momentum = false  -- the mean over all batches
    end
  end
  if #norms == 0 then return end
  local mode = model.training
  model:train()
  local ok, message = pcall(function()
    local _ <close> = core.no_grad()
    local function see(x)
      if type(x) == "table" then x = x[1] or x.input or x.x end
      model(device and x:to(device) or x)
    end
    if arguments.is_plain(loader) then
      for _, batch in ipairs(loader) do see(batch) end
    else
      for x in loader do see(x) end
    end
  end)
  model:train(mode)
  for _, entry in ipairs(norms) do entry.module.momentum = entry.momentum end
  if not ok then error(message, 0) end
end

return swa
