-- Reads the state dict of an optimizer. Every key must be known and belong to a parameter or a group, no key may be
-- missing, and the tensors must have the shapes of their parameters.
local core = require "lunagrad.core"
local follow = require "lunagrad.optim.follow"
local shards = require "lunagrad.shards"
local strict = require "lunagrad.optim.strict"
local place_of = require("lunagrad.nn.tree").place_of

local fail, is_tensor = core._fail, core.is_tensor
local states = {}

-- Settings that PyTorch added later: states of earlier versions lack them.
local later = {maximize = true, decoupled_weight_decay = true}

-- Values that PyTorch's optimizers also store for a parameter. They follow from the step number, so they are not read.
local further = {eta = true, mu = true}

-- Whether a group was saved by PyTorch: only PyTorch's groups have implementation options.
local function is_of_pytorch(groups, options)
  for _, group in ipairs(groups) do
    for name in pairs(options) do
      if group[name] ~= nil then return true end
    end
  end
  return false
end

local function sizes(x) return table.concat(x:size(), ", ") end

-- The name of a parameter in a report: its number, and its own name where one is known.
local function name_of(number, parameter, given)
  local name = given or place_of(parameter)
  return name and ("parameter %s (%s): "):format(number, name) or ("parameter %s: "):format(number)
end

local function check_group(self, group, of_pytorch, options, extras, report, where)
  local needed, known = {params = true}, {}
  for name in pairs(extras) do known[name] = true end
  for name, value in pairs(self.defaults) do
    known[name] = true
    needed[name] = not (of_pytorch and later[name]) or nil
    local found = group[name]
    local kind = type(value)
    if found ~= nil and (kind == "number" or kind == "boolean" or kind == "string") and type(found) ~= kind then
      report[#report + 1] = ("%s'%s' is a %s, not a %s"):format(where, name, type(found), kind)
    end
  end
  strict.keys(group, needed, known, of_pytorch and options or {}, report, where)
  if #report == 0 then self._check_settings(self, group) end
end

-- Returns the names that a parameter's state must have and the names that it may have, as sets; nil if the class does
-- not declare them.
local function names_for(self, settings, parameter)
  if not self.rule and not self.further_states then return nil end
  local needed, known = {step = true}, {step = true}
  if self.rule then
    local list, all = core._rule_states(self.rule, settings)
    for _, name in ipairs(list) do needed[name] = true end
    for _, name in ipairs(all) do known[name] = true end
  end
  for _, name in ipairs(self.further_states and self.further_states(parameter) or {}) do needed[name], known[name] = true, true end
  return needed, known
end

local function check_shapes(self, state, parameter, where, report)
  for _, name in ipairs(strict.sorted(state)) do
    local value = state[name]
    if is_tensor(value) and value:dim() > 0 and not self.own_shapes[name] and sizes(value) ~= sizes(parameter) then
      report[#report + 1] = ("%s%s has shape [%s], the parameter [%s]"):format(where, name, sizes(value), sizes(parameter))
    end
  end
end

local function number_of(value) return is_tensor(value) and value:numel() == 1 and value:item() or value end

-- A copy of one parameter's state, on the parameter's device and in its type.
local function read_state(state, parameter)
  local copy = {}
  for name, value in pairs(state) do
    if name == "step" then
      copy.step = math.tointeger(number_of(value))
    elseif name == "mu_product" then
      copy[name] = number_of(value)
    elseif not further[name] then
      copy[name] = follow.copy(value, parameter)
    end
  end
  return copy
end

-- Returns parameter -> state, from a state dict for `self`. `options` are the names of PyTorch's implementation
-- options, `extras` the fields of a group besides its settings. Error if anything does not fit.
function states.read(self, saved, options, extras)
  if #saved.param_groups ~= #self.param_groups then
    fail(("load_state_dict: %d groups of parameters in %s, %d in the state"):format(
      #self.param_groups, self.__name, #saved.param_groups))
  end
  local of_pytorch = is_of_pytorch(saved.param_groups, options)
  local places, report = {}, {}
  for g, group in ipairs(self.param_groups) do
    local given = saved.param_groups[g]
    local numbers = given.params
    check_group(self, given, of_pytorch, options, extras, report, ("group %d: "):format(g))
    if type(numbers) == "table" and #numbers ~= #group.params then
      fail(("load_state_dict: group %d has %d parameters in %s, %d in the state"):format(
        g, #group.params, self.__name, #numbers))
    end
    for i, parameter in ipairs(type(numbers) == "table" and group.params or {}) do
      places[numbers[i]] = {parameter = parameter, settings = given, name = group.param_names and group.param_names[i]}
    end
  end
  strict.refuse(self.__name, report)
  local loaded = {}
  for _, number in ipairs(strict.sorted(saved.state)) do
    local place, state = places[number], {}
    if not place then fail(("load_state_dict: no parameter has the number %s"):format(number)) end
    local parameter = place.parameter
    local where = name_of(number, parameter, place.name)
    for name, value in pairs(saved.state[number]) do state[name] = shards.fit(value, parameter) end
    -- PyTorch's SGD counts no steps.
    if of_pytorch and self.rule == "sgd" then state.step = state.step or 1 end
    local needed, known = names_for(self, place.settings, parameter)
    if needed then strict.keys(state, needed, known, of_pytorch and further or {}, report, where) end
    if not self.free_state then check_shapes(self, state, parameter, where, report) end
    if state.step ~= nil and not math.tointeger(number_of(state.step)) then
      report[#report + 1] = ("%s'step' is no integer"):format(where)
    end
    loaded[parameter] = state
  end
  strict.refuse(self.__name, report)
  for parameter, state in pairs(loaded) do loaded[parameter] = read_state(state, parameter) end
  return loaded
end

return states
