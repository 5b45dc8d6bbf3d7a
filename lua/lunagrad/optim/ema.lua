-- EMA(params, {decay = 0.999}), of a list of parameters or of a module: an exponential moving average of parameters, which often generalizes better than the
-- last values. Call ema:update() after each step of the optimizer:
--   average = decay average + (1 - decay) parameter
-- ema:copy_to() writes the averages into the parameters, ema:swap() exchanges averages and parameters, and
-- ema:average(fn) calls fn while the parameters hold the averages. The decay may be a function or a handle, which is called
-- at each update.
local arguments = require "lunagrad.arguments"
local closed = require "lunagrad.closed"
local core = require "lunagrad.core"
local follow = require "lunagrad.optim.follow"
local holders = require "lunagrad.optim.holders"
local live = require "lunagrad.live"
local shards = require "lunagrad.shards"
local trackers = require "lunagrad.trackers"
local tree = require "lunagrad.nn.tree"

local fail, reader = core._fail, arguments.reader
local read = reader("EMA", "params", {"decay", 0.999})

local EMA = {__name = "EMA"}
closed.guard(EMA)

local function tensors(list, what)
  if core.is_tensor(list) then list = {list} end
  if tree.is_module(list) then list = list:parameters() end
  if not arguments.is_plain(list) or #list == 0 then
    fail(("EMA: a list of %s expected, as model:parameters() gives"):format(what))
  end
  for i, tensor in ipairs(list) do
    if not core.is_tensor(tensor) then fail(("EMA: parameter %d is a %s, not a tensor"):format(i, type(tensor))) end
  end
  return list
end

local function new(_, ...)
  local a = read(...)
  local self = setmetatable({params = tensors(a.params, "parameters"), decay = a.decay, averages = {}, num_updates = 0},
    EMA)
  for i, parameter in ipairs(self.params) do self.averages[i] = parameter:detach():clone() end
  return holders.add(trackers.add(self))
end

function EMA:update()
  local decay = type(self.decay) == "number" and self.decay or self.decay()
  if not (decay >= 0 and decay <= 1) then fail(("EMA: decay must lie in [0, 1] (got %g)"):format(decay)) end
  follow.list(self.averages, self.params)
  core._ema_step(self.averages, self.params, decay)
  self.num_updates = self.num_updates + 1
end
EMA.update = live(EMA.update)

-- Writes the averages into the parameters, or into other tensors of the same shapes.
function EMA:copy_to(parameters)
  local targets = parameters and tensors(parameters, "parameters") or self.params
  if #targets ~= #self.averages then
    fail(("EMA: %d parameters where %d are averaged"):format(#targets, #self.averages))
  end
  local _ <close> = core.no_grad()
  for i, average in ipairs(self.averages) do targets[i]:copy_(average) end
end

function EMA:swap()
  local _ <close> = core.no_grad()
  follow.list(self.averages, self.params)
  for i, average in ipairs(self.averages) do
    local held = average:clone()
    average:copy_(self.params[i])
    self.params[i]:copy_(held)
  end
end

function EMA:average(fn)
  self:swap()
  local results = table.pack(pcall(fn))
  self:swap()
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

function EMA:state_dict()
  local averages = {}
  for i, average in ipairs(self.averages) do averages[i] = shards.state(self.params[i], average) end
  return {decay = type(self.decay) == "number" and self.decay or self.decay(), num_updates = self.num_updates,
    shadow_params = averages}
end

local keys = {decay = true, num_updates = true, shadow_params = true}

local function check_state(saved)
  if not arguments.is_plain(saved) then
    fail(("load_state_dict: the state of EMA expected, as ema:state_dict() gives (got %s)"):format(type(saved)))
  end
  local strict, report = require "lunagrad.optim.strict", {}
  strict.keys(saved, keys, keys, {}, report, "")
  for name, kind in pairs {decay = "number", num_updates = "number", shadow_params = "table"} do
    if saved[name] ~= nil and type(saved[name]) ~= kind then
      report[#report + 1] = ("'%s' is a %s, not a %s"):format(name, type(saved[name]), kind)
    end
  end
  strict.refuse("EMA", report)
end

-- Loads a state dict. A decay that is a function or a handle is kept. On an error nothing is loaded.
function EMA:load_state_dict(saved)
  check_state(saved)
  local averages = {}
  for i, average in ipairs(saved.shadow_params) do averages[i] = shards.fit(average, self.params[i]) end
  if #averages ~= #self.averages then
    fail(("load_state_dict: %d averages in the state, %d parameters in EMA"):format(#averages, #self.averages))
  end
  for i, average in ipairs(self.averages) do
    local wanted, found = table.concat(average:size(), ", "), table.concat(averages[i]:size(), ", ")
    if wanted ~= found then
      fail(("load_state_dict: average %d has shape [%s], the parameter [%s]"):format(i, found, wanted))
    end
  end
  for i, average in ipairs(self.averages) do average:copy_(averages[i]) end
  if type(self.decay) == "number" then self.decay = saved.decay end
  self.num_updates = saved.num_updates
end

function EMA:_in_use() return self.num_updates > 0 end

function EMA:__tostring()
  return ("EMA(%d parameters, decay = %g)"):format(#self.params, type(self.decay) == "number" and self.decay or self.decay())
end

return {EMA = setmetatable(EMA, {__call = new})}
