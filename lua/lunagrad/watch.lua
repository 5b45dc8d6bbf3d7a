-- lg.run.watch(model, {every = 100, histograms = true, activations = true, name = ""}): every n-th step, starting with
-- the first, records the norm of each parameter and of its gradient before the optimizer's step, the size of the update, the
-- output of each layer, and the ReLU units whose output is always 0. It writes a line {"watch": …} to metrics.jsonl, and
-- histograms. It warns of dead units and exploding norms. Without a run folder it does nothing.
local core = require "lunagrad.core"
local holds_options = require("lunagrad.arguments").holds_options

local run, fail = core.run, core._fail

local patience = 10       -- consecutive watched steps with output 0 after which a unit is dead
local many_dead = 0.5     -- fraction of dead units in a layer that causes a warning
local explosion = 1000    -- ratio to the usual norm that causes a warning
local known_enough = 5    -- number of norms needed for a usual norm

local watches = {}  -- in order of creation
local steps = {}    -- records of the current step by the optimizers: parameter -> record

-- Modules whose outputs are never negative.
local rectifiers = {ReLU = true, ReLU6 = true}
local activating = {Linear = true, Conv1d = true, Conv2d = true, Conv3d = true}
local function rectifies(module)
  return rectifiers[module.__name] or activating[module.__name] and module.activation == "relu"
end
local channels_second = {Conv1d = true, ConvTranspose1d = true, BatchNorm1d = true, GroupNorm = true}

local function real(x) return x:dtype():find "^c" and x:detach():view_as_real() or x:detach() end

-- A geometric moving average of the norms so far. Warns when a norm is far above it.
local function explodes(self, what, norm)
  local usual = self.usual[what]
  if not usual then
    usual = {count = 0, log = 0, reported = false}
    self.usual[what] = usual
  end
  local finite = norm == norm and norm < math.huge
  local mean = math.exp(usual.log)
  local far = not finite or usual.count >= known_enough and norm > explosion * mean
  if far and not usual.reported then
    self.alarms[#self.alarms + 1] = finite
      and ("the norm of %s is %.3g, usual are %.3g"):format(what, norm, mean)
      or ("the norm of %s is %s"):format(what, norm ~= norm and "NaN" or "infinite")
  end
  usual.reported = far
  if finite and norm > 0 and not far then
    usual.count = usual.count + 1
    usual.log = usual.log + (math.log(norm) - usual.log) / math.min(usual.count, 10)
  end
end

local function measure(self, kind, name, x)
  return run._measure(self.histograms and ("%s/%s"):format(kind, name) or nil, x)
end

-- The record of a part of the model, by the name of the parameter or module.
local function finding(self, name)
  name = self.prefix .. name
  local numbers = self.findings[name]
  if not numbers then
    numbers = {}
    self.findings[name] = numbers
  end
  return name, numbers
end

-- Called before an optimizer's step: reads the gradients and copies the weights.
local function before_update(optimizer)
  for _, watch in ipairs(watches) do
    if watch.now then
      for path, parameter in watch.model:named_parameters() do
        if parameter.grad and not steps[parameter] and optimizer:has(parameter) then
          local name, numbers = finding(watch, path)
          numbers.gradient_norm = measure(watch, "gradient", name, parameter.grad)
          steps[parameter] = real(parameter):clone()
        end
      end
    end
  end
end

local function look_at_parameters(self)
  for path, parameter in self.model:named_parameters() do
    local name, numbers = finding(self, path)
    local before = steps[parameter]
    if not before and parameter.grad then
      numbers.gradient_norm = measure(self, "gradient", name, parameter.grad)
    end
    numbers.norm = measure(self, "weight", name, parameter:detach())
    if before then
      local moved = run._measure(nil, real(parameter) - before)
      numbers.update_ratio = moved / math.max(numbers.norm, 1e-12)
    end
    if numbers.gradient_norm then explodes(self, "the gradient of " .. name, numbers.gradient_norm) end
    explodes(self, name, numbers.norm)
  end
end

-- The largest value of each unit: a channel of images, or a feature of rows, sequences and Linear outputs.
local function largest_of_units(out, kind, channels_are_second)
  local last = out:dim()
  local unit = (last <= 2 or kind == "Linear") and last or (last > 3 or channels_are_second) and 2 or last
  local others = {}
  for dim = 1, last do
    if dim ~= unit then others[#others + 1] = dim end
  end
  return #others == 0 and out or out:amax(others)
end

-- The outputs of the layers in this step: name -> {out =, largest =}, the last output and the largest value of each unit.
local function note_output(self, path, module, out)
  local seen = self.outputs[path]
  if not seen then
    seen = {}
    self.outputs[path] = seen
    self.order[#self.order + 1] = path
  end
  seen.out, seen.kind = out:detach(), module.__name
  if not rectifiers[module.__name] then self.channels_second = channels_second[module.__name] end
  if rectifies(module) and out:dim() > 0 and out:numel() > 0 then
    local largest = largest_of_units(seen.out, seen.kind, self.channels_second)
    local same = seen.largest and seen.largest:numel() == largest:numel()
    seen.largest = same and seen.largest:maximum(largest) or largest
  end
end

local function look_at_outputs(self)
  for _, path in ipairs(self.order) do
    local seen = self.outputs[path]
    local name, numbers = finding(self, path == "" and "output" or path)
    numbers.activation_norm = measure(self, "activation", name, seen.out)
    explodes(self, "the output of " .. name, numbers.activation_norm)
    if seen.largest then
      local zero = seen.largest:eq(0):long()
      local streak = self.streaks[path]
      streak = streak and streak:numel() == zero:numel() and (streak + 1) * zero or zero
      self.streaks[path] = streak
      local dead = streak:ge(patience):long():sum():item()
      numbers.dead = dead / zero:numel()
      local worth = numbers.dead == 1 and 2 or numbers.dead >= many_dead and 1 or 0
      if worth > (self.reported[path] or 0) then
        self.alarms[#self.alarms + 1] = ("%d of the %d units of %s (%s) gave nothing but 0 in the last %d watched steps")
          :format(dead, zero:numel(), name, seen.kind, patience)
      end
      self.reported[path] = worth
    end
  end
  self.outputs, self.order = {}, {}
end

local function total(findings, key)
  local squares, any = 0, false
  for _, numbers in pairs(findings) do
    if numbers[key] then squares, any = squares + numbers[key] ^ 2, true end
  end
  return any and math.sqrt(squares) or nil
end

local function end_of_step(self, done)
  local updated = false
  if self.now then
    for _, parameter in self.model:named_parameters() do updated = updated or steps[parameter] or parameter.grad end
    if updated or #self.order > 0 then
      local _ <close> = core.no_grad()
      look_at_parameters(self)
      look_at_outputs(self)
      run._log_watch(self.findings)
      run.log {
        ["watch/" .. self.prefix .. "gradient_norm"] = total(self.findings, "gradient_norm"),
        ["watch/" .. self.prefix .. "weight_norm"] = total(self.findings, "norm"),
      }
      local alarms = self.alarms
      if #alarms > 0 then
        run._warn(("watch: step %d: %s%s"):format(done, alarms[1],
          #alarms > 1 and (", and %d more like this"):format(#alarms - 1) or ""))
      end
      self.findings, self.alarms = {}, {}
    end
  end
  self.now = done % self.every == 0
end

local function hook(self, path, module)
  self.handles[#self.handles + 1] = module:register_forward_hook(function(_, _, out)
    if self.now and module.training and core.is_tensor(out) and not core._recomputing() then
      note_output(self, path, module, out)
    end
  end)
end

-- All modules without child modules.
local function hook_leaves(self, module, path)
  local leaf = true
  for name, child in module:named_children() do
    hook_leaves(self, child, path == "" and name or path .. "." .. name)
    leaf = false
  end
  if leaf then hook(self, path, module) end
end

-- Called when the layers have changed: moves the hooks to the current layers, and forgets what is known of earlier
-- layers by name.
local function watch_again()
  for _, watch in ipairs(watches) do
    for _, handle in ipairs(watch.handles) do handle:remove() end
    watch.handles, watch.usual, watch.streaks, watch.reported = {}, {}, {}, {}
    if watch.activations then hook_leaves(watch, watch.model, "") end
  end
end

local function check(model, options)
  if type(model) ~= "table" or not getmetatable(model) or not getmetatable(model)._is_module then
    fail(("run.watch: a module expected (got %s)"):format(core.is_tensor(model) and "Tensor" or type(model)))
  end
  if options ~= nil and not holds_options(options) then
    fail("run.watch: options expected: lg.run.watch(model, {every = 100})")
  end
  local read = {every = 100, histograms = true, activations = true, name = ""}
  for name, value in pairs(options or {}) do
    if read[name] == nil then
      fail(("run.watch: unknown option '%s' (known: every, histograms, activations, name)"):format(tostring(name)))
    elseif type(value) ~= type(read[name]) then
      fail(("run.watch: option '%s' must be a %s (got %s)"):format(name, type(read[name]), type(value)))
    end
    read[name] = value
  end
  if math.type(read.every) ~= "integer" or read.every < 1 then
    fail(("run.watch: every must be a whole number from 1 on (got %s)"):format(read.every))
  end
  return read
end

return function(model, options)
  local self = check(model, options)
  self.prefix = self.name == "" and "" or self.name .. "."
  for _, other in ipairs(watches) do
    if other.name == self.name then
      fail(self.name == "" and "run.watch: a model is watched already; give this one a name: "
        .. "lg.run.watch(model, {name = 'generator'})"
        or ("run.watch: '%s' is watched already"):format(self.name))
    end
  end
  if not run._keeps_values() then return end
  self.model = model
  self.findings, self.alarms, self.usual = {}, {}, {}
  self.outputs, self.order, self.streaks, self.reported, self.handles = {}, {}, {}, {}, {}
  if self.activations then hook_leaves(self, model, "") end
  watches[#watches + 1] = self
  local done = run._at_boundary(function(ended)
    for _, watch in ipairs(watches) do end_of_step(watch, ended) end
    steps = {}
  end)
  self.now = done % self.every == 0
  run._before_update, run._watch_again = before_update, watch_again
end
